"""The product of a time axis and any Riemannian space, in which disks are events."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from timelike._util.checks import show
from timelike.core.manifold import Covector, Manifold, Point, Scalar, Separation, Tangent
from timelike.core.numerics import difference
from timelike.core.struct import child, struct


@struct
class Static(Manifold):
    """ℝ × `space` with the metric −dt² + g: s² = d(x, y)² − Δt².

    A point is its time, then its coordinates in space. Over a sphere this is Einstein's static universe.
    """

    space: Manifold = child(Manifold, "a Riemannian manifold, such as manifolds.Sphere(4)")

    def _check_together(self) -> None:
        if self.space.signature[0]:
            raise ValueError(f"Static: space is {show(self.space)}, which has time; it must be Riemannian")

    @property
    def dim(self) -> int:
        """One more than the dimension of space."""
        return 1 + self.space.dim

    @property
    def ambient_dim(self) -> int:
        """One more than the ambient dimension of space."""
        return 1 + self.space.ambient_dim

    @property
    def signature(self) -> tuple[int, int]:
        """One time dimension; the rest is space."""
        return 1, self.space.dim

    def _in_space(self, method: str, *vectors: Array) -> Any:
        """Apply a method of `space` to the spatial part of each vector."""
        self._check_shapes(**{f"argument {i} of {method}": v for i, v in enumerate(vectors)})
        return getattr(self.space, method)(*(v[1:] for v in vectors))

    def origin(self) -> Point:
        """Time 0 at the origin of space."""
        place = self.space.origin()
        return jnp.concatenate([jnp.zeros(1, place.dtype), place])

    def inner(self, p: Point, u: Tangent, v: Tangent) -> Scalar:
        """−u₀v₀ + g(u, v)."""
        return self._in_space("inner", p, u, v) - u[0] * v[0]

    def separation(self, p: Point, q: Point) -> Separation:
        """s² = d² − Δt² and Δt."""
        squared, time = self._in_space("separation", p, q).nearest.interval, q[:1] - p[:1]
        return Separation(difference(jnp.maximum(squared, 0.0), time**2), time)

    def gradient(self, p: Point, covector: Covector) -> Tangent:
        """(df)₀ and the gradient in space: the Wick rotation of time."""
        return jnp.concatenate([covector[:1], self._in_space("gradient", p, covector)])

    def exp(self, p: Point, v: Tangent) -> Point:
        """A straight line in time, a geodesic in space."""
        return jnp.concatenate([p[:1] + v[:1], self._in_space("exp", p, v)])

    def log(self, p: Point, q: Point) -> Tangent:
        """Δt and the logarithm in space."""
        return jnp.concatenate([q[:1] - p[:1], self._in_space("log", p, q)])

    def project(self, p: Point) -> Point:
        """The same time, the projection in space."""
        return jnp.concatenate([p[:1], self._in_space("project", p)])

    def to_tangent(self, p: Point, v: Float[Array, "ambient"]) -> Tangent:
        """The same time component, the tangent component in space."""
        return jnp.concatenate([v[:1], self._in_space("to_tangent", p, v)])

    def transport(self, p: Point, q: Point, v: Tangent) -> Tangent:
        """The same time component, transport in space."""
        return jnp.concatenate([v[:1], self._in_space("transport", p, q, v)])

    def residual(self, p: Point) -> Scalar:
        """The residual of the spatial part."""
        return self._in_space("residual", p)

    def from_tangent_coordinates(self, coordinates: Float[Array, "dim"]) -> Tangent:
        """Time first, then the tangent vector of space."""
        return jnp.concatenate([coordinates[:1], self.space.from_tangent_coordinates(coordinates[1:])])
