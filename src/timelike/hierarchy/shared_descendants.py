"""Moves overlapping light cones until they hold shared descendants, and nothing else, inside them.

Nested balls are exact for a tree. A node with several parents must lie in the cones of all of them. Here all
events of such a part of a hierarchy move at once, by gradient steps in single precision: each pair of the
closure pulls the descendant into the cone of its ancestor, each false cone pushes its target out. Pairs that
hold by a clear margin feel nothing, so only the others are computed; they are searched again now and then.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from timelike.hierarchy.false_cones import FalseCones, margins

#: Steps between two searches for wrong pairs, for at most `SMALL` events and for more of them.
EVERY, SMALL, SELDOM = 10, 3000, 25
#: The most pairs of the closure that a search looks at, and the most that move, for each kind and each edge.
SEARCHED, MOVING = 2_000_000, 4
#: False pairs that a search aims at, for each one that moves; the most that one counts beside a missed pair.
FOUND, FALSE = 10, 50.0
#: Moved pairs in all steps together, and the fewest and the most steps that they allow.
WORK, FEWEST, MOST = 1e8, 300, 2000


@dataclasses.dataclass(frozen=True)
class Schedule:
    """How events move: `steps` of Adam, for margins that narrow from `wide` to `narrow`.

    Lengths are in units of the whole part; a step is at most `rate` widths. A pair of margin m counts
    softplus(`bias` − m/width); beyond `reach` widths it is not looked at. In the end a pair counts σ instead
    of softplus, nearly so if `hopeless` is near 1: pairs that cannot be mended stop pulling others along.
    """

    steps: int
    rate: float = 0.25
    wide: float = 0.01
    narrow: float = 0.001
    bias: float = 0.5
    reach: float = 4.0
    hopeless: float = 0.98

    def at(self, step: int) -> tuple[float, float]:
        """The rate and the width at a step."""
        done = step / max(self.steps, 1)
        width = self.wide * (self.narrow / self.wide) ** min(1.0, done / 0.8)
        return self.rate * width * min(1.0, 5 * (1.002 - done)), width

    def given_up(self, step: int) -> float:
        """How little hopeless pairs count at a step, from 0 to `hopeless`."""
        return self.hopeless * min(1.0, step / max(self.steps, 1) / 0.6)


@dataclasses.dataclass(frozen=True, eq=False)
class Shared:
    """What must lie in what: `edges` (n, 2) and all `related` pairs, as sorted keys ancestor·N + descendant.

    `mass[v]` is the number of nodes that lie at v.
    """

    edges: np.ndarray
    related: np.ndarray
    mass: np.ndarray

    @property
    def steps(self) -> int:
        """As many steps as are affordable."""
        return int(np.clip(WORK / (5 * max(len(self.edges), 1)), FEWEST, MOST))

    @property
    def every(self) -> int:
        """Steps between two searches."""
        return EVERY if self.mass.size <= SMALL else SELDOM

    @property
    def below(self) -> np.ndarray:
        """The mass of each node and of all its descendants."""
        count = self.mass.size
        return np.bincount(self.related // count, self.mass[self.related % count], count) + self.mass


def moved(events: np.ndarray, shared: Shared, schedule: Schedule, seed: int) -> np.ndarray:
    """The events (t, x₁, …) at the search that found the fewest wrong pairs, each counted by its mass."""
    rng = np.random.default_rng(seed)
    search = _Search(shared, rng)
    best, fewest = events, np.inf
    events = events.astype(np.float32)
    first, second = np.zeros_like(events), np.zeros_like(events)
    for step in range(schedule.steps + 1):
        rate, width = schedule.at(step)
        if step % shared.every == 0 or step == schedule.steps:
            force, wrong = search.forces(events, schedule.reach * width)
            if wrong < fewest:
                best, fewest = events.astype(float), wrong
            if wrong == 0:
                break
        slope = force.slope(events, width, schedule.bias, schedule.given_up(step))
        first += 0.1 * (slope - first)
        second += 0.01 * (slope * slope - second)
        mean, square = first / (1 - 0.9 ** (step + 1)), second / (1 - 0.99 ** (step + 1))
        events -= rate * mean / (np.sqrt(square) + 1e-9)
    return best


class _Search:
    """Finds the pairs that are wrong or nearly so."""

    def __init__(self, shared: Shared, rng: np.random.Generator) -> None:
        self.shared, self.rng = shared, rng
        self.count = shared.mass.size
        self.weights = np.sqrt(shared.mass / shared.mass.mean())
        below, total = shared.below, shared.mass.sum()
        self.edge_weights = np.sqrt(below[shared.edges[:, 1]] / shared.mass.mean())
        # A cone that should hold nearly all nodes is judged by the few that it should not.
        self.false_weights = np.minimum(total / np.maximum(total - below, 1), FALSE)
        self.most = MOVING * len(shared.edges) + 1000
        self.false = FalseCones(shared.related, self.count, FOUND * self.most, rng)

    def forces(self, events: np.ndarray, within: float) -> tuple[_Force, float]:
        """The pairs with margins below `within`, and the mass of those that are wrong."""
        mass = self.shared.mass
        missed, share = self._missed()
        margin = margins(events, missed)
        wrong = mass[missed[margin < 0, 1]].sum() / share
        close = margin < within
        kept, near_scale = self._some(missed[close])
        false, out, seen = self.false.near(events, within)
        inside = false[out < 0]
        wrong += (self.false_weights[inside[:, 0]] * mass[inside[:, 1]]).sum() / seen
        pushed, far_scale = self._some(false)
        weights = [
            self.edge_weights,
            self.weights[kept[:, 1]] * near_scale / share,
            self.weights[pushed[:, 1]] * self.false_weights[pushed[:, 0]] * far_scale / seen,
        ]
        return _Force(self.count, self.shared.edges, kept, pushed, weights), float(wrong)

    def _missed(self) -> tuple[np.ndarray, float]:
        """Pairs of the closure, and their share of all of them."""
        keys = self.shared.related
        share = min(1.0, SEARCHED / max(keys.size, 1))
        if share < 1:
            keys = keys[self.rng.integers(0, keys.size, SEARCHED)]
        return np.stack([keys // self.count, keys % self.count], axis=1), share

    def _some(self, pairs: np.ndarray) -> tuple[np.ndarray, float]:
        """At most `most` random ones, and the factor by which they are fewer."""
        if len(pairs) <= self.most:
            return pairs, 1.0
        return pairs[self.rng.permutation(len(pairs))[: self.most]], len(pairs) / self.most


class _Force:
    """The loss Σ w ℓ(bias − margin/width) over edges, related pairs and false cones, as its slope.

    ℓ′ = σ(1 − hσ), with h from 0 (softplus) to 1 (σ).
    """

    def __init__(
        self,
        count: int,
        edges: np.ndarray,
        related: np.ndarray,
        false: np.ndarray,
        weights: list[np.ndarray],
    ) -> None:
        from scipy.sparse import csr_array

        self.sources, self.targets = np.concatenate([edges, related, false]).T.copy()
        pairs = self.sources.size
        self.signs = np.repeat(np.array([1, -1], np.float32), [pairs - len(false), len(false)])
        self.weights = (self.signs * np.concatenate(weights)).astype(np.float32)
        rows = np.concatenate([self.targets, self.sources])
        values = np.repeat(np.array([1, -1], np.float32), pairs)
        self.ends = csr_array((values, (rows, np.tile(np.arange(pairs), 2))), shape=(count, pairs))

    def slope(self, events: np.ndarray, width: float, bias: float, give_up: float) -> np.ndarray:
        """The derivative by every event, times the width."""
        delta = events.take(self.targets, axis=0) - events.take(self.sources, axis=0)
        space = np.sqrt(np.einsum("pk,pk->p", delta[:, 1:], delta[:, 1:]) + np.float32(1e-24))
        excess = np.clip(self.signs * (delta[:, 0] - space) / width - bias, -50, 50)
        wrong = 1 / (1 + np.exp(excess))
        strength = self.weights * wrong * (1 - give_up * wrong)
        delta *= (strength / space)[:, None]
        delta[:, 0] = -strength
        return self.ends @ delta
