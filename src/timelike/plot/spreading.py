"""A scale that spreads: where nodes are crowded an axis is stretched, and its ticks tell the true values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: How much of the picture goes by the number of nodes; the rest goes by the coordinate itself.
EVEN = 0.65

#: Quantiles of the nodes that a scale goes through, and knots between two of them.
QUANTILES, BETWEEN = 17, 12

#: Share of the picture left free at both ends.
MARGIN = 0.03

#: Least distance of two ticks, as a share of the axis.
APART = 0.1


class Warp(NamedTuple):
    """A monotone map of coordinates to [0, 1], linear between knots and beyond them."""

    knots: np.ndarray
    places: np.ndarray

    def forward(self, x: np.ndarray) -> np.ndarray:
        """From coordinates to places."""
        return _piecewise(x, self.knots, self.places)

    def back(self, place: np.ndarray) -> np.ndarray:
        """From places to coordinates."""
        return _piecewise(place, self.places, self.knots)

    def ticks(self, count: int = 6) -> np.ndarray:
        """Round coordinates that are not crowded on paper."""
        from matplotlib.ticker import MaxNLocator

        low, high = self.knots[[0, -1]]
        kept: list[float] = []
        for most in (count, 4 * count):  # the coarse ones first, then those that fit between
            for tick in MaxNLocator(most, steps=[1, 2, 5, 10]).tick_values(low, high):
                near = [abs(float(np.subtract(*self.forward(np.array([tick, other]))))) for other in kept]
                if low <= tick <= high and min(near, default=1.0) >= APART:
                    kept.append(float(tick))
        return np.array(sorted(kept))


def spread(x: np.ndarray, limits: np.ndarray, even: float = EVEN) -> Warp:
    """The scale of one axis between `limits`: a share `even` of it goes by the ranks of the nodes `x`.

    Nodes at the same place share the mean of their ranks, and the first and last ranks lie at both ends.
    """
    from scipy.interpolate import PchipInterpolator

    low, high = (float(limit) for limit in limits)
    inside = np.sort(x[(x > low) & (x < high)])
    if not len(inside):
        return straight(limits)
    quantiles, same = np.unique(np.quantile(inside, np.linspace(0, 1, QUANTILES)), return_inverse=True)
    share = np.bincount(same, np.linspace(0, 1, QUANTILES)) / np.bincount(same)
    share = (share - share[0]) / np.ptp(share) if len(share) > 1 else share
    at = np.concatenate([[low], quantiles, [high]])
    places = np.concatenate([[0.0], MARGIN + (1 - 2 * MARGIN) * share, [1.0]])
    apart = np.append(True, np.diff(at) > 1e-6 * (high - low))
    at, places = at[apart], places[apart]
    at[-1], places[-1] = high, 1.0
    blend = (1 - even) * (at - low) / (high - low) + even * places
    steps = np.linspace(0, 1, BETWEEN, endpoint=False)
    knots = np.append((at[:-1, None] + steps * np.diff(at)[:, None]).reshape(-1), high)
    return Warp(knots, PchipInterpolator(at, blend)(knots))  # smooth and monotone


def straight(limits: np.ndarray) -> Warp:
    """The linear scale between `limits`."""
    return Warp(np.asarray(limits, float), np.array([0.0, 1.0]))


def _piecewise(x: np.ndarray, knots: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Linear between knots, and continued with the slopes at both ends."""
    x = np.asarray(x, float)
    slopes = np.diff(places)[[0, -1]] / np.diff(knots)[[0, -1]]
    inside = np.interp(x, knots, places)
    below, above = np.minimum(x - knots[0], 0), np.maximum(x - knots[-1], 0)
    return inside + slopes[0] * below + slopes[1] * above
