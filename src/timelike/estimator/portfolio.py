"""A portfolio of settings for each geometry, good for different graphs; a fit tries them by validation.

They come from a search in two rounds (`python -m paper.studies.portfolio`): 256 settings per geometry, drawn
at random and then around the better ones, on three splits of every DREAM5 network (listed and uniform
negatives) and on six duplication-divergence graphs, d = 10. Together these few have the highest validation
AP, the best single one first. No test edge was used.
"""

from __future__ import annotations

_TIMELESS = ("learning_rate", "tau", "r", "init_scale", "anneal")
_TRIPLE = ("learning_rate", "tau1", "tau2", "alpha", "r", "init_scale", "anneal")
_CYLINDER = (*_TRIPLE, "circumference")

_FOUND: dict[str, tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]] = {
    "minkowski": (_TRIPLE, (
        (0.1, 0.28, 0.16, 0.22, 0.16, 0.01, 1.0),
        (0.31, 0.049, 0.13, 0.063, -0.14, 0.013, 1.0),
        (0.086, 0.36, 0.054, 0.12, 0.25, 0.11, 1.0),
        (0.064, 0.46, 0.2, 0.42, 0.22, 0.011, 1.0),
        (0.017, 0.053, 0.041, 0.086, -0.069, 0.01, 1.0),
        (0.064, 0.12, 0.091, 0.074, 0.064, 0.1, 3.0),
    )),
    "cylindrical-minkowski": (_CYLINDER, (
        (0.017, 0.053, 0.041, 0.086, -0.069, 0.01, 1.0, 8.8),
        (0.029, 0.34, 0.025, 0.064, 0.12, 0.11, 1.0, 13.0),
        (0.07, 0.27, 0.14, 0.23, 0.17, 0.1, 1.0, 16.0),
        (0.16, 0.044, 0.041, 0.13, -0.12, 0.0069, 1.0, 19.0),
        (0.036, 0.27, 0.028, 0.2, 0.092, 0.1, 1.0, 11.0),
        (0.02, 0.059, 0.083, 0.2, 0.2, 0.01, 3.0, 13.0),
    )),
    "anti-de-sitter": (_TRIPLE, (
        (0.0096, 0.048, 0.034, 0.16, 0.032, 0.01, 1.0),
        (0.075, 0.032, 0.035, 0.15, -0.11, 0.0065, 1.0),
        (0.012, 0.11, 0.018, 0.039, 0.09, 0.16, 1.0),
        (0.0088, 0.067, 0.057, 0.39, 0.078, 0.0064, 1.0),
        (0.0061, 0.032, 0.024, 0.11, -0.042, 0.06, 1.0),
        (0.015, 0.088, 0.023, 0.1, 0.0078, 0.0072, 1.0),
    )),
    "euclidean": (_TIMELESS, (
        (0.0079, 0.19, 0.28, 0.1, 1.0),
        (0.025, 0.15, 0.55, 0.01, 1.0),
        (0.018, 0.52, 0.014, 0.01, 1.0),
        (0.0091, 0.03, 0.63, 0.01, 1.0),
        (0.084, 0.89, 1.3, 0.01, 1.0),
        (0.0084, 0.87, 1.5, 0.01, 3.0),
    )),
    "hyperboloid": (_TIMELESS, (
        (0.074, 0.76, 1.4, 0.01, 1.0),
        (0.0071, 0.17, 0.33, 0.01, 1.0),
        (0.016, 1.3, 1.5, 0.1, 3.0),
        (0.0045, 0.03, 1.4, 0.01, 1.0),
        (0.006, 0.52, 0.014, 0.01, 1.0),
        (0.035, 0.14, 1.4, 0.01, 1.0),
    )),
}  # fmt: skip

#: Geometries that use the portfolio of a similar one.
_LIKE = {
    "cylindrical-euclidean": "cylindrical-minkowski",
    "sphere": "hyperboloid",
    "de-sitter": "anti-de-sitter",
    "two-time-hyperboloid": "anti-de-sitter",
}


def portfolio(geometry: str) -> list[dict[str, float]]:
    """The settings to try in a geometry, as runs for `timelike.sweep`; may be empty."""
    names, rows = _FOUND.get(_LIKE.get(geometry, geometry), ((), ()))
    return [dict(zip(names, row, strict=True)) for row in rows]
