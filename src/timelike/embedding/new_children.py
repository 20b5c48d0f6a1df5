"""New children in nested light cones: each goes into the cones of its parents, without training."""

from __future__ import annotations

import numpy as np

from timelike.graphs.digraph import DiGraph

#: Places that are tried: radii, each half of the one before, and directions.
RADII, DIRECTIONS = 24, 24
#: Candidates compared with all nodes at a time.
BLOCK = 64


def place_children(points: np.ndarray, graph: DiGraph, upward: bool, seed: int = 0) -> np.ndarray | None:
    """Events of the new nodes of `graph`, which come after the points; None if one is not just a child.

    Of random places within the cones of its parents, a child takes one that lies in the fewest other cones
    and has the fewest nodes in its own; of these, the one with the most room.
    """
    parents, children = (graph.targets, graph.sources) if upward else (graph.sources, graph.targets)
    first, rng = len(points), np.random.default_rng(seed)
    if np.any(children < first):
        return None
    events = points.astype(np.float64)
    if upward:
        events[:, 0] *= -1
    placed = np.zeros(graph.num_nodes, bool)
    placed[:first] = True
    every = np.concatenate([events, np.zeros((graph.num_nodes - first, events.shape[1]))])
    while not placed.all():
        ready = np.flatnonzero(~placed & ~np.isin(np.arange(placed.size), children[~placed[parents]]))
        ready = ready[np.isin(ready, children)]
        if not ready.size:
            return None
        for node in ready:
            every[node] = _best(every, placed, parents[children == node], rng)
            placed[node] = True
    found = every[first:]
    if upward:
        found[:, 0] *= -1
    return found.astype(points.dtype)


def _best(
    events: np.ndarray, placed: np.ndarray, parents: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """The best of the places in the cones of the parents."""
    known = events[placed]
    above, below = np.zeros(len(known), bool), np.ones(len(known), bool)
    for parent in events[parents]:
        above |= _margins(known, parent) >= 0
        below &= _margins(parent, known) >= 0
    last = events[parents[np.argmax(events[parents, 0])]]
    room = known[below, 0].max(initial=last[0]) - last[0]
    room = room if room > 0 else np.ptp(known[:, 0]) / 2
    way = rng.standard_normal((RADII * DIRECTIONS, events.shape[1] - 1))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    reach = room * np.repeat(0.5 ** np.arange(RADII), DIRECTIONS) * rng.uniform(0.5, 1, len(way))
    place = last[1:] + way * reach[:, None]
    far = np.linalg.norm(place[:, None] - events[parents, 1:], axis=2)
    time = (events[parents, 0] + far).max(axis=1) + 0.3 * reach
    tried = np.column_stack([time, place])
    wrong, space = np.zeros(len(tried)), np.zeros(len(tried))
    for start in range(0, len(tried), BLOCK):
        some = tried[start : start + BLOCK, None]
        held, holds = _margins(known, some), _margins(some, known)
        wrong[start : start + BLOCK] = ((held >= 0) & ~above).sum(axis=1) + (holds >= 0).sum(axis=1)
        near = np.minimum(np.where(above, np.abs(held), -held), -holds)
        space[start : start + BLOCK] = near.min(axis=1)
    return tried[np.lexsort((-space, wrong))[0]]


def _margins(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Δt − |Δx|: ≥ 0 if the second event lies in the cone of the first."""
    delta = second - first
    return delta[..., 0] - np.linalg.norm(delta[..., 1:], axis=-1)
