"""Edges spread over processes: each holds those that leave its nodes, as sorted rows of targets."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import custom_vmap
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as Spec
from jaxtyping import Array, Bool, Int, Key

from timelike.core.hashed_random import Shuffle, at, below_at
from timelike.distributed.all_to_all import AXIS, Wanted, ask
from timelike.engine.config import EpochPlan
from timelike.engine.negatives import LEFT_OUT, MAX_DRAWS, Negatives
from timelike.engine.passes import Blocks
from timelike.engine.sampling import STATIC, Nodes, Pools, in_row
from timelike.engine.table_rows import all_batched
from timelike.graphs.digraph import MOST_EDGES, DiGraph
from timelike.graphs.edge_sorting import PIECE

#: Kinds of negatives that can be rejected with only the edges that leave a node.
KINDS = ("uniform", "same_source", "popular_source", "reversed")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SharedEdges:
    """The edges of a shard, with requests to other shards for theirs.

    A shard has `rows` nodes; `ranges` holds the number of the first edge of each shard. `batch` is the number
    of edges in a step of all processes.
    """

    row_starts: Int[Array, "rows_plus_1"]
    targets: Int[Array, "edges"]
    weights: Array
    ranges: Int[Array, "shards_plus_1"]
    num_nodes: int = dataclasses.field(metadata=STATIC)
    num_edges: int = dataclasses.field(metadata=STATIC)
    rows: int = dataclasses.field(metadata=STATIC)
    halvings: int = dataclasses.field(metadata=STATIC)
    draws: int = dataclasses.field(metadata=STATIC)
    batch: int = dataclasses.field(metadata=STATIC)

    @property
    def count(self) -> int:
        """Number of edges: there is no padding."""
        return self.num_edges

    @property
    def pools(self) -> Pools:
        """Empty: the kinds of negatives in `KINDS` draw from no list of nodes or pairs."""
        return Pools(*[jnp.zeros(0, jnp.int32)] * 4)

    @property
    def shards(self) -> int:
        """Number of devices that share the edges."""
        return self.ranges.shape[0] - 1

    @property
    def node_ranges(self) -> Int[Array, "shards_plus_1"]:
        """The first node of each shard."""
        return self.rows * jnp.arange(self.shards + 1, dtype=jnp.int32)

    @property
    def columns(self) -> Int[Array, "columns"]:
        """The edges of a step that this process handles; those past `batch` are padding."""
        own = -(-self.batch // self.shards)
        return jax.lax.axis_index(AXIS) * own + jnp.arange(own, dtype=jnp.int32)

    def edges(self, ids: Nodes) -> tuple[Nodes, Nodes, Array]:
        """Sources, targets and weights of edges by number."""
        return _edges(self, ids)

    def below(self, key: Key[Array, ""], shape: tuple[int, ...], bound: Int[Array, ""] | int) -> Nodes:
        """Random integers: the part of this process of what one process would draw for the whole step."""
        steps = np.arange(np.prod(shape[:-1], dtype=int), dtype=np.uint32).reshape(*shape[:-1], 1)
        counter = jnp.asarray(steps * np.uint32(self.batch)) + self.columns.astype(jnp.uint32)
        return below_at(key, counter, bound)

    def asking(self, asked: Bool[Array, "*shape"], numbers: Nodes) -> Nodes:
        """All numbers: replacing some by a constant would send them all to one shard."""
        return numbers

    def contains(self, sources: Nodes, targets: Nodes) -> Bool[Array, "*shape"]:
        """Whether each pair is an edge: a binary search in the source's row, on the shard that holds it."""
        return _contains(self, sources, targets)


def _together_under_vmap(ask_for: Callable) -> Callable:
    """A function of a table and numbers of any shape, which `vmap` turns into one call for all numbers."""
    called = custom_vmap(ask_for)

    @called.def_vmap
    def call_once(size: int, batched: list, table: SharedEdges, *numbers: Nodes) -> tuple[Any, Any]:
        answers = called(table, *all_batched(size, batched[1:], numbers))
        return answers, jax.tree.map(lambda x: x.ndim > 0, answers)

    return called


@_together_under_vmap
def _edges(table: SharedEdges, ids: Nodes) -> tuple[Nodes, Nodes, Array]:
    def answer(asked: Nodes) -> tuple:
        rows = jnp.searchsorted(table.row_starts, asked, side="right") - 1
        source = rows.astype(jnp.int32) + jax.lax.axis_index(AXIS) * table.rows
        inside = jnp.minimum(asked, table.targets.shape[0] - 1)
        weights = (at(table.weights, inside),) if table.weights.shape[0] else ()
        return jnp.stack([source, at(table.targets, inside)], axis=1), *weights

    ends, *weights = ask(Wanted.each(ids.reshape(-1), table.ranges), table.ranges, answer)
    s, t = ends.T.reshape(2, *ids.shape)
    return s, t, weights[0].reshape(ids.shape) if weights else jnp.ones(())


@_together_under_vmap
def _contains(table: SharedEdges, sources: Nodes, targets: Nodes) -> Bool[Array, "*shape"]:
    def answer(asked: Nodes, targets: Nodes) -> Array:
        row = jnp.minimum(asked, table.rows - 1)
        return in_row(table.row_starts, table.targets, table.halvings, row, targets)

    wanted, ranges = Wanted.each(sources.reshape(-1), table.node_ranges), table.node_ranges
    return ask(wanted, ranges, answer, targets.reshape(-1)).reshape(sources.shape)


def rows_of(mesh: Mesh, nodes: int) -> int:
    """Number of rows per device."""
    return -(-nodes // mesh.devices.size)


def own_nodes(mesh: Mesh, rows: int) -> tuple[int, int]:
    """The nodes of this process: [first, last)."""
    own = [i for i, device in enumerate(mesh.devices.flat) if device.process_index == jax.process_index()]
    return rows * own[0], rows * (own[-1] + 1)


def spread(mesh: Mesh, mine: DiGraph, plan: EpochPlan, rows: int) -> SharedEdges:
    """Put edges on the devices. `mine` has the edges of all nodes, or only those of this process."""
    for kind in plan.negatives.counts:
        if kind not in KINDS:
            raise ValueError(f"negatives has kind {kind!r}; several processes support {', '.join(KINDS)}")
    first, last = own_nodes(mesh, rows)
    cuts = np.searchsorted(mine.sources, np.arange(first, last + 1, rows))
    degrees = np.bincount(mine.sources[cuts[0] : cuts[-1]] - first, minlength=last - first)
    counts = over_processes(np.diff(cuts)).reshape(-1)
    length, num_edges = max(int(counts.max()), 1), int(counts.sum())
    if not num_edges:
        raise ValueError("graph has 0 edges; there is nothing to learn from")
    if num_edges > MOST_EDGES:
        raise ValueError(
            f"graph has {num_edges:,} edges; several processes support at most {MOST_EDGES:,} (32-bit "
            "numbers); stream them in one process (--stream)"
        )

    def padded(values: np.ndarray) -> Array:
        parts = (values[a:b] for a, b in itertools.pairwise(cuts))
        return over(mesh, np.concatenate([np.append(x, np.zeros(length - len(x), x.dtype)) for x in parts]))

    starts = [np.append(0, np.cumsum(part)) for part in degrees.reshape(-1, rows)]
    return SharedEdges(
        row_starts=over(mesh, np.concatenate(starts).astype(np.int32)),
        targets=padded(mine.targets),
        weights=over(mesh, np.zeros(0, np.float32)) if mine.weights is None else padded(mine.weights),
        ranges=jnp.asarray(np.append(0, np.cumsum(counts)), jnp.int32),
        num_nodes=mine.num_nodes,
        num_edges=num_edges,
        rows=rows,
        halvings=int(over_processes(np.max(degrees)).max()).bit_length(),
        draws=_draws(degrees.astype(float), mine.num_nodes, num_edges, plan.negatives),
        batch=Blocks.of(plan, math.prod(Shuffle.grid(num_edges))).batch,
    )


def edge_sum(graph: DiGraph, first: int, last: int) -> int:
    """A checksum of the edges that leave nodes first … last − 1; checksums of parts add up."""
    start, end = np.searchsorted(graph.sources, [first, last])
    total = 0
    for i in range(start, end, PIECE):
        part = slice(i, min(i + PIECE, end))
        hashes = graph.sources[part].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        hashes = (hashes ^ graph.targets[part].astype(np.uint64)) * np.uint64(0xBF58476D1CE4E5B9)
        total += int(np.sum(hashes >> np.uint64(33)))
    return total % 2**31


def over(mesh: Mesh, local: np.ndarray) -> Array:
    """An array whose first axis is spread over all devices, from the part of this process."""
    return jax.make_array_from_process_local_data(NamedSharding(mesh, Spec(AXIS)), local)


def over_processes(numbers: Any) -> Any:
    """Gather a few numbers from every process along a new first axis."""
    return np.asarray(multihost_utils.process_allgather(np.asarray(numbers))).reshape(
        jax.process_count(), *np.shape(numbers)
    )


def _draws(degrees: np.ndarray, nodes: int, edges: int, kinds: Negatives) -> int:
    """As `negatives.draws_for` for one process, from the out-degrees of the nodes of every process."""
    powers = np.arange(1, MAX_DRAWS)
    of_target = [np.sum(degrees / edges * ((degrees + 1) / nodes) ** k) for k in powers]
    *of_target, squares = over_processes([*of_target, np.sum(degrees**2)]).sum(axis=0)
    left = [((edges + nodes) / nodes**2) ** powers]
    if "same_source" in kinds.counts:
        left.append(np.array(of_target))
    if "popular_source" in kinds.counts:
        left.append((squares / edges / nodes + 1 / nodes) ** powers)
    few = np.flatnonzero((np.array(left) <= LEFT_OUT).all(axis=0))
    return int(powers[few[0]]) if len(few) else MAX_DRAWS
