"""Whether a graph can be a hierarchy at all: a cheap test before it is reduced."""

from __future__ import annotations

import numpy as np

from timelike.graphs.digraph import DiGraph
from timelike.hierarchy.condensation import ranges
from timelike.hierarchy.described import MOST_IN_CYCLES, MOST_PARENTS

#: Edges that are examined, and the most paths of two edges beside each of them.
EDGES, BESIDE = 2000, 200
#: A sample sees only paths of two edges, so some implied edges escape it.
SLACK = 2.0


def may_be_hierarchy(graph: DiGraph, seed: int = 0) -> bool:
    """Whether few nodes lie on cycles, and few edges are left without those that a path of two implies."""
    from scipy.sparse.csgraph import connected_components

    if graph.num_edges < 2:
        return False
    label = connected_components(graph.adjacency(), directed=True, connection="strong")[1]
    if np.sum(np.bincount(label)[label] > 1) > MOST_IN_CYCLES * graph.num_nodes:
        return False
    ends = max(np.unique(x).size for x in (graph.sources, graph.targets))
    return graph.num_edges / ends * (1 - _implied_share(graph, seed)) <= SLACK * MOST_PARENTS


def _implied_share(graph: DiGraph, seed: int) -> float:
    """The share of sampled edges a → c with a path a → b → c beside them."""
    rng = np.random.default_rng([seed, 11])
    chosen = rng.permutation(graph.num_edges)[:EDGES]
    a, c = graph.sources[chosen], graph.targets[chosen]
    first = graph.row_starts[a]
    last = np.minimum(graph.row_starts[a + 1], first + BESIDE)
    which = np.repeat(np.arange(chosen.size), last - first)
    closed = graph.has_edges(graph.targets[ranges(first, last)], c[which])
    return np.unique(which[closed]).size / chosen.size
