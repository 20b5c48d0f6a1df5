"""Shadow cones, umbral in the half-space (Yu, Liu, Tseng & De Sa, ICLR 2024)."""

from __future__ import annotations

import jax.numpy as jnp

from timelike._struct import POSITIVE, Number, number, struct
from timelike.baselines.energy import Energy
from timelike.baselines.poincare import is_hyperbolic
from timelike.manifolds import Hyperboloid
from timelike.manifolds.base import Manifold, Point, Scalar, Separation
from timelike.model import Model
from timelike.numerics import sqrt, square_sum


@struct
class UmbralCone(Energy):
    """E(p, q), the distance of q's ball from the shadow of p's: p → q where it lies in that shadow.

    Every node is a ball of hyperbolic radius ℓ = `ball`. Light falls straight down from infinity, so in the
    half-space {(x, y) : y > 0} the umbra of p is a vertical cylinder of Euclidean radius y_p sinh ℓ, and the
    signed distance of q from its wall gives

        E = arcsinh((|x_p − x_q| − y_p sinh ℓ)/y_q) + ℓ.

    Where q is too high for the wall to be the nearest part of the shadow, (|x_p − x_q| − y_p sinh ℓ)² + y_q²
    > (y_p cosh ℓ)², E is the distance from p to q. They put the energies into a softmax over the non-edges of
    an edge; here it is the max-margin loss with γ = `margin`. Points lie on the hyperboloid, with
    y = 1/(x₀ − x₁) and x = (x₂, …)·y.
    """

    margin: Number = number(default=1.0, domain=POSITIVE)
    ball: Number = number(default=0.05, domain=POSITIVE)

    def misses(self, manifold: Manifold) -> str | None:
        """Hyperbolic space of two or more dimensions."""
        return (
            None
            if is_hyperbolic(manifold) and manifold.dim > 1
            else "a Hyperboloid of two dimensions or more"
        )

    def separation(self, manifold: Manifold, p: Point, q: Point) -> Separation:
        """E in the place of the interval, and how much lower than p q lies, log(y_p/y_q), in that of time."""
        (high, across), (low, there) = half_space(p), half_space(q)
        gap = across - there
        wall = sqrt(jnp.sum(gap * gap)) - high * jnp.sinh(self.ball)
        beside = jnp.arcsinh(wall / low) + self.ball
        above = wall**2 + low**2 > (high * jnp.cosh(self.ball)) ** 2
        energy = jnp.where(above, sqrt(manifold.separation(p, q).interval[0]), beside)
        return Separation(energy[None], (jnp.log(high) - jnp.log(low))[None])


def half_space(p: Point) -> tuple[Scalar, Point]:
    """Height y and place x in the half-space of a point of the hyperboloid.

    Where x₁ > 0, x₀ − x₁ = (1 + Σᵢ₌₂ xᵢ²)/(x₀ + x₁), which does not cancel.
    """
    beside, ahead = 1 + square_sum(p, 2, p.shape[0]), p[1] > 0
    depth = jnp.where(ahead, beside / jnp.where(ahead, p[0] + p[1], 1.0), p[0] - p[1])
    return 1 / depth, p[2:] / depth


def shadow_cones(dim: int) -> Model:
    """Umbral shadow cones in H^`dim`."""
    return Model(Hyperboloid(dim), UmbralCone())
