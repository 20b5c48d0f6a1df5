"""The loss of a batch of examples, and its derivative with respect to the points."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Float

from timelike.core.manifold import Separation
from timelike.core.model import Model
from timelike.core.reductions import once
from timelike.engine.table_rows import all_batched

#: The logit of padding.
NO_PAIR = -1e9

#: Below this number of pairs, runs side by side share one loop.
SHORT = 64

Rows = Float[Array, "rows ambient"]
PerPair = Float[Array, "pairs batch"]


def batch_loss(model: Model, weights: PerPair, rows: Rows) -> tuple[PerPair, Rows]:
    """log F of the positives and log(1 − F) of the negatives; and the derivative of the loss by the rows.

    The loss is −Σ w [log F(s, t) + Σ log(1 − F(a, b))] over the positives s → t and their negatives
    a → b, or the softmax of a contrastive likelihood; padding has w = 0. `rows` holds the sources of all
    pairs, then the targets; the first pair of an example is the positive. The derivative has two stages,
    loss → separations → rows, with a barrier between numbers per pair and numbers per coordinate.
    """
    separation, pull_back = jax.vjp(lambda rows: _separations(model, rows), rows)
    log_likelihoods, slopes = _slopes(model, separation, weights)
    return log_likelihoods, pull_back(jax.tree.map(once, slopes))[0]


def total_loss(model: Model, weights: PerPair, rows: Rows) -> Float[Array, ""]:
    """The same loss as one number, for derivatives with respect to the numbers of the model."""
    return -jnp.sum(weights * _log_likelihoods(model, _separations(model, rows), weights))


def _separations(model: Model, rows: Rows) -> Separation:
    """The separations of all pairs, along the last axis."""
    sources, targets = jnp.reshape(rows, (2, rows.shape[0] // 2, -1))
    return jax.vmap(model.separation, out_axes=-1)(sources, targets)


def _log_likelihoods(
    model: Model, separation: Separation, weights: Float[Array, "*lanes pairs batch"]
) -> Array:
    """log F of the first pair of each example and log(1 − F) of the rest, in the shape of the weights.

    Each number of the model is a scalar, or an array with a value per pair.
    """
    numbers = 0 if any(jnp.ndim(x) for x in jax.tree.leaves(model)) else None
    of_pair = _logits if model.likelihood.contrastive else Model.from_separation
    both = jax.vmap(of_pair, in_axes=(numbers, -1))(model, separation)
    as_edge, as_other = (x.reshape(weights.shape) for x in both)
    positive = np.arange(weights.shape[-2])[:, None] == 0
    chosen = jnp.where(positive, as_edge, as_other)
    if not model.likelihood.contrastive:
        return chosen
    softmax = jax.nn.log_softmax(jnp.where(weights > 0, chosen, NO_PAIR), axis=-2)
    return jnp.where(positive, softmax, 0.0)


def _logits(model: Model, separation: Separation) -> tuple[Array, ...]:
    return tuple(x[0] for x in model.likelihood.logits(separation))


@custom_vmap
def _slopes(model: Model, separation: Separation, weights: PerPair) -> tuple[PerPair, Separation]:
    """The log-likelihoods, and the derivative of the loss with respect to the separations."""

    def loss(separation: Separation) -> tuple[Array, Array]:
        log_likelihoods = _log_likelihoods(model, separation, weights)
        return -jnp.sum(weights * log_likelihoods), log_likelihoods

    slopes, log_likelihoods = jax.grad(loss, has_aux=True)(separation)
    return log_likelihoods, slopes


@_slopes.def_vmap
def _slopes_of_many(size: int, batched: list, *arguments: object) -> tuple[tuple, tuple]:
    """Runs side by side: a few pairs of each, laid end to end, make one loop worth vectorising."""
    model, separation, weights = all_batched(size, batched, arguments)
    pairs = weights[0].size
    if pairs >= SHORT:
        result = jax.vmap(_slopes.fun)(model, separation, weights)
    else:
        model = jax.tree.map(lambda x: jnp.repeat(x, pairs), model)
        joined = jax.tree.map(lambda x: jnp.moveaxis(x, 0, 1).reshape(x.shape[1], -1), separation)
        log_likelihoods, slopes = _slopes.fun(model, joined, weights)
        apart = jax.tree.map(lambda x: jnp.moveaxis(x.reshape(-1, size, pairs), 1, 0), slopes)
        result = log_likelihoods, apart
    return result, jax.tree.map(lambda _: True, result)
