"""Graphs built by rule: the paper's toy graphs (section 4.2), balanced trees, grids and random DAGs."""

from __future__ import annotations

import numpy as np

from timelike._util.checks import whole_number
from timelike.graphs.digraph import MOST_EDGES, MOST_NODES, DiGraph


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
