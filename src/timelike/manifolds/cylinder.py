"""Periodic time for any spacetime with a time translation."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from timelike.core.manifold import Covector, Manifold, Point, Scalar, Separation, Stationary, Tangent
from timelike.core.numerics import wrap
from timelike.core.struct import POSITIVE, Number, child, number, static, struct
from timelike.manifolds.flat import Euclidean, Minkowski
from timelike.manifolds.quadric import IMAGES


@struct
class Cylinder(Manifold):
    """The quotient of `base` by x₀ ~ x₀ + nC (eq. 20), with `circumference` C.

    q stands for its images q⁽ⁿ⁾, with time shifted by nC; the model sums over the 2·`images` + 1 images
    nearest to p (eq. 21). Locally nothing changes, so the base provides everything but the separation.
    """

    base: Stationary = child(Stationary, "a manifold with a time translation, such as Minkowski(3)")
    circumference: Number = number(domain=POSITIVE)
    images: int = static(default=IMAGES, minimum=0)

    @property
    def dim(self) -> int:
        """Same as the base."""
        return self.base.dim

    @property
    def ambient_dim(self) -> int:
        """Same as the base."""
        return self.base.ambient_dim

    @property
    def signature(self) -> tuple[int, int]:
        """Same as the base."""
        return self.base.signature

    def origin(self) -> Point:
        """Same as the base."""
        return self.base.origin()

    def inner(self, p: Point, u: Tangent, v: Tangent) -> Scalar:
        """Same as the base: the quotient is locally identical."""
        return self.base.inner(p, u, v)

    def separation(self, p: Point, q: Point) -> Separation:
        """The base's separation from each image of q, the nearest in the middle."""
        self._check_shapes(p=p, q=q)
        turns = jnp.arange(-self.images, self.images + 1, dtype=jnp.result_type(p, q))
        return self.base.separation_at(p, q, self._to_nearest(p, q) + self.circumference * turns)

    def _to_nearest(self, p: Point, q: Point) -> Scalar:
        """The time shift that takes q to its image nearest to p."""
        time = self.base.separation(p, q).time[0]
        return wrap(time, self.circumference) - time

    def gradient(self, p: Point, covector: Covector) -> Tangent:
        """Same as the base."""
        return self.base.gradient(p, covector)

    def exp(self, p: Point, v: Tangent) -> Point:
        """Same as the base; the time coordinate may exceed C, and `project` brings it back."""
        return self.base.exp(p, v)

    def log(self, p: Point, q: Point) -> Tangent:
        """The logarithm of the base, to the nearest image of q."""
        self._check_shapes(p=p, q=q)
        return self.base.log(p, self.base.translate(q, self._to_nearest(p, q)))

    def project(self, p: Point) -> Point:
        """The image whose time from the origin lies in [−C/2, C/2]."""
        self._check_shapes(p=p)
        return self.base.translate(p, self._to_nearest(self.origin().astype(p.dtype), p))

    def to_tangent(self, p: Point, v: Float[Array, "ambient"]) -> Tangent:
        """Same as the base."""
        return self.base.to_tangent(p, v)

    def transport(self, p: Point, q: Point, v: Tangent) -> Tangent:
        """Same as the base."""
        return self.base.transport(p, q, v)

    def residual(self, p: Point) -> Scalar:
        """Same as the base."""
        return self.base.residual(p)

    def from_tangent_coordinates(self, coordinates: Float[Array, "dim"]) -> Tangent:
        """Same as the base."""
        return self.base.from_tangent_coordinates(coordinates)


def CylindricalMinkowski(dim: int, circumference: Number = 10.0, images: int = IMAGES) -> Cylinder:
    """Minkowski spacetime with periodic time; C = 10 is the paper's best value for cyclic graphs."""
    return Cylinder(Minkowski(dim), circumference, images)


def CylindricalEuclidean(dim: int, circumference: Number = 10.0, images: int = IMAGES) -> Cylinder:
    """Euclidean space with periodic coordinate 0 (the paper's ablation M4)."""
    return Cylinder(Euclidean(dim), circumference, images)
