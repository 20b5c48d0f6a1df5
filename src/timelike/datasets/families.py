"""Families of acyclic graphs: balanced trees, grids, random ones."""

from __future__ import annotations

import numpy as np

from timelike._util.checks import whole_number
from timelike.graphs.digraph import MOST_EDGES, MOST_NODES, DiGraph


def tree(branching: int = 2, depth: int = 6) -> DiGraph:
    """The balanced tree, from parents to children: (b^(d+1) − 1) / (b − 1) nodes, level by level from 0."""
    branching = whole_number("branching", branching, 1)
    nodes = sum(branching**level for level in range(whole_number("depth", depth, 0, 1000) + 1))
    child = np.arange(1, whole_number("the number of nodes", nodes, 1, MOST_NODES))
    return DiGraph.from_arrays((child - 1) // branching, child, nodes)


def grid(rows: int = 10, columns: int = 10) -> DiGraph:
    """Edges to the right and down: node (r, c) has the number r · columns + c."""
    nodes = whole_number("rows", rows, 1) * whole_number("columns", columns, 1)
    number = np.arange(whole_number("rows · columns", nodes, 1, MOST_EDGES // 2)).reshape(rows, columns)
    sources = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    targets = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    return DiGraph.from_arrays(sources, targets, number.size)


def random_dag(nodes: int = 100, edges: int = 300, seed: int = 0) -> DiGraph:
    """`edges` of the n(n − 1)/2 pairs i < j, each set of them equally likely, as i → j."""
    pairs = whole_number("nodes", nodes, 1, MOST_NODES) * (nodes - 1) // 2
    whole_number("edges", edges, 0, min(pairs, MOST_EDGES), note=f": {nodes} nodes have {pairs:,} pairs")
    rng = np.random.default_rng(whole_number("seed", seed))
    pair = rng.choice(pairs, edges, replace=False) if edges else np.zeros(0, np.int64)
    return DiGraph.from_arrays(*_pair_numbers(pair), num_nodes=nodes)


def _pair_numbers(pair: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pair number j(j − 1)/2 + i, i < j, as (i, j): the root of a quadratic, corrected for rounding."""
    j = ((1 + np.sqrt(1 + 8.0 * pair)) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > pair
    j += j * (j + 1) // 2 <= pair
    return pair - j * (j - 1) // 2, j
