"""Where the nodes of an embedding stand in a picture: time up, one direction of space across.

Time is never reduced. Space is: of several directions the one is kept along which the nodes vary
most (two in three dimensions), and the share of the variance that is lost is counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from timelike.core.manifold import Manifold
from timelike.embedding.exports import times
from timelike.manifolds.cylinder import Cylinder
from timelike.manifolds.flat import Flat
from timelike.manifolds.quadric import Quadric, is_anti_de_sitter


class Space(NamedTuple):
    """Coordinates along the two main directions, and the variance lost with one and with both."""

    space: np.ndarray
    second: np.ndarray
    lost: float
    lost_in_3d: float


class View(NamedTuple):
    """The nodes in a plane of time and space; `second` is another direction of space, for three dimensions.

    `period` is the length of the circle of time, if time is one. Where `light` is set, light runs
    along lines of slope ±1: the points inside the drawn cone of a node contain all that are inside
    its true one, and are the same in two dimensions. `wall` is the |space| that nothing passes.
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


def lost_note(lost: float) -> str:
    """What to write under a picture that shows one direction of space; nothing if there is only one."""
    return f"space: main direction, {lost:.0%} of its variance not shown" if lost > 0 else ""


def view_of(manifold: Manifold, points: np.ndarray, fit: int | None = None) -> View:
    """The view of a table of points, by the family of their manifold.

    The main directions are those of the first `fit` points (None: of all).

    Flat spaces show their coordinates. Anti-de Sitter and de Sitter are shown in the coordinates in
    which light has slope 1. A manifold of another kind is shown by its time from the origin and the
    main direction of its coordinates.
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
    """(θ, σ), sin σ = x·v / r: at |x| → ∞ lies the wall σ = ±π/2; light has dθ = ±dσ.

    s² < 0 ⟺ cos Δθ < cos Δσ, from −⟨p, q⟩ = r_p r_q cos Δθ − x_p·x_q < 1 divided by r_p r_q; in
    more dimensions Δσ is the angle between (1, x)/r, which |Δ arcsin(x·v / r)| does not pass.
    """
    found = main_directions(x[:, 2:] / np.hypot(x[:, 0], x[:, 1])[:, None], fit)
    sigma, second = (np.arcsin(np.clip(along, -1, 1)) for along in found[:2])
    return View(
        _angle(x), sigma, second, *found[2:], 2 * np.pi, True, np.pi / 2,
        time_label="time θ = t/r", space_label="space σ = arcsin(x/r)",
    )  # fmt: skip


def _de_sitter_view(x: np.ndarray, fit: int | None) -> View:
    """(η, φ): conformal time η = arctan x₀ and the angle φ on the sphere of space; light has dη = ±dφ."""
    on_sphere = x[:, 1:] / np.hypot(1, x[:, :1])
    found = main_directions(on_sphere[:, :-1], fit)
    rest = np.copysign(np.sqrt(np.clip(1 - found.space**2, 0, 1)), on_sphere[:, -1])
    return View(
        np.arctan(x[:, 0]), np.arctan2(found.space, rest), *found[1:], light=True,
        time_label="conformal time η", space_label="space φ",
    )  # fmt: skip


def words_for(manifold: Manifold) -> str:
    """What to call a manifold in a title."""
    if isinstance(manifold, Cylinder):
        return f"cylindrical {words_for(manifold.base)}"
    if isinstance(manifold, Flat) and manifold.times < 2:
        return ("Euclidean space", "Minkowski spacetime")[manifold.times]
    if isinstance(manifold, Quadric) and manifold.negatives < 3:
        below = {1: "hyperbolic space", 2: "anti-de Sitter spacetime"}
        above = {0: "the sphere", 1: "de Sitter spacetime"}
        kind = (below if manifold.kappa < 0 else above).get(manifold.negatives)
        return kind or type(manifold).__name__
    return type(manifold).__name__


def _angle(x: np.ndarray) -> np.ndarray:
    """θ of `polar_chart`: the future lies towards −x₁."""
    return np.arctan2(-x[:, 1], x[:, 0])


def main_directions(space: np.ndarray, fit: int | None = None) -> Space:
    """Coordinates along the first two principal directions, and the shares of variance in the others.

    The directions are those of the first `fit` rows (None: of all). The origin stays where it is. A
    single direction is shown as it is.
    """
    axes, shares = _main_axes(space[:fit])
    along = space @ axes
    return Space(along[:, 0], along[:, 1], max(0.0, 1 - shares[0]), max(0.0, 1 - shares.sum()))


def main_axis(space: np.ndarray) -> tuple[np.ndarray, float]:
    """The first principal direction as a unit vector, and the share of variance in the others."""
    axes, shares = _main_axes(space)
    return axes[:, 0], max(0.0, 1 - float(shares[0]))


def _main_axes(space: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first two principal directions as columns (0 where there is none), and their shares of variance."""
    dim = space.shape[1]
    if dim < 2:
        return np.eye(dim, 2), np.array([1.0, 0.0])
    centred = space - space.mean(axis=0)
    variances, directions = np.linalg.eigh(centred.T @ centred)
    axes, total = directions[:, :-3:-1], variances.sum()
    axes = axes * np.sign(axes[np.argmax(np.abs(axes), axis=0), [0, 1]])  # one sign for the same data, always
    return axes, variances[:-3:-1] / total if total > 0 else np.array([1.0, 0.0])


def half_turn(manifold: Manifold) -> float | None:
    """Half the proper length of the circle of time, where time is one."""
    if isinstance(manifold, Cylinder):
        return float(manifold.circumference) / 2
    if isinstance(manifold, Quadric) and manifold.has_circle:
        return np.pi * float(manifold.radius)
    return None


def wrap(time: np.ndarray, period: float) -> np.ndarray:
    """`time` brought into [−period/2, period/2)."""
    return np.mod(time + period / 2, period) - period / 2
