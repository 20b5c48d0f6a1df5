"""The compiled epoch: shuffle, sample, gradient, update and validation as one program.

Pure functions of arrays. `train` and `sweep` call `run_epoch`, the latter under `vmap` with a
leading axis on everything that varies: seeds, learning rates, the numbers inside the model.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.experimental.scheduling_groups import xla_metadata_call
from jaxtyping import Array, Bool, Float, Int, Key

from timelike._struct import reals_of, with_reals, with_scaled
from timelike.evaluation import LabelledPairs, average_precision_on_device, log_probs
from timelike.model import Model
from timelike.negatives import Negatives
from timelike.numerics import SATURATION
from timelike.optimizers import DENSE, OPTIMIZERS, Learned, Step, heating, schedule
from timelike.packing import pack, unpack
from timelike.sampling import EdgeTable, draw_examples
from timelike.shuffle import Shuffle
from timelike.steps import take_fused_step, take_step
from timelike.storage import MOMENTS, STORAGES, narrow, wide
from timelike.tables import first_entries

#: Negatives are drawn for about this many pairs at a time: enough to vectorise the draws, few
#: enough to stay in the cache.
PAIRS_PER_BLOCK = 1 << 16

#: A step on at most this many rows is short: it is worth looking up in advance which of them are the
#: same node; and in an epoch of many such steps, taking two in every turn of the loop.
SHORT_STEP, MANY_STEPS = 48, 256

#: Points in 16 bits are drawn so many at a time: together, those in 32 would be the most memory of a run.
DRAWN = 1 << 14

#: How many nodes with non-finite points are named when a run diverges.
NAMED_CULPRITS = 3


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is fixed when an epoch is compiled."""

    batch_size: int
    negatives: Negatives
    optimizer: str
    select: str
    learn: tuple[str, ...]
    #: How points and moments lie in memory: see `timelike.storage`.
    tables: str = "float32"
    #: Whether steps are taken by the kernels of `timelike.fused`.
    fused: bool = False
    #: Whether the steps of a block are one loop of machine code: see `in_one_kernel`.
    in_one_kernel: bool = False

    @property
    def dense(self) -> bool:
        """Whether every node moves in every step, not only those of the batch."""
        return self.optimizer in DENSE

    @property
    def rows(self) -> int:
        """How many rows of the table a step touches, repetitions counted."""
        return 2 * self.batch_size * (1 + self.negatives.total)

    def transformation(self) -> optax.GradientTransformation:
        """The optax part of the optimiser."""
        return OPTIMIZERS[self.optimizer]()


class Numbers(NamedTuple):
    """The settings of one run that may change without another compilation; a sweep stacks them."""

    model: Model
    learning_rate: Float[Array, ""]
    init_scale: Float[Array, ""]
    clip: Float[Array, ""]
    epochs: Int[Array, ""]
    burn_in: Int[Array, ""]
    final_rate: Float[Array, ""]
    anneal: Float[Array, ""]
    patience: Int[Array, ""]
    seed: Int[Array, ""]


class Data(NamedTuple):
    """Edges to learn (an `EdgeTable`, or None if they are streamed), and pairs to score after each epoch."""

    table: Any
    valid: LabelledPairs | None
    test: LabelledPairs | None


class State(NamedTuple):
    """Everything that a run carries from one epoch to the next."""

    points: Float[Array, "nodes ambient"]
    optimizer: Any
    learned: Learned
    epoch: Int[Array, ""]
    best_points: Float[Array, "nodes ambient"]
    best_reals: dict[str, Float[Array, ""]]
    best_score: Float[Array, ""]
    best_epoch: Int[Array, ""]
    alive: Bool[Array, ""]


class Report(NamedTuple):
    """What one epoch has to say: a line of the history."""

    loss: Float[Array, ""]
    gradient_norm: Float[Array, ""]
    saturated: Float[Array, ""]
    off_surface: Float[Array, ""]
    rejected: Int[Array, ""]
    left_out: Int[Array, ""]
    valid_ap: Float[Array, ""]
    test_ap: Float[Array, ""]
    culprits: Int[Array, "named"]


def init_state(plan: Plan, numbers: Numbers, num_nodes: int) -> State:
    """Points in a small patch around the origin, and a fresh optimiser."""
    points = init_points(plan, numbers, num_nodes, together=None if plan.tables == "float32" else DRAWN)
    reals = reals_of(numbers.model, plan.learn)
    return State(
        points=points,
        optimizer=init_moments(plan, points),
        learned=Learned.start(reals),
        epoch=jnp.zeros((), jnp.int32),
        best_points=points,
        best_reals=reals,
        best_score=jnp.full((), -jnp.inf, numbers.learning_rate.dtype),
        best_epoch=jnp.zeros((), jnp.int32),
        alive=jnp.ones((), bool),
    )


def init_points(
    plan: Plan, numbers: Numbers, num_nodes: int, together: int | None = None
) -> Float[Array, "nodes ambient"]:
    """Points in a small patch around the origin, each from a key of its own; all or so many together."""
    keys = jax.random.split(jax.random.fold_in(jax.random.key(numbers.seed), 0), num_nodes)

    def draw(key: Array) -> Array:
        return narrow(numbers.model.manifold.init(key, numbers.init_scale), STORAGES[plan.tables])

    return jax.vmap(draw)(keys) if together is None else jax.lax.map(draw, keys, batch_size=together)


def init_moments(plan: Plan, points: Float[Array, "nodes ambient"]) -> Any:
    """A fresh optimiser for these points."""
    return plan.transformation().init(
        points if MOMENTS[plan.tables] is None else points.astype(MOMENTS[plan.tables])
    )


def compiled(epoch: Callable, donated: int = 2) -> Any:
    """An epoch (numbers, data, state) → (state, report) as a program that takes over the state's memory."""
    return jax.jit(epoch, donate_argnums=donated, compiler_options=_options())


@functools.cache
def _options() -> dict[str, str] | None:
    """On a CPU, XLA makes a library call of every sum over coordinates; short ones are faster inline."""
    inline = {"xla_cpu_experimental_ynn_fusion_type": ""}
    if jax.default_backend() != "cpu":
        return None
    try:
        jax.jit(lambda: 0, compiler_options=inline)()
    except RuntimeError:  # another version, which does not know the option
        return None
    return inline


def in_one_kernel(run: Callable) -> Callable:
    """`run` as one function of machine code on a CPU.

    XLA starts a kernel for every few operations there, which takes as long as a short one runs. A call with
    this attribute it compiles as a whole; it may have no scatter, sort or call of a library in it.
    """
    return xla_metadata_call(run, xla_cpu_small_call="true", inlineable="false")


def run_epoch(plan: Plan, numbers: Numbers, data: Data, state: State) -> tuple[State, Report]:
    """One pass over the edges. A run that is not `alive` (diverged, out of patience) stands still."""
    carry, tally = sweep_edges(plan, numbers, data.table, state.epoch, begin_epoch(plan, data.table, state))
    return end_epoch(plan, numbers, data, data.table.num_edges, state, carry, tally)


def begin_epoch(plan: Plan, table: EdgeTable, state: State) -> Carry:
    """What steps go on from: tables, optimiser state, learned numbers and scratch space."""
    if plan.fused:
        return *pack(state.points, state.optimizer), state.learned, jnp.zeros(0, jnp.int32)
    slots = table.places if plan.dense else jnp.zeros(len(state.points), jnp.int32)
    return state.points, state.optimizer, state.learned, slots


def end_epoch(
    plan: Plan, numbers: Numbers, data: Data, num_edges: int, state: State, carry: Carry, tally: Tally
) -> tuple[State, Report]:
    """The state after an epoch of so many edges that began with `state`, and what there is to say of it."""
    points, learned = carry[0][:, : state.points.shape[1]], carry[2]
    finite = jnp.isfinite(wide(points)).all(axis=1)
    good = finite.all() & jnp.isfinite(tally.loss)
    model = with_reals(numbers.model, learned.reals)
    report = _report(plan, model, data, num_edges, points, tally)._replace(culprits=_first_false(finite))
    keep = state.alive & good
    moved = jax.lax.cond(keep, partial(_moved, plan), lambda carry, state: state, carry, state)
    return _select(plan, numbers, moved._replace(alive=keep), report), report


def _moved(plan: Plan, carry: Carry, state: State) -> State:
    """The state with what the steps of an epoch made of it."""
    points, optimizer, learned, _ = carry
    if plan.fused:
        points, optimizer = unpack(points, optimizer, state.points.shape[1])
    return state._replace(points=points, optimizer=optimizer, learned=learned, epoch=state.epoch + 1)


def in_epoch(numbers: Numbers, epoch: Int[Array, ""], dtype: Any) -> tuple[Key[Array, ""], Step, Model]:
    """The key, the step and the annealed model of an epoch."""
    key = jax.random.fold_in(jax.random.key(numbers.seed), epoch + 1)
    done = epoch.astype(dtype)
    rate = numbers.learning_rate * schedule(done, numbers.epochs, numbers.burn_in, numbers.final_rate)
    heat = heating(done, numbers.epochs, numbers.anneal).astype(dtype)
    return key, Step(rate.astype(dtype), numbers.clip), with_scaled(numbers.model, "tau", heat)


def _first_false(finite: Bool[Array, "nodes"]) -> Int[Array, "named"]:
    """The first few nodes whose points are not finite, then −1."""
    nodes, none = jnp.arange(finite.shape[0]), finite.shape[0]
    found = [jnp.full((), -1)]
    for _ in range(NAMED_CULPRITS):
        found.append(jnp.min(jnp.where(~finite & (nodes > found[-1]), nodes, none)))
    return jnp.stack([jnp.where(node < none, node, -1) for node in found[1:]])


def _select(plan: Plan, numbers: Numbers, state: State, report: Report) -> State:
    """Remember the best epoch by the chosen score; run out of patience when it is too long ago."""
    scores = {"valid": report.valid_ap, "test": report.test_ap, "last": state.epoch.astype(report.loss.dtype)}
    better = state.alive & (scores[plan.select] > state.best_score)
    waited = state.epoch - jnp.maximum(state.best_epoch, numbers.burn_in)
    best_points, best_reals = jax.lax.cond(
        better,
        lambda new, old: new,
        lambda new, old: old,
        (state.points, state.learned.reals),
        (state.best_points, state.best_reals),
    )
    return state._replace(
        best_points=best_points,
        best_reals=best_reals,
        best_score=jnp.where(better, scores[plan.select], state.best_score),
        best_epoch=jnp.where(better, state.epoch, state.best_epoch),
        alive=state.alive & (better | (waited < numbers.patience)),
    )


class Tally(NamedTuple):
    """What an epoch adds up, over its pairs and over the rows that they touch."""

    loss: Float[Array, ""]
    saturated: Float[Array, ""]
    gradient_norm: Float[Array, ""]
    pairs: Int[Array, ""]
    rows: Float[Array, ""]
    rejected: Int[Array, ""]


#: What steps carry on: tables, optimiser state, learned numbers and scratch space.
Carry = tuple[Any, Any, Learned, Array]


def _report(plan: Plan, model: Model, data: Data, num_edges: int, points: Array, tally: Tally) -> Report:
    def score(pairs: LabelledPairs | None) -> Array:
        if pairs is None:
            return jnp.full((), jnp.nan, tally.loss.dtype)
        scores = log_probs(model, points, pairs.sources, pairs.targets)
        return average_precision_on_device(scores, pairs.labels)

    pairs = num_edges * (1 + plan.negatives.total)
    left_out = jnp.asarray(np.array(pairs).astype(np.int32)) - tally.pairs  # right though both may wrap round
    return Report(
        loss=tally.loss,
        gradient_norm=tally.gradient_norm / tally.rows,
        saturated=tally.saturated / (float(pairs) - left_out.astype(tally.loss.dtype)),
        off_surface=jnp.max(jax.vmap(model.manifold.residual)(wide(points))),
        rejected=tally.rejected,
        left_out=left_out,
        valid_ap=score(data.valid),
        test_ap=score(data.test),
        culprits=jnp.zeros(NAMED_CULPRITS, jnp.int32),
    )


class Blocks(NamedTuple):
    """How an epoch is cut: edges in a step, blocks, steps in a block, and how its loop is compiled."""

    batch: int
    blocks: int
    per_block: int
    short: bool
    unroll: int

    @classmethod
    def of(cls, plan: Plan, size: int) -> Blocks:
        """For so many edges, with the padding of their shuffle."""
        pairs, batch = 1 + plan.negatives.total, min(plan.batch_size, size)
        steps = -(-size // batch)
        blocks = -(-steps // max(1, PAIRS_PER_BLOCK // (batch * pairs)))
        short = 2 * pairs * batch <= SHORT_STEP and not plan.fused
        unroll = 2 if short and steps >= MANY_STEPS and not plan.in_one_kernel else 1
        return cls(batch, blocks, unroll * -(-steps // (unroll * blocks)), short, unroll)


def sweep_edges(
    plan: Plan, numbers: Numbers, table: EdgeTable, epoch: Array, carry: Carry, part: Array | int = 0
) -> tuple[Carry, Tally]:
    """All steps of an epoch, or of one part of its edges: what they carry on, and what they add up."""
    key, step, warm = in_epoch(numbers, epoch, numbers.learning_rate.dtype)
    key = key if isinstance(part, int) else _key_of_part(key, part)
    return _sweep_edges(plan, warm, table, step, key, carry)


def _key_of_part(key: Array, part: Array) -> Array:
    """The first part of the edges has the key of the epoch itself."""
    other = jax.random.key_data(jax.random.fold_in(key, part + 1))
    return jax.random.wrap_key_data(jnp.where(part == 0, jax.random.key_data(key), other))


def _sweep_edges(
    plan: Plan, model: Model, table: EdgeTable, step: Step, key: Array, carry: Carry
) -> tuple[Carry, Tally]:
    """Scan over blocks of steps: draw a block's examples at once, then take its steps one by one."""
    shuffle = Shuffle.draw(jax.random.fold_in(key, 0), table.num_edges)
    batch, blocks, per_block, short, unroll = Blocks.of(plan, shuffle.size)
    dtype = step.learning_rate.dtype
    factors = plan.negatives.factors.astype(dtype)[:, None]
    take = partial(take_step, plan, model, step)
    if plan.fused:
        take = partial(take_fused_step, plan, model, step, table.places)

    all_steps: Callable = partial(jax.lax.scan, take, unroll=unroll)
    if plan.in_one_kernel:
        all_steps = in_one_kernel(all_steps)

    def block(carry: tuple, number: Array) -> tuple[tuple, Tally]:
        positions = number * per_block * batch + jnp.arange(per_block * batch)
        draw_key = jax.random.fold_in(jax.random.fold_in(key, 1), number)
        ids = shuffle(positions).reshape(per_block, batch)
        examples = draw_examples(draw_key, table, plan.negatives, ids)
        sources, targets, use = (jnp.swapaxes(x, 0, 1) for x in examples[:3])
        nodes = jnp.concatenate([x.reshape(per_block, -1) for x in (sources, targets)], axis=1)
        first = first_entries(nodes) if short else None
        weights = jnp.where(use, examples.weights[:, None].astype(dtype) * factors, 0.0)
        carry, (log_likelihoods, norms) = all_steps(carry, (nodes, weights, first))
        return carry, Tally(
            loss=-jnp.sum(weights * log_likelihoods),
            saturated=jnp.sum(use & saturated(log_likelihoods), dtype=dtype),
            gradient_norm=jnp.nansum(norms),
            pairs=jnp.sum(use, dtype=jnp.int32),
            rows=jnp.sum(~jnp.isnan(norms), dtype=dtype),
            rejected=examples.rejected,
        )

    carry, tallies = jax.lax.scan(block, carry, jnp.arange(blocks))
    return carry, jax.tree.map(jnp.sum, tallies)


def saturated(log_likelihoods: Float[Array, "steps pairs batch"]) -> Bool[Array, "steps pairs batch"]:
    """Whether F ≥ 1 − `SATURATION`: seen from log F of the positives and log(1 − F) of the rest."""
    positive = jnp.arange(log_likelihoods.shape[1])[:, None] == 0
    full = log_likelihoods >= jnp.log1p(-SATURATION)
    return jnp.where(positive, full, log_likelihoods <= jnp.log(SATURATION))
