"""The duplication-divergence model of protein networks (Ispolatov et al. 2005), with arrows."""

from __future__ import annotations

import numpy as np

from timelike.graph import DiGraph

SEED_GRAPHS = {
    "cycle": [(0, 1), (1, 2), (2, 0)],
    "complete": [(i, j) for i in range(3) for j in range(3) if i != j],
    "dag": [(0, 1), (0, 2), (1, 2)],
}


def duplication_divergence(
    seed: int = 0,
    nodes: int = 100,
    p1: float = 0.7,
    p2: float = 0.7,
    start: str | list[tuple[int, int]] = "cycle",
) -> DiGraph:
    """Grow a graph by copying random nodes, with the paper's settings by default.

    Each copy inherits every in-edge and out-edge of its original, direction kept, with probability
    `p1` each, and is linked to the original, in one direction, with probability `p2`. The paper
    starts from "a fully connected directed 3-node graph": `start="cycle"` is a directed 3-cycle,
    "complete" has all 6 edges, "dag" stays acyclic; or give your own list of edges.

    The link to the original points from the copy to the original, so that a DAG stays a DAG.
    """
    for name, p in (("p1", p1), ("p2", p2)):
        if not 0 <= p <= 1:
            raise ValueError(f"{name} is {p!r}; it must be a probability in [0, 1]")
    if isinstance(start, str) and start not in SEED_GRAPHS:
        raise ValueError(f"start is {start!r}; it must be one of {', '.join(SEED_GRAPHS)} or a list of edges")
    first = SEED_GRAPHS[start] if isinstance(start, str) else start
    size = 1 + max(max(edge) for edge in first)
    if nodes < size:
        raise ValueError(f"nodes is {nodes}; it must be at least the {size} nodes of the seed graph")
    rng = np.random.default_rng(seed)
    adjacency = np.zeros((nodes, nodes), bool)
    adjacency[tuple(np.array(first).T)] = True
    for new in range(size, nodes):
        old = rng.integers(new)
        adjacency[new, :new] = adjacency[old, :new] & (rng.random(new) < p1)
        adjacency[:new, new] = adjacency[:new, old] & (rng.random(new) < p1)
        adjacency[new, old] |= rng.random() < p2
    sources, targets = np.nonzero(adjacency)
    return DiGraph.from_arrays(sources, targets, nodes)
