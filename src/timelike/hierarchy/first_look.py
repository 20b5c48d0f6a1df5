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
#: With more implied edges than this, a few wrong edges make large cycles that the others contradict.
IMPLIED = 0.1
#: In a hierarchy with a tenth of wrong edges, fewer go against the order of degrees: at most 0.11 of those
#: of noisy closures, but 0.39 of those of R-MAT graphs.
AGAINST = 0.2


def may_be_hierarchy(graph: DiGraph, seed: int = 0) -> bool:
    """Whether few nodes lie on cycles, or many edges are implied, and few others are left.

    Implied edges tell which edges of a cycle are wrong, as long as most edges agree on an order.
    """
    from scipy.sparse.csgraph import connected_components

    if graph.num_edges < 2:
        return False
    implied = _implied_share(graph, seed)
    ends = max(np.unique(x).size for x in (graph.sources, graph.targets))
    if graph.num_edges / ends * (1 - implied) > SLACK * MOST_PARENTS:
        return False
    label = connected_components(graph.adjacency(), directed=True, connection="strong")[1]
    in_cycles = np.sum(np.bincount(label)[label] > 1) / graph.num_nodes
    return bool(in_cycles <= MOST_IN_CYCLES or (implied > IMPLIED and _against(graph) <= AGAINST))


def _against(graph: DiGraph) -> float:
    """The share of edges against the order of the nodes by (out − in)/(out + in), ties counted half.

    Nodes high up in a closure have many descendants and few ancestors. The order may be upside down.
    """
    out, into = (np.bincount(x, minlength=graph.num_nodes) for x in (graph.sources, graph.targets))
    order = (out - into) / np.maximum(out + into, 1)
    step = order[graph.targets] - order[graph.sources]
    up = float(np.mean(step > 0) + np.mean(step == 0) / 2)
    return min(up, 1 - up)


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
