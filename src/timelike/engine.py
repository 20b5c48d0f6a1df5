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
from timelike.optimizers import OPTIMIZERS, Step, schedule, update_rows
from timelike.sampling import EdgeTable, Negatives, Shuffle, draw_examples
from timelike.tables import get_rows, get_state, set_rows, set_state, sum_repeated

#: Negatives are drawn for about this many pairs at a time: enough to vectorise the draws, few
#: enough to stay in the cache.
PAIRS_PER_BLOCK = 1 << 16

#: How many nodes with non-finite points are named when a run diverges.
NAMED_CULPRITS = 3


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
    epoch = state.epoch.astype(state.points.dtype)
    rate = numbers.learning_rate * schedule(epoch, plan.epochs, plan.burn_in)
    step = Step(rate.astype(state.points.dtype), numbers.clip)
    points, optimizer, tally, counts = _sweep_edges(plan, numbers.model, data.table, step, key, state)
    finite = jnp.isfinite(points).all(axis=1)
    good = finite.all() & jnp.isfinite(tally.loss)
    report = _report(numbers.model, data, points, tally, counts)._replace(culprits=_first_false(finite))
    moved = state._replace(points=points, optimizer=optimizer, epoch=state.epoch + 1)
    keep = state.alive & good
    moved = jax.tree.map(lambda new, old: jnp.where(keep, new, old), moved, state)
    return _select(plan, moved._replace(alive=keep), report), report


def _first_false(finite: Bool[Array, "nodes"]) -> Int[Array, "named"]:
    """The first few nodes whose points are not finite, then −1."""
    nodes, none = jnp.arange(finite.shape[0]), finite.shape[0]
    found = [jnp.full((), -1)]
    for _ in range(NAMED_CULPRITS):
        found.append(jnp.min(jnp.where(~finite & (nodes > found[-1]), nodes, none)))
    return jnp.stack([jnp.where(node < none, node, -1) for node in found[1:]])


def _select(plan: Plan, state: State, report: Report) -> State:
    """Remember the best epoch by the chosen score; run out of patience when it is too long ago."""
    scores = {"valid": report.valid_ap, "test": report.test_ap, "last": state.epoch.astype(report.loss.dtype)}
    better = state.alive & (scores[plan.select] > state.best_score)
    alive = state.alive
    if plan.patience is not None:
        alive &= better | (state.epoch - jnp.maximum(state.best_epoch, plan.burn_in) < plan.patience)
    return state._replace(
        best_points=jnp.where(better, state.points, state.best_points),
        best_score=jnp.where(better, scores[plan.select], state.best_score),
        best_epoch=jnp.where(better, state.epoch, state.best_epoch),
        alive=alive,
    )


class Tally(NamedTuple):
    """What the steps add up: first per pair and per row, which costs nothing, then over an epoch."""

    loss: Array
    saturated: Array
    gradient_norm: Array

    @classmethod
    def zeros(cls, pairs: tuple[int, ...], rows: tuple[int, ...], dtype: Any) -> Tally:
        """An empty tally."""
        return cls(jnp.zeros(pairs, dtype), jnp.zeros(pairs, dtype), jnp.zeros(rows, dtype))

    def add(self, other: Tally) -> Tally:
        """Both together; the sums over axes that the other has more are taken here."""
        return Tally(
            *(x + (y if x.shape == y.shape else jnp.sum(y)) for x, y in zip(self, other, strict=True))
        )


class Counts(NamedTuple):
    """How many pairs and rows an epoch saw, and how many draws it rejected."""

    pairs: Float[Array, ""]
    rows: Float[Array, ""]
    rejected: Int[Array, ""]


def _report(model: Model, data: Data, points: Array, tally: Tally, counts: Counts) -> Report:
    def score(pairs: LabelledPairs | None) -> Array:
        if pairs is None:
            return jnp.full((), jnp.nan, points.dtype)
        return average_precision(log_probs(model, points, pairs.sources, pairs.targets), pairs.labels)

    return Report(
        loss=tally.loss,
        gradient_norm=tally.gradient_norm / counts.rows,
        saturated=tally.saturated / counts.pairs,
        off_surface=jnp.max(jax.vmap(model.manifold.residual)(points)),
        rejected=counts.rejected,
        valid_ap=score(data.valid),
        test_ap=score(data.test),
        culprits=jnp.zeros(NAMED_CULPRITS, jnp.int32),
    )


def _sweep_edges(
    plan: Plan, model: Model, table: EdgeTable, step: Step, key: Array, state: State
) -> tuple[Array, Any, Tally, Counts]:
    """Scan over blocks of steps: draw a block's examples at once, then take its steps one by one."""
    shuffle = Shuffle.draw(jax.random.fold_in(key, 0), table.num_edges)
    pairs, batch = 1 + plan.negatives.total, min(plan.batch_size, shuffle.size)
    steps = -(-shuffle.size // batch)
    blocks = -(-steps // max(1, PAIRS_PER_BLOCK // (batch * pairs)))
    per_block = -(-steps // blocks)
    dtype = state.points.dtype

    def block(carry: tuple, number: Array) -> tuple[tuple, None]:
        points, optimizer, slots, tally, counts = carry
        positions = number * per_block * batch + jnp.arange(per_block * batch)
        draw_key = jax.random.fold_in(jax.random.fold_in(key, 1), number)
        ids = shuffle(positions).reshape(per_block, batch)
        examples = draw_examples(draw_key, table, plan.negatives, ids)
        local = Tally.zeros((pairs, batch), (2 * pairs * batch,), dtype)
        sources, targets, use = (jnp.swapaxes(x, 1, 2) for x in examples[:3])
        nodes = jnp.concatenate([x.reshape(per_block, -1) for x in (sources, targets)], axis=1)
        batches = (nodes, use, examples.weights.astype(dtype))
        (points, optimizer, slots, local), _ = jax.lax.scan(
            partial(_step, plan, model, step), (points, optimizer, slots, local), batches
        )
        used = jnp.sum(examples.use, dtype=dtype)
        real = jnp.sum(nodes < table.num_nodes, dtype=dtype)
        counts = Counts(counts.pairs + used, counts.rows + real, counts.rejected + examples.rejected)
        return (points, optimizer, slots, tally.add(local), counts), None

    zero = jnp.zeros((), dtype)
    slots = jnp.zeros(state.points.shape[0], jnp.int32)
    start = (state.points, state.optimizer, slots, Tally.zeros((), (), dtype))
    counts = Counts(zero, zero, jnp.zeros((), jnp.int32))
    (points, optimizer, _, tally, counts), _ = jax.lax.scan(block, (*start, counts), jnp.arange(blocks))
    return points, optimizer, tally, counts


def _step(plan: Plan, model: Model, step: Step, carry: tuple, batch: tuple) -> tuple[tuple, None]:
    """One minibatch: gather its rows, differentiate, add up repeated nodes, step, scatter.

    Padding has node numbers past the end: reading them gives the last row, writing them nothing.
    """
    points, optimizer, slots, tally = carry
    nodes, use, weights = batch
    rows = get_rows(points, nodes)
    loss, saturated, covectors = batch_loss(model, use, weights, rows)
    slots, covectors = sum_repeated(slots, nodes, covectors)
    new_rows, new_state, norms = update_rows(
        model.manifold, plan.transformation(), step, rows, covectors, get_state(optimizer, nodes)
    )
    norms = jnp.where(nodes < points.shape[0], norms, 0)  # those of padding are anybody's
    tally = tally.add(Tally(loss, saturated, norms))
    return (set_rows(points, nodes, new_rows), set_state(optimizer, nodes, new_state), slots, tally), None


def batch_loss(
    model: Model,
    use: Bool[Array, "pairs batch"],
    weights: Float[Array, "batch"],
    rows: Float[Array, "rows ambient"],
) -> tuple[Float[Array, "pairs batch"], Float[Array, "pairs batch"], Float[Array, "rows ambient"]]:
    """Negative log-likelihood of each pair, whether F ≥ 1 − `SATURATION`, and d Σ loss / d rows.

    −Σ w [log F(s, t) + Σ log(1 − F(a, b))] over the positives s → t and their negatives a → b.
    `rows` holds the sources of all pairs, then the targets; the first pair of an example is the
    positive. The derivative goes in two stages, loss → separations → rows, with a barrier between
    numbers per pair and numbers per coordinate.
    """

    def separations(rows: Array) -> Separation:
        sources, targets = jnp.reshape(rows, (2, *use.shape, -1))
        return jax.vmap(jax.vmap(model.manifold.separation))(sources, targets)

    def loss(separation: Separation) -> tuple[Array, tuple[Array, Array]]:
        log_prob, log_prob_not = jax.vmap(jax.vmap(model.from_separation))(separation)
        log_likelihood = jnp.concatenate([log_prob[:1], log_prob_not[1:]])
        losses = -weights * jnp.where(use, log_likelihood, 0.0)
        saturated = (use & (log_prob >= jnp.log1p(-SATURATION))).astype(rows.dtype)
        return jnp.sum(losses), (losses, saturated)

    separation, pull_back = jax.vjp(separations, rows)
    slopes, (losses, saturated) = jax.grad(loss, has_aux=True)(separation)
    return losses, saturated, pull_back(jax.tree.map(once, slopes))[0]
