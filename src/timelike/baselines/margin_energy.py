"""Published orders with max-margin training: order embeddings, disks, entailment cones and shadow cones.

An order has an energy E(p, q): at most 0 if p → q holds, and larger the more it is violated.
"""

from __future__ import annotations

import abc
from typing import ClassVar

import jax
import jax.numpy as jnp

from timelike.baselines.static_spacetime import Static
from timelike.core.likelihood import Likelihood, LogProb
from timelike.core.manifold import Manifold, Point, Scalar, Separation
from timelike.core.model import Model
from timelike.core.numerics import atan2, sqrt, squared_arc
from timelike.core.reductions import square_sum
from timelike.core.struct import POSITIVE, Number, number, struct
from timelike.manifolds import Euclidean, Flat, Hyperboloid, Minkowski, Sphere
from timelike.manifolds.flat import check_dim
from timelike.manifolds.quadric import is_hyperbolic

#: The range ε of log F that ranks pairs inside the order; see `Energy.log_probs`.
INSIDE = 1e-3


class Energy(Likelihood):
    """The max-margin loss [E(p, q)]₊ of edges + [γ − E(p, q)]₊ of non-edges, [x]₊ = max(x, 0).

    −[E]₊ replaces log F and −[γ − E]₊ replaces log(1 − F), so the trainer minimises this loss. F = exp(−E)
    ranks pairs by energy; it is not a probability until it is calibrated.
    """

    decays_in_time: ClassVar[bool] = False

    margin: Number

    @abc.abstractmethod
    def energy(self, separation: Separation) -> LogProb:
        """E of a pair, from its `separation`."""

    def log_probs(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """−[E]₊ − δ(E) and −[γ − E]₊, γ = `margin`.

        δ ranks the pairs inside the order, which all have [E]₊ = 0: it is ε for E ≥ 0 and ε²/(ε − E) for
        E < 0, with ε = `INSIDE`. No gradient passes through it.
        """
        energy = self.energy(separation)
        outside = jnp.maximum(energy, 0.0)
        rank = INSIDE**2 / (INSIDE + jnp.maximum(-energy, 0.0))
        return -outside - jax.lax.stop_gradient(rank), -jnp.maximum(self.margin - energy, 0.0)

    def logits(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """−[E]₊ of an edge and [γ − E]₊ of a negative sample, for energies trained by a softmax."""
        log_prob, log_prob_not = self.log_probs(separation)
        return log_prob, -log_prob_not


class PointEnergy(Energy):
    """An energy that uses the points themselves, on one kind of manifold."""

    @abc.abstractmethod
    def between(self, p: Point, q: Point) -> Scalar:
        """E(p, q)."""

    def energy(self, separation: Separation) -> LogProb:
        """E, which `separation` stores as the interval."""
        return separation.interval

    def separation(self, manifold: Manifold, p: Point, q: Point) -> Separation:
        """E in place of the interval, and time 0."""
        energy = self.between(p, q)[None]
        return Separation(energy, jnp.zeros_like(energy))


@struct
class Order(PointEnergy):
    """E(p, q) = ‖max(0, p − q)‖²: p → q if every coordinate of q is at least that of p.

    Order embeddings (Vendrov, Kiros, Fidler & Urtasun, ICLR 2016), with their loss and margin γ = `margin`.
    The authors keep coordinates ≥ 0, with the top of the order at 0; here they are unconstrained, which moves
    the top.
    """

    margin: Number = number(default=1.0, domain=POSITIVE)

    def misses(self, manifold: Manifold) -> str | None:
        """Euclidean space."""
        return None if isinstance(manifold, Flat) and not manifold.times else "Euclidean space"

    def between(self, p: Point, q: Point) -> Scalar:
        """Σ max(0, pᵢ − qᵢ)²."""
        above = jnp.maximum(p - q, 0.0)
        return jnp.sum(above * above)


def order_embedding(dim: int) -> Model:
    """Order embeddings in ℝ^`dim`."""
    return Model(Euclidean(dim), Order())


@struct
class Disk(Energy):
    """E(p, q) = d(x, y) − (r_p − r_q): p → q if the disk of p contains that of q.

    A formal disk (Suzuki, Takahama & Onoda, ICML 2019) has a centre x and any real number r as radius. With
    t = −r it is an event in ℝ × space, r_p − r_q is Δt, and inclusion of disks is the causal order (the
    paper's appendix A), so the energy is a function of the separation: d = √(s² + Δt²). The loss is theirs
    with margin γ = `margin`.
    """

    margin: Number = number(default=1.0, domain=POSITIVE)

    def misses(self, manifold: Manifold) -> str | None:
        """The product of a time axis and a space."""
        has = isinstance(manifold, Static) or manifold == Minkowski(manifold.dim)
        return None if has else "Minkowski space or Static(space)"

    def energy(self, separation: Separation) -> LogProb:
        """√(s² + Δt²) − Δt."""
        return sqrt(separation.interval + separation.time**2) - separation.time


def euclidean_disk(dim: int) -> Model:
    """Disks in ℝ^(`dim` − 1); the last dimension is the radius."""
    return Model(Minkowski(check_dim("euclidean-disk", dim, 2)), Disk(margin=1.0))


def spherical_disk(dim: int) -> Model:
    """Disks on the sphere S^(`dim` − 1)."""
    return Model(Static(Sphere(check_dim("spherical-disk", dim, 2) - 1)), Disk(margin=0.01))


def hyperbolic_disk(dim: int) -> Model:
    """Disks in H^(`dim` − 1)."""
    return Model(Static(Hyperboloid(check_dim("hyperbolic-disk", dim, 2) - 1)), Disk(margin=0.5))


@struct
class EntailmentCone(PointEnergy):
    """E(p, q) = Ξ(p, q) − ψ(p): p → q if q lies in the cone of p, which opens outwards.

    Hyperbolic entailment cones (Ganea, Bécigneul & Hofmann, ICML 2018). In the Poincaré ball, ψ(p) =
    arcsin(K(1 − ‖p‖²)/‖p‖) is the half-opening, with K = `aperture`, and Ξ(p, q) is the angle
    at p between the ray from the centre and the geodesic to q,

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


@struct
class UmbralCone(PointEnergy):
    """E(p, q) is the distance of q's ball from the shadow of p's: p → q if q's ball lies in that shadow.

    Shadow cones in their umbral half-space form (Yu, Liu, Tseng & De Sa, ICLR 2024). Every node is a ball of
    hyperbolic radius ℓ = `ball`. Light falls straight down from infinity, so in the half-space
    {(x, y) : y > 0} the umbra of p is a vertical cylinder of Euclidean radius y_p sinh ℓ, and the signed
    distance of q from its wall gives

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
