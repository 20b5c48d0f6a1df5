"""Flat spaces: Euclidean, Minkowski and any other diagonal ±1 metric."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from timelike._util.checks import whole_number
from timelike.core.manifold import Covector, Point, Scalar, Separation, Stationary, Tangent
from timelike.core.numerics import difference
from timelike.core.reductions import square_sum
from timelike.core.struct import static, struct


@struct
class Flat(Stationary):
    """ℝ^(p+q) with metric diag(−1, …, −1, 1, …, 1): p = `times` entries −1, then q = `spaces` entries 1.

    Coordinate 0 gives the time difference; in a Riemannian space (`times` = 0) it plays the role of time.
    """

    times: int = static(minimum=0)
    spaces: int = static(minimum=0)

    def _check_together(self) -> None:
        if self.dim < 1:
            raise ValueError(f"Flat: times + spaces is {self.dim}; it must be ≥ 1")

    @property
    def dim(self) -> int:
        """p + q."""
        return self.times + self.spaces

    @property
    def ambient_dim(self) -> int:
        """p + q: a flat space needs no extra coordinate."""
        return self.dim

    @property
    def signature(self) -> tuple[int, int]:
        """(p, q)."""
        return self.times, self.spaces

    def origin(self) -> Point:
        """The zero vector."""
        return jnp.zeros(self.dim)

    def inner(self, p: Point, u: Tangent, v: Tangent) -> Scalar:
        """−Σ uᵢvᵢ over the times + Σ uᵢvᵢ over the spaces, the same at every p."""
        self._check_shapes(p=p, u=u, v=v)
        product = u * v
        return jnp.sum(product[self.times :]) - jnp.sum(product[: self.times])

    def separation(self, p: Point, q: Point) -> Separation:
        """s² = −(x₀ − y₀)² + Σ (xᵢ − yᵢ)² (eq. 4) and Δt = x₀(q) − x₀(p)."""
        self._check_shapes(p=p, q=q)
        return self.separation_at(p, q, jnp.zeros(1, jnp.result_type(p, q)))

    def separation_at(self, p: Point, q: Point, shifts: Float[Array, "images"]) -> Separation:
        """The separation of p from the images of q, whose time coordinates are shifted by `shifts`."""
        delta = q - p
        time = jnp.sum(jnp.where(np.arange(self.dim) == 0, delta, 0)) + shifts
        spaces = square_sum(delta, max(self.times, 1), self.dim)
        if self.times == 0:
            return Separation(spaces + time**2, time)
        times = time**2 if self.times == 1 else time**2 + square_sum(delta, 1, self.times)
        return Separation(difference(spaces, times), time)

    def translate(self, p: Point, shift: Scalar) -> Point:
        """p moved by `shift` along the time coordinate, an isometry."""
        return p.at[0].add(shift)

    def gradient(self, p: Point, covector: Covector) -> Tangent:
        """vⁱ = δⁱʲ(df)ⱼ: the Wick rotation of the pseudo-Riemannian gradient (after eq. 5)."""
        self._check_shapes(p=p, covector=covector)
        return covector

    def exp(self, p: Point, v: Tangent) -> Point:
        """p + v (eq. 5)."""
        self._check_shapes(p=p, v=v)
        return p + v

    def log(self, p: Point, q: Point) -> Tangent:
        """q − p."""
        self._check_shapes(p=p, q=q)
        return q - p

    def project(self, p: Point) -> Point:
        """p itself: every vector is a point."""
        self._check_shapes(p=p)
        return p

    def to_tangent(self, p: Point, v: Float[Array, "ambient"]) -> Tangent:
        """v itself: every vector is tangent."""
        self._check_shapes(p=p, v=v)
        return v

    def transport(self, p: Point, q: Point, v: Tangent) -> Tangent:
        """v itself: parallel transport in a flat space."""
        self._check_shapes(p=p, q=q, v=v)
        return v

    def residual(self, p: Point) -> Scalar:
        """0."""
        self._check_shapes(p=p)
        return jnp.zeros((), p.dtype)

    def from_tangent_coordinates(self, coordinates: Float[Array, "dim"]) -> Tangent:
        """The coordinates themselves."""
        return coordinates


def Euclidean(dim: int) -> Flat:
    """Euclidean space; coordinate 0 serves as time for likelihoods that use it."""
    return Flat(0, check_dim("Euclidean", dim, 1))


def Minkowski(dim: int) -> Flat:
    """Minkowski spacetime with one time and `dim` − 1 space dimensions (eq. 4)."""
    return Flat(1, check_dim("Minkowski", dim, 1) - 1)


def check_dim(name: str, dim: int, least: int) -> int:
    """Return `dim`; raise a `ValueError` unless it is an integer ≥ `least`."""
    return whole_number(f"{name}: dim", dim, least, note=", time included")
