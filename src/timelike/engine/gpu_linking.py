"""Group the entries of a batch by node, for the kernels of `gpu_step`.

A hash table of many short linked lists holds the entries, those of one node in the same list. The first
entry of every node then gets a list of the others. Entries of hubs (`hubs`) are in no list.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Int

from timelike.engine.gpu_tiles import Tile, like

Nodes = Int[Array, "entries"]

#: The end of a list; an entry that is in no list.
NONE, UNLINKED = -1, -2
#: Entries per block of threads, and warps (32 threads) per block.
FINDING = 128, 4


def meet(nodes: int, ends: Nodes, at_hubs: list[Nodes], interpret: bool) -> tuple[Nodes, Nodes]:
    """For the first entry of every node, the node (other entries: past the last); and lists of the rest.

    `at_hubs` has at most one array: the hub row that an entry was added to already, negative for the others.
    """
    tile = Tile(1, *FINDING, interpret)
    heads = jnp.full(2 * pl.next_power_of_2(ends.shape[0]), NONE, jnp.int32)
    link = partial(_link_kernel, nodes)
    _, links, none = tile.call(link, ends.shape[0], [ends, *at_hubs], [heads], [like(ends)] * 2)
    others, own = tile.call(partial(_find_kernel, nodes), ends.shape[0], [ends, links], [none], [like(ends)])
    return own, others


def _link_kernel(nodes: int, tile: Tile, inputs: Any, changed: Any, made: Any) -> None:
    """Write for every entry the one before it in its list, and as many empty lists."""
    (ends, *at_hubs), (heads,), (links, none) = inputs, changed, made
    entry, inside = tile.entries(ends.shape[0])
    node = triton.load(ends.at[entry], mask=inside, other=nodes)
    alone = node < nodes
    if at_hubs:
        alone &= triton.load(at_hubs[0].at[entry], mask=inside, other=0) < 0
    before = tile.exchange(heads, _list_of(heads, node), entry, alone)
    triton.store(links.at[entry], jnp.where(alone, before, UNLINKED), mask=inside)
    triton.store(none.at[entry], jnp.full_like(entry, NONE), mask=inside)


def _find_kernel(nodes: int, tile: Tile, inputs: Any, changed: Any, made: Any) -> None:
    (ends, links), (others,), (own,) = inputs, changed, made
    entry, inside = tile.entries(ends.shape[0])
    node = triton.load(ends.at[entry], mask=inside, other=nodes)
    before = triton.load(links.at[entry], mask=inside, other=UNLINKED)

    def look(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        link, first = carry
        more = link >= 0
        same = more & (triton.load(ends.at[link], mask=more, other=nodes) == node)
        return triton.load(links.at[link], mask=more, other=NONE), jnp.where(same, link, first)

    start = before, jnp.full_like(entry, NONE)
    _, first = jax.lax.while_loop(lambda carry: jnp.max(carry[0]) >= 0, look, start)
    alone = (first == NONE) & (before != UNLINKED)
    triton.store(own.at[entry], jnp.where(alone, node, nodes), mask=inside)
    after = tile.exchange(others, jnp.maximum(first, 0), entry, first >= 0)
    triton.store(others.at[entry], after, mask=first >= 0)


def _list_of(heads: Any, node: Array) -> Array:
    """The list that holds the entries of a node: the highest bits of a multiplicative hash."""
    bits = heads.shape[0].bit_length() - 1
    return ((node.astype(jnp.uint32) * jnp.uint32(0x9E3779B9)) >> jnp.uint32(32 - bits)).astype(jnp.int32)
