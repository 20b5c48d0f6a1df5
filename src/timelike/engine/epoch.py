"""The compiled epoch: shuffle, sample, gradient, update and validation as one program.

Pure functions of arrays. `train` and `sweep` call `run_epoch`, the latter with a leading axis on everything
that varies: seeds, learning rates, the numbers inside the model.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from timelike.core.model import Model
from timelike.core.struct import reals_of, with_reals
from timelike.engine.device_scoring import average_precision_on_device, log_probs
from timelike.engine.epoch_plan import EpochPlan, Numbers
from timelike.engine.optimizers import Learned
from timelike.engine.passes import ONE, Carry, Lanes, Tally, sweep_edges
from timelike.engine.row_packing import pack, unpack
from timelike.engine.sampling import EdgeTable
from timelike.engine.table_storage import MOMENTS, STORAGES, narrow, wide
from timelike.evaluation.labelled_pairs import LabelledPairs

#: Points in 16 bits are drawn so many at a time: together, those in 32 would be the most memory of a run.
DRAWN = 1 << 14

#: How many nodes with non-finite points are named when a run diverges.
NAMED_CULPRITS = 3


class Data(NamedTuple):
    """Edges to learn, and pairs to score after each epoch.

    The table is an `EdgeTable`; `FilteredEdges` where `EpochPlan.fused`; None if the edges are streamed.
    """

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


def init_state(plan: EpochPlan, numbers: Numbers, num_nodes: int) -> State:
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
    plan: EpochPlan, numbers: Numbers, num_nodes: int, together: int | None = None
) -> Float[Array, "nodes ambient"]:
    """Points in a small patch around the origin, each from a key of its own; all or so many together."""
    keys = jax.random.split(jax.random.fold_in(jax.random.key(numbers.seed), 0), num_nodes)

    def draw(key: Array) -> Array:
        return narrow(numbers.model.manifold.init(key, numbers.init_scale), STORAGES[plan.tables])

    return jax.vmap(draw)(keys) if together is None else jax.lax.map(draw, keys, batch_size=together)


def init_moments(plan: EpochPlan, points: Float[Array, "nodes ambient"]) -> Any:
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


def run_epoch(
    plan: EpochPlan, numbers: Numbers, data: Data, state: State, lanes: Lanes = ONE
) -> tuple[State, Report]:
    """One pass over the edges. A run that is not `alive` (diverged, out of patience) stands still."""
    table = data.table
    carry = lanes.at_once(partial(begin_epoch, plan, table))(state)
    carry, tally = sweep_edges(plan, numbers, table, state.epoch, carry, lanes=lanes)
    return lanes.at_once(partial(end_epoch, plan, data, table.num_edges))(numbers, state, carry, tally)


def begin_epoch(plan: EpochPlan, table: EdgeTable, state: State) -> Carry:
    """What steps go on from: tables, optimiser state, learned numbers and scratch space."""
    if plan.fused:
        return *pack(state.points, state.optimizer), state.learned, jnp.zeros(0, jnp.int32)
    slots = table.places if plan.dense else jnp.zeros(len(state.points), jnp.int32)
    return state.points, state.optimizer, state.learned, slots


def end_epoch(
    plan: EpochPlan, data: Data, num_edges: int, numbers: Numbers, state: State, carry: Carry, tally: Tally
) -> tuple[State, Report]:
    """The state after an epoch of so many edges that began with `state`, and what there is to say of it."""
    points, learned = carry[0][:, : state.points.shape[1]], carry[2]
    finite = jnp.isfinite(wide(points)).all(axis=1)
    tally = tally._replace(loss=jnp.where(learned.finite, tally.loss, jnp.nan))
    good = finite.all() & jnp.isfinite(tally.loss)
    model = with_reals(numbers.model, learned.reals)
    report = _report(plan, model, data, num_edges, points, tally)._replace(culprits=_first_false(finite))
    keep = state.alive & good
    moved = jax.lax.cond(keep, partial(_moved, plan), lambda carry, state: state, carry, state)
    return _select(plan, numbers, moved._replace(alive=keep), report), report


def _moved(plan: EpochPlan, carry: Carry, state: State) -> State:
    """The state with what the steps of an epoch made of it."""
    points, optimizer, learned, _ = carry
    if plan.fused:
        points, optimizer = unpack(points, optimizer, state.points.shape[1])
    return state._replace(points=points, optimizer=optimizer, learned=learned, epoch=state.epoch + 1)


def _first_false(finite: Bool[Array, "nodes"]) -> Int[Array, "named"]:
    """The first few nodes whose points are not finite, then −1."""
    nodes, none = jnp.arange(finite.shape[0]), finite.shape[0]
    found = [jnp.full((), -1)]
    for _ in range(NAMED_CULPRITS):
        found.append(jnp.min(jnp.where(~finite & (nodes > found[-1]), nodes, none)))
    return jnp.stack([jnp.where(node < none, node, -1) for node in found[1:]])


def _select(plan: EpochPlan, numbers: Numbers, state: State, report: Report) -> State:
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


def _report(plan: EpochPlan, model: Model, data: Data, num_edges: int, points: Array, tally: Tally) -> Report:
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
