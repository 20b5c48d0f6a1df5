"""Assign every edge to a part of a split: at random, by time, by node, or in folds.

Each function returns one number per edge, in the graph's order: `TRAIN`, `VALID` or `TEST`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from timelike.graphs.digraph import DiGraph
from timelike.graphs.edge_checks import checked_times

TRAIN, VALID, TEST = 0, 1, 2


def by_chance(
    graph: DiGraph, shares: Mapping[str, float], rng: np.random.Generator, connected: bool, together: bool
) -> np.ndarray:
    """Hold out random edges.

    `together` holds out reciprocal pairs whole; `connected` spares the edges of a random spanning forest.
    """
    counts = {part: _count(share, graph.num_edges) for part, share in shares.items()}
    groups = _unordered(graph) if together else np.arange(graph.num_edges)
    order = rng.permutation(int(groups.max(initial=-1)) + 1)
    if connected:
        spared = np.unique(groups[_spanning_forest(graph, rng)])
        order = order[~np.isin(order, spared)]
    sizes = np.bincount(groups)[order]
    if sum(counts.values()) > sizes.sum():
        where = " without disconnecting it" if connected else ""
        raise ValueError(
            f"valid and test ask for {sum(counts.values())} edges; {graph} can spare {sizes.sum()}{where}"
        )
    return _deal(groups, order, sizes, counts)


def by_time(graph: DiGraph, shares: Mapping[str, float], times: np.ndarray) -> np.ndarray:
    """Test on the latest edges and validate on those before them; edges of equal time stay together."""
    m = graph.num_edges
    times = checked_times(times, m)
    order = np.argsort(times, kind="stable")
    changes = np.flatnonzero(times[order][1:] != times[order][:-1]) + 1
    cuts = [m]
    for part in ("test", "valid"):
        wanted = _count(shares[part], m)
        possible = changes[changes < cuts[-1]]
        if wanted and not len(possible):
            raise ValueError(
                f"times has {len(changes) + 1} distinct value(s), too few to separate the {part} edges"
            )
        nearest = possible[np.argmin(np.abs(possible - (cuts[-1] - wanted)))] if wanted else cuts[-1]
        cuts.append(int(nearest))
    parts = np.full(m, TRAIN)
    parts[order[cuts[2] : cuts[1]]] = VALID
    parts[order[cuts[1] :]] = TEST
    return parts


def by_nodes(graph: DiGraph, shares: Mapping[str, float], rng: np.random.Generator) -> np.ndarray:
    """Hold out all edges of random nodes; an edge between a validation and a test node is a test edge."""
    nodes = rng.permutation(np.union1d(graph.sources, graph.targets))
    counts = {part: _count(share, len(nodes)) for part, share in shares.items()}
    held = np.full(graph.num_nodes, TRAIN)
    held[nodes[: counts["test"]]] = TEST
    held[nodes[counts["test"] : counts["test"] + counts["valid"]]] = VALID
    parts = np.maximum(held[graph.sources], held[graph.targets])
    if counts["valid"] and not np.any(parts == VALID):
        raise ValueError(f"{graph} is too small: every edge of a validation node belongs to a test node")
    return parts


def into_folds(
    graph: DiGraph, k: int, valid: float, rng: np.random.Generator, together: bool
) -> Iterator[np.ndarray]:
    """For each fold in turn, test on its edges and validate on a random share of the others."""
    groups = _unordered(graph) if together else np.arange(graph.num_edges)
    order = rng.permutation(int(groups.max(initial=-1)) + 1)
    sizes = np.bincount(groups)[order]
    fold_of = np.empty(len(order), int)
    fold_of[order] = (np.cumsum(sizes) - sizes) * k // graph.num_edges
    counts = {"test": 0, "valid": _count(valid, graph.num_edges)}
    for fold in range(k):
        others = rng.permutation(order[fold_of[order] != fold])
        parts = _deal(groups, others, np.bincount(groups)[others], counts)
        parts[fold_of[groups] == fold] = TEST
        yield parts


def _count(share: float, total: int) -> int:
    """The share of a total, rounded; at least 1 unless the share is 0."""
    return max(1, round(share * total)) if share > 0 else 0


def _deal(groups: np.ndarray, order: np.ndarray, sizes: np.ndarray, counts: Mapping[str, int]) -> np.ndarray:
    """Deal groups in this order to the test until it has enough edges, then to validation."""
    before = np.cumsum(sizes) - sizes
    test = before < counts["test"]
    before -= np.sum(sizes[test])
    part_of = np.full(int(groups.max(initial=-1)) + 1, TRAIN)
    part_of[order[test]] = TEST
    part_of[order[~test & (before < counts["valid"])]] = VALID
    return part_of[groups]


def _unordered(graph: DiGraph) -> np.ndarray:
    """A number for each edge, the same for s → t and t → s."""
    low, high = np.minimum(graph.sources, graph.targets), np.maximum(graph.sources, graph.targets)
    return np.unique(low.astype(np.int64) * graph.num_nodes + high, return_inverse=True)[1].reshape(-1)


def _spanning_forest(graph: DiGraph, rng: np.random.Generator) -> np.ndarray:
    """The edges of a random spanning forest of the undirected graph, one per reciprocal pair."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    pairs, shuffled = _unordered(graph), rng.permutation(graph.num_edges)
    one_of = np.full(int(pairs.max(initial=-1)) + 1, -1)
    one_of[pairs[shuffled]] = shuffled
    rank = 1.0 + rng.permutation(len(one_of))  # the weight identifies the pair; 0 would mean no edge
    shape = (graph.num_nodes, graph.num_nodes)
    links = coo_array((rank, (graph.sources[one_of], graph.targets[one_of])), shape)
    tree = minimum_spanning_tree(links.tocsr())
    return one_of[np.argsort(rank)[tree.data.astype(np.int64) - 1]]
