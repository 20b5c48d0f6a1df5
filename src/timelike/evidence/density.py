"""From the scores of held-out edges and of all other pairs to probabilities at the density of the graph."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np

#: By convention this share of all edges, known and unknown, is missing from the graph: the probability of a
#: pair that is no known edge has to assume something. `--ratio` replaces it.
MISSING = 0.15

#: Shares of the edges that score below the knots of a `Scale`.
KNOTS = (0.05, 0.2, 0.4, 0.6, 0.8, 0.9)

#: The fewest held-out edges from which a precision is read.
SURE = 10

#: How strongly the slopes of a `Scale` are drawn to 1, in units of log-likelihood.
PULL = 0.3

#: Numbers that stand for many pairs while a `Scale` is fitted.
BINS = 2000

#: The least slope of a `Scale`, and the greatest beyond its last point if it is carried over.
FLATTEST, STEEPEST = 1e-3, 2.0

#: Ranks at which a `Scale` is carried over to the whole graph, and the pairs that make the first one sure.
GRID, SURE_OTHERS = 40, 20

#: The most that more known edges may change a log-likelihood ratio.
FARTHEST = 1.0

#: Thresholds of a stored `Curve`.
THRESHOLDS = 300


def missing_ratio(nodes: int, edges: int) -> float:
    """Non-edges per missing edge among the pairs that are no known edges, if `MISSING` of all edges are."""
    hidden = edges * MISSING / (1 - MISSING)
    return max((nodes * (nodes - 1) - edges - hidden) / max(hidden, 1e-9), 1e-3)


@dataclasses.dataclass(frozen=True, eq=False)
class Scale:
    """z ↦ log-likelihood ratio of edges to non-edges: increasing and linear between the `knots`.

    `slopes` has one more entry than `knots`; the value at the first knot is `intercept`.
    """

    knots: np.ndarray
    slopes: np.ndarray
    intercept: float

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """The log-likelihood ratios."""
        return self.intercept + _segments(np.asarray(z, float), self.knots) @ self.slopes

    @classmethod
    def fit(cls, edges: np.ndarray, others: np.ndarray, weights: np.ndarray, ratio: float) -> Scale:
        """The scale of maximum likelihood.

        The others are not known to be non-edges: a share π = 1/(1 + ratio) of them are missing edges, and the
        best of them are mostly that. With P the probability that one of the others with score z is an edge,
        the density of z among edges is P/π times that among the others (Elkan and Noto 2008). So an edge,
        weighing π in all, is distinguished from the others, weighing 1, with probability
        P/(1 + P).
        """
        from scipy.optimize import minimize
        from scipy.special import expit

        knots = np.unique(np.quantile(edges, KNOTS))
        weights = weights * (1 + ratio) * len(edges) / weights.sum()
        binned = [_binned(edges, np.ones(len(edges)), knots), _binned(others, weights, knots)]
        z, weight = (np.concatenate(column) for column in zip(*binned, strict=True))
        label = np.arange(len(z)) < len(binned[0][0])
        design = np.column_stack([_segments(z, knots), np.ones(len(z))])

        def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
            x = design @ parameters  # logit P
            p = expit(x)
            value = weight @ (np.log1p(p) + label * np.logaddexp(0, -x))
            slopes = design.T @ (weight * (1 - p) * (p / (1 + p) - label))
            away = parameters[:-1] - 1.0
            return float(value + PULL * away @ away), slopes + np.append(2 * PULL * away, 0)

        bounds = [*[(FLATTEST, None)] * (len(knots) + 1), (None, None)]
        start = np.append(np.ones(len(knots) + 1), -math.log(ratio))
        found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
        return cls(knots, found[:-1], float(found[-1] + math.log(ratio)))

    @classmethod
    def through(cls, z: np.ndarray, values: np.ndarray, last: float) -> Scale:
        """The scale through points in ascending order, with the slope `last` beyond the last one."""
        slopes = np.diff(values) / np.diff(z)
        return cls(z, np.maximum([1.0, *slopes, last], FLATTEST), float(values[0]))

    def carried_over(
        self,
        others: np.ndarray,
        thinner: tuple[Scale, np.ndarray],
        whole: np.ndarray,
        weights: np.ndarray,
        steps: float,
    ) -> Scale:
        """The scale of scores from the whole graph, from this one of scores without the held-out edges.

        `others` and `whole` are the scores of the same weighted pairs here and there. The pair at some rank
        there is as likely an edge as the pair at this rank here, and more so if the likelihood at this rank
        grew with the number of known edges: `thinner` has the scale and the scores from graphs without still
        more edges, and the step from there to here is taken `steps` times more, at most `FARTHEST` in all.
        """
        other, fewer = thinner
        orders = [np.argsort(-z) for z in (others, fewer, whole)]
        sums = [np.cumsum(weights[order]) / weights.sum() for order in orders]
        first = max(total[min(SURE_OTHERS, len(total)) - 1] for total in sums)
        grid = np.geomspace(min(first, 1.0), 1.0, GRID)
        places = [
            order[np.searchsorted(total, grid * (1 - 1e-9))]
            for order, total in zip(orders, sums, strict=True)
        ]
        here, there, z = (x[at] for x, at in zip((others, fewer, whole), places, strict=True))
        values = self(here) + np.clip(steps * (self(here) - other(there)), -FARTHEST, FARTHEST)
        values = np.maximum.accumulate(values[::-1])
        once, at = np.unique(z[::-1], return_index=True)
        return Scale.through(once, values[at], min(float(self.slopes[-1]), STEEPEST))


def _binned(z: np.ndarray, weights: np.ndarray, knots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and weights that stand for these: `BINS` means of neighbours, none across a knot."""
    order = np.argsort(z)
    z, weights = z[order], weights[order]
    # Bins are finer at the top, where few pairs decide.
    ranks = np.unique(len(z) - np.geomspace(1, len(z), BINS).astype(int))
    starts = np.unique(np.concatenate([[0], ranks, np.searchsorted(z, knots)]))
    starts = starts[starts < len(z)]
    total = np.add.reduceat(weights, starts)
    return np.add.reduceat(weights * z, starts) / total, total


def _segments(z: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """How far z reaches into each segment between the knots: negative in the first one, below the knots."""
    first = np.minimum(z - knots[0], 0)
    inner = [np.clip(z - a, 0, b - a) for a, b in itertools.pairwise(knots)]
    return np.stack([first, *inner, np.maximum(z - knots[-1], 0)], axis=-1)


@dataclasses.dataclass(frozen=True, eq=False)
class Curve:
    """Shares of the held-out edges and of all non-edges whose log-likelihood ratio is ≥ `at`, descending."""

    at: np.ndarray
    edges: np.ndarray
    non_edges: np.ndarray

    @classmethod
    def of(cls, edges: np.ndarray, others: np.ndarray, weights: np.ndarray, missing: float) -> Curve:
        """The curve of these log-likelihood ratios; the others have weights.

        A share `missing` of the others are edges that nobody knows yet; they count as edges.
        """
        order = np.argsort(-others)
        total = np.append(0.0, np.cumsum(weights[order])) / weights.sum()
        ranks = np.unique(np.geomspace(1, len(edges), THRESHOLDS).astype(int))
        at = np.sort(edges)[::-1][ranks - 1]
        below = np.searchsorted(-others[order], -at, side="right")
        found = ranks / len(edges)
        return cls(at, found, np.maximum(total[below] - missing * found, 0) / (1 - missing))

    def precision_at(self, count: int, hidden: float, ratio: float) -> float:
        """The share of edges among the top `count`, if `hidden` edges lie among `ratio` times the non-edges.

        The first `SURE` edges count together: fewer say nothing about a share.
        """
        sure = min(int(np.searchsorted(self.edges, SURE * self.edges[0])), len(self.edges) - 1)
        edges, non_edges = hidden * self.edges[sure:], hidden * ratio * self.non_edges[sure:]
        listed = edges + non_edges
        place = float(np.clip(count, listed[0], listed[-1]))
        return float(np.interp(place, listed, edges) / place)

    def best_f1(self, ratio: float) -> float:
        """The log-likelihood ratio from which on pairs count as edges, for the best F1 at this ratio."""
        f1 = 2 * self.edges / (1 + self.edges + ratio * self.non_edges)
        return float(self.at[np.argmax(f1)])
