"""The distance of `most_similar` as a plain function of two vectors, for scikit-learn, UMAP and numba.

It uses arithmetic and `math` only, so that numba can compile it: UMAP needs that for large tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from timelike.embedding.exact_ranking import squared_distances
from timelike.manifolds import Cylinder, Flat, Manifold, Quadric

#: (vector, vector) → distance.
Metric = Callable[[Any, Any], float]


def point_metric(manifold: Manifold) -> Metric:
    """D = √(|s²| + 2Δt²), or √s² in a Riemannian space, see `exact_ranking.squared_distances`.

    On anti-de Sitter spacetime Δt is an arc at y, so D is not quite symmetric.
    """
    if isinstance(manifold, Flat):
        return _flat(manifold.times, 0.0)
    if isinstance(manifold, Cylinder) and isinstance(manifold.base, Flat):
        return _flat(manifold.base.times, float(manifold.circumference))
    if isinstance(manifold, Quadric):
        return _quadric(manifold)

    def distance(x: Any, y: Any) -> float:
        columns = np.stack([np.asarray(x), np.asarray(y)], axis=1)
        return math.sqrt(squared_distances(manifold, columns, 0)[1])

    return distance


def _flat(times: int, circumference: float) -> Metric:
    def distance(x: Any, y: Any) -> float:
        time = y[0] - x[0]
        if circumference:
            time -= circumference * round(time / circumference)
        interval = -time * time if times else time * time
        for i in range(1, len(x)):
            step = (y[i] - x[i]) * (y[i] - x[i])
            interval += -step if i < times else step
        return math.sqrt(abs(interval) + (2 * time * time if times else 0.0))

    return distance


def _quadric(manifold: Quadric) -> Metric:
    negatives, kappa, radius = manifold.negatives, manifold.kappa, float(manifold.radius)
    circle, axis, arc = manifold.has_circle, manifold.time_axis, bool(manifold.arc)
    timelike = manifold.signature[0] > 0

    def distance(x: Any, y: Any) -> float:
        chord = other = 0.0  # squares of y − x and y + x
        for i in range(len(x)):
            sign = -1.0 if i < negatives else 1.0
            chord += sign * (y[i] - x[i]) * (y[i] - x[i])
            other += sign * (y[i] + x[i]) * (y[i] + x[i])
        u, w = -kappa * chord / 2, kappa * other / 2
        u, w = (w - 2, w) if u < -1 else (u, u + 2)  # equal on the surface; the smaller one is more accurate
        if u > 0:
            length = math.log1p(u + math.sqrt(u) * math.sqrt(u + 2))
        else:
            length = 2 * math.atan2(math.sqrt(-u), math.sqrt(max(w, 0.0)))
        square = radius * radius * length * length
        if not timelike:
            return math.sqrt(square)
        if circle:
            time = math.atan2(-y[1], y[0]) - math.atan2(-x[1], x[0])
            time -= 2 * math.pi * round(time / (2 * math.pi))
            time *= math.sqrt(y[0] * y[0] + y[1] * y[1]) if arc else 1.0
        else:
            time = math.asinh(y[axis]) - math.asinh(x[axis])
        return math.sqrt(square + 2 * radius * radius * time * time)

    return distance
