"""The dot product of a source vector and a target vector, the simplest trained model of a directed graph."""

from __future__ import annotations

from typing import ClassVar

import jax.numpy as jnp

from timelike.core.likelihood import Likelihood, LogProb
from timelike.core.manifold import Manifold, Point, Separation
from timelike.core.model import Model
from timelike.core.numerics import log_sigmoid
from timelike.core.struct import struct
from timelike.manifolds import Euclidean, Flat
from timelike.manifolds.flat import check_dim


@struct
class Dot(Likelihood):
    """F = σ(u_p · v_q + a_p + b_q): logistic regression with two vectors and two numbers a node.

    The coordinates of a point are (a, b, u, v). The numbers say how many edges a node has as a source and as
    a target; the vectors say which.
    """

    decays_in_time: ClassVar[bool] = False

    def misses(self, manifold: Manifold) -> str | None:
        """Euclidean space with an even number of coordinates, at least 4."""
        fits = (
            isinstance(manifold, Flat) and not manifold.times and manifold.dim % 2 == 0 and manifold.dim > 2
        )
        return None if fits else "Euclidean space of even dimension ≥ 4"

    def separation(self, manifold: Manifold, p: Point, q: Point) -> Separation:
        """−(u_p · v_q + a_p + b_q) in place of the interval, and time 0."""
        middle = 1 + p.shape[0] // 2
        score = p[0] + q[1] + jnp.sum(p[2:middle] * q[middle:])
        return Separation(-score[None], jnp.zeros_like(score[None]))

    def log_probs(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """log σ(x) and log σ(−x) of the score x."""
        return log_sigmoid(-separation.interval), log_sigmoid(separation.interval)


def dot_product(dim: int) -> Model:
    """Source and target vectors of `dim` coordinates each: 2·`dim` + 2 numbers a node."""
    return Model(Euclidean(2 * check_dim("dot-product", dim, 1) + 2), Dot())
