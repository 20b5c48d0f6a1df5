"""Evidence from the edges of the graph alone: degrees, paths, factors, regression, levels and distances."""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np

from timelike.evaluation.heuristics import Svd
from timelike.evaluation.path_counts import Paths
from timelike.evidence.terms import Degree, Distance, Factors, Levels, PathCount, Similar, Term
from timelike.graphs.digraph import DiGraph

#: Ranks of the singular value decomposition; a large graph gets the first two.
RANKS = (8, 24, 64)

#: Graphs with more edges are large and get fewer ranks.
LARGE = 300_000

#: Graphs with more edges or nodes have no distances: they take a search from every source.
SEARCHED = 60_000

#: Pairs of a `block`.
BLOCK = 1 << 18

#: Distances tell nothing if most nodes lie on cycles: everything then reaches everything.
MOSTLY_CYCLIC = 0.5


@dataclasses.dataclass(frozen=True, eq=False)
class Structure:
    """What the edges of a graph say about a pair of nodes, as named numbers.

    `chosen` are the names of the numbers; None: those that suit the graph. They count known edges around the
    pair, never the edge between the two. `groups` tells what each number is about: popularity (degrees),
    shared neighbours (paths that change direction), chains (paths that do not), reciprocity, patterns
    (decomposition and regression of the adjacency matrix), or order (levels and distances).
    """

    graph: DiGraph
    chosen: tuple[str, ...] | None = None

    @cached_property
    def terms(self) -> dict[str, tuple[str, Term]]:
        """Name of a column → what it is about, and the term: those that are chosen, or suit the graph."""
        if self.chosen is None:
            return self._terms(True)
        every = self._terms(False)
        return {name: every[name] for name in self.chosen if name in every}

    def _terms(self, suitable: bool) -> dict[str, tuple[str, Term]]:
        """All terms; if `suitable`, those that such a graph can afford and that tell something."""
        graph, found = self.graph, dict[str, tuple[str, Term]]()
        for end in ("source", "target"):
            for way in ("out", "in"):
                term = Degree(graph, end == "source", way == "out")
                found[f"{way}-degree of {end}"] = ("popularity", term)
        for pattern, group, kinds in (
            ("><>", "shared neighbours", (True, False)),
            ("<><", "shared neighbours", (True, False)),
            ("><", "shared neighbours", (True,)),
            ("<>", "shared neighbours", (True,)),
            (">>", "chains", (True, False)),
            ("<<", "chains", (True, False)),
            (">>>", "chains", (False,)),
            ("<<<", "chains", (False,)),
            ("<", "reciprocity", (False,)),
        ):
            for normalised in kinds:
                name = f"paths {pattern}" + ", normalised" * normalised
                found[name] = (group, PathCount(Paths(graph, pattern, normalised)))
        return {**found, **self._patterns(suitable), **self._order(suitable)}

    def _patterns(self, suitable: bool) -> dict[str, tuple[str, Term]]:
        graph, found = self.graph, dict[str, tuple[str, Term]]()
        ranks = RANKS[:2] if suitable and graph.num_edges > LARGE else RANKS
        whole = Svd(graph, ranks[-1])
        for rank in ranks:
            found[f"factors, rank {rank}"] = ("patterns", Factors(whole.cut(rank)))
        middle = ranks[len(ranks) // 2]
        found[f"factors, rank {middle}, reversed"] = ("patterns", Factors(whole.cut(middle), True))
        for of_sources, name in ((False, "targets"), (True, "sources")):
            if not suitable or Similar.affordable(graph, of_sources):
                found[f"regression of {name}"] = ("patterns", Similar(graph, of_sources))
                found[f"nearest of {name}"] = ("shared neighbours", Similar(graph, of_sources, nearest=True))
        return found

    def _order(self, suitable: bool) -> dict[str, tuple[str, Term]]:
        graph = self.graph
        found: dict[str, tuple[str, Term]] = {"difference of levels": ("order", Levels(graph))}
        if not suitable or (
            max(graph.num_edges, graph.num_nodes) <= SEARCHED and _on_cycles(graph) < MOSTLY_CYCLIC
        ):
            found["distance"] = ("order", Distance(graph))
            found["distance, reversed"] = ("order", Distance(graph, True))
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of `features`."""
        return tuple(self.terms)

    @property
    def groups(self) -> tuple[str, ...]:
        """What each column is about."""
        return tuple(group for group, _ in self.terms.values())

    def features(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """One row of numbers per pair, (pairs, columns)."""
        out = np.empty((len(sources), len(self.terms)), np.float32)
        own = np.flatnonzero(self.graph.has_edges(sources, targets))
        for column, (_, term) in enumerate(self.terms.values()):
            values = np.asarray(term.score(sources, targets))
            if len(own) and hasattr(term, "without_edge"):
                values = values.copy()
                values[own] = term.without_edge(values[own], sources[own], targets[own])
            out[:, column] = values
        return out

    def block(self, sources: np.ndarray) -> np.ndarray:
        """The features of all pairs from these sources, (sources, nodes, columns).

        For edges of the graph they include the edge itself: for rankings, which leave known edges out.
        """
        out = np.empty((len(sources), self.graph.num_nodes, len(self.terms)), np.float32)
        for column, (_, term) in enumerate(self.terms.values()):
            out[:, :, column] = term.rows(sources)
        return out

    @property
    def block_size(self) -> int:
        """The number of sources whose `block` is of a good size."""
        return max(1, BLOCK // self.graph.num_nodes)


def _on_cycles(graph: DiGraph) -> float:
    """The share of the nodes in the largest strongly connected component."""
    from scipy.sparse.csgraph import connected_components

    labels = connected_components(graph.adjacency(), connection="strong")[1]
    return float(np.bincount(labels).max(initial=0) / max(graph.num_nodes, 1))
