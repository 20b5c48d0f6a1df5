"""One training step: gather the rows of a minibatch, differentiate, update, scatter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from timelike.core.manifold import Manifold
from timelike.core.model import Model
from timelike.core.struct import with_reals
from timelike.engine.config import EpochPlan
from timelike.engine.objective import batch_loss, total_loss
from timelike.engine.optimizers import Learned, Step, update_rows
from timelike.engine.table_rows import (
    AT_ONCE,
    IN_TURN,
    Places,
    get_rows,
    get_state,
    put_rows,
    put_state,
    sum_by_node,
    sum_repeated,
)
from timelike.engine.table_storage import wide


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
