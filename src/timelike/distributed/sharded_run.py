"""The programs of a run on many processes: its start, blocks of steps, scores and result."""

from __future__ import annotations

import functools
import math
from functools import partial
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as Spec
from jaxtyping import Array

from timelike.core.hashed_random import Shuffle
from timelike.core.model import Model
from timelike.core.struct import reals_of, with_reals
from timelike.distributed.all_to_all import AXIS, Wanted, ask
from timelike.distributed.node_dealing import places
from timelike.distributed.sharded_edges import SharedEdges
from timelike.distributed.sharded_steps import Tables, drawing, on, stepping, where
from timelike.engine.device_scoring import average_precision_on_device, log_probs
from timelike.engine.epoch import NAMED_CULPRITS, Report, init_moments, init_points
from timelike.engine.epoch_plan import EpochPlan, Numbers, in_epoch
from timelike.engine.optimizers import Learned
from timelike.engine.passes import Blocks, Tally
from timelike.engine.table_rows import get_rows
from timelike.engine.table_storage import wide
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.training.cost_model import rounded_bucket


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


class Runner:
    """The programs of a run, and the bucket size they are compiled for."""

    def __init__(self, mesh: Mesh, plan: EpochPlan, numbers: Numbers, edges: SharedEdges, pairs: Any):
        self.mesh, self.plan, self.numbers, self.edges, self.pairs = mesh, plan, numbers, edges, pairs
        self.size = 0
        self.cut = Blocks.of(plan, math.prod(Shuffle.grid(edges.num_edges)))

    def block(self, epoch: int, number: int, tables: Tables) -> tuple[Tables, Tally]:
        """Draw a block and take its steps; returns when they are done."""
        key, step, model = in_epoch(self.numbers, jnp.asarray(epoch), self.numbers.learning_rate.dtype)
        block, rejected = drawing(self.mesh, self.plan)(self.edges, key, jnp.asarray(number))
        needed = int(np.max(block.wanted.most))
        self.size = self.size if needed <= self.size else rounded_bucket(needed)
        program = stepping(self.mesh, self.plan, self.edges.rows, self.size)
        tables, tally = program(model, step, block, tables)
        tally = jax.tree.map(lambda x: x.item(), jax.device_get(tally))
        return tables, tally._replace(rejected=int(rejected))

    def report(self, tables: Tables, tally: Tally) -> Report:
        """The report of an epoch, the same in every process."""
        nodes = self.edges.num_nodes
        first_bad, off_surface, score, learns = _looking(self.mesh, nodes, self.edges.rows)(
            self.numbers.model, self.pairs, tables.points, tables.learned
        )
        culprits = [*np.unique(first_bad[first_bad < nodes]), *[-1] * NAMED_CULPRITS][:NAMED_CULPRITS]
        report: dict[str, Any] = {
            "loss": tally.loss if learns else np.nan,
            "gradient_norm": tally.gradient_norm / np.maximum(tally.rows, 1),  # a diverged run has no rows
            "saturated": tally.saturated / tally.pairs,
            "off_surface": off_surface,
            "rejected": tally.rejected,
            "left_out": self.edges.num_edges * (1 + self.plan.negatives.total) - tally.pairs,
            "valid_ap": score,
            "test_ap": np.nan,
            "culprits": culprits,
        }
        return Report(**jax.tree.map(np.asarray, report, is_leaf=lambda x: isinstance(x, list)))


@functools.cache
def _looking(mesh: Mesh, nodes: int, rows: int) -> Any:
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
            ends = ask(Wanted.once(asked, ranges), ranges, lambda asked, _: get_rows(points, asked))
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
