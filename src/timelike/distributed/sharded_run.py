"""The programs of a run on many processes: its start, blocks of steps, scores and result.

The steps of a block are compiled for a bucket size; drawing the examples determines the size they need.
"""

from __future__ import annotations

import dataclasses
import functools
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as Spec
from jaxtyping import Array, Bool, Float, Int, Key

from timelike.core.hashed_random import Shuffle
from timelike.core.model import Model
from timelike.core.struct import reals_of, with_reals
from timelike.distributed.all_to_all import AXIS, Route, Wanted, ask
from timelike.distributed.node_dealing import places
from timelike.distributed.sharded_edges import SharedEdges
from timelike.engine.batch_step import batch_loss, learn, move_rows
from timelike.engine.config import EpochPlan, Numbers
from timelike.engine.epoch import (
    average_precision_on_device,
    init_moments,
    init_points,
    log_probs,
)
from timelike.engine.optimizers import Learned, Step
from timelike.engine.passes import Blocks, Tally, by_step
from timelike.engine.sampling import Examples, draw_examples
from timelike.engine.table_rows import get_rows
from timelike.engine.table_storage import wide
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.training.cost_model import TOGETHER


class Tables(NamedTuple):
    """What a run learns: rows spread over processes, and the numbers of the model, equal everywhere.

    `slots` is scratch space, one number per row.
    """

    points: Float[Array, "rows ambient"]
    optimizer: Any
    learned: Learned
    slots: Int[Array, "rows"]


class Block(NamedTuple):
    """The examples of some steps: the rows that this process needs for its part, and the weights.

    `real` is false for steps of blocks past the end of the epoch.
    """

    wanted: Wanted
    weights: Float[Array, "steps pairs columns"]
    use: Array
    real: Bool[Array, "steps"]


def where(tree: Any) -> Any:
    """The sharding of a tree: tables by rows, scalars replicated."""
    return jax.tree.map(lambda x: Spec(AXIS) if jnp.ndim(x) else Spec(), tree)


#: The blocks of all processes lie side by side along the last axis.
_SIDE: Any = Spec(None, AXIS)
_BLOCK = Block(
    wanted=Wanted(_SIDE, _SIDE, _SIDE, cast(Any, Spec())),
    weights=cast(Any, Spec(None, None, AXIS)),
    use=cast(Any, Spec(None, None, AXIS)),
    real=cast(Any, Spec()),
)


def on(mesh: Mesh, function: Any, in_specs: Any, out_specs: Any) -> Any:
    """The function on every device, applied to its shards."""
    return jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False)


def mesh_of_all() -> Mesh:
    """All devices of all processes in a row."""
    return Mesh(np.array(jax.devices()), (AXIS,))


def start(mesh: Mesh, plan: EpochPlan, numbers: Numbers, rows: int) -> Tables:
    """The initial tables of one process, spread over all; padded with rows past the last node."""
    count, model = rows * mesh.devices.size, numbers.model

    def sharded(make: Any, *arguments: Any) -> Any:
        specs = where(jax.eval_shape(make, *arguments))
        return jax.jit(make, out_shardings=jax.tree.map(partial(NamedSharding, mesh), specs))(*arguments)

    # One after the other, because random numbers need memory of their own for a while.
    points = jax.block_until_ready(sharded(lambda numbers: init_points(plan, numbers, count), numbers))
    optimizer = sharded(partial(init_moments, plan), points)
    learned = sharded(lambda model: Learned.start(reals_of(model, plan.learn)), model)
    return Tables(points, optimizer, learned, sharded(lambda: jnp.zeros(count, jnp.int32)))


def drawn_together(cut: Blocks) -> int:
    """The number of blocks that are drawn at once: larger and fewer exchanges, the same examples."""
    return -(-cut.blocks // -(-cut.blocks // TOGETHER))


@functools.cache
def drawing(mesh: Mesh, plan: EpochPlan) -> Any:
    """The program (edges, key of the epoch, block number) → (block, rejected draws)."""

    def draw(table: SharedEdges, key: Key[Array, ""], number: Array) -> tuple[Block, Array]:
        shuffle = Shuffle.draw(jax.random.fold_in(key, 0), table.num_edges)
        cut = Blocks.of(plan, shuffle.size)
        many, inside = drawn_together(cut), table.columns < cut.batch

        def examples(number: Array) -> Examples:
            steps = (number * cut.per_block + jnp.arange(cut.per_block))[:, None]
            ids = jnp.where(inside, shuffle(steps * cut.batch + table.columns), shuffle.size)
            of_block = jax.random.fold_in(jax.random.fold_in(key, 1), number)
            return draw_examples(of_block, table, plan.negatives, ids)

        def requests(examples: Examples) -> tuple[Array, Array, Array]:
            return by_step(plan, examples, jnp.result_type(float))

        numbers = number * many + jnp.arange(many)
        drawn = jax.vmap(examples)(numbers)
        real = jnp.repeat(numbers < cut.blocks, cut.per_block)
        parts = jax.vmap(requests)(drawn)
        nodes, weights, use = (x.reshape(-1, *x.shape[2:]) for x in parts)
        ranges, rows = table.node_ranges, table.rows
        nodes = jnp.where(nodes < table.num_nodes, nodes, ranges[-1])
        if nodes.shape[1] >= table.num_nodes:
            wanted = jax.vmap(lambda x: Wanted.all_rows(x, ranges, rows))(nodes)
        else:
            wanted = jax.lax.map(lambda x: Wanted.once(x, ranges), nodes)
        wanted = wanted._replace(most=jax.lax.pmax(wanted.most, AXIS))
        return Block(wanted, weights, use, real), jax.lax.psum(jnp.sum(drawn.rejected), AXIS)

    def program(table: SharedEdges, key: Key[Array, ""], number: Array) -> tuple[Block, Array]:
        specs = dataclasses.replace(where(table), ranges=Spec())
        return on(mesh, draw, (specs, Spec(), Spec()), (_BLOCK, Spec()))(table, key, number)

    return jax.jit(program)


@functools.cache
def stepping(mesh: Mesh, plan: EpochPlan, rows: int, size: int) -> Any:
    """The program (model, step, block, tables) → (tables, tally), with buckets of `size`."""
    shards = mesh.devices.size

    def steps(model: Model, step: Step, block: Block, tables: Tables) -> tuple[Tables, Tally]:
        ranges, none = rows * jnp.arange(shards + 1, dtype=jnp.int32), jnp.zeros((), jnp.int32)
        routes = jax.vmap(lambda wanted: Route.of(wanted, ranges, size))(block.wanted)
        take = partial(_step, plan, model, step)
        tables, (log_likelihoods, norms) = jax.lax.scan(take, tables, (routes, block.weights, block.real))
        drawn = block.weights, block.use, log_likelihoods, norms
        of_step = jax.vmap(lambda w, use, *out: Tally.of(w[None], use[None], none, *(x[None] for x in out)))
        return tables, jax.lax.psum(jax.tree.map(jnp.sum, of_step(*drawn)), AXIS)

    def program(model: Model, step: Step, block: Block, tables: Tables) -> tuple[Tables, Tally]:
        specs = where(tables)
        return on(mesh, steps, (Spec(), Spec(), _BLOCK, specs), (specs, Spec()))(model, step, block, tables)

    return jax.jit(program, donate_argnums=3)


def _step(plan: EpochPlan, model: Model, step: Step, tables: Tables, batch: tuple) -> tuple[Tables, tuple]:
    """One minibatch: fetch its rows, differentiate, send the derivatives to the owners, step there."""
    points, optimizer, learned, slots = tables
    route, weights, real = batch
    stored = get_rows(points, route.asked)  # rows travel in their storage type
    own, rows = wide(stored), wide(route.fetch(stored))
    if plan.learn:
        model, learned = learn(model, step, learned, weights, rows, lambda slope: jax.lax.psum(slope, AXIS))
    log_likelihoods, covectors = batch_loss(model, weights, rows)
    (points, optimizer, slots), norms = move_rows(
        plan, model.manifold, step, (points, optimizer, slots), route.asked, own, route.deliver(covectors)
    )
    moved = Tables(points, optimizer, learned, slots)
    moved = jax.tree.map(lambda new, old: new if new.ndim else jnp.where(real, new, old), moved, tables)
    return moved, (log_likelihoods, norms)


@functools.cache
def looking(mesh: Mesh, nodes: int, rows: int) -> Any:
    """(model, pairs, points, learned) → a bad row per device, residual, AP, whether numbers are finite."""

    def look(model: Model, pairs: LabelledPairs | None, points: Array, learned: Learned) -> tuple:
        model = with_reals(model, learned.reals)
        number = jax.lax.axis_index(AXIS) * rows + jnp.arange(rows)
        real = number < nodes
        bad = jnp.min(jnp.where(real & ~jnp.isfinite(wide(points)).all(axis=1), number, nodes))
        residual = jnp.max(jnp.where(real, jax.vmap(model.manifold.residual)(wide(points)), 0.0))
        score = jnp.full((), jnp.nan, residual.dtype)
        if pairs is not None:
            asked = jnp.concatenate(pairs[:2])
            ranges = rows * jnp.arange(mesh.devices.size + 1, dtype=jnp.int32)
            ends = ask(Wanted.once(asked, ranges), ranges, lambda asked: get_rows(points, asked))
            count = len(pairs.sources)
            own = log_probs(model, ends, jnp.arange(count), jnp.arange(count, 2 * count))
            scores = jax.lax.all_gather(own, AXIS, tiled=True)[: len(pairs.labels)]
            score = average_precision_on_device(scores, pairs.labels)
        return jax.lax.all_gather(bad, AXIS), jax.lax.pmax(residual, AXIS), score, learned.finite

    def program(model: Model, pairs: LabelledPairs | None, points: Array, learned: Learned) -> tuple:
        of_pairs: Any = None if pairs is None else LabelledPairs(*cast(Any, (Spec(AXIS), Spec(AXIS), Spec())))
        return on(mesh, look, (Spec(), of_pairs, Spec(AXIS), Spec()), (Spec(),) * 4)(
            model, pairs, points, learned
        )

    return jax.jit(program)


def spread_pairs(mesh: Mesh, pairs: LabelledPairs, nodes: int) -> LabelledPairs:
    """Pairs to score, an equal part on each device, with dealt nodes; every device has all labels."""
    whole = NamedSharding(mesh, Spec(AXIS))

    def spread(end: Array) -> Array:
        dealt = places(np.asarray(end), nodes)
        full = np.append(dealt, np.zeros(-len(dealt) % mesh.devices.size, np.int32))
        return jax.make_array_from_callback(full.shape, whole, lambda index: full[index])

    return LabelledPairs(spread(pairs.sources), spread(pairs.targets), jnp.asarray(np.asarray(pairs.labels)))


#: Rows of each device to collect at a time.
PIECE = 1 << 16


def collect(mesh: Mesh, points: Array, nodes: int) -> np.ndarray | None:
    """All points in the original order of the nodes, in the first process; None in the others."""
    shards, (rows, ambient) = mesh.devices.size, (len(points) // mesh.devices.size, points.shape[1])
    piece = min(PIECE, rows)
    table = np.empty((shards, rows, ambient), jnp.result_type(float)) if jax.process_index() == 0 else None

    def part(points: Array, first: Array) -> Array:
        return wide(jax.lax.all_gather(jax.lax.dynamic_slice_in_dim(points, first, piece), AXIS))

    gather = jax.jit(on(mesh, part, (Spec(AXIS), Spec()), Spec()))
    for first in range(0, rows, piece):
        first = min(first, rows - piece)
        rows_of_all = gather(points, jnp.asarray(first))
        if table is not None:
            table[:, first : first + piece] = rows_of_all
        rows_of_all.block_until_ready()
    if table is None:
        return None
    return table.reshape(-1, ambient)[places(np.arange(nodes), nodes)]
