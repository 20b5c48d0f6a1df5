"""The compiled epoch: shuffle, sample, gradient, update and validation as one program.

Pure functions of arrays. `train` and `sweep` call `run_epoch`, the latter under `vmap` with a
leading axis on everything that varies: seeds, learning rates, the numbers inside the model.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int

from timelike.evaluate import LabelledPairs, average_precision, log_probs
from timelike.manifolds.base import Separation
from timelike.model import Model
from timelike.numerics import SATURATION, once
from timelike.optimizers import OPTIMIZERS, Step, put_rows, schedule, sum_repeated, take_rows, update_rows
from timelike.sampling import EdgeTable, Examples, Negatives, Shuffle, draw_examples

#: Negatives are drawn for about this many pairs at a time: enough to vectorise the draws, few
#: enough to stay in the cache.
PAIRS_PER_BLOCK = 1 << 14

#: How many nodes with non-finite points are named when a run diverges.
NAMED_CULPRITS = 5


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is fixed when an epoch is compiled."""

    epochs: int
    batch_size: int
    burn_in: int
    negatives: Negatives
    optimizer: str
    select: str
    patience: int | None

    def transformation(self) -> optax.GradientTransformation:
        """The optax part of the optimiser."""
        return OPTIMIZERS[self.optimizer]()


class Numbers(NamedTuple):
    """The continuous settings of one run; a sweep stacks them."""

    model: Model
    learning_rate: Float[Array, ""]
    init_scale: Float[Array, ""]
    clip: Float[Array, ""]
    seed: Int[Array, ""]


class Data(NamedTuple):
    """Edges to learn, and pairs to score after each epoch."""

    table: EdgeTable
    valid: LabelledPairs | None
    test: LabelledPairs | None


class State(NamedTuple):
    """Everything that a run carries from one epoch to the next."""

    points: Float[Array, "nodes ambient"]
    optimizer: Any
    epoch: Int[Array, ""]
    best_points: Float[Array, "nodes ambient"]
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
    valid_ap: Float[Array, ""]
    test_ap: Float[Array, ""]
    culprits: Int[Array, "named"]


def init_state(plan: Plan, numbers: Numbers, num_nodes: int) -> State:
    """Points in a small patch around the origin, and a fresh optimiser."""
    keys = jax.random.split(jax.random.fold_in(jax.random.key(numbers.seed), 0), num_nodes)
    points = jax.vmap(lambda key: numbers.model.manifold.init(key, numbers.init_scale))(keys)
    return State(
        points=points,
        optimizer=plan.transformation().init(points),
        epoch=jnp.zeros((), jnp.int32),
        best_points=points,
        best_score=jnp.full((), -jnp.inf, points.dtype),
        best_epoch=jnp.zeros((), jnp.int32),
        alive=jnp.ones((), bool),
    )


def run_epoch(plan: Plan, numbers: Numbers, data: Data, state: State) -> tuple[State, Report]:
    """One pass over the edges. A run that is not `alive` (diverged, out of patience) stands still."""
    key = jax.random.fold_in(jax.random.key(numbers.seed), state.epoch + 1)
    rate = numbers.learning_rate * schedule(state.epoch, plan.epochs, plan.burn_in)
    step = Step(rate.astype(state.points.dtype), numbers.clip)
    points, optimizer, totals = _sweep_edges(plan, numbers.model, data.table, step, key, state)
    finite = jnp.isfinite(points).all(axis=1)
    good = finite.all() & jnp.isfinite(totals.loss)
    report = _report(plan, numbers.model, data, points, totals)._replace(
        culprits=jnp.nonzero(~finite, size=NAMED_CULPRITS, fill_value=-1)[0]
    )
    moved = state._replace(points=points, optimizer=optimizer, epoch=state.epoch + 1)
    keep = state.alive & good
    moved = jax.tree.map(lambda new, old: jnp.where(keep, new, old), moved, state)
    return _select(plan, moved._replace(alive=keep), report), report


def _select(plan: Plan, state: State, report: Report) -> State:
    """Remember the best epoch by the chosen score; run out of patience when it is too long ago."""
    scores = {"valid": report.valid_ap, "test": report.test_ap, "last": state.epoch.astype(report.loss.dtype)}
    better = state.alive & (scores[plan.select] > state.best_score)
    alive = state.alive
    if plan.patience is not None:
        alive &= better | (state.epoch - state.best_epoch < plan.patience + plan.burn_in)
    return state._replace(
        best_points=jnp.where(better, state.points, state.best_points),
        best_score=jnp.where(better, scores[plan.select], state.best_score),
        best_epoch=jnp.where(better, state.epoch, state.best_epoch),
        alive=alive,
    )


class Totals(NamedTuple):
    """Sums over the steps of an epoch."""

    loss: Float[Array, ""]
    gradient_norm: Float[Array, ""]
    saturated: Float[Array, ""]
    pairs: Float[Array, ""]
    rows: Float[Array, ""]
    rejected: Int[Array, ""]


def _report(plan: Plan, model: Model, data: Data, points: Array, totals: Totals) -> Report:
    def score(pairs: LabelledPairs | None) -> Array:
        if pairs is None:
            return jnp.full((), jnp.nan, points.dtype)
        return average_precision(log_probs(model, points, pairs.sources, pairs.targets), pairs.labels)

    return Report(
        loss=totals.loss,
        gradient_norm=totals.gradient_norm / jnp.maximum(totals.rows, 1),
        saturated=totals.saturated / jnp.maximum(totals.pairs, 1),
        off_surface=jnp.max(jax.vmap(model.manifold.residual)(points)),
        rejected=totals.rejected,
        valid_ap=score(data.valid),
        test_ap=score(data.test),
        culprits=jnp.zeros(NAMED_CULPRITS, jnp.int32),
    )


def _sweep_edges(
    plan: Plan, model: Model, table: EdgeTable, step: Step, key: Array, state: State
) -> tuple[Array, Any, Totals]:
    """Scan over blocks of steps: draw a block's examples at once, then take its steps one by one."""
    shuffle = Shuffle.draw(jax.random.fold_in(key, 0), table.num_edges)
    batch = min(plan.batch_size, shuffle.size)
    steps = -(-shuffle.size // batch)
    blocks = -(-steps * batch * len(plan.negatives.wiring) // PAIRS_PER_BLOCK)
    per_block = -(-steps // blocks)
    take_step = partial(_step, plan, model, step)

    def block(carry: tuple, number: Array) -> tuple[tuple, None]:
        positions = number * per_block * batch + jnp.arange(per_block * batch)
        draw_key = jax.random.fold_in(jax.random.fold_in(key, 1), number)
        ids = shuffle(positions).reshape(per_block, batch)
        examples = draw_examples(draw_key, table, plan.negatives, ids)
        points, optimizer, slots, totals = carry
        totals = totals._replace(rejected=totals.rejected + examples.rejected)
        batches = (examples.nodes, examples.use, examples.weights)
        carry, _ = jax.lax.scan(take_step, (points, optimizer, slots, totals), batches)
        return carry, None

    zero = jnp.zeros((), state.points.dtype)
    totals = Totals(zero, zero, zero, zero, zero, jnp.zeros((), jnp.int32))
    slots = jnp.zeros(state.points.shape[0], jnp.int32)
    carry = (state.points, state.optimizer, slots, totals)
    (points, optimizer, _, totals), _ = jax.lax.scan(block, carry, jnp.arange(blocks))
    return points, optimizer, totals


def _step(plan: Plan, model: Model, step: Step, carry: tuple, batch: tuple) -> tuple[tuple, None]:
    """One minibatch: gather its rows, differentiate, add up repeated nodes, step, scatter."""
    points, optimizer, slots, totals = carry
    nodes, use, weights = batch
    rows = points[nodes.T]
    loss, saturated, covectors = batch_loss(
        model, plan.negatives.wiring, use.T, weights.astype(rows.dtype), rows
    )
    flat = nodes.T.reshape(-1)
    slots, covectors = sum_repeated(slots, flat, covectors.reshape(flat.shape[0], -1))
    new_rows, new_state, norms = update_rows(
        model.manifold,
        plan.transformation(),
        step,
        rows.reshape(covectors.shape),
        covectors,
        take_rows(optimizer, flat),
    )
    totals = totals._replace(
        loss=totals.loss + loss,
        gradient_norm=totals.gradient_norm + jnp.sum(norms),
        saturated=totals.saturated + saturated,
        pairs=totals.pairs + jnp.sum(use, dtype=rows.dtype),
        rows=totals.rows + flat.shape[0],
    )
    return (points.at[flat].set(new_rows), put_rows(optimizer, flat, new_state), slots, totals), None


def batch_loss(
    model: Model,
    wiring: tuple[tuple[int, int], ...],
    use: Bool[Array, "pairs batch"],
    weights: Float[Array, "batch"],
    rows: Float[Array, "columns batch ambient"],
) -> tuple[Float[Array, ""], Float[Array, ""], Float[Array, "columns batch ambient"]]:
    """Negative log-likelihood of a batch, how many pairs have F ≥ 1 − `SATURATION`, and d loss / d rows.

    −Σ w [log F(s, t) + Σ log(1 − F(a, b))] over the positives s → t and their negatives a → b. The
    derivative goes in two stages, loss → separations → rows, with a barrier between numbers per pair
    and numbers per coordinate.
    """

    def separations(rows: Array) -> Separation:
        first = jnp.stack([rows[a] for a, _ in wiring])
        second = jnp.stack([rows[b] for _, b in wiring])
        return jax.vmap(jax.vmap(model.manifold.separation))(first, second)

    def loss(separation: Separation) -> tuple[Array, Array]:
        log_prob, log_prob_not = jax.vmap(jax.vmap(model.from_separation))(separation)
        log_likelihood = jnp.concatenate([log_prob[:1], log_prob_not[1:]])
        saturated = jnp.sum(use & (log_prob >= jnp.log1p(-SATURATION)), dtype=rows.dtype)
        return -jnp.sum(weights * jnp.where(use, log_likelihood, 0.0)), saturated

    separation, pull_back = jax.vjp(separations, rows)
    (total, saturated), slopes = jax.value_and_grad(loss, has_aux=True)(separation)
    return total, saturated, pull_back(jax.tree.map(once, slopes))[0]
