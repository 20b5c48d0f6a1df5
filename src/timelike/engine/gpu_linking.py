"""Entries of a batch that are of the same node meet, for the kernels of `fused`.

Entries are linked in lists, many and short, those of one node in the same. Then the first of every node gets
a list of the others. Those of hubs (`hubs`) are in no list.
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

#: At the end of a list; and an entry that is in none.
NONE, UNLINKED = -1, -2
#: Entries that a block of threads links or follows in their lists, and threads in units of 32.
FINDING = 128, 4


def meet(nodes: int, ends: Nodes, at_hubs: list[Nodes], interpret: bool) -> tuple[Nodes, Nodes]:
    """The node of every entry that is the first of it, else past the last; and lists of the others of it.

    `at_hubs` has at most one array: where entries were added up already, below 0 for the others.
    """
    tile = Tile(1, *FINDING, interpret)
    links, none = _link(tile, nodes, ends, at_hubs)
    others, own = tile.call(partial(_find_kernel, nodes), ends.shape[0], [ends, links], [none], [like(ends)])
    return own, others


def _link(tile: Tile, nodes: int, ends: Nodes, at_hubs: list[Nodes]) -> tuple[Nodes, Nodes]:
    """The entry before every entry in a list, those of one node in the same; and as many empty lists."""
    heads = jnp.full(2 * pl.next_power_of_2(ends.shape[0]), NONE, jnp.int32)
    kernel = partial(_link_kernel, nodes)
    _, links, none = tile.call(kernel, ends.shape[0], [ends, *at_hubs], [heads], [like(ends)] * 2)
    return links, none


def _link_kernel(nodes: int, tile: Tile, inputs: Any, changed: Any, made: Any) -> None:
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
    """The number of the list that has the entries of a node: scattered by their highest bits of a product."""
    bits = heads.shape[0].bit_length() - 1
    return ((node.astype(jnp.uint32) * jnp.uint32(0x9E3779B9)) >> jnp.uint32(32 - bits)).astype(jnp.int32)
