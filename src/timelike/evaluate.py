"""Scores of link prediction that run on the device, inside a compiled epoch if need be."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from timelike.graph import checked_pairs
from timelike.model import Model


class LabelledPairs(NamedTuple):
    """Pairs of nodes with the truth about them: the positives and negatives of an evaluation."""

    sources: Int[Array, "pairs"]
    targets: Int[Array, "pairs"]
    labels: Bool[Array, "pairs"]

    @classmethod
    def build(cls, positives: np.ndarray, negatives: np.ndarray) -> LabelledPairs:
        """From an (n, 2) array of edges and an (m, 2) array of non-edges."""
        known = checked_pairs(positives, None, "positives")
        both = np.concatenate([known, checked_pairs(negatives, None, "negatives")])
        labels = np.arange(len(both)) < len(known)
        return cls(jnp.asarray(both[:, 0]), jnp.asarray(both[:, 1]), jnp.asarray(labels))


def log_probs(
    model: Model, points: Float[Array, "nodes ambient"], sources: Array, targets: Array
) -> Float[Array, "pairs"]:
    """log-probability of each listed edge."""
    return jax.vmap(model.log_prob)(points[sources], points[targets])


def average_precision(scores: Float[Array, "pairs"], labels: Bool[Array, "pairs"]) -> Float[Array, ""]:
    """AP = Σₙ (Rₙ − Rₙ₋₁)Pₙ over distinct thresholds, as in scikit-learn: ties count as one.

    NaN without positives.
    """
    order = jnp.argsort(-scores)
    ranked, hits = scores[order], labels[order]
    position = jnp.arange(1, scores.shape[0] + 1)
    precision = jnp.cumsum(hits) / position
    # The precision of a tied group is that at its last member.
    last = jnp.append(ranked[1:] != ranked[:-1], True)
    end = jax.lax.cummin(jnp.where(last, position - 1, scores.shape[0]), reverse=True)
    return jnp.sum(jnp.where(hits, precision[end], 0.0)) / jnp.sum(hits)
