"""A flat spacetime with as many times as spaces, whose time axis is twisted, and popular events."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from timelike._util.checks import show
from timelike.core.likelihood import Likelihood, LogProb
from timelike.core.manifold import Manifold, Point, Separation
from timelike.core.model import Model
from timelike.core.numerics import log_sigmoid
from timelike.core.struct import POSITIVE, REAL, Number, number, struct
from timelike.manifolds import Flat
from timelike.manifolds.flat import check_dim


@struct
class TwistedTime(Likelihood):
    """F = σ((r − s² + μ_p + μ_q)/τ₁ + Δt/τ₂) with a twisted time difference Δt.

    The coordinates of an event are (t, z⁻, μ, z⁺): a time, d timelike and d spacelike coordinates, and a mass
    μ, its popularity. The interval s² = |Δz⁺|² − |Δz⁻|² is symmetric. Time twists along the way,
    Δt = t_q − t_p + 2(z⁻_p·z⁺_q − z⁺_p·z⁻_q), as in the Heisenberg group, and is antisymmetric. So the
    geometry itself has room for any direction of every pair, cycles included: with x = √2(z⁺ + z⁻),
    y = √2(z⁺ − z⁻) and τ₁ = τ₂ = 1 the log-odds are x_p·y_q + a_p + b_q + r, where a = μ − t − s²(0, z) and
    b = μ + t − s²(0, z) are the popularity of the node as a source and as a target.
    """

    decays_in_time = False

    tau1: Number = number(default=1.0, domain=POSITIVE)
    tau2: Number = number(default=1.0, domain=POSITIVE)
    r: Number = number(default=0.0, domain=REAL)

    def misses(self, manifold: Manifold) -> str | None:
        """A flat spacetime with as many times as spaces, at least two of each."""
        fits = isinstance(manifold, Flat) and manifold.times == manifold.spaces > 1
        return None if fits else "Flat(n, n) with n ≥ 2"

    def separation(self, manifold: Manifold, p: Point, q: Point) -> Separation:
        """s² − μ_p − μ_q in place of the interval, and the twisted time difference."""
        half = p.shape[0] // 2
        times_p, times_q, spaces_p, spaces_q = p[1:half], q[1:half], p[half + 1 :], q[half + 1 :]
        interval = jnp.sum((spaces_q - spaces_p) ** 2) - jnp.sum((times_q - times_p) ** 2)
        twist = 2 * (jnp.sum(times_p * spaces_q) - jnp.sum(spaces_p * times_q))
        return Separation((interval - p[half] - q[half])[None], (q[0] - p[0] + twist)[None])

    def products(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Both halves of x_p·y_q + b_q for every node."""
        half = points.shape[1] // 2
        time, times, mass, spaces = points[:, 0], points[:, 1:half], points[:, half], points[:, half + 1 :]
        near, turn = 2 / float(self.tau1), 2 / float(self.tau2)
        own = (mass + (times**2).sum(1) - (spaces**2).sum(1)) * near / 2 + time * turn / 2
        sources = [near * spaces + turn * times, -near * times - turn * spaces, np.ones(len(points))]
        return np.column_stack(sources), np.column_stack([spaces, times, own])

    def log_probs(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """log σ(x) and log σ(−x) of the log-odds x."""
        x = (self.r - separation.interval) * (1 / self.tau1) + separation.time * (1 / self.tau2)
        return log_sigmoid(x), log_sigmoid(-x)


def twisted_time(dim: int) -> Model:
    """Flat spacetime with `dim` coordinates, an even number from 4 on, and twisted time."""
    if check_dim("twisted-time", dim, 3) == 3:
        dim = 4  # the fewest
    if dim % 2:
        raise ValueError(f"twisted-time: dim is {show(dim)}; it must be even: as many times as spaces")
    return Model(Flat(dim // 2, dim // 2), TwistedTime())


def points_of(
    sending: np.ndarray, receiving: np.ndarray, source: np.ndarray, target: np.ndarray
) -> np.ndarray:
    """Events whose log-odds are x_p·y_q + a_p + b_q + r.

    Row i of `sending` is x of node i, and of `receiving` y; `source` is a and `target` b.
    """
    spaces, times = (sending + receiving) / np.sqrt(8), (sending - receiving) / np.sqrt(8)
    own = np.sum(sending * receiving, axis=1) / 2  # s² from the origin
    time, mass = (target - source) / 2, (source + target) / 2 + own
    return np.concatenate([time[:, None], times, mass[:, None], spaces], axis=1).astype(np.float32)


def turned(points: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The same events, turned so that the first of them lie near where they were `before`.

    A rotation of z⁻ and z⁺ alike changes neither s² nor Δt; this one has the least squares of all.
    """
    half, same = points.shape[1] // 2, points[: len(before)]
    new, old = (np.concatenate([x[:, 1:half], x[:, half + 1 :]]).astype(float) for x in (same, before))
    left, _, right = np.linalg.svd(new.T @ old)
    found = points.astype(float)
    found[:, 1:half] @= left @ right
    found[:, half + 1 :] @= left @ right
    return found.astype(points.dtype)
