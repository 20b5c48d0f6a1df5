"""Moves overlapping light cones until they hold shared descendants, and nothing else, inside them.

Nested balls are exact for a tree. A node with several parents must lie in the cones of all of them. Here all
events of such a part of a hierarchy move at once, by gradient steps in double precision: each edge pulls its
target into the cone of its source, each false cone pushes its target out. Ancestors of ancestors need no
pull, because cones are transitive, and no pair of the closure is ever pushed.
"""

from __future__ import annotations

import dataclasses

import numpy as np

#: Steps between two searches for false cones, and pairs searched at a time.
EVERY, BLOCK = 25, 1 << 22
#: False cones per edge that push at a time; of more, a random part does.
FALSE_PER_EDGE = 4


@dataclasses.dataclass(frozen=True)
class Schedule:
    """How events move: `steps` of Adam at a falling `rate`, for margins that narrow from `wide` to `narrow`.

    Lengths are in units of the whole part. A pair counts σ-smoothly until its margin is `bias` widths.
    """

    steps: int = 1500
    rate: float = 0.006
    wide: float = 0.004
    narrow: float = 0.0002
    bias: float = 2.0
    reach: float = 3.0

    def at(self, step: int) -> tuple[float, float]:
        """The rate and the width at a step."""
        done = step / self.steps
        width = self.wide * (self.narrow / self.wide) ** min(1.0, done / 0.8)
        return self.rate * (1.01 - done), width


def moved(
    events: np.ndarray,
    edges: np.ndarray,
    pulls: np.ndarray,
    pushes: np.ndarray,
    related: np.ndarray,
    schedule: Schedule,
    seed: int,
) -> np.ndarray:
    """The events (t, x₁, …) after all steps; `edges` is (n, 2), parent and child.

    `pulls` weighs the edges and `pushes` the nodes as targets of false cones. `related` has the sorted keys
    s·N + t of all pairs of the closure.
    """
    rng = np.random.default_rng(seed)
    events = events.copy()
    first, second = np.zeros_like(events), np.zeros_like(events)
    most = FALSE_PER_EDGE * len(edges) + 1000
    for step in range(schedule.steps):
        rate, width = schedule.at(step)
        if step % EVERY == 0:
            found = false_cones(events, related, schedule.reach * width, rng)
            scale = max(1.0, len(found) / most)
            found = found[rng.permutation(len(found))[:most]]
            force = _Force(len(events), edges, found, pulls, scale * pushes[found[:, 1]])
        slope = force.slope(events, width, schedule.bias)
        first += 0.1 * (slope - first)
        second += 0.01 * (slope * slope - second)
        mean, square = first / (1 - 0.9 ** (step + 1)), second / (1 - 0.99 ** (step + 1))
        events -= rate * mean / (np.sqrt(square) + 1e-9)
    return events


class _Force:
    """The loss Σ w softplus(bias − margin/width) over edges and false cones, as its slope."""

    def __init__(
        self, count: int, edges: np.ndarray, false: np.ndarray, pulls: np.ndarray, pushes: np.ndarray
    ) -> None:
        from scipy.sparse import csr_array

        self.sources, self.targets = np.concatenate([edges, false]).T.copy()
        self.signs = np.repeat([1.0, -1.0], [len(edges), len(false)])
        self.weights = self.signs * np.concatenate([pulls, pushes])
        pairs = self.sources.size
        rows = np.concatenate([self.targets, self.sources])
        values = np.repeat([1.0, -1.0], pairs)
        self.ends = csr_array((values, (rows, np.tile(np.arange(pairs), 2))), shape=(count, pairs))

    def slope(self, events: np.ndarray, width: float, bias: float) -> np.ndarray:
        """The derivative by every event, times the width."""
        delta = events.take(self.targets, axis=0) - events.take(self.sources, axis=0)
        space = np.sqrt(np.einsum("pk,pk->p", delta[:, 1:], delta[:, 1:]) + 1e-24)
        excess = np.clip(self.signs * (delta[:, 0] - space) / width - bias, -50, 50)
        strength = self.weights / (1 + np.exp(excess))
        delta *= (strength / space)[:, None]
        delta[:, 0] = -strength
        return self.ends @ delta


def false_cones(
    events: np.ndarray, related: np.ndarray, margin: float, rng: np.random.Generator
) -> np.ndarray:
    """Pairs (s, t), not `related`, with t in the cone of s or out of it by less than `margin`.

    All pairs of up to some 20,000 events are searched, of more events random sources and all targets.
    """
    count = len(events)
    order = np.argsort(events[:, 0], kind="stable")
    time, space = (np.ascontiguousarray(x, np.float32) for x in (events[order, 0], events[order, 1:]))
    square = np.einsum("pk,pk->p", space, space)
    rows = max(BLOCK // max(count, 1), 1)
    starts = np.arange(0, count, rows)
    if starts.size > 100:
        starts = rng.choice(starts, 100, replace=False)
    keys = [np.zeros(0, np.int64)]
    for start in starts:
        end, later = start + rows, int(np.searchsorted(time, time[start] - margin))
        near = square[start:end, None] + square[None, later:] - 2 * (space[start:end] @ space[later:].T)
        wait = np.maximum(time[None, later:] - time[start:end, None] + np.float32(margin), 0)
        s, t = np.nonzero(near < wait * wait)
        keys.append(order[s + start] * np.int64(count) + order[t + later])
    found = np.concatenate(keys)
    found = found[found // max(count, 1) != found % max(count, 1)]
    if related.size:
        found = found[related[np.minimum(np.searchsorted(related, found), related.size - 1)] != found]
    return np.stack([found // max(count, 1), found % max(count, 1)], axis=1)


def clearances(events: np.ndarray, related: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """How far each target lies out of the nearest cone that should not hold it; 0 or more.

    Cones that hold it already do not count.
    """
    count = len(events)
    nearest = np.full(targets.size, np.inf)
    square = np.einsum("pk,pk->p", events[:, 1:], events[:, 1:])
    rows = max(BLOCK // max(count, 1), 1)
    for start in range(0, targets.size, rows):
        block = targets[start : start + rows]
        near = square[block, None] + square[None] - 2 * (events[block, 1:] @ events[:, 1:].T)
        out = np.sqrt(np.maximum(near, 0)) - (events[block, None, 0] - events[None, :, 0])
        keys = np.arange(count)[None] * np.int64(count) + block[:, None]
        at = np.minimum(np.searchsorted(related, keys), related.size - 1)
        out[(related[at] == keys) | (out <= 0) | (np.arange(count)[None] == block[:, None])] = np.inf
        nearest[start : start + rows] = out.min(axis=1)
    return nearest
