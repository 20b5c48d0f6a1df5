"""The loss of a batch of examples, and its derivative by the points of their nodes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Float

from timelike.manifolds.base import Manifold, Separation
from timelike.model import Model
from timelike.numerics import once

#: A loop over fewer pairs than this gains from being joined with those of other runs.
SHORT = 64

Rows = Float[Array, "rows ambient"]
PerPair = Float[Array, "pairs batch"]


def batch_loss(model: Model, weights: PerPair, rows: Rows) -> tuple[PerPair, Rows]:
    """log F of the positives and log(1 − F) of the negatives; and the derivative of the loss by rows.

    The loss is −Σ w [log F(s, t) + Σ log(1 − F(a, b))] over the positives s → t and their negatives
    a → b; padding has w = 0. `rows` holds the sources of all pairs, then the targets; the first pair
    of an example is the positive. The derivative goes in two stages, loss → separations → rows,
    with a barrier between numbers per pair and numbers per coordinate.
    """
    separation, pull_back = jax.vjp(lambda rows: _separations(model.manifold, rows), rows)
    log_likelihoods, slopes = _slopes(model, separation, weights)
    return log_likelihoods, pull_back(jax.tree.map(once, slopes))[0]


def total_loss(model: Model, weights: PerPair, rows: Rows) -> Float[Array, ""]:
    """The same loss as one number, to be differentiated by the numbers of the model."""
    separation = _separations(model.manifold, rows)
    return -jnp.sum(weights * _log_likelihoods(model, separation, weights.shape))


def _separations(manifold: Manifold, rows: Rows) -> Separation:
    """Of all pairs, along the last axis."""
    sources, targets = jnp.reshape(rows, (2, rows.shape[0] // 2, -1))
    return jax.vmap(manifold.separation, out_axes=-1)(sources, targets)


def _log_likelihoods(model: Model, separation: Separation, shape: tuple[int, ...]) -> Array:
    """log F of the first pair of each example and log(1 − F) of the rest, in the shape (…, pairs, batch).

    The numbers of the model are one for all pairs, or one for each.
    """
    numbers = 0 if any(jnp.ndim(x) for x in jax.tree.leaves(model)) else None
    log_prob, log_prob_not = jax.vmap(Model.from_separation, in_axes=(numbers, -1))(model, separation)
    positive = np.arange(shape[-2])[:, None] == 0
    return jnp.where(positive, log_prob.reshape(shape), log_prob_not.reshape(shape))


@custom_vmap
def _slopes(model: Model, separation: Separation, weights: PerPair) -> tuple[PerPair, Separation]:
    """The log-likelihoods, and the derivative of the loss by the separations."""

    def loss(separation: Separation) -> tuple[Array, Array]:
        log_likelihoods = _log_likelihoods(model, separation, weights.shape)
        return -jnp.sum(weights * log_likelihoods), log_likelihoods

    slopes, log_likelihoods = jax.grad(loss, has_aux=True)(separation)
    return log_likelihoods, slopes


@_slopes.def_vmap
def _slopes_of_many(size: int, batched: list, *arguments: object) -> tuple[tuple, tuple]:
    """Runs side by side: the few pairs of each, end to end, are one loop that is worth vectorising."""

    def all_of(x: Array, has: bool) -> Array:
        return x if has else jnp.broadcast_to(x, (size, *x.shape))

    given = zip(arguments, batched, strict=True)
    model, separation, weights = (jax.tree.map(all_of, *pair) for pair in given)
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
