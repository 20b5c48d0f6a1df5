"""Scores on the device, for validation after every epoch."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from timelike.core.model import Model
from timelike.engine.table_storage import wide


def log_probs(
    model: Model, points: Float[Array, "nodes ambient"], sources: Array, targets: Array
) -> Float[Array, "pairs"]:
    """The log-probability of each pair as an edge."""
    return jax.vmap(model.log_prob)(wide(points[sources]), wide(points[targets]))


def average_precision_on_device(
    scores: Float[Array, "pairs"], labels: Bool[Array, "pairs"]
) -> Float[Array, ""]:
    """AP = Σₙ (Rₙ − Rₙ₋₁)Pₙ over distinct thresholds, as in scikit-learn: ties count as one.

    NaN without positives, or if a score is NaN.
    """
    order = jnp.argsort(-scores)
    ranked, hits = scores[order], labels[order]
    position = jnp.arange(1, scores.shape[0] + 1)
    precision = jnp.cumsum(hits) / position
    # A tied group has the precision at its last member.
    last = jnp.append(ranked[1:] != ranked[:-1], True)
    end = jax.lax.cummin(jnp.where(last, position - 1, scores.shape[0]), reverse=True)
    average = jnp.sum(jnp.where(hits, precision[end], 0.0)) / jnp.sum(hits)
    return jnp.where(jnp.isnan(scores).any(), jnp.nan, average)
