"""Edges that the others contradict, in a graph that holds a part of its own closure.

If u → v is right, then every ancestor of u is one of v, and a share p of these pairs are edges of the graph.
If it is wrong, hardly any are. With p near 0, a graph of parents and children alone, nothing can be told.
"""

from __future__ import annotations

import numpy as np

from timelike.graphs.digraph import DiGraph
from timelike.hierarchy.condensation import closure, ranges

#: The probability that an edge is right before anything is seen, and once a share `LEAST` of them look wrong.
SURE, DOUBTFUL, LEAST = 0.98, 0.95, 0.002
#: What an observation counts, because those of an edge depend on each other.
TEMPER = 0.8
#: Rounds over direct neighbours, and over all ancestors and descendants.
NEAR, FAR = 12, 6
#: What a path of two edges beside an edge adds to its log-odds.
BESIDE = 3.0
#: The most pairs that are looked at.
MOST = 20_000_000


def contradicted(graph: DiGraph) -> np.ndarray:
    """A mask of the edges that look wrong."""
    none = np.zeros(graph.num_edges, bool)
    degrees = np.bincount(graph.sources, minlength=graph.num_nodes)
    if not graph.num_edges or degrees[graph.targets].sum() > MOST:
        return none
    wrong = _wrong(graph, SURE)
    return _wrong(graph, DOUBTFUL) if wrong.mean() > LEAST else none


def _wrong(graph: DiGraph, right: float) -> np.ndarray:
    """The edges that look wrong if an edge is right with this probability."""
    prior = float(np.log(right / (1 - right)))
    keep = _by_neighbours(graph, prior)
    for _ in range(FAR):
        before, keep = keep, _by_closure(graph, keep, prior)
        if np.array_equal(before, keep):
            break
    return ~keep


def _by_neighbours(graph: DiGraph, prior: float) -> np.ndarray:
    """Paths a → u → v: if both edges are right, a → v is an edge with probability p, estimated too."""
    count, edges = graph.num_nodes, graph.num_edges
    ends = graph.row_starts[graph.targets], graph.row_starts[graph.targets + 1]
    first, second = np.repeat(np.arange(edges), ends[1] - ends[0]), ranges(*ends)
    a, v = graph.sources[first].astype(np.int64), graph.targets[second]
    apart = a != v
    first, second, a, v = (x[apart] for x in (first, second, a, v))
    there = graph.has_edges(a, v)
    by_chance = _by_chance(graph.sources, count)[a]
    beside = np.searchsorted(graph.sources.astype(np.int64) * count + graph.targets, (a * count + v)[there])
    right = np.full(edges, SURE)
    for _ in range(NEAR):
        both = right[first] * right[second]
        p = _share(both, there)
        likely, chance = (np.where(there, x, 1 - x) for x in (np.maximum(p, by_chance), by_chance))
        odds = prior + BESIDE * np.minimum(np.bincount(beside, both[there], edges), 2)
        for edge, other in ((first, second), (second, first)):
            odds += np.bincount(edge, np.log1p(right[other] * (likely / chance - 1)), edges)
        right = (right + 1 / (1 + np.exp(-np.clip(odds, -30, 30)))) / 2
    return right > 0.5


def _by_closure(graph: DiGraph, keep: np.ndarray, prior: float) -> np.ndarray:
    """The same with all ancestors of u and all descendants of v, by the edges that are kept."""
    sources, targets, count = graph.sources, graph.targets, graph.num_nodes
    reach = closure(sources[keep], targets[keep], count)
    if reach is None:
        return keep
    found = []
    for table, near, far in ((reach.tocsc(), sources, targets), (reach.tocsr(), targets, sources)):
        starts, ends = table.indptr[near], table.indptr[near + 1]
        if int((ends - starts).sum(dtype=np.int64)) > MOST:
            return keep
        edge, node = np.repeat(np.arange(keep.size), ends - starts), table.indices[ranges(starts, ends)]
        apart = (node != sources[edge]) & (node != targets[edge])
        edge, node = edge[apart], node[apart]
        pair = (node, far[edge]) if near is sources else (far[edge], node)
        found.append((edge, graph.has_edges(*pair), _by_chance(near, count)[node]))
    edge, there, chance = (np.concatenate(x) for x in zip(*found, strict=True))
    likely = np.maximum(_share(keep[edge].astype(float), there), chance)
    seen = np.where(there, np.log(likely / chance), np.log((1 - likely) / (1 - chance)))
    return np.bincount(edge, TEMPER * seen, keep.size) > -prior


def _share(weights: np.ndarray, there: np.ndarray) -> float:
    return float(np.clip(np.sum(weights * there) / max(np.sum(weights), 1e-9), 1e-3, 0.999))


def _by_chance(ends: np.ndarray, count: int) -> np.ndarray:
    """The probability that a random edge at each node exists."""
    return np.clip(np.bincount(ends, minlength=count) / count, 1e-3, 0.5)
