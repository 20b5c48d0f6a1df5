"""Periodic time for any spacetime with a time translation."""

from __future__ import annotations

import functools
import operator
from typing import Any

import jax.numpy as jnp

from timelike.core.manifold import Manifold, Point, Scalar, Separation, Stationary, Tangent
from timelike.core.numerics import wrap
from timelike.core.struct import POSITIVE, Number, child, number, static, struct
from timelike.manifolds.flat import Euclidean, Minkowski
from timelike.manifolds.quadric import IMAGES


def _of_base(name: str) -> Any:
    """A method, or a property, that takes its value from the base."""
    inherited = getattr(Manifold, name)
    if isinstance(inherited, property):
        return property(operator.attrgetter(f"base.{name}"), doc=inherited.__doc__)

    @functools.wraps(inherited, updated=())  # without the mark of an abstract method
    def method(self: Cylinder, *arguments: Any, **named: Any) -> Any:
        return getattr(self.base, name)(*arguments, **named)

    return method


@struct
class Cylinder(Manifold):
    """The quotient of `base` by x₀ ~ x₀ + nC (eq. 20), with `circumference` C.

    q stands for its images q⁽ⁿ⁾, with time shifted by nC; the model sums over the 2·`images` + 1 images
    nearest to p (eq. 21). Locally nothing changes, so the base provides everything but the separation.
    """

    base: Stationary = child(Stationary, "a manifold with a time translation, such as Minkowski(3)")
    circumference: Number = number(domain=POSITIVE)
    images: int = static(default=IMAGES, minimum=0)

    dim = _of_base("dim")
    ambient_dim = _of_base("ambient_dim")
    signature = _of_base("signature")
    origin = _of_base("origin")
    inner = _of_base("inner")
    gradient = _of_base("gradient")
    exp = _of_base("exp")
    to_tangent = _of_base("to_tangent")
    transport = _of_base("transport")
    residual = _of_base("residual")
    from_tangent_coordinates = _of_base("from_tangent_coordinates")

    def separation(self, p: Point, q: Point) -> Separation:
        """The base's separation from each image of q, the nearest in the middle."""
        self._check_shapes(p=p, q=q)
        turns = jnp.arange(-self.images, self.images + 1, dtype=jnp.result_type(p, q))
        return self.base.separation_at(p, q, self._to_nearest(p, q) + self.circumference * turns)

    def _to_nearest(self, p: Point, q: Point) -> Scalar:
        """The time shift that takes q to its image nearest to p."""
        time = self.base.separation(p, q).time[0]
        return wrap(time, self.circumference) - time

    def log(self, p: Point, q: Point) -> Tangent:
        """The logarithm of the base, to the nearest image of q."""
        self._check_shapes(p=p, q=q)
        return self.base.log(p, self.base.translate(q, self._to_nearest(p, q)))

    def project(self, p: Point) -> Point:
        """The image whose time from the origin lies in [−C/2, C/2]."""
        self._check_shapes(p=p)
        return self.base.translate(p, self._to_nearest(self.origin().astype(p.dtype), p))


def CylindricalMinkowski(dim: int, circumference: Number = 10.0, images: int = IMAGES) -> Cylinder:
    """Minkowski spacetime with periodic time; C = 10 is the paper's best value for cyclic graphs."""
    return Cylinder(Minkowski(dim), circumference, images)


def CylindricalEuclidean(dim: int, circumference: Number = 10.0, images: int = IMAGES) -> Cylinder:
    """Euclidean space with periodic coordinate 0 (the paper's ablation M4)."""
    return Cylinder(Euclidean(dim), circumference, images)
