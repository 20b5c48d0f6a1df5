"""Training examples: shuffled edges and their negatives, as pure functions of a key.

Everything here runs on the device inside a compiled epoch. Edges are sorted by source, so "is (i, j) an
edge?" is a binary search in one row: no N×N matrix, no 64-bit keys.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.scheduling_groups import xla_metadata_call
from jaxtyping import Array, Bool, Int, Key

from timelike.core.hashed_random import at, below
from timelike.engine.negatives import Negatives, draws_for
from timelike.engine.table_rows import Places
from timelike.evaluation.negative_kinds import KIND_ENDS
from timelike.graphs.digraph import DiGraph

Nodes = Int[Array, "*shape"]

#: Metadata of a dataclass field that is static in a compiled program.
STATIC = {"static": True}

#: On a GPU, a loop of at most this number of draws is unrolled: an iteration costs more than the draw.
FEW_DRAWS = 4


class Pools(NamedTuple):
    """What some kinds of negatives draw from: nodes with outgoing or incoming edges, and listed pairs."""

    active_sources: Int[Array, "active_sources"]
    active_targets: Int[Array, "active_targets"]
    listed_sources: Int[Array, "listed"]
    listed_targets: Int[Array, "listed"]


class EdgeSource(Protocol):
    """Training edges by number, and the membership test that rejects candidate negatives.

    Five classes provide it: `EdgeTable` holds all edges, `padded_edges.PaddedEdges` some more places, so that
    several graphs share a program, `lessons.Lessons` some edges of a table, `filtered_edges.FilteredEdges`
    all or a part of the edges behind a Bloom filter, and `distributed.sharded_edges.SharedEdges` exchanges
    edges between processes.
    """

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""

    @property
    def num_edges(self) -> int:
        """Number of edges, including padding."""

    @property
    def count(self) -> Int[Array, ""] | int:
        """Number of edges without padding, which comes last."""

    @property
    def draws(self) -> int:
        """How often a negative is drawn before it is left out."""

    @property
    def pools(self) -> Pools:
        """The nodes and pairs that some kinds of negatives draw from."""

    def edges(self, ids: Nodes) -> tuple[Nodes, Nodes, Array]:
        """Sources, targets and weights of edges by number."""

    def contains(self, sources: Nodes, targets: Nodes) -> Bool[Array, "*shape"]:
        """Whether each pair is rejected as an edge."""

    def below(self, key: Key[Array, ""], shape: tuple[int, ...], bound: Int[Array, ""] | int) -> Nodes:
        """Random integers in [0, bound)."""

    def asking(self, asked: Bool[Array, "*shape"], numbers: Nodes) -> Nodes:
        """Numbers to look up: those where `asked`; elsewhere any that are cheap to look up."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class EdgeTable:
    """Training edges on the device.

    `weights` is empty for an unweighted graph. `places` is for `sum_by_node`. `halvings` is the number of
    steps of the binary search in a row. A negative that is still an edge after `draws` draws is left out.
    """

    sources: Int[Array, "edges"]
    targets: Int[Array, "edges"]
    weights: Array
    row_starts: Int[Array, "nodes_plus_1"]
    pools: Pools
    places: Places
    halvings: int = dataclasses.field(metadata=STATIC)
    draws: int = dataclasses.field(metadata=STATIC)

    @classmethod
    def build(
        cls,
        graph: DiGraph,
        listed: np.ndarray | None = None,
        kinds: Negatives | None = None,
        by_node: bool = False,
    ) -> EdgeTable:
        """Copy a graph's edges, listed pairs (n, 2), and what these kinds of negatives need to the device.

        `by_node`: gradients are summed for every node, which needs `places`.
        """
        degrees, ends = degrees_of(graph), (graph.sources, graph.targets)
        return cls(
            sources=jnp.asarray(graph.sources),
            targets=jnp.asarray(graph.targets),
            weights=jnp.asarray(np.ones(0, np.float32) if graph.weights is None else graph.weights),
            row_starts=jnp.asarray(graph.row_starts),
            places=Places.of(degrees.sum(axis=0)) if by_node else Places.none(),
            halvings=int(np.max(degrees[0], initial=0)).bit_length(),
            **for_negatives(kinds or Negatives(), graph, degrees, ends, listed),
        )

    @property
    def num_edges(self) -> int:
        """Number of edges: there is no padding."""
        return self.sources.shape[0]

    count = num_edges

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.row_starts.shape[0] - 1

    def edges(self, ids: Nodes) -> tuple[Nodes, Nodes, Array]:
        """Sources, targets and weights of edges by number."""
        return at(self.sources, ids), at(self.targets, ids), weights_of(self.weights, ids)

    def below(self, key: Key[Array, ""], shape: tuple[int, ...], bound: Int[Array, ""] | int) -> Nodes:
        """Random integers in [0, bound)."""
        return below(key, shape, bound)

    def asking(self, asked: Bool[Array, "*shape"], numbers: Nodes) -> Nodes:
        """Numbers to look up: those where `asked`; elsewhere 0, which is in the cache."""
        return jnp.where(asked, numbers, 0)

    def contains(self, sources: Nodes, targets: Nodes) -> Bool[Array, "*shape"]:
        """Whether each pair is an edge: a binary search in the source's row."""
        return in_row(self.row_starts, self.targets, self.halvings, sources, targets)


def degrees_of(graph: DiGraph) -> Int[np.ndarray, "2 nodes"]:
    """Out-degrees and in-degrees of all nodes."""
    return np.stack([np.diff(graph.row_starts), np.bincount(graph.targets, minlength=graph.num_nodes)])


def for_negatives(
    kinds: Negatives,
    graph: Any,
    degrees: Int[np.ndarray, "2 nodes"],
    edges: tuple[np.ndarray, np.ndarray],
    listed: np.ndarray | None,
) -> dict[str, Any]:
    """The fields `pools` and `draws` of the edges of a graph, for these kinds; `edges` may be a sample."""
    pairs = np.zeros((0, 2), np.int32) if listed is None else np.asarray(listed, np.int32)
    active: Any = (
        np.flatnonzero(degree) if kinds.draws_from(end) else []
        for end, degree in zip(("active_source", "active_target"), degrees, strict=True)
    )
    taken = share_taken(graph, pairs) if kinds.listed else 0.0
    return {
        "pools": Pools(*(jnp.asarray(x, jnp.int32) for x in (*active, *pairs.T))),
        "draws": draws_for(graph.num_nodes, degrees, edges, kinds, taken),
    }


def share_taken(graph: Any, listed: np.ndarray) -> float:
    """The share of an (n, 2) array of pairs that are edges of the graph or self-pairs."""
    s, t = np.asarray(listed, np.int32).reshape(-1, 2).T
    return float(np.mean(graph.has_edges(s, t) | (s == t))) if s.size else 0.0


def weights_of(weights: Array, ids: Nodes) -> Array:
    """Weights of edges by number; 1 in an unweighted graph."""
    return at(weights, ids) if weights.shape[0] else jnp.ones(())


def in_row(
    row_starts: Array, ends: Array, halvings: int, rows: Nodes, wanted: Nodes
) -> Bool[Array, "*shape"]:
    """Whether each wanted number is in its sorted row of `ends`: `halvings` steps of binary search.

    Places are unsigned: the search may look past 2³¹, though no edge lies there.
    """

    @computed_once
    def search(row_starts: Array, ends: Array, rows: Nodes, wanted: Nodes) -> Bool[Array, "*shape"]:
        place, end = (at(row_starts, row).astype(jnp.uint32) for row in (rows, rows + 1))
        last = ends.shape[0] - 1
        for bit in reversed(range(halvings)):
            after = place + (1 << bit)
            right = (after <= end) & (at(ends, jnp.minimum(after - 1, last)) < wanted)
            place = jnp.where(right, after, place)
        return (place < end) & (at(ends, jnp.minimum(place, last)) == wanted)

    return search(row_starts, ends, rows, wanted)


def computed_once(run: Callable) -> Callable:
    """`run`, with results that XLA computes once for all their uses on a CPU; every argument must be used.

    `core.reductions.once` does the same for one number.
    """
    return xla_metadata_call(run, inlineable="false") if jax.default_backend() == "cpu" else run


_NUMBERS = {field.name: number for number, field in enumerate(dataclasses.fields(Negatives))}


class Examples(NamedTuple):
    """A block of training examples: along the first axis, the positive pair, then its negatives.

    `use` is false for padding and for negatives that are still edges after the last draw; their node numbers
    are past the last node.
    """

    sources: Int[Array, "pairs *shape"]
    targets: Int[Array, "pairs *shape"]
    use: Bool[Array, "pairs *shape"]
    weights: Array
    rejected: Int[Array, ""]


def draw_examples(
    key: Key[Array, ""], table: EdgeSource, kinds: Negatives, edge_ids: Int[Array, "*shape"]
) -> Examples:
    """Edges by number, with fresh negatives; numbers past the last edge are padding."""
    real = edge_ids < table.count
    ids = jnp.minimum(edge_ids, table.num_edges - 1)
    s, t, weights = table.edges(ids)
    weights = jnp.where(real, weights, 0.0)
    pairs, rejected = [(s[None], t[None], real[None])], jnp.zeros((), jnp.int32)
    for kind, count in kinds.counts.items():
        wide = [jnp.broadcast_to(x, (count, *x.shape)) for x in (s, t, real)]
        a, b, good, wasted = _draw(jax.random.fold_in(key, _NUMBERS[kind]), table, kind, *wide)
        pairs.append((a, b, good))
        rejected += wasted
    sources, targets, use = (jnp.concatenate(parts) for parts in zip(*pairs, strict=True))
    sources, targets = (jnp.where(use, x, table.num_nodes) for x in (sources, targets))
    return Examples(sources, targets, use, weights, rejected)


def _draw(
    key: Key[Array, ""], table: EdgeSource, kind: str, s: Nodes, t: Nodes, real: Bool[Array, "*shape"]
) -> tuple[Nodes, Nodes, Bool[Array, "*shape"], Int[Array, ""]]:
    """Draw one negative per entry: (source, target, whether it is a non-edge, rejected draws)."""
    if kind == "reversed":
        bad = table.contains(t, s) | (s == t)
        return t, s, real & ~bad, jnp.sum(bad & real, dtype=jnp.int32)

    def attempt(number: Array, carry: tuple) -> tuple:
        a, b, bad, wasted = carry
        new_a, new_b = _candidates(jax.random.fold_in(key, number), table, kind, s, t, bad)
        a, b = jnp.where(bad, new_a, a), jnp.where(bad, new_b, b)
        bad = bad & (table.contains(table.asking(bad, a), table.asking(bad, b)) | (a == b))
        return a, b, bad, wasted + jnp.sum(bad, dtype=jnp.int32)

    start = (s, t, real, jnp.zeros((), jnp.int32))
    few = table.draws <= FEW_DRAWS and jax.default_backend() != "cpu"
    a, b, bad, wasted = jax.lax.fori_loop(0, table.draws, attempt, start, unroll=few)
    return a, b, real & ~bad, wasted


def _candidates(
    key: Key[Array, ""], table: EdgeSource, kind: str, s: Nodes, t: Nodes, asked: Bool[Array, "*shape"]
) -> tuple[Nodes, Nodes]:
    first, second = jax.random.split(key)
    if kind == "listed":
        sources, targets = table.pools[2:]
        entry = table.below(first, s.shape, sources.shape[0])
        return at(sources, entry), at(targets, entry)
    of_source, of_target = KIND_ENDS[kind]
    return _end(first, table, of_source, s, 0, asked), _end(second, table, of_target, t, 1, asked)


def _end(
    key: Key[Array, ""], table: EdgeSource, end: str, own: Nodes, side: int, asked: Bool[Array, "*shape"]
) -> Nodes:
    """One end (0: source, 1: target) of every candidate where `asked`; for `end` see `KIND_ENDS`."""
    if end == "own":
        return own
    if end == "any":
        return table.below(key, own.shape, table.num_nodes)
    if end == "edge":
        return table.edges(table.asking(asked, table.below(key, own.shape, table.count)))[side]
    nodes = table.pools.active_sources if end == "active_source" else table.pools.active_targets
    return at(nodes, table.below(key, own.shape, nodes.shape[0]))
