"""A block of an epoch on many processes: draw its examples, then take its steps.

The steps are compiled for a bucket size; drawing the examples determines the size they need.
"""

from __future__ import annotations

import dataclasses
import functools
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as Spec
from jaxtyping import Array, Float, Int, Key

from timelike.core.hashed_random import Shuffle
from timelike.core.model import Model
from timelike.distributed.all_to_all import AXIS, Route, Wanted
from timelike.distributed.sharded_edges import SharedEdges
from timelike.engine.batch_step import learn, move_rows
from timelike.engine.epoch_plan import EpochPlan
from timelike.engine.objective import batch_loss
from timelike.engine.optimizers import Learned, Step
from timelike.engine.passes import Blocks, Tally
from timelike.engine.sampling import draw_examples
from timelike.engine.table_rows import get_rows
from timelike.engine.table_storage import wide


class Tables(NamedTuple):
    """What a run learns: rows spread over processes, and the numbers of the model, equal everywhere.

    `slots` is scratch space, one number per row.
    """

    points: Float[Array, "rows ambient"]
    optimizer: Any
    learned: Learned
    slots: Int[Array, "rows"]


class Block(NamedTuple):
    """The examples of some steps: the rows that this process needs for its part, and the weights."""

    wanted: Wanted
    weights: Float[Array, "steps pairs columns"]
    use: Array


def where(tree: Any) -> Any:
    """The sharding of a tree: tables by rows, scalars replicated."""
    return jax.tree.map(lambda x: Spec(AXIS) if jnp.ndim(x) else Spec(), tree)


#: The blocks of all processes lie side by side along the last axis.
_SIDE: Any = Spec(None, AXIS)
_BLOCK = Block(Wanted(_SIDE, _SIDE, _SIDE, cast(Any, Spec())), *[cast(Any, Spec(None, None, AXIS))] * 2)


@functools.cache
def drawing(mesh: Mesh, plan: EpochPlan) -> Any:
    """The program (edges, key of the epoch, block number) → (block, rejected draws)."""

    def draw(table: SharedEdges, key: Key[Array, ""], number: Array) -> tuple[Block, Array]:
        shuffle = Shuffle.draw(jax.random.fold_in(key, 0), table.num_edges)
        cut = Blocks.of(plan, shuffle.size)
        steps = (number * cut.per_block + jnp.arange(cut.per_block))[:, None]
        inside = table.columns < cut.batch
        ids = jnp.where(inside, shuffle(steps * cut.batch + table.columns), shuffle.size)
        key = jax.random.fold_in(jax.random.fold_in(key, 1), number)
        examples = draw_examples(key, table, plan.negatives, ids)
        ends = (jnp.swapaxes(x, 0, 1).reshape(cut.per_block, -1) for x in examples[:2])
        nodes, ranges = jnp.concatenate(list(ends), axis=1), table.node_ranges
        nodes = jnp.where(nodes < table.num_nodes, nodes, ranges[-1])
        wanted = jax.vmap(partial(Wanted.once, ranges=ranges))(nodes)
        wanted = wanted._replace(most=jax.lax.pmax(wanted.most, AXIS))
        use = jnp.swapaxes(examples.use, 0, 1)
        factors = plan.negatives.factors.astype(jnp.result_type(float))[:, None]
        weights = jnp.where(use, examples.weights[:, None] * factors, 0.0)
        return Block(wanted, weights, use), jax.lax.psum(examples.rejected, AXIS)

    def program(table: SharedEdges, key: Key[Array, ""], number: Array) -> tuple[Block, Array]:
        specs = dataclasses.replace(where(table), ranges=Spec())
        return on(mesh, draw, (specs, Spec(), Spec()), (_BLOCK, Spec()))(table, key, number)

    return jax.jit(program)


@functools.cache
def stepping(mesh: Mesh, plan: EpochPlan, rows: int, size: int) -> Any:
    """The program (model, step, block, tables) → (tables, tally), with buckets of `size`."""
    shards = mesh.devices.size

    def steps(model: Model, step: Step, block: Block, tables: Tables) -> tuple[Tables, Tally]:
        ranges = rows * jnp.arange(shards + 1, dtype=jnp.int32)
        routes = jax.vmap(lambda wanted: Route.of(wanted, ranges, size))(block.wanted)
        take = partial(_step, plan, model, step)
        tables, (log_likelihoods, norms) = jax.lax.scan(take, tables, (routes, block.weights))
        tally = Tally.of(block.weights, block.use, jnp.zeros((), jnp.int32), log_likelihoods, norms)
        return tables, jax.lax.psum(tally, AXIS)

    def program(model: Model, step: Step, block: Block, tables: Tables) -> tuple[Tables, Tally]:
        specs = where(tables)
        return on(mesh, steps, (Spec(), Spec(), _BLOCK, specs), (specs, Spec()))(model, step, block, tables)

    return jax.jit(program, donate_argnums=3)


def _step(plan: EpochPlan, model: Model, step: Step, tables: Tables, batch: tuple) -> tuple[Tables, tuple]:
    """One minibatch: fetch its rows, differentiate, send the derivatives to the owners, step there."""
    points, optimizer, learned, slots = tables
    route, weights = batch
    stored = get_rows(points, route.asked)  # rows travel in their storage type
    own, rows = wide(stored), wide(route.fetch(stored))
    if plan.learn:
        model, learned = learn(model, step, learned, weights, rows, lambda slope: jax.lax.psum(slope, AXIS))
    log_likelihoods, covectors = batch_loss(model, weights, rows)
    (points, optimizer, slots), norms = move_rows(
        plan,
        model.manifold,
        step,
        (points, optimizer, slots),
        route.asked,
        own,
        route.deliver(covectors),
    )
    return Tables(points, optimizer, learned, slots), (log_likelihoods, norms)


def on(mesh: Mesh, function: Any, in_specs: Any, out_specs: Any) -> Any:
    """The function on every device, applied to its shards."""
    return jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False)
