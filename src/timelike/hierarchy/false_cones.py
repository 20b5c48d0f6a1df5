"""Finds events in light cones that should not hold them."""

from __future__ import annotations

import numpy as np

#: Pairs compared at a time, and in one search.
BLOCK, SEARCHED = 1 << 22, 1 << 30


def margins(events: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Δt − |Δx| of each pair: ≥ 0 if the second event lies in the future light cone of the first."""
    delta = events.take(pairs[:, 1], axis=0) - events.take(pairs[:, 0], axis=0)
    return delta[:, 0] - np.sqrt(np.einsum("pk,pk->p", delta[:, 1:], delta[:, 1:]))


class FalseCones:
    """Pairs (s, t) that are not `related`, with t in the cone of s or nearly so.

    A search compares at most `SEARCHED` pairs: with over some 40,000 events, all targets of random sources;
    pairs of the other sources are those that the search before found. It aims at `most` pairs: if the last
    search found more, only a random part of the targets is compared.
    """

    def __init__(self, related: np.ndarray, count: int, most: int, rng: np.random.Generator) -> None:
        self.related, self.count, self.most, self.rng = related, max(count, 1), most, rng
        self.known = np.zeros(0, np.int64)
        self.searched = np.zeros(self.count, bool)
        self.part = min(1.0, most / self.count**2)

    def near(self, events: np.ndarray, within: float) -> tuple[np.ndarray, np.ndarray, float]:
        """False pairs with |Δx| − Δt below `within`, that margin, and the share of all such pairs."""
        order = np.argsort(events[:, 0], kind="stable")
        rows = max(BLOCK // self.count, 1)
        starts = np.arange(0, self.count, rows)
        affordable = max(int(2 * SEARCHED / (rows * self.count * self.part)), 1)
        if starts.size > affordable:
            starts = self.rng.choice(starts, affordable, replace=False)
        targets = np.flatnonzero(self.rng.random(self.count) < self.part)
        found = self._search(events[order], order, starts, rows, targets, within)
        fresh = np.zeros(self.count, bool)
        for start in starts:
            fresh[order[start : start + rows]] = True
        self.searched |= fresh
        self.known = np.concatenate([self.known[~fresh[self.known // self.count]], found])
        pairs = np.stack([self.known // self.count, self.known % self.count], axis=1)
        out = -margins(events, pairs)
        close, share = out < within, self.part * float(self.searched.mean())
        self.part = float(np.clip(self.most / max(close.sum(), 1) * self.part, self.part / 100, 1))
        return pairs[close], out[close], share

    def _search(
        self,
        events: np.ndarray,
        order: np.ndarray,
        starts: np.ndarray,
        rows: int,
        targets: np.ndarray,
        within: float,
    ) -> np.ndarray:
        """Keys of the false pairs of some blocks of sources; the events are sorted by time."""
        time, space = (np.ascontiguousarray(x, np.float32) for x in (events[:, 0], events[:, 1:]))
        square = np.einsum("pk,pk->p", space, space)
        late, end_points, lengths, names = (x[targets] for x in (time, -2 * space, square, order))
        keys = [np.zeros(0, np.int64)]
        for start in starts:
            end, later = start + rows, int(np.searchsorted(late, time[start] - within))
            near = space[start:end] @ end_points[later:].T
            near += square[start:end, None]
            near += lengths[None, later:]
            wait = np.maximum(late[None, later:] + (np.float32(within) - time[start:end, None]), 0)
            wait *= wait
            s, t = np.nonzero(near < wait)
            keys.append(order[s + start] * np.int64(self.count) + names[t + later])
        found = np.concatenate(keys)
        found = found[found // self.count != found % self.count]
        if not self.related.size:
            return found
        at = np.minimum(np.searchsorted(self.related, found), self.related.size - 1)
        return found[self.related[at] != found]


def clearances(events: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """How far each target lies out of the nearest cone that does not hold it.

    Beyond `SEARCHED` pairs, the other targets get what nine tenths of the first ones have.
    """
    count = len(events)
    nearest = np.full(targets.size, np.inf)
    x, time = np.ascontiguousarray(events[:, 1:], np.float32), events[:, 0].astype(np.float32)
    square = np.einsum("pk,pk->p", x, x)
    rows, known = max(BLOCK // max(count, 1), 1), min(SEARCHED // max(count, 1), targets.size)
    for start in range(0, known, rows):
        block = targets[start : min(start + rows, known)]
        near = square[block, None] + square[None] - 2 * (x[block] @ x.T)
        out = np.sqrt(np.maximum(near, 0)) - (time[block, None] - time[None])
        out[(out <= 0) | (np.arange(count)[None] == block[:, None])] = np.inf
        nearest[start : start + block.size] = out.min(axis=1)
    if known < targets.size:
        nearest[known:] = np.quantile(nearest[:known], 0.1)
    return nearest
