"""One pass over the edges, in blocks of steps whose examples are drawn together.

For one run or for many: `vmap` does the common work of all runs at once, and runs take short steps one after
the other, each as one loop of machine code.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental.scheduling_groups import xla_metadata_call
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int

from timelike.core.hashed_random import Shuffle
from timelike.core.model import Model
from timelike.core.numerics import SATURATION
from timelike.engine.batch_step import take_fused_step, take_step
from timelike.engine.config import EpochPlan, Numbers, in_epoch
from timelike.engine.filtered_edges import LocalEdges
from timelike.engine.negatives import PAIRS_PER_BLOCK
from timelike.engine.optimizers import Learned, Step
from timelike.engine.sampling import Examples, draw_examples
from timelike.engine.table_rows import first_entries

#: A step on at most SHORT_STEP rows is short: finding repeated nodes in advance pays off. An epoch of
#: MANY_STEPS short steps or more takes two per iteration of its loop.
SHORT_STEP, MANY_STEPS = 48, 256


class Tally(NamedTuple):
    """The sums of an epoch over its pairs and over the rows that they touch."""

    loss: Float[Array, ""]
    saturated: Float[Array, ""]
    gradient_norm: Float[Array, ""]
    rows: Float[Array, ""]
    pairs: Int[Array, ""]
    rejected: Int[Array, ""]

    @classmethod
    def of(
        cls,
        weights: Float[Array, "steps pairs batch"],
        use: Bool[Array, "steps pairs batch"],
        rejected: Int[Array, ""],
        log_likelihoods: Float[Array, "steps pairs batch"],
        norms: Float[Array, "steps rows"],
    ) -> Tally:
        """Sum over some steps; a norm is NaN for padding."""
        return cls(
            loss=-jnp.sum(weights * log_likelihoods),
            saturated=jnp.sum(use & saturated(log_likelihoods), dtype=weights.dtype),
            gradient_norm=jnp.nansum(norms),
            rows=jnp.sum(~jnp.isnan(norms), dtype=weights.dtype),
            pairs=jnp.sum(use, dtype=jnp.int32),
            rejected=rejected,
        )

    def stacked(self) -> tuple[Float[Array, "4"], Int[Array, "2"]]:
        """As two arrays: a GPU stores a few numbers as fast as one."""
        return jnp.stack(self[:4]), jnp.stack(self[4:])


#: What steps pass on: tables, optimiser state, learned numbers and scratch space.
Carry = tuple[Any, Any, Learned, Any]


class Blocks(NamedTuple):
    """How an epoch is cut: edges per step, blocks, steps per block, and how the loop is compiled."""

    batch: int
    blocks: int
    per_block: int
    short: bool
    unroll: int

    @classmethod
    def of(cls, plan: EpochPlan, size: int) -> Blocks:
        """For `size` edges, including the padding of their shuffle."""
        pairs, batch = 1 + plan.negatives.total, min(plan.batch_size, size)
        steps = -(-size // batch)
        blocks = -(-steps // max(1, PAIRS_PER_BLOCK // (batch * pairs)))
        short = 2 * pairs * batch <= SHORT_STEP and not plan.fused
        unroll = 2 if short and steps >= MANY_STEPS and not plan.in_one_kernel else 1
        return cls(batch, blocks, unroll * -(-steps // (unroll * blocks)), short, unroll)


class Lanes(NamedTuple):
    """How to apply a function of one run to all runs: all at once, or one after the other."""

    at_once: Callable[[Callable], Callable]
    in_turn: Callable[[Callable], Callable]


def _in_turn(run: Callable) -> Callable:
    return lambda *arguments: jax.lax.map(lambda lane: run(*lane), arguments)


#: One run; many runs, whose arrays have a leading axis.
ONE, MANY = Lanes(lambda run: run, lambda run: run), Lanes(jax.vmap, _in_turn)


def sweep_edges(
    plan: EpochPlan,
    numbers: Numbers,
    table: LocalEdges,
    epoch: Array,
    carry: Carry,
    part: Array | int = 0,
    lanes: Lanes = ONE,
) -> tuple[Carry, Tally]:
    """All steps of an epoch, or of one part of its edges: what they pass on, and their sums."""
    begin = partial(in_epoch, dtype=numbers.learning_rate.dtype)
    key, step, warm = lanes.at_once(begin)(numbers, epoch)
    if not isinstance(part, int):  # the first part has the key of the epoch itself
        other = jax.random.key_data(jax.random.fold_in(key, part + 1))
        key = jax.random.wrap_key_data(jnp.where(part == 0, jax.random.key_data(key), other))
    return _sweep_edges(plan, warm, table, step, key, carry, lanes)


def _sweep_edges(
    plan: EpochPlan, model: Model, table: LocalEdges, step: Step, key: Array, carry: Carry, lanes: Lanes = ONE
) -> tuple[Carry, Tally]:
    """Scan over blocks: draw the examples of a block at once, then take its steps one by one."""
    cut = Blocks.of(plan, math.prod(Shuffle.grid(table.num_edges)))
    dtype = step.learning_rate.dtype
    shuffle = lanes.at_once(lambda key: Shuffle.draw(jax.random.fold_in(key, 0), table.num_edges))(key)
    take_all: Callable = partial(_take_all, plan, table, cut.unroll)
    if plan.in_one_kernel:
        take_all = in_one_kernel(take_all)

    def block(carry: Carry, number: Array) -> tuple[Carry, tuple[Array, Array]]:
        batches, drawn = lanes.at_once(partial(_draw, plan, table, cut, dtype, number))(key, shuffle)
        carry, outputs = lanes.in_turn(take_all)(model, step, carry, batches)
        return carry, lanes.at_once(lambda *parts: Tally.of(*parts).stacked())(*drawn, *outputs)

    carry, tallies = jax.lax.scan(block, carry, jnp.arange(cut.blocks))
    return carry, Tally(*(total for parts in tallies for total in jnp.sum(parts, axis=0).T))


def _draw(
    plan: EpochPlan, table: LocalEdges, cut: Blocks, dtype: Any, number: Array, key: Array, shuffle: Shuffle
) -> tuple[tuple, tuple]:
    """Draw the examples of block `number`: what its steps need, and what a `Tally` does."""
    steps, batch = cut.per_block, cut.batch
    positions = number * steps * batch + jnp.arange(steps * batch)
    draw_key = jax.random.fold_in(jax.random.fold_in(key, 1), number)
    examples = draw_examples(draw_key, table, plan.negatives, shuffle(positions).reshape(steps, batch))
    nodes, weights, use = by_step(plan, examples, dtype)
    first = first_entries(nodes) if cut.short else None
    return (nodes, weights, first), (weights, use, examples.rejected)


def by_step(plan: EpochPlan, examples: Examples, dtype: Any) -> tuple[Array, Array, Array]:
    """The examples of a block by step: sources then targets of all pairs, weights, and which are used."""
    sources, targets, use = (jnp.swapaxes(x, 0, 1) for x in examples[:3])
    nodes = jnp.concatenate([x.reshape(len(x), -1) for x in (sources, targets)], axis=1)
    factors = plan.negatives.factors.astype(dtype)[:, None]
    return nodes, jnp.where(use, examples.weights[:, None].astype(dtype) * factors, 0.0), use


def _take_all(
    plan: EpochPlan, table: LocalEdges, unroll: int, model: Model, step: Step, carry: Carry, batches: Any
) -> tuple[Carry, Any]:
    take = partial(take_step, plan, model, step)
    if plan.fused:
        take = partial(take_fused_step, plan, model, step, table.places)
    return jax.lax.scan(take, carry, batches, unroll=unroll)


def in_one_kernel(run: Callable) -> Callable:
    """`run`, whose first two arguments are trees of scalars, as one function of machine code on a CPU.

    XLA launches a kernel for every few operations, which takes as long as a short kernel runs. It compiles a
    call with this attribute as a whole. The call must contain no scatter, sort or library call. An unused
    argument crashes the process; a model may have numbers that only scores use, so all numbers are passed as
    one argument.
    """

    def call(model: Model, step: Step, *arguments: Any) -> Any:
        numbers, apart = ravel_pytree((model, step))
        kernel = xla_metadata_call(
            lambda numbers, *arguments: run(*apart(numbers), *arguments),
            xla_cpu_small_call="true",
            inlineable="false",
        )
        return kernel(numbers, *arguments)

    return call


def saturated(log_likelihoods: Float[Array, "steps pairs batch"]) -> Bool[Array, "steps pairs batch"]:
    """Whether F ≥ 1 − `SATURATION`, from log F of the positives and log(1 − F) of the negatives."""
    positive = jnp.arange(log_likelihoods.shape[1])[:, None] == 0
    full = log_likelihoods >= jnp.log1p(-SATURATION)
    return jnp.where(positive, full, log_likelihoods <= jnp.log(SATURATION))
