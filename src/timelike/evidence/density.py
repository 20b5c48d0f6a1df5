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

        z = np.concatenate([edges, others])
        label = np.arange(len(z)) < len(edges)
        weight = np.concatenate([np.ones(len(edges)), weights * (1 + ratio) * len(edges) / weights.sum()])
        knots = np.unique(np.quantile(edges, KNOTS))
        design = np.column_stack([_segments(z, knots), np.ones(len(z))])

        def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
            x = design @ parameters  # logit P
            p = expit(x)
            value = weight @ (np.log1p(p) + label * np.logaddexp(0, -x))
            slopes = design.T @ (weight * (1 - p) * (p / (1 + p) - label))
            away = parameters[:-1] - 1.0
            return float(value + PULL * away @ away), slopes + np.append(2 * PULL * away, 0)

        bounds = [*[(1e-3, None)] * (len(knots) + 1), (None, None)]
        start = np.append(np.ones(len(knots) + 1), -math.log(ratio))
        found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
        return cls(knots, found[:-1], float(found[-1] + math.log(ratio)))


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
