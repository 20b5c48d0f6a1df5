"""The duplication-divergence model of protein networks (Ispolatov et al. 2005), with directed edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from timelike._util.checks import one_of, whole_number
from timelike.graphs.digraph import DiGraph, checked_pairs

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
    start: str | DiGraph | Sequence[tuple[int, int]] = "cycle",
) -> DiGraph:
    """Grow a graph by copying random nodes; the defaults are the paper's settings.

    Each copy inherits every in-edge and out-edge of its original with probability `p1`, and with probability
    `p2` it gets an edge to the original, so that a DAG stays a DAG. The paper starts from "a fully connected
    directed 3-node graph": `start="cycle"` is a directed 3-cycle, "complete" has all 6 edges, "dag" is
    acyclic; or pass your own graph or list of edges. Memory grows with the edges, time with nodes².
    """
    for name, p in (("p1", p1), ("p2", p2)):
        if not 0 <= p <= 1:
            raise ValueError(f"{name} is {p!r}; it must be a probability in [0, 1]")
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
        after, before = (_some(side[old], rng.random(new) < p1) for side in (targets, sources))
        if rng.random() < p2 and old not in after:
            after.append(old)
        for t in after:
            link(new, t)
        for s in before:
            link(s, new)
    flat = np.array([t for row in targets for t in row], np.int32)
    return DiGraph.from_arrays(np.repeat(np.arange(nodes), [len(row) for row in targets]), flat, nodes)


def _some(nodes: list[int], chosen: np.ndarray) -> list[int]:
    return [node for node in nodes if chosen[node]]


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
