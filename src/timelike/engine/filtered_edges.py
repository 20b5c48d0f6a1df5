"""Training edges behind a Bloom filter: on a GPU, and for edges that are streamed in parts.

Reading one number at a random address takes as long as reading two, so both ends of an edge lie side by side;
and the membership test is one lookup in a filter of two bytes per edge instead of a binary search. An edge
sets four bits of one 32-bit word; a pair whose bits are all set counts as an edge. The filter never misses an
edge, and takes about one non-edge in 150 for an edge.
"""

from __future__ import annotations

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, UInt

from timelike.core.hashed_random import at, scramble
from timelike.engine.lessons import Lessons
from timelike.engine.padded_edges import PaddedEdges
from timelike.engine.sampling import STATIC, EdgeTable, Nodes, Pools, degrees_of, weights_of
from timelike.engine.table_rows import Places
from timelike.graphs.digraph import DiGraph

Words = UInt[Array, "words"]

#: Edges per word, and the smallest number of words.
EDGES_PER_WORD, FEWEST_WORDS = 2, 1 << 18
#: Bits that an edge sets, and bits of the hash that choose each of them.
BITS, CHOICE = 4, 5


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class FilteredEdges:
    """All edges on the device, or a part of them.

    All parts have the same length: the first `count` edges are their own, the rest is padding that is never
    a positive. The filter holds the edges of all parts.
    """

    pairs: Int[Array, "edges 2"]
    count: Int[Array, ""]
    weights: Array
    words: Words
    pools: Pools
    places: Places
    num_nodes: int = dataclasses.field(metadata=STATIC)
    draws: int = dataclasses.field(metadata=STATIC)

    @classmethod
    def of(cls, table: EdgeTable, graph: DiGraph, rows_at_once: int) -> FilteredEdges:
        """The edges of a graph that are on the device, for kernels whose steps touch `rows_at_once` rows."""
        return cls(
            pairs=side_by_side(table.sources, table.targets),
            count=jnp.asarray(table.num_edges, jnp.int32),
            weights=table.weights,
            words=add_members(no_members(table.num_edges), table.sources, table.targets),
            pools=table.pools,
            places=Places.for_steps(degrees_of(graph), rows_at_once),
            num_nodes=table.num_nodes,
            draws=table.draws,
        )

    @property
    def num_edges(self) -> int:
        """Number of edges, including padding."""
        return self.pairs.shape[0]

    def edges(self, ids: Nodes) -> tuple[Nodes, Nodes, Array]:
        """Sources, targets and weights of edges by number."""
        sources, targets = jnp.moveaxis(at(self.pairs, ids), -1, 0)
        return sources, targets, weights_of(self.weights, ids)

    below, asking = EdgeTable.below, EdgeTable.asking

    def contains(self, sources: Nodes, targets: Nodes) -> Bool[Array, "*shape"]:
        """Whether each pair counts as an edge; about one non-edge in 150 does."""
        return has_member(self.words, sources, targets)


#: Edges in the memory of one process.
LocalEdges = EdgeTable | PaddedEdges | FilteredEdges | Lessons


@jax.jit
def side_by_side(sources: Int[Array, "edges"], targets: Int[Array, "edges"]) -> Int[Array, "edges 2"]:
    """Both ends of every edge in a row."""
    return jnp.stack([sources, targets], axis=1)


def no_members(edges: int) -> Words:
    """An empty filter for this number of edges."""
    return jnp.zeros(max(FEWEST_WORDS, -(-edges // EDGES_PER_WORD)), jnp.uint32)


def has_member(words: Words, sources: Nodes, targets: Nodes) -> Bool[Array, "*shape"]:
    """Whether each pair counts as an edge."""
    word, bits = _place(words.shape[0], sources, targets)
    return (at(words, word) & bits) == bits


@partial(jax.jit, donate_argnums=0)
def add_members(words: Words, sources: Nodes, targets: Nodes) -> Words:
    """The filter with these edges added.

    If several edges write to one word at once, only one succeeds, so writing repeats until all are in.
    """
    word, bits = _place(words.shape[0], sources, targets)

    def write(carry: tuple[Words, Array]) -> tuple[Words, Array]:
        words, missing = carry
        wanted = jnp.where(missing, word, words.shape[0]).astype(jnp.uint32)
        words = words.at[wanted].set(at(words, word) | bits, mode="drop")
        return words, (at(words, word) & bits) != bits

    start = (words, jnp.ones(word.shape, bool))
    return jax.lax.while_loop(lambda carry: jnp.any(carry[1]), write, start)[0]


def _place(words: int, sources: Nodes, targets: Nodes) -> tuple[UInt[Array, "*shape"], UInt[Array, "*shape"]]:
    """The word of each pair, and its bits in that word."""
    first = scramble(sources.astype(jnp.uint32) + jnp.uint32(0x9E3779B9))
    second = scramble(targets.astype(jnp.uint32) + first)
    third = scramble(first + second)
    bits = jnp.zeros_like(third)
    for i in range(BITS):
        bits |= jnp.uint32(1) << ((third >> (CHOICE * i)) & jnp.uint32(2**CHOICE - 1))
    return second % jnp.uint32(words), bits
