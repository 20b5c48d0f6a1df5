"""Graphs built by rule: toy graphs (section 4.2), trees, grids, random and grown graphs, closures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from timelike._util.checks import one_of, whole_number
from timelike.graphs.digraph import MOST_EDGES, MOST_NODES, DiGraph, checked_pairs

#: The graphs that `duplication_divergence` can start from, by name.
SEED_GRAPHS = {
    "cycle": [(0, 1), (1, 2), (2, 0)],
    "complete": [(i, j) for i in range(3) for j in range(3) if i != j],
    "dag": [(0, 1), (0, 2), (1, 2)],
}


def cycle(nodes: int = 5) -> DiGraph:
    """The cycle 0 → 1 → … → n − 1 → 0."""
    i = np.arange(whole_number("nodes", nodes, 2, MOST_NODES))
    return DiGraph.from_arrays(i, (i + 1) % nodes, nodes)


def chain(nodes: int = 10) -> DiGraph:
    """The path 0 → 1 → … → n − 1, without transitive edges."""
    i = np.arange(whole_number("nodes", nodes, 1, MOST_NODES) - 1)
    return DiGraph.from_arrays(i, i + 1, nodes)


def three_node_chain() -> DiGraph:
    """The path 0 → 1 → 2: the smallest graph that is not a partial order (Figure 3A)."""
    return chain(3)


def transitive_chain(nodes: int = 10) -> DiGraph:
    """The transitive closure of `chain`: i → j for all i < j."""
    i, j = np.triu_indices(whole_number("nodes", nodes, 1, 2**16), 1)
    return DiGraph.from_arrays(i, j, nodes)


def tripartite(predecessors: int = 10, successors: int = 10, middle: int = 2) -> DiGraph:
    """`middle` unlinked nodes that share all predecessors and successors (Figure 2A).

    Nodes 0 … middle − 1 are the unlinked ones; predecessors follow, then successors.
    """
    mid = np.arange(whole_number("middle", middle, 1, MOST_NODES))
    before = middle + np.arange(whole_number("predecessors", predecessors, 0, MOST_NODES))
    after = middle + predecessors + np.arange(whole_number("successors", successors, 0, MOST_NODES))
    whole_number("middle · (predecessors + successors)", mid.size * (before.size + after.size), 0, MOST_EDGES)
    into = np.array(np.meshgrid(before, mid)).reshape(2, -1)
    out = np.array(np.meshgrid(mid, after)).reshape(2, -1)
    s, t = np.concatenate([into, out], axis=1)
    return DiGraph.from_arrays(s, t, middle + predecessors + successors)


def tree(branching: int = 2, depth: int = 6) -> DiGraph:
    """A balanced tree, parent → child: (b^(d+1) − 1) / (b − 1) nodes, numbered level by level."""
    branching = whole_number("branching", branching, 1)
    nodes = sum(branching**level for level in range(whole_number("depth", depth, 0, 1000) + 1))
    child = np.arange(1, whole_number("the number of nodes", nodes, 1, MOST_NODES))
    return DiGraph.from_arrays((child - 1) // branching, child, nodes)


def grid(rows: int = 10, columns: int = 10) -> DiGraph:
    """A grid with edges to the right and down; node (r, c) has the number r · columns + c."""
    nodes = whole_number("rows", rows, 1) * whole_number("columns", columns, 1)
    number = np.arange(whole_number("rows · columns", nodes, 1, MOST_EDGES // 2)).reshape(rows, columns)
    sources = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    targets = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    return DiGraph.from_arrays(sources, targets, number.size)


def random_dag(nodes: int = 100, edges: int = 300, seed: int = 0) -> DiGraph:
    """A uniformly random set of `edges` edges i → j among the n(n − 1)/2 pairs i < j."""
    pairs = whole_number("nodes", nodes, 1, MOST_NODES) * (nodes - 1) // 2
    whole_number("edges", edges, 0, min(pairs, MOST_EDGES), note=f": {nodes} nodes have {pairs:,} pairs")
    rng = np.random.default_rng(whole_number("seed", seed))
    pair = rng.choice(pairs, edges, replace=False) if edges else np.zeros(0, np.int64)
    return DiGraph.from_arrays(*_pair_numbers(pair), num_nodes=nodes)


def _pair_numbers(pair: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Invert the pair number j(j − 1)/2 + i, i < j: solve a quadratic and correct for rounding."""
    j = ((1 + np.sqrt(1 + 8.0 * pair)) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > pair
    j += j * (j + 1) // 2 <= pair
    return pair - j * (j - 1) // 2, j


def duplication_divergence(
    seed: int = 0,
    nodes: int = 100,
    p1: float = 0.7,
    p2: float = 0.7,
    start: str | DiGraph | Sequence[tuple[int, int]] = "cycle",
) -> DiGraph:
    """Grow a graph by copying random nodes (Ispolatov et al. 2005); the defaults are the paper's settings.

    Each copy inherits every in-edge and out-edge of its original with probability `p1`, and with probability
    `p2` it gets an edge to the original, so that a DAG stays a DAG. The paper starts from "a fully connected
    directed 3-node graph": `start="cycle"` is a directed 3-cycle, "complete" has all 6 edges, "dag" is
    acyclic; or pass your own graph or list of edges. Memory grows with the edges, time with nodes².
    """
    check_probabilities(p1=p1, p2=p2)
    first = _start(start)
    size = first.num_nodes
    if whole_number("nodes", nodes) < size:
        raise ValueError(f"nodes is {nodes}; it must be at least the {size} nodes of the seed graph")
    rng = np.random.default_rng(whole_number("seed", seed))
    targets: list[list[int]] = [[] for _ in range(nodes)]
    sources: list[list[int]] = [[] for _ in range(nodes)]

    def link(s: int, t: int) -> None:
        targets[s].append(t)
        sources[t].append(s)

    for s, t in zip(first.sources.tolist(), first.targets.tolist(), strict=True):
        link(s, t)
    for new in range(size, nodes):
        old = int(rng.integers(new))
        sides = zip((targets, sources), rng.random((2, new)) < p1, strict=True)
        after, before = ([node for node in side[old] if chosen[node]] for side, chosen in sides)
        if rng.random() < p2 and old not in after:
            after.append(old)
        for t in after:
            link(new, t)
        for s in before:
            link(s, new)
    flat = np.array([t for row in targets for t in row], np.int32)
    return DiGraph.from_arrays(np.repeat(np.arange(nodes), [len(row) for row in targets]), flat, nodes)


def _start(start: str | DiGraph | Sequence[tuple[int, int]]) -> DiGraph:
    if isinstance(start, DiGraph):
        graph = start
    elif not isinstance(start, str):
        graph = DiGraph.from_arrays(*checked_pairs(start, None, "start").T)
    else:
        one_of("start", start, SEED_GRAPHS, ", a graph or a list of edges")
        graph = DiGraph.from_arrays(*np.array(SEED_GRAPHS[start]).T)
    if graph.num_nodes == 0:
        raise ValueError("start has no nodes; it must have at least one to copy")
    return graph


def check_probabilities(**values: float) -> None:
    """Raise a `ValueError` unless all values are probabilities."""
    for name, p in values.items():
        if not 0 <= p <= 1:
            raise ValueError(f"{name} is {p!r}; it must be a probability in [0, 1]")


def transitive_closure(graph: DiGraph) -> DiGraph:
    """Return the same nodes with an edge i → j wherever a path leads from i to another node j.

    Paths grow by one edge per step, and only new pairs are extended: the work is the sum of the targets'
    out-degrees over all pairs of the closure.
    """
    from scipy.sparse import csr_array

    shape = (graph.num_nodes, graph.num_nodes)
    step = csr_array((np.ones(graph.num_edges, bool), (graph.sources, graph.targets)), shape=shape)
    reached = frontier = step
    while frontier.nnz:
        frontier = (frontier @ step) > reached
        reached = reached + frontier
    sources, targets = reached.tocoo().coords
    return DiGraph.from_arrays(sources, targets, graph.num_nodes, graph.names)
