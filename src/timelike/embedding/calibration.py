"""Calibrated probabilities, for a stated ratio of non-edges to edges among the pairs."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from timelike._util.checks import positive_number
from timelike.core.numerics import SATURATION

#: The fewest validation edges, and non-edges, that calibration is fitted to.
FEWEST = 10
#: Log-odds below which the scale may be compressed; the first means never.
KNEES = (-1e9, -16.0, -8.0, -4.0, -2.0, 0.0)
#: The gain in log-likelihood that justifies a knee.
PRICE = 2.0


@dataclasses.dataclass(frozen=True)
class Calibration:
    """P = σ(a·x + b), Platt scaling of a model's probability F on validation pairs, x = logit F.

    a = `slope` > 0, b = `intercept`. Below the `knee`, x is compressed logarithmically: a cold model is very
    sure of its mistakes, and a few of them would otherwise flatten P everywhere. P increases with F, so no
    ranking changes. P holds for `ratio` non-edges per edge; `at_ratio` converts it to another ratio. `edges`
    and `non_edges` count the pairs of the fit.
    """

    slope: float
    intercept: float
    ratio: float
    edges: int
    non_edges: int
    knee: float = KNEES[0]

    def __post_init__(self) -> None:
        for name in ("slope", "ratio"):
            positive_number(f"Calibration: {name}", getattr(self, name))
        if not math.isfinite(self.intercept):
            raise ValueError(f"Calibration: intercept is {self.intercept}; it must be finite")

    def log_prob(self, log_prob: np.ndarray) -> np.ndarray:
        """log P from log F."""
        return -np.logaddexp(0.0, -self.log_odds(log_prob)).astype(log_prob.dtype)

    def log_odds(self, log_prob: np.ndarray) -> np.ndarray:
        """log P − log(1 − P) from log F."""
        return self.slope * _bent(log_odds(log_prob), self.knee) + self.intercept

    def at_ratio(self, ratio: float) -> Calibration:
        """The same calibration for pairs with `ratio` non-edges per edge."""
        shift = math.log(self.ratio / positive_number("ratio", ratio))
        return dataclasses.replace(self, ratio=float(ratio), intercept=self.intercept + shift)

    def __str__(self) -> str:
        return (
            f"calibrated on {self.edges:,} edges and {self.non_edges:,} non-edges, "
            f"for {round(self.ratio, 2):g} non-edges per edge"
        )


def fit_calibration(log_prob: np.ndarray, labels: np.ndarray) -> Calibration | str:
    """Fit a, b and the knee to validation pairs by maximum likelihood; return the reason if that fails.

    With several ensemble members, (members, pairs), x is the mean of their log-odds after the knee, so the
    calibrated log-odds a·x + b are the mean of the members' too.

    Labels are smoothed as in Platt (1999), (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2), so that perfectly separated
    pairs do not require infinite certainty.
    """
    edges = int(np.sum(labels))
    non_edges = labels.size - edges
    if min(edges, non_edges) < FEWEST:
        return (
            f"not calibrated: {edges} validation edges and {non_edges} non-edges, fewer than {FEWEST} of each"
        )
    target = np.where(labels, (edges + 1) / (edges + 2), 1 / (non_edges + 2))
    x, start = np.atleast_2d(log_odds(log_prob)), math.log((edges + 1) / (non_edges + 1))
    fits = [(*_fit(_bent(x, knee).mean(axis=0), target, start), knee) for knee in KNEES]
    _, slope, intercept, knee = min(fits, key=lambda fit: fit[0] + PRICE * (fit[-1] != KNEES[0]))
    if not slope > 0:
        return "not calibrated: higher probabilities do not make validation edges likelier; use ranks alone"
    return Calibration(slope, intercept, non_edges / edges, edges, non_edges, knee)


def _bent(x: np.ndarray, knee: float) -> np.ndarray:
    """x above the knee, knee − log(1 + knee − x) below it: smooth and increasing."""
    return np.where(x < knee, knee - np.log1p(np.maximum(knee - x, 0)), x)


def _fit(x: np.ndarray, target: np.ndarray, intercept: float) -> tuple[float, float, float]:
    """Minimise the cross-entropy of σ(ax + b), which is convex, from a = 0; return (loss, a, b)."""
    from scipy.optimize import minimize
    from scipy.special import expit

    def loss(ab: np.ndarray) -> tuple[float, np.ndarray]:
        z = design @ ab
        return np.mean(np.logaddexp(0, z) - target * z), design.T @ (expit(z) - target) / x.size

    center, scale = np.mean(x), max(np.std(x), 1e-12)
    design = np.stack([(x - center) / scale, np.ones_like(x)], axis=1)
    found = minimize(loss, [0.0, intercept], jac=True, options={"gtol": 1e-10})
    slope = float(found.x[0] / scale)
    return found.fun * x.size, slope, float(found.x[1] - slope * center)


def log_odds(log_prob: np.ndarray) -> np.ndarray:
    """log F − log(1 − F) in float64, an increasing function of log F.

    Beyond F = 1 − `SATURATION`, log(1 − F) continues along its tangent, as in `numerics.log1mexp`.
    """
    x = np.asarray(log_prob, np.float64)
    safe = np.minimum(x, np.log1p(-SATURATION))
    return x - np.log(-np.expm1(safe)) + (1 / SATURATION - 1) * (x - safe)
