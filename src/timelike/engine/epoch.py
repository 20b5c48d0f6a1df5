"""The compiled epoch: shuffle, sample, gradient, update and validation as one program.

Pure functions of arrays. `train` and `sweep` call `run_epoch`; `sweep` adds a leading axis to everything that
varies: seeds, learning rates, the numbers of the model.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from timelike._util.threads import made_once
from timelike.core.model import Model
from timelike.core.struct import reals_of, with_reals
from timelike.engine.config import EpochPlan, Numbers
from timelike.engine.filtered_edges import LocalEdges
from timelike.engine.lessons import Lessons
from timelike.engine.optimizers import Learned
from timelike.engine.padded_edges import PaddedEdges
from timelike.engine.passes import ONE, Carry, Lanes, Tally, sweep_edges
from timelike.engine.table_storage import MOMENTS, STORAGES, narrow, pack, unpack, wide
from timelike.evaluation.labelled_pairs import LabelledPairs

#: 16-bit points are drawn in batches of this size: drawn at once in 32 bits, they would set the peak memory.
DRAWN = 1 << 14

#: Compiler options on a CPU. By default, XLA turns every sum over coordinates into a library call, but short
#: sums are faster inline; and its newer way to emit fused loops takes a third longer to compile, to the same
#: numbers at the same speed.
PLAIN_LOOPS = ("xla_cpu_use_fusion_emitters", "False")
FOR_EPOCHS = (("xla_cpu_experimental_ynn_fusion_type", ""), PLAIN_LOOPS)
FOR_STARTS = (("xla_backend_optimization_level", "1"), PLAIN_LOOPS)

#: Number of nodes with non-finite points to name when a run diverges.
NAMED_CULPRITS = 3


class Data(NamedTuple):
    """Edges to learn, and pairs to score after each epoch.

    The table is an `EdgeTable`, `PaddedEdges` if graphs share a program, or `FilteredEdges` if
    `EpochPlan.fused`; None if the edges are streamed.
    """

    table: LocalEdges | None
    valid: LabelledPairs | None
    test: LabelledPairs | None


class State(NamedTuple):
    """Everything a run carries from one epoch to the next."""

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
    """The results of one epoch: a line of the history."""

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
    """Points in a small patch around the origin, each from its own key, drawn in batches of `together`."""
    keys = jax.random.split(jax.random.fold_in(jax.random.key(numbers.seed), 0), num_nodes)

    def draw(key: Array) -> Array:
        return narrow(numbers.model.manifold.init(key, numbers.init_scale), STORAGES[plan.tables])

    return jax.vmap(draw)(keys) if together is None else jax.lax.map(draw, keys, batch_size=together)


def init_moments(plan: EpochPlan, points: Float[Array, "nodes ambient"]) -> Any:
    """A fresh optimiser state for these points."""
    return plan.transformation().init(
        points if MOMENTS[plan.tables] is None else points.astype(MOMENTS[plan.tables])
    )


def compiled(epoch: Callable, donated: int = 2) -> Any:
    """Compile an epoch (numbers, data, state) → (state, report) that reuses the memory of the state."""
    return jax.jit(epoch, donate_argnums=donated, compiler_options=_options(FOR_EPOCHS))


def compiled_once(start: Callable) -> Any:
    """Compile what runs only once: compiling takes longer than running, so XLA optimises little."""
    return jax.jit(start, compiler_options=_options(FOR_STARTS))


@made_once
def _options(wanted: tuple[tuple[str, str], ...]) -> dict[str, str] | None:
    """Those of the compiler options that this version of XLA knows, on a CPU."""
    if jax.default_backend() != "cpu":
        return None
    return {name: value for name, value in wanted if _is_known(name, value)} or None


@made_once
def _is_known(name: str, value: str) -> bool:
    try:
        jax.jit(lambda: 0, compiler_options={name: value})()
    except RuntimeError:
        return False
    return True


def run_epoch(
    plan: EpochPlan, numbers: Numbers, data: Data, state: State, lanes: Lanes = ONE
) -> tuple[State, Report]:
    """One pass over the edges. A run that is not `alive` (diverged, out of patience) does not change."""
    table = data.table
    assert table is not None
    carry = lanes.at_once(partial(begin_epoch, plan, table))(state)
    carry, tally = sweep_edges(plan, numbers, table, state.epoch, carry, lanes=lanes)
    edges = table.count if isinstance(table, PaddedEdges | Lessons) else table.num_edges
    return lanes.at_once(partial(end_epoch, plan, data, edges))(numbers, state, carry, tally)


def begin_epoch(plan: EpochPlan, table: LocalEdges, state: State) -> Carry:
    """What the first step starts from: tables, optimiser state, learned numbers and scratch space."""
    if plan.fused:
        return *pack(state.points, state.optimizer), state.learned, jnp.zeros(0, jnp.int32)
    slots = table.places if plan.dense else jnp.zeros(len(state.points), jnp.int32)
    return state.points, state.optimizer, state.learned, slots


def end_epoch(
    plan: EpochPlan, data: Data, num_edges: Any, numbers: Numbers, state: State, carry: Carry, tally: Tally
) -> tuple[State, Report]:
    """The state after an epoch over `num_edges` edges that began with `state`, and its report."""
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
    """The state with the tables that the steps of an epoch produced."""
    points, optimizer, learned, _ = carry
    if plan.fused:
        points, optimizer = unpack(points, optimizer, state.points.shape[1])
    return state._replace(points=points, optimizer=optimizer, learned=learned, epoch=state.epoch + 1)


def _first_false(finite: Bool[Array, "nodes"]) -> Int[Array, "named"]:
    """The first few nodes whose points are not finite, then −1."""
    nodes, none = jnp.arange(finite.shape[0]), finite.shape[0]
    culprits = [jnp.full((), -1)]
    for _ in range(NAMED_CULPRITS):
        culprits.append(jnp.min(jnp.where(~finite & (nodes > culprits[-1]), nodes, none)))
    return jnp.stack([jnp.where(node < none, node, -1) for node in culprits[1:]])


def _select(plan: EpochPlan, numbers: Numbers, state: State, report: Report) -> State:
    """Keep the best epoch by the chosen score; stop the run if that was more than `patience` epochs ago."""
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


def _report(plan: EpochPlan, model: Model, data: Data, num_edges: Any, points: Array, tally: Tally) -> Report:
    def score(pairs: LabelledPairs | None) -> Array:
        if pairs is None:
            return jnp.full((), jnp.nan, tally.loss.dtype)
        scores = log_probs(model, points, pairs.sources, pairs.targets)
        return average_precision_on_device(scores, pairs.labels)

    pairs = num_edges * (1 + plan.negatives.total)
    if isinstance(pairs, int):
        drawn, many = jnp.asarray(np.array(pairs).astype(np.int32)), float(pairs)
    else:  # a padded table, which is small
        drawn, many = pairs, pairs.astype(tally.loss.dtype)
    left_out = drawn - tally.pairs  # correct even if both wrap around
    return Report(
        loss=tally.loss,
        gradient_norm=tally.gradient_norm / tally.rows,
        saturated=tally.saturated / (many - left_out.astype(tally.loss.dtype)),
        off_surface=jnp.max(jax.vmap(model.manifold.residual)(wide(points))),
        rejected=tally.rejected,
        left_out=left_out,
        valid_ap=score(data.valid),
        test_ap=score(data.test),
        culprits=jnp.zeros(NAMED_CULPRITS, jnp.int32),
    )


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
