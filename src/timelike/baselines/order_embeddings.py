"""Order embeddings (Vendrov, Kiros, Fidler & Urtasun, ICLR 2016)."""

from __future__ import annotations

import jax.numpy as jnp

from timelike.baselines.margin_energy import PointEnergy
from timelike.core.manifold import Manifold, Point, Scalar
from timelike.core.model import Model
from timelike.core.struct import POSITIVE, Number, number, struct
from timelike.manifolds import Euclidean, Flat


@struct
class Order(PointEnergy):
    """E(p, q) = ‖max(0, p − q)‖²: p → q if every coordinate of q is at least that of p.

    The loss is theirs with margin γ = `margin`. The authors keep coordinates ≥ 0, with the top of the order
    at 0; here coordinates are unconstrained, which moves the top.
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
