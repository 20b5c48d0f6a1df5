"""Hold out edges, and draw the non-edges to tell them from."""

from __future__ import annotations

import zlib

import numpy as np

from timelike.evaluate import LabelledPairs
from timelike.graph import DiGraph


def hold_out(graph: DiGraph, fraction: float, seed: int = 0) -> tuple[DiGraph, np.ndarray]:
    """The graph without a random share of its edges, and the (n, 2) edges taken out."""
    if not 0 <= fraction < 1:
        raise ValueError(f"fraction is {fraction!r}; it must lie in [0, 1)")
    out = np.zeros(graph.num_edges, bool)
    count = round(fraction * graph.num_edges)
    out[np.random.default_rng(seed).choice(graph.num_edges, count, replace=False)] = True
    held = np.stack([graph.sources[out], graph.targets[out]], axis=1)
    return graph.subgraph(~out), held


def uniform_non_edges(graph: DiGraph, count: int, seed: int | list[int] = 0) -> np.ndarray:
    """`count` random ordered pairs of different nodes that are no edges of `graph`, as (n, 2)."""
    n = graph.num_nodes
    if count and n * (n - 1) <= np.sum(graph.sources != graph.targets):
        raise ValueError(f"{graph} has no non-edges to draw")
    rng = np.random.default_rng(seed)
    found = np.zeros((0, 2), np.int32)
    while len(found) < count:
        pairs = rng.integers(0, n, (2 * (count - len(found)) + 16, 2), dtype=np.int32)
        good = (pairs[:, 0] != pairs[:, 1]) & ~graph.has_edges(pairs[:, 0], pairs[:, 1])
        found = np.concatenate([found, pairs[good]])
    return found[:count]


def evaluation_pairs(graph: DiGraph, held: np.ndarray, ratio: int = 4, seed: int = 0) -> LabelledPairs:
    """Held-out edges with `ratio` uniform non-edges each; `graph` is the whole graph, before the split.

    Another set of edges gets other non-edges, also from the same seed.
    """
    stream = [seed, zlib.crc32(np.ascontiguousarray(held).tobytes())]
    return LabelledPairs.build(held, uniform_non_edges(graph, ratio * len(held), stream))
