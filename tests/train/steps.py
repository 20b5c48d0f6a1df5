"""The engine's step on batches that a test has made: examples by row, their pairs along the row."""

import functools

import jax
import jax.numpy as jnp

from timelike import engine
from timelike.optimizers import Step
from timelike.sampling import Negatives


def make_plan(optimizer, batch_size, pairs):
    return engine.Plan(1, batch_size, 0, Negatives(uniform=pairs - 1), optimizer, "last", None)


def start(plan, points):
    """What the engine carries from step to step: points, optimiser, scratch space, tally."""
    pairs, batch = 1 + plan.negatives.total, plan.batch_size
    tally = engine.Tally.zeros((pairs, batch), (2 * pairs * batch,), points.dtype)
    return points, plan.transformation().init(points), jnp.zeros(len(points), jnp.int32), tally


def step(plan, model, clip, carry, inputs):
    """One step, and the points after it; inputs are sources, targets, use, weights and learning rate."""
    sources, targets, use, weights, rate = inputs
    nodes = jnp.concatenate([sources.T.reshape(-1), targets.T.reshape(-1)])
    carry, _ = engine._step(plan, model, Step(rate, clip), carry, (nodes, use.T, weights))
    return carry, carry[0]


def one_by_one(plan, model, clip, points, inputs):
    """The points after each of many steps, and what is carried at the end."""
    carry, trail = start(plan, points), []
    for batch in zip(*inputs, strict=True):
        carry, points = step(plan, model, clip, carry, batch)
        trail.append(points)
    return trail, carry


@functools.partial(jax.jit, static_argnums=0)
def compiled(plan, model, clip, points, inputs):
    """The same as one program."""
    carry, trail = jax.lax.scan(functools.partial(step, plan, model, clip), start(plan, points), inputs)
    return trail, carry
