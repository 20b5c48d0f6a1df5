"""Training examples: shuffled edges and their negatives, as pure functions of a key.

Everything here runs on the device inside a compiled epoch. Edges are sorted by source, so "is (i, j) an
edge?" is a binary search in one row: no N×N matrix, no 64-bit keys.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Key

from timelike.core.hashed_random import at, below
from timelike.engine.edge_source import STATIC, EdgeSource, Nodes
from timelike.engine.hubs import Places
from timelike.engine.negatives import Negatives, draws_for
from timelike.engine.opaque_calls import computed_once
from timelike.evaluation.negative_kinds import KIND_ENDS
from timelike.graphs.digraph import DiGraph

#: On a GPU, a loop of at most this number of draws is unrolled: an iteration costs more than the draw.
FEW_DRAWS = 4


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class EdgeTable:
    """Training edges on the device, and optionally listed pairs to draw negatives from.

    `weights` is empty for an unweighted graph. `active_sources` and `active_targets` hold the nodes with
    outgoing and incoming edges, if a kind of negatives draws from them. `places` is for `hubs.sum_by_node`.
    `halvings` is the number of steps of the binary search in a row. A negative that is still an edge after
    `draws` draws is left out.
    """

    sources: Int[Array, "edges"]
    targets: Int[Array, "edges"]
    weights: Array
    row_starts: Int[Array, "nodes_plus_1"]
    active_sources: Int[Array, "active_sources"]
    active_targets: Int[Array, "active_targets"]
    listed_sources: Int[Array, "listed"]
    listed_targets: Int[Array, "listed"]
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
        listed = np.zeros((0, 2), np.int32) if listed is None else np.asarray(listed, np.int32)
        weights = np.ones(0, np.float32) if graph.weights is None else graph.weights
        degrees, kinds = degrees_of(graph), kinds or Negatives()
        taken = share_taken(graph, listed) if kinds.listed else 0.0
        longest = int(np.max(degrees[0], initial=0))
        return cls(
            sources=jnp.asarray(graph.sources),
            targets=jnp.asarray(graph.targets),
            weights=jnp.asarray(weights),
            row_starts=jnp.asarray(graph.row_starts),
            **linked(degrees, kinds),
            listed_sources=jnp.asarray(listed[:, 0]),
            listed_targets=jnp.asarray(listed[:, 1]),
            places=Places.for_every_node(degrees) if by_node else Places.none(),
            halvings=longest.bit_length(),
            draws=draws_for(graph.num_nodes, degrees, (graph.sources, graph.targets), kinds, taken),
        )

    @property
    def num_edges(self) -> int:
        """Number of edges."""
        return self.sources.shape[0]

    @property
    def count(self) -> int:
        """Number of edges: there is no padding."""
        return self.num_edges

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.row_starts.shape[0] - 1

    def edges(self, ids: Nodes) -> tuple[Nodes, Nodes, Array]:
        """Sources, targets and weights of edges by number."""
        return at(self.sources, ids), at(self.targets, ids), weights_of(self.weights, ids)

    def below(self, key: Key[Array, ""], shape: tuple[int, ...], bound: int) -> Nodes:
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


def linked(degrees: Int[np.ndarray, "2 nodes"], kinds: Negatives) -> dict[str, Int[Array, "linked"]]:
    """Nodes with outgoing and with incoming edges, if these kinds of negatives draw from them."""
    return {
        f"{end}s": jnp.asarray(np.flatnonzero(degree) if kinds.draws_from(end) else np.zeros(0), jnp.int32)
        for end, degree in zip(("active_source", "active_target"), degrees, strict=True)
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
        entry = table.below(first, s.shape, table.listed_sources.shape[0])
        return at(table.listed_sources, entry), at(table.listed_targets, entry)
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
        return table.edges(table.asking(asked, table.below(key, own.shape, table.num_edges)))[side]
    nodes = table.active_sources if end == "active_source" else table.active_targets
    return at(nodes, table.below(key, own.shape, nodes.shape[0]))
