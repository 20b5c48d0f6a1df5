"""Orders learned with a margin: what the embeddings of partial orders before the spacetimes have in common.

An order has an energy E(p, q), at most 0 where p → q holds and the larger the more it is violated.
"""

from __future__ import annotations

import abc
from typing import ClassVar

import jax
import jax.numpy as jnp

from timelike.core.likelihood import Likelihood, LogProb
from timelike.core.manifold import Manifold, Point, Scalar, Separation
from timelike.core.struct import Number

#: How far below log F of the border pairs inside may rise, to be told apart. See `Energy.log_probs`.
INSIDE = 1e-3


class Energy(Likelihood):
    """The max-margin loss [E(p, q)]₊ of edges + [γ − E(p, q)]₊ of non-edges, [x]₊ = max(x, 0).

    In the place of log F stands −[E]₊ and in that of log(1 − F) stands −[γ − E]₊, so the trainer minimises
    this loss. F = exp(−E) ranks like the energy; it is no probability until it is calibrated.
    """

    decays_in_time: ClassVar[bool] = False

    margin: Number

    @abc.abstractmethod
    def energy(self, separation: Separation) -> LogProb:
        """E of a pair from what `separation` shows of it."""

    def log_probs(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """−[E]₊ − δ(E) and −[γ − E]₊, γ = `margin`.

        δ is there to rank pairs inside, which all have [E]₊ = 0: it is ε for E ≥ 0 and ε²/(ε − E) for
        E < 0, with ε = `INSIDE`, and has no derivative.
        """
        energy = self.energy(separation)
        outside = jnp.maximum(energy, 0.0)
        rank = INSIDE**2 / (INSIDE + jnp.maximum(-energy, 0.0))
        return -outside - jax.lax.stop_gradient(rank), -jnp.maximum(self.margin - energy, 0.0)

    def logits(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """−[E]₊ of an edge and [γ − E]₊ of a non-edge, for energies that are trained by a softmax."""
        log_prob, log_prob_not = self.log_probs(separation)
        return log_prob, -log_prob_not


class PointEnergy(Energy):
    """An energy that looks at the points themselves, which have to be those of one kind of manifold."""

    @abc.abstractmethod
    def between(self, p: Point, q: Point) -> Scalar:
        """E(p, q)."""

    def energy(self, separation: Separation) -> LogProb:
        """E is what `separation` shows."""
        return separation.interval

    def separation(self, manifold: Manifold, p: Point, q: Point) -> Separation:
        """E in the place of the interval; there is no time."""
        energy = self.between(p, q)[None]
        return Separation(energy, jnp.zeros_like(energy))
