"""The engine's step on batches of a test: examples by row, their pairs along the row."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from timelike.engine import passes, table_rows
from timelike.engine.batch_step import take_step
from timelike.engine.config import EpochPlan
from timelike.engine.negatives import Negatives
from timelike.engine.optimizers import DENSE, Learned, Step
from timelike.engine.table_rows import HUBS, Places


def make_plan(optimizer, batch_size, pairs, in_one_kernel=True):
    """The epoch plan that `train` makes for a small graph."""
    in_one_kernel &= optimizer not in DENSE
    return EpochPlan(
        batch_size, Negatives(uniform=pairs - 1), optimizer, "last", (), in_one_kernel=in_one_kernel
    )


def start(plan, points):
    """What steps pass on: points, optimiser state, learned numbers, scratch space."""
    nodes = len(points)
    slots = Places.of(np.arange(nodes), HUBS) if plan.dense else jnp.zeros(nodes, jnp.int32)
    return points, plan.transformation().init(points), Learned.start({}), slots


def step(plan, model, clip, carry, inputs):
    """One step: what is carried on, and the points after it, loss, saturated pairs and gradient norms.

    Inputs are sources, targets, use, weights and learning rate.
    """
    sources, targets, use, weights, rate = inputs
    nodes = jnp.concatenate([sources.T.reshape(-1), targets.T.reshape(-1)])
    weights = jnp.where(use.T, weights, 0.0)
    first = table_rows.first_entries(nodes[None])[0] if len(nodes) <= passes.SHORT_STEP else None
    batch = nodes, weights, first
    carry, (log_likelihoods, norms) = take_step(plan, model, Step(rate, clip), carry, batch)
    saturated = jnp.sum(use.T & passes.saturated(log_likelihoods[None])[0])
    return carry, (carry[0], -jnp.sum(weights * log_likelihoods), saturated, jnp.nansum(norms))


def one_by_one(plan, model, clip, points, inputs):
    """The results of each of many steps, and what the last passes on."""
    carry, trail = start(plan, points), []
    for batch in zip(*inputs, strict=True):
        carry, found = step(plan, model, clip, carry, batch)
        trail.append(found)
    return [jnp.stack(column) for column in zip(*trail, strict=True)], carry


@functools.partial(jax.jit, static_argnums=0)
def compiled(plan, model, clip, points, inputs):
    """The same as one program."""
    carry, trail = jax.lax.scan(functools.partial(step, plan, model, clip), start(plan, points), inputs)
    return trail, carry
