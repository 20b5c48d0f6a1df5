"""Coordinates of nodes in a picture: time up, one direction of space across.

Time is always shown exactly. Space is reduced to the direction along which the nodes vary most (for 3-D
views two directions); the fraction of variance that this loses is recorded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from timelike.core.manifold import Manifold
from timelike.embedding.exports import times
from timelike.manifolds.cylinder import Cylinder
from timelike.manifolds.flat import Flat
from timelike.manifolds.quadric import Quadric, is_anti_de_sitter


class View(NamedTuple):
    """The nodes in a plane of time and space; `second` is a further direction of space for 3-D views.

    `period` is the length of the time circle, if there is one. If `light` is set, light has slope ±1: the
    drawn cone of a node contains every node in its true cone, and no others in two dimensions. `wall` is
    the |space| that nothing passes.
    """

    time: np.ndarray
    space: np.ndarray
    second: np.ndarray
    lost: float
    lost_in_3d: float
    period: float | None = None
    light: bool = False
    wall: float | None = None
    time_label: str = "time"
    space_label: str = "space"


def lost_note(lost: float) -> list[str]:
    """The footnote of a picture that shows one of several directions of space; empty if there is only one."""
    return [f"space: main direction, {lost:.0%} of its variance not shown"] if lost > 0 else []


def view_of(manifold: Manifold, points: np.ndarray, fit: int | None = None) -> View:
    """The view of a table of points; the main directions are fitted to the first `fit` (None: all).

    Flat spaces show their coordinates, anti-de Sitter and de Sitter spaces coordinates in which light has
    slope 1. Any other manifold shows the time from the origin and the main direction of its coordinates.
    """
    x = np.asarray(points, float)
    if isinstance(manifold, Cylinder):
        view, turn = view_of(manifold.base, points, fit), float(manifold.circumference)
        return view._replace(time=wrap(view.time, turn), period=turn)
    if isinstance(manifold, Flat):
        return View(x[:, 0], *main_directions(x[:, 1:], fit), light=manifold.times == 1)
    if isinstance(manifold, Quadric):
        return _quadric_view(manifold, x, fit)
    return View(times(manifold, points).astype(float), *main_directions(x, fit))


def _quadric_view(manifold: Quadric, x: np.ndarray, fit: int | None) -> View:
    if is_anti_de_sitter(manifold):
        return _anti_de_sitter_view(x, fit)
    if manifold.kappa > 0 and manifold.negatives == 1:
        return _de_sitter_view(x, fit)
    radius = float(manifold.radius)
    if manifold.has_circle:
        return View(radius * _angle(x), *main_directions(x[:, 2:], fit), period=2 * np.pi * radius)
    axis = manifold.time_axis
    return View(radius * np.arcsinh(x[:, axis]), *main_directions(x[:, axis + 1 :], fit))


def _anti_de_sitter_view(x: np.ndarray, fit: int | None) -> View:
    """(θ, σ), sin σ = x·v / r: the wall σ = ±π/2 lies at |x| → ∞; light has dθ = ±dσ.

    s² < 0 ⟺ cos Δθ < cos Δσ, from −⟨p, q⟩ = r_p r_q cos Δθ − x_p·x_q < 1 divided by r_p r_q; in
    more dimensions Δσ is the angle between (1, x)/r, which is at least |Δ arcsin(x·v / r)|.
    """
    main = main_directions(x[:, 2:] / np.hypot(x[:, 0], x[:, 1])[:, None], fit)
    sigma, second = (np.arcsin(np.clip(along, -1, 1)) for along in main[:2])
    return View(
        _angle(x), sigma, second, *main[2:], 2 * np.pi, True, np.pi / 2,
        time_label="time θ = t/r", space_label="space σ = arcsin(x/r)",
    )  # fmt: skip


def _de_sitter_view(x: np.ndarray, fit: int | None) -> View:
    """(η, φ): conformal time η = arctan x₀ and the angle φ on the spatial sphere; light has dη = ±dφ."""
    on_sphere = x[:, 1:] / np.hypot(1, x[:, :1])
    space, second, lost, lost_in_3d = main_directions(on_sphere[:, :-1], fit)
    rest = np.copysign(np.sqrt(np.clip(1 - space**2, 0, 1)), on_sphere[:, -1])
    return View(
        np.arctan(x[:, 0]), np.arctan2(space, rest), second, lost, lost_in_3d, light=True,
        time_label="conformal time η", space_label="space φ",
    )  # fmt: skip


def words_for(manifold: Manifold) -> str:
    """The name of a manifold in titles."""
    if isinstance(manifold, Cylinder):
        return f"cylindrical {words_for(manifold.base)}"
    if isinstance(manifold, Flat) and manifold.times < 2:
        return ("Euclidean space", "Minkowski spacetime")[manifold.times]
    if isinstance(manifold, Quadric) and manifold.negatives < 3:
        below = {1: "hyperbolic space", 2: "anti-de Sitter spacetime"}
        above = {0: "the sphere", 1: "de Sitter spacetime"}
        names = below if manifold.kappa < 0 else above
        return names.get(manifold.negatives, type(manifold).__name__)
    return type(manifold).__name__


def _angle(x: np.ndarray) -> np.ndarray:
    """θ as in `polar_chart`: the future lies towards −x₁."""
    return np.arctan2(-x[:, 1], x[:, 0])


def depth(x: np.ndarray) -> np.ndarray:
    """The proper distance arcosh r of points of anti-de Sitter space from the circle r = 1."""
    return np.arccosh(np.maximum(np.hypot(x[:, 0], x[:, 1]), 1))


def main_directions(space: np.ndarray, fit: int | None = None) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Coordinates along the first two principal directions, and the variance lost by showing one or both.

    The directions are fitted to the first `fit` rows (None: all). The origin is not moved, and a single
    direction is kept as it is.
    """
    axes, shares = main_axes(space[:fit])
    along = space @ axes
    return (along[:, 0], along[:, 1], max(0.0, 1 - shares[0]), max(0.0, 1 - shares.sum()))


def main_axes(space: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first two principal directions as columns (0 if missing), and their fractions of the variance."""
    dim = space.shape[1]
    if dim < 2:
        return np.eye(dim, 2), np.array([1.0, 0.0])
    centred = space - space.mean(axis=0)
    variances, directions = np.linalg.eigh(centred.T @ centred)
    axes, total = directions[:, :-3:-1], variances.sum()
    axes = axes * np.sign(axes[np.argmax(np.abs(axes), axis=0), [0, 1]])  # fix the signs
    return axes, variances[:-3:-1] / total if total > 0 else np.array([1.0, 0.0])


def half_turn(manifold: Manifold) -> float | None:
    """Half the proper length of the time circle; None if time is not a circle."""
    if isinstance(manifold, Cylinder):
        return float(manifold.circumference) / 2
    if isinstance(manifold, Quadric) and manifold.has_circle:
        return np.pi * float(manifold.radius)
    return None


def wrap(time: np.ndarray, period: float) -> np.ndarray:
    """`time` wrapped into [−period/2, period/2)."""
    return np.mod(time + period / 2, period) - period / 2
