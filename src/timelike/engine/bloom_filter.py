"""A Bloom filter on the device that tells which pairs are edges, in two bytes per edge.

An edge sets four bits of one 32-bit word; a pair whose bits are all set counts as an edge. The filter never
misses an edge, and takes about one non-edge in 150 for an edge. Rejecting negatives needs nothing else: no
matrix, no 64-bit keys, no edges in memory.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, UInt

from timelike.core.hashed_random import at, scramble

Nodes = Int[Array, "*pairs"]
Words = UInt[Array, "words"]

#: Edges per word, and the smallest number of words.
EDGES_PER_WORD, FEWEST_WORDS = 2, 1 << 18
#: Bits that an edge sets, and bits of the hash that choose each of them.
BITS, CHOICE = 4, 5


def no_members(edges: int) -> Words:
    """An empty filter for this number of edges."""
    return jnp.zeros(max(FEWEST_WORDS, -(-edges // EDGES_PER_WORD)), jnp.uint32)


def has_member(words: Words, sources: Nodes, targets: Nodes) -> Bool[Array, "*pairs"]:
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


def _place(words: int, sources: Nodes, targets: Nodes) -> tuple[UInt[Array, "*pairs"], UInt[Array, "*pairs"]]:
    """The word of each pair, and its bits in that word."""
    first = scramble(sources.astype(jnp.uint32) + jnp.uint32(0x9E3779B9))
    second = scramble(targets.astype(jnp.uint32) + first)
    third = scramble(first + second)
    bits = jnp.zeros_like(third)
    for i in range(BITS):
        bits |= jnp.uint32(1) << ((third >> (CHOICE * i)) & jnp.uint32(2**CHOICE - 1))
    return second % jnp.uint32(words), bits
