"""From any directed graph to an acyclic one: cycles condensed, levels counted, implied edges removed."""

from __future__ import annotations

import dataclasses

import numpy as np

from timelike.graphs.digraph import DiGraph

#: The most entries of a closure that is held in memory to remove implied edges.
MOST_PAIRS = 60_000_000


@dataclasses.dataclass(frozen=True, eq=False)
class Acyclic:
    """Edges `parents[i]` → `children[i]` without a cycle, sorted by child, between `count` nodes.

    `component[v]` is the node that holds v of the original graph: the nodes of a cycle share one.
    """

    parents: np.ndarray
    children: np.ndarray
    count: int
    component: np.ndarray


def condensed(graph: DiGraph) -> Acyclic:
    """The graph with each strongly connected component as one node, in the order of their first members."""
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(graph.adjacency(), directed=True, connection="strong")
    first = np.unique(label, return_index=True)[1]
    component = np.argsort(np.argsort(first))[label]
    return acyclic(component[graph.sources], component[graph.targets], count, component)


def acyclic(parents: np.ndarray, children: np.ndarray, count: int, component: np.ndarray) -> Acyclic:
    """Unique edges between different nodes, sorted by child, then parent."""
    keys = np.unique((children.astype(np.int64) * count + parents)[parents != children])
    return Acyclic((keys % count).astype(np.int32), (keys // count).astype(np.int32), count, component)


def depths(parents: np.ndarray, children: np.ndarray, count: int) -> np.ndarray:
    """The number of edges of the longest path to each node; `ValueError` if there is a cycle."""
    order = np.argsort(parents, kind="stable")
    targets, starts = children[order], np.searchsorted(parents[order], np.arange(count + 1))
    waiting, depth = np.bincount(children, minlength=count), np.zeros(count, np.int32)
    ready, level = np.flatnonzero(waiting == 0), 0
    while ready.size:
        depth[ready] = level
        reached = targets[ranges(starts[ready], starts[ready + 1])]
        np.subtract.at(waiting, reached, 1)
        ready, level = np.unique(reached[waiting[reached] == 0]), level + 1
    if np.any(waiting > 0):
        raise ValueError("the edges have a cycle; condense them first")
    return depth


def ranges(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """All integers of the half-open ranges starts[i] … ends[i], one range after the other."""
    sizes = ends - starts
    first = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) + np.repeat(starts - first, sizes)


def closure(parents: np.ndarray, children: np.ndarray, count: int, most: int = MOST_PAIRS):  # type: ignore[no-untyped-def]
    """Which nodes reach which, as a sparse matrix (ancestor, descendant); None if it has over `most` entries.

    Paths double in length with every product, so the number of products is the logarithm of the depth.
    """
    from scipy.sparse import csr_array

    reach = csr_array((np.ones(parents.size, np.bool_), (parents, children)), shape=(count, count))
    while True:
        work = int(np.diff(reach.indptr)[reach.indices].sum())
        if work > 8 * most:
            return None
        longer = reach + reach @ reach
        if longer.nnz > most:
            return None
        if longer.nnz == reach.nnz:
            return reach
        reach = longer


def closed(graph: DiGraph, most: int = MOST_PAIRS) -> DiGraph:
    """The graph with all edges that its paths imply, without weights; as it is if there are over `most`."""
    reach = closure(graph.sources, graph.targets, graph.num_nodes, most)
    if reach is None:
        return graph
    sources, targets = reach.tocoo().coords
    apart = sources != targets
    return DiGraph.from_arrays(sources[apart], targets[apart], graph.num_nodes, graph.names)


def reduced(graph: Acyclic) -> Acyclic:
    """The transitive reduction: no edge that a longer path implies.

    An edge between neighbouring levels has no longer path beside it. If the closure is too large to hold,
    only edges with a path of two edges beside them are removed; the others do no harm.
    """
    parents, children, count = graph.parents, graph.children, graph.count
    depth = depths(parents, children, count)
    suspects = np.flatnonzero(depth[children] - depth[parents] > 1)
    if not suspects.size:
        return graph
    keep = np.ones(parents.size, bool)
    keep[suspects[_implied(parents, children, count, suspects)]] = False
    return dataclasses.replace(graph, parents=parents[keep], children=children[keep])


def _implied(parents: np.ndarray, children: np.ndarray, count: int, suspects: np.ndarray) -> np.ndarray:
    """Whether each suspect u → v has another parent w of v below u."""
    from scipy.sparse import csr_array

    shape = (count, count)
    edges = csr_array((np.ones(parents.size, np.int32), (parents, children)), shape=shape)
    reach = closure(parents, children, count)
    through = (edges if reach is None else reach.astype(np.int32)) @ edges
    through.sort_indices()
    keys = np.repeat(np.arange(count), np.diff(through.indptr)) * np.int64(count) + through.indices
    wanted = parents[suspects].astype(np.int64) * count + children[suspects]
    at = np.minimum(np.searchsorted(keys, wanted), max(keys.size - 1, 0))
    return keys[at] == wanted if keys.size else np.zeros(wanted.size, bool)
