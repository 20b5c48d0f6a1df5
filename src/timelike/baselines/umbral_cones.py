"""Shadow cones in their umbral half-space form (Yu, Liu, Tseng & De Sa, ICLR 2024)."""

from __future__ import annotations

from typing import ClassVar

import jax.numpy as jnp

from timelike.baselines.margin_energy import PointEnergy
from timelike.core.manifold import Manifold, Point, Scalar
from timelike.core.model import Model
from timelike.core.numerics import sqrt, squared_arc
from timelike.core.reductions import square_sum
from timelike.core.struct import POSITIVE, Number, number, struct
from timelike.manifolds import Hyperboloid
from timelike.manifolds.quadric import is_hyperbolic


@struct
class UmbralCone(PointEnergy):
    """E(p, q) is the distance of q's ball from the shadow of p's: p → q if q's ball lies in that shadow.

    Every node is a ball of hyperbolic radius ℓ = `ball`. Light falls straight down from infinity, so in the
    half-space {(x, y) : y > 0} the umbra of p is a vertical cylinder of Euclidean radius y_p sinh ℓ, and the
    signed distance of q from its wall gives

        E = arcsinh((|x_p − x_q| − y_p sinh ℓ)/y_q) + ℓ.

    If q is too high for the wall to be the nearest part of the shadow, (|x_p − x_q| − y_p sinh ℓ)² + y_q²
    > (y_p cosh ℓ)², E is the distance from p to q. The training loss is the softmax of −[E]₊ of an edge and
    [γ − E]₊ of its negative samples, γ = `margin`. Points lie on the hyperboloid, with y = 1/(x₀ − x₁) and
    x = (x₂, …)·y.
    """

    contrastive: ClassVar[bool] = True

    margin: Number = number(default=1.0, domain=POSITIVE)
    ball: Number = number(default=0.05, domain=POSITIVE)

    def misses(self, manifold: Manifold) -> str | None:
        """Hyperbolic space of two or more dimensions."""
        suits = is_hyperbolic(manifold) and manifold.dim > 1
        return None if suits else "a Hyperboloid of dimension 2 or more"

    def between(self, p: Point, q: Point) -> Scalar:
        """E: the distance from the wall, or from p."""
        (high, across), (low, there) = half_space(p), half_space(q)
        square = jnp.sum((across - there) ** 2)
        wall = sqrt(square) - high * jnp.sinh(self.ball)
        apart = (square + (high - low) ** 2) / (2 * high * low)  # cosh d − 1
        above = wall**2 + low**2 > (high * jnp.cosh(self.ball)) ** 2
        return jnp.where(above, sqrt(squared_arc(apart, apart + 2)), jnp.arcsinh(wall / low) + self.ball)


def half_space(p: Point) -> tuple[Scalar, Point]:
    """Half-space coordinates of a point of the hyperboloid: height y and position x.

    For x₁ > 0, x₀ − x₁ is computed as (1 + Σᵢ₌₂ xᵢ²)/(x₀ + x₁), which does not cancel.
    """
    beside, ahead = 1 + square_sum(p, 2, p.shape[0]), p[1] > 0
    depth = jnp.where(ahead, beside / jnp.where(ahead, p[0] + p[1], 1.0), p[0] - p[1])
    return 1 / depth, p[2:] / depth


def shadow_cones(dim: int) -> Model:
    """Umbral shadow cones in H^`dim`."""
    return Model(Hyperboloid(dim), UmbralCone())
