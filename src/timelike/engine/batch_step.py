"""One training step: gather the rows of a minibatch, differentiate the loss, update, scatter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Float, Int

from timelike.core.manifold import Manifold, Separation
from timelike.core.model import Model
from timelike.core.reductions import once
from timelike.core.struct import with_reals
from timelike.engine.config import EpochPlan
from timelike.engine.optimizers import Learned, Step, update_rows
from timelike.engine.table_rows import (
    AT_ONCE,
    IN_TURN,
    Places,
    all_batched,
    get_rows,
    get_state,
    put_rows,
    put_state,
    sum_by_node,
    sum_repeated,
)
from timelike.engine.table_storage import wide

#: The logit of padding.
NO_PAIR = -1e9

#: Below this number of pairs, runs side by side share one loop.
SHORT = 64

Rows = Float[Array, "rows ambient"]
PerPair = Float[Array, "pairs batch"]


def take_step(plan: EpochPlan, model: Model, step: Step, carry: tuple, batch: tuple) -> tuple[tuple, tuple]:
    """One minibatch: gather its rows, differentiate, sum over repeated nodes, step, scatter.

    Padding has node numbers past the end: reads return the last row, writes do nothing.
    """
    points, optimizer, learned, slots = carry
    nodes, weights, first = batch
    rows = wide(get_rows(points, nodes))
    if plan.learn:
        model, learned = learn(model, step, learned, weights, rows)
    log_likelihoods, covectors = batch_loss(model, weights, rows)
    if plan.dense:
        covectors = sum_by_node(slots, nodes, covectors)
        points, optimizer, norms = update_rows(
            model.manifold, plan.transformation(), step, points, covectors, optimizer
        )
        return (points, optimizer, learned, slots), (log_likelihoods, _in_entries(norms, len(nodes)))
    (points, optimizer, slots), norms = move_rows(
        plan, model.manifold, step, (points, optimizer, slots), nodes, rows, covectors, first
    )
    return (points, optimizer, learned, slots), (log_likelihoods, norms)


def _in_entries(norms: Float[Array, "nodes"], entries: int) -> Float[Array, "entries"]:
    """One entry per node that has a gradient, each the mean norm of these nodes; then NaN.

    A norm per node and step of a block would need far more memory than the tables.
    """
    count = jnp.sum(norms > 0, dtype=jnp.int32)
    return jnp.where(jnp.arange(entries) < count, jnp.sum(norms) / jnp.maximum(count, 1), jnp.nan)


def move_rows(
    plan: EpochPlan,
    manifold: Manifold,
    step: Step,
    tables: tuple[Array, Any, Array],
    nodes: Int[Array, "rows"],
    rows: Float[Array, "rows ambient"],
    covectors: Float[Array, "rows ambient"],
    first: Int[Array, "rows"] | None = None,
) -> tuple[tuple[Array, Any, Array], Float[Array, "own"]]:
    """Sum the covectors of each node and move its row once: (tables, gradient norms, NaN for padding)."""
    points, optimizer, slots = tables
    writing = IN_TURN if plan.in_one_kernel else AT_ONCE
    slots, own, covectors = sum_repeated(slots, nodes, covectors, first, writing)
    rows = rows if own.shape[0] < points.shape[0] else wide(points)
    new_rows, new_state, norms = update_rows(
        manifold, plan.transformation(), step, rows, covectors, get_state(optimizer, own)
    )
    points = put_rows(points, own, new_rows, norms, writing)
    optimizer = put_state(optimizer, own, new_state, norms, writing)
    return (points, optimizer, slots), jnp.where(own < points.shape[0], norms, jnp.nan)


def learn(
    model: Model,
    step: Step,
    learned: Learned,
    weights: Array,
    rows: Array,
    add_up: Callable[[Any], Any] = lambda slope: slope,
) -> tuple[Model, Learned]:
    """The model with its learned numbers, and these numbers after a step.

    `add_up` sums a gradient over processes.
    """
    slope = jax.grad(lambda reals: total_loss(with_reals(model, reals), weights, rows))(learned.reals)
    return with_reals(model, learned.reals), learned.step(add_up(slope), step.learning_rate)


def take_fused_step(
    plan: EpochPlan, model: Model, step: Step, places: Places, carry: tuple, batch: tuple
) -> tuple[tuple, tuple]:
    """`take_step` with the GPU kernels of `gpu_step`."""
    from timelike.engine import gpu_step

    packed, optimizer, learned, slots = carry
    nodes, weights, _ = batch
    if plan.learn:
        rows = wide(get_rows(packed, nodes)[:, : model.manifold.ambient_dim])
        model, learned = learn(model, step, learned, weights, rows)
    packed, optimizer, log_likelihoods, norms = gpu_step.step(
        model, plan.transformation(), step, places, packed, optimizer, nodes, weights
    )
    return (packed, optimizer, learned, slots), (log_likelihoods, norms)


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
