"""A directed graph seen as a hierarchy: its direction, its cycles, its depth, who has several parents."""

from __future__ import annotations

import dataclasses

import numpy as np

from timelike.graphs.digraph import DiGraph
from timelike.hierarchy.condensation import Acyclic, condensed, depths, reduced
from timelike.hierarchy.contradicted_edges import contradicted
from timelike.hierarchy.doubtful_edges import doubts_of

#: A graph with more parents per node than this, or more of its nodes in cycles, is no hierarchy.
MOST_PARENTS, MOST_IN_CYCLES = 2.0, 0.1
#: Nor is one of which a larger share of the edges look wrong.
MOST_DOUBTED = 0.1


@dataclasses.dataclass(frozen=True, eq=False)
class Hierarchy:
    """The edges of a graph from parent to child, without cycles and without edges that longer paths imply.

    `order` has the edges between its nodes; `order.component[v]` is the node of v, shared by the nodes of a
    cycle. `upward` tells that the graph's own edges point from child to parent. `depth` counts the edges of
    the longest path to each node of `order`. `doubted` edges look wrong and have been left out.
    """

    order: Acyclic
    upward: bool
    depth: np.ndarray
    given_edges: int
    doubted: int

    @property
    def in_cycles(self) -> int:
        """The number of nodes of the graph that lie on a cycle."""
        sizes = np.bincount(self.order.component, minlength=self.order.count)
        return int(sizes[sizes > 1].sum())

    @property
    def implied(self) -> int:
        """The number of edges that longer paths imply, or that lie within a cycle."""
        return self.given_edges - self.order.children.size - self.doubted

    @property
    def several_parents(self) -> float:
        """The share of nodes with more than one parent."""
        return float(np.mean(np.bincount(self.order.children, minlength=self.order.count) > 1))

    @property
    def more_parents(self) -> int:
        """The number of parents beyond the first, of all nodes together."""
        return self.order.children.size - np.unique(self.order.children).size

    @property
    def parents_per_node(self) -> float:
        """The mean number of parents of the nodes that have any."""
        return self.order.children.size / max(np.unique(self.order.children).size, 1)

    @property
    def looks_like_one(self) -> bool:
        """Whether nested light cones are worth a try."""
        return not self.objections

    @property
    def objections(self) -> list[str]:
        """What speaks against a hierarchy."""
        nodes, found = self.order.component.size, []
        if self.in_cycles > MOST_IN_CYCLES * nodes:
            found.append(f"{self.in_cycles / nodes:.0%} of the nodes lie on cycles")
        if self.parents_per_node > MOST_PARENTS:
            found.append(f"a node has {self.parents_per_node:.1f} parents on average")
        if self.doubted > MOST_DOUBTED * self.given_edges:
            found.append(f"{self.doubted / self.given_edges:.0%} of the edges look wrong")
        if self.depth.max(initial=0) < 2:
            found.append("no path has two edges")
        return found

    def __str__(self) -> str:
        way = "child to parent" if self.upward else "parent to child"
        text = (
            f"edges point from {way}; depth {self.depth.max(initial=0)}, {self.parents_per_node:.2f} parents "
            f"per node, {self.several_parents:.1%} of the nodes have several; "
            f"{self.implied:,} edges are implied by others or within cycles; "
            f"{self.in_cycles:,} nodes lie on cycles; {self.doubted:,} edges look wrong and are left out"
        )
        return "; ".join([text, *(f"not a hierarchy: {why}" for why in self.objections)])


def hierarchy_of(graph: DiGraph, doubt: bool = True) -> Hierarchy:
    """The hierarchy in a graph: cycles condensed, transitively reduced, oriented from parent to child.

    A hierarchy has few tops and many ends: if the reduced graph has more nodes without an edge in than nodes
    without an edge out, its edges point from child to parent. Edges that others contradict, and second
    parents if many look random, are left out unless `doubt` is false: see `contradicted_edges` and
    `doubtful_edges`.
    """
    contrary = contradicted(graph) if doubt else np.zeros(graph.num_edges, bool)
    order = reduced(condensed(graph.subgraph(~contrary) if contrary.any() else graph))
    tops, ends = (order.count - np.unique(x).size for x in (order.children, order.parents))
    upward = tops > ends
    if upward:
        order = dataclasses.replace(order, parents=order.children, children=order.parents)
    wrong = doubts_of(order).wrong if doubt else np.zeros(order.parents.size, bool)
    kept = np.flatnonzero(~wrong)
    kept = kept[np.lexsort((order.parents[kept], order.children[kept]))]
    order = dataclasses.replace(order, parents=order.parents[kept], children=order.children[kept])
    depth = depths(order.parents, order.children, order.count)
    return Hierarchy(order, upward, depth, graph.num_edges, int(wrong.sum() + contrary.sum()))
