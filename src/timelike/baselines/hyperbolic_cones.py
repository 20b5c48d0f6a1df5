"""Hyperbolic entailment cones (Ganea, Bécigneul & Hofmann, ICML 2018)."""

from __future__ import annotations

import jax.numpy as jnp

from timelike.baselines.margin_energy import PointEnergy
from timelike.core.manifold import Manifold, Point, Scalar
from timelike.core.model import Model
from timelike.core.numerics import atan2, sqrt
from timelike.core.reductions import square_sum
from timelike.core.struct import POSITIVE, Number, number, struct
from timelike.manifolds import Hyperboloid
from timelike.manifolds.quadric import is_hyperbolic


@struct
class EntailmentCone(PointEnergy):
    """E(p, q) = Ξ(p, q) − ψ(p): p → q if q lies in the cone of p, which opens outwards.

    In the Poincaré ball, ψ(p) = arcsin(K(1 − ‖p‖²)/‖p‖) is the half-opening, with K = `aperture`, and Ξ(p, q)
    is the angle at p between the ray from the centre and the geodesic to q,

        cos Ξ = (⟨p,q⟩(1 + ‖p‖²) − ‖p‖²(1 + ‖q‖²)) / (‖p‖ ‖p − q‖ √(1 + ‖p‖²‖q‖² − 2⟨p,q⟩)).

    The loss is theirs with margin γ = `margin`. On the hyperboloid, where ρ is the distance from the centre,
    a = sinh ρ_p, b = sinh ρ_q and h is the chord between the two directions,

        ψ = arcsin(2K/a),  Ξ = atan2(b h √(1 − h²/4), sinh(ρ_q − ρ_p) − ½h² cosh ρ_p b),

    without the cancellation of the formula in the ball. If a < 2K, the cone is a half-space (ψ = π/2); the
    authors push these points outwards.
    """

    margin: Number = number(default=0.01, domain=POSITIVE)
    aperture: Number = number(default=0.1, domain=POSITIVE)

    def misses(self, manifold: Manifold) -> str | None:
        """Hyperbolic space."""
        return None if is_hyperbolic(manifold) else "a Hyperboloid"

    def between(self, p: Point, q: Point) -> Scalar:
        """Ξ − ψ."""
        a, b = (sqrt(square_sum(x, 1, x.shape[0])) for x in (p, q))
        chord = _direction(p, a) - _direction(q, b)
        square = jnp.sum(chord * chord)
        beyond = jnp.sinh(jnp.arcsinh(b) - jnp.arcsinh(a))
        angle = atan2(b * sqrt(square * (1 - square / 4)), beyond - square / 2 * p[0] * b)
        return angle - atan2(2 * self.aperture, sqrt(a * a - 4 * self.aperture**2))


def _direction(p: Point, norm: Scalar) -> Point:
    """The unit vector from the centre to p; 0 at the centre itself."""
    return p[1:] / jnp.where(norm > 0, norm, 1.0)


def entailment_cones(dim: int) -> Model:
    """Entailment cones in H^`dim`; start from a Poincaré embedding with `train(…, start=rescaled(…))`."""
    return Model(Hyperboloid(dim), EntailmentCone())
