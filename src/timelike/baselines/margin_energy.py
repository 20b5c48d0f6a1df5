"""Max-margin training of partial orders, shared by the published order embeddings.

An order has an energy E(p, q): at most 0 if p → q holds, and larger the more it is violated.
"""

from __future__ import annotations

import abc
from typing import ClassVar

import jax
import jax.numpy as jnp

from timelike.core.likelihood import Likelihood, LogProb
from timelike.core.manifold import Manifold, Point, Scalar, Separation
from timelike.core.struct import Number

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
