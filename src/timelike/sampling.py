"""What a training step sees: a shuffled edge and its negatives, as pure functions of a key.

Everything here runs on the device inside a compiled epoch. Edges are rows sorted by source, so
"is (i, j) an edge?" is a binary search in one row: no N×N matrix, no 64-bit keys.
"""

from __future__ import annotations

import dataclasses
import math
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Key

from timelike.checks import whole_number
from timelike.graph import DiGraph

Nodes = Int[Array, "*shape"]

#: Candidates that hit a training edge are drawn again. How often is fixed for a graph, by its
#: density: often enough that about one in a hundred at most is still an edge, or `MAX_DRAWS`
#: times. What is still an edge then is left out of the batch.
LEFT_OUT = 1e-2
MAX_DRAWS = 16

#: Rounds of the Feistel network behind `Shuffle`; four make a pseudo-random permutation.
ROUNDS = 4


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["sources", "targets", "weights", "row_starts", "listed_sources", "listed_targets"],
    meta_fields=["halvings", "draws"],
)
@dataclasses.dataclass(frozen=True)
class EdgeTable:
    """Training edges on the device, and optionally listed non-edges to draw from.

    `weights` is empty for an unweighted graph; `halvings` bounds the binary search in a row, and
    `draws` says how often a negative is drawn before it is given up.
    """

    sources: Int[Array, "edges"]
    targets: Int[Array, "edges"]
    weights: Array
    row_starts: Int[Array, "nodes_plus_1"]
    listed_sources: Int[Array, "listed"]
    listed_targets: Int[Array, "listed"]
    halvings: int
    draws: int

    @classmethod
    def build(
        cls, graph: DiGraph, non_edges: np.ndarray | None = None, kinds: Negatives | None = None
    ) -> EdgeTable:
        """Copy a graph's edges, and an (n, 2) array of non-edges, to the device, to draw these kinds."""
        listed = np.zeros((0, 2), np.int32) if non_edges is None else np.asarray(non_edges, np.int32)
        weights = np.ones(0, np.float32) if graph.weights is None else graph.weights
        longest = int(np.max(np.diff(graph.row_starts), initial=0))
        return cls(
            sources=jnp.asarray(graph.sources),
            targets=jnp.asarray(graph.targets),
            weights=jnp.asarray(weights),
            row_starts=jnp.asarray(graph.row_starts),
            listed_sources=jnp.asarray(listed[:, 0]),
            listed_targets=jnp.asarray(listed[:, 1]),
            halvings=longest.bit_length(),
            draws=_draws(graph, kinds or Negatives()),
        )

    @property
    def num_edges(self) -> int:
        """How many edges."""
        return self.sources.shape[0]

    @property
    def num_nodes(self) -> int:
        """How many nodes."""
        return self.row_starts.shape[0] - 1

    def contains(self, sources: Nodes, targets: Nodes) -> Bool[Array, "*shape"]:
        """Whether each pair is an edge, by binary search in the source's row."""
        low, end = _at(self.row_starts, sources), _at(self.row_starts, sources + 1)
        high, last = end, self.num_edges - 1
        for _ in range(self.halvings):
            middle = low + (high - low) // 2
            right = (low < high) & (_at(self.targets, jnp.minimum(middle, last)) < targets)
            low, high = jnp.where(right, middle + 1, low), jnp.where(right, high, jnp.minimum(middle, high))
        return (low < end) & (_at(self.targets, jnp.minimum(low, last)) == targets)


def _draws(graph: DiGraph, kinds: Negatives) -> int:
    """Draws until at most `LEFT_OUT` of the candidates are edges, by how often these kinds hit one."""
    n, m = max(graph.num_nodes, 1), max(graph.num_edges, 1)
    leaving, entering = (
        np.bincount(ends, minlength=n).astype(float) for ends in (graph.sources, graph.targets)
    )
    # The chance that a candidate is an edge or a node with itself, and the share of such candidates.
    hits: list[tuple[Any, Any]] = [((m + n) / n**2, 1.0)]
    if kinds.degree:
        both = np.sum(leaving[graph.sources] * entering[graph.targets]) + leaving @ entering
        hits.append((both / m**2, 1.0))
    for kind, degrees in ((kinds.target, leaving), (kinds.source, entering)):
        if kind:  # one end is that of an edge, mostly a hub, and stays
            hits.append(((degrees + 1) / n, degrees / m))
    few = (k for k in range(1, MAX_DRAWS) if all(np.sum(share * hit**k) <= LEFT_OUT for hit, share in hits))
    return next(few, MAX_DRAWS)


def _at(array: Array, index: Nodes) -> Array:
    """array[index] for indices known to be in range."""
    return array.at[index].get(mode="promise_in_bounds")


@dataclasses.dataclass(frozen=True)
class Negatives:
    """How many non-edges of which kind go with every positive edge s → t.

    `uniform` pairs of any two nodes; `target`: s with another target; `source`: another source
    with t (take some of both to corrupt either side); `degree`: the source of one random edge
    with the target of another, so hubs come often; `reversed`: t → s; `listed`: drawn from the
    non-edges that were given. Pairs that are training edges, or a node with itself, are drawn again.
    """

    uniform: int = 0
    target: int = 0
    source: int = 0
    degree: int = 0
    reversed: int = 0
    listed: int = 0

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            most = 1 if field.name == "reversed" else None  # an edge has one reverse
            value = whole_number(f"Negatives: {field.name}", getattr(self, field.name), 0, most)
            object.__setattr__(self, field.name, value)

    @property
    def total(self) -> int:
        """Negatives per positive."""
        return sum(dataclasses.astuple(self))


class Examples(NamedTuple):
    """A block of training examples: along the first axis, the positive pair and then its negatives.

    `use` tells the pairs that count from padding and from draws that found no non-edge; the nodes
    of those are past the last node.
    """

    sources: Int[Array, "pairs *shape"]
    targets: Int[Array, "pairs *shape"]
    use: Bool[Array, "pairs *shape"]
    weights: Array
    rejected: Int[Array, ""]


def draw_examples(
    key: Key[Array, ""], table: EdgeTable, kinds: Negatives, edge_ids: Int[Array, "*shape"]
) -> Examples:
    """Positives by edge number, with fresh negatives; edge numbers past the last are padding."""
    real = edge_ids < table.num_edges
    ids = jnp.minimum(edge_ids, table.num_edges - 1)
    s, t = _at(table.sources, ids), _at(table.targets, ids)
    weights = jnp.where(real, _at(table.weights, ids) if table.weights.shape[0] else 1.0, 0.0)
    pairs, rejected = [(s[None], t[None], real[None])], jnp.zeros((), jnp.int32)
    for number, (kind, count) in enumerate(dataclasses.asdict(kinds).items()):
        if count:
            wide = [jnp.broadcast_to(x, (count, *x.shape)) for x in (s, t, real)]
            a, b, good, wasted = _draw(jax.random.fold_in(key, number), table, kind, *wide)
            pairs.append((a, b, good))
            rejected += wasted
    sources, targets, use = (jnp.concatenate(parts) for parts in zip(*pairs, strict=True))
    sources, targets = (jnp.where(use, x, table.num_nodes) for x in (sources, targets))
    return Examples(sources, targets, use, weights, rejected)


def _draw(
    key: Key[Array, ""], table: EdgeTable, kind: str, s: Nodes, t: Nodes, real: Bool[Array, "*shape"]
) -> tuple[Nodes, Nodes, Bool[Array, "*shape"], Int[Array, ""]]:
    """One non-edge of a kind per entry: (source, target, found one, draws rejected)."""
    if kind == "reversed":
        bad = table.contains(t, s) | (s == t)
        return t, s, real & ~bad, jnp.sum(bad & real, dtype=jnp.int32)

    def attempt(number: Array, carry: tuple) -> tuple:
        a, b, bad, wasted = carry
        new_a, new_b = _candidates(jax.random.fold_in(key, number), table, kind, s, t)
        a, b = jnp.where(bad, new_a, a), jnp.where(bad, new_b, b)
        bad = bad & (table.contains(a, b) | (a == b))
        return a, b, bad, wasted + jnp.sum(bad, dtype=jnp.int32)

    start = (s, t, real, jnp.zeros((), jnp.int32))
    a, b, bad, wasted = jax.lax.fori_loop(0, table.draws, attempt, start)
    return a, b, real & ~bad, wasted


def _candidates(key: Key[Array, ""], table: EdgeTable, kind: str, s: Nodes, t: Nodes) -> tuple[Nodes, Nodes]:
    first, second = jax.random.split(key)
    if kind == "degree":
        edges = table.num_edges
        return _at(table.sources, below(first, s.shape, edges)), _at(
            table.targets, below(second, s.shape, edges)
        )
    if kind == "listed":
        entry = below(first, s.shape, table.listed_sources.shape[0])
        return _at(table.listed_sources, entry), _at(table.listed_targets, entry)
    a = s if kind == "target" else below(first, s.shape, table.num_nodes)
    b = t if kind == "source" else below(second, s.shape, table.num_nodes)
    return a, b


def below(key: Key[Array, ""], shape: tuple[int, ...], bound: int) -> Nodes:
    """Random whole numbers in [0, bound), one word of bits each (bias below bound / 2³²).

    The words are a counter scrambled twice by an integer hash, with one half of the key before
    each time: good enough to draw nodes with, and a tenth of the price of `jax.random.bits`.
    """
    first, *_, second = jax.random.key_data(key)
    counter = jnp.arange(math.prod(shape), dtype=jnp.uint32)
    words = _scramble(_scramble(counter * jnp.uint32(0x9E3779B9) + first) + second)
    return (words % jnp.uint32(bound)).astype(jnp.int32).reshape(shape)


def _scramble(x: Nodes) -> Nodes:
    """A permutation of the 32-bit words in which every bit depends on every bit ("lowbias32")."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ (x >> shift)) * jnp.uint32(factor)
    return x ^ (x >> 16)


class Shuffle(NamedTuple):
    """A pseudo-random permutation of `rows`·`columns` positions that is computed, not stored.

    A Feistel network on the grid (row, column): each round shifts the column by a random function
    of the row and the row by one of the column. One pass costs a few nanoseconds per number where
    a sort on the device costs hundreds.
    """

    by_row: Int[Array, "rounds rows"]
    by_column: Int[Array, "rounds columns"]

    @classmethod
    def draw(cls, key: Key[Array, ""], count: int) -> Shuffle:
        """A fresh permutation of at least `count` positions, on a grid that has few more."""
        root = max(1, int(np.sqrt(count)))
        rows = min(range(root, root // 2, -1), key=lambda n: -count % n)
        columns = -(-count // rows)
        first, second = jax.random.split(key)
        return cls(below(first, (ROUNDS, rows), columns), below(second, (ROUNDS, columns), rows))

    @property
    def size(self) -> int:
        """How many positions are permuted."""
        return self.by_row.shape[1] * self.by_column.shape[1]

    def __call__(self, position: Int[Array, "*shape"]) -> Int[Array, "*shape"]:
        """Where each position goes; positions past `size` stay past it."""
        rows, columns = self.by_row.shape[1], self.by_column.shape[1]
        inside = jnp.minimum(position, self.size - 1)
        row, column = inside // columns, inside % columns
        for by_row, by_column in zip(self.by_row, self.by_column, strict=True):
            column = (column + _at(by_row, row)) % columns
            row = (row + _at(by_column, column)) % rows
        return jnp.where(position < self.size, row * columns + column, self.size)
