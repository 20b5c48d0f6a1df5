"""Entries of a batch that are of the same node meet, for the kernels of `timelike.fused`.

Entries are linked in lists, many and short, those of one node in the same. Then the first of every node gets
a list of the others. Nodes that are in very many pairs, hubs, have rows of their own to be added up in.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Float, Int

from timelike.tables import COPIES, MORE_HUBS
from timelike.tiles import Tile, like

Nodes = Int[Array, "entries"]
Rows = Float[Array, "rows ambient"]

#: At the end of a list; and an entry that is in none.
NONE, UNLINKED = -1, -2
#: Entries that a block of threads links or follows in their lists, and threads in units of 32.
FINDING = 128, 4


def meet(places: Int[Array, "places"], nodes: int, ends: Nodes, interpret: bool) -> tuple[Nodes, Nodes]:
    """The node of every entry that is the first of it, else past the last; and lists of the others of it."""
    tile = Tile(1, *FINDING, interpret)
    links, none = _link(tile, nodes, places, ends)
    others, own = tile.call(partial(_find_kernel, nodes), ends.shape[0], [ends, links], [none], [like(ends)])
    return own, others


def _link(tile: Tile, nodes: int, places: Int[Array, "places"], ends: Nodes) -> tuple[Nodes, Nodes]:
    """The entry before every entry in a list, those of one node in the same; and as many empty lists."""
    heads = jnp.full(2 * pl.next_power_of_2(ends.shape[0]), NONE, jnp.int32)
    inputs = [ends, places] if places.shape[0] else [ends]
    _, links, none = tile.call(partial(_link_kernel, nodes), ends.shape[0], inputs, [heads], [like(ends)] * 2)
    return links, none


def _link_kernel(nodes: int, tile: Tile, inputs: Any, changed: Any, made: Any) -> None:
    (ends, *places), (heads,), (links, none) = inputs, changed, made
    entry, inside = tile.entries(ends.shape[0])
    node = triton.load(ends.at[entry], mask=inside, other=nodes)
    alone = node < nodes
    if places:
        alone &= place_of_hub(places[0], node, entry, alone, nodes) < 0
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


def place_of_hub(places: Any, node: Array, entry: Array, there: Array, nodes: int) -> Array:
    """Where the gradients of a hub are added up, by turns in one of its rows; below 0 for other nodes."""
    place = triton.load(places.at[node], mask=there, other=0) - nodes
    return jnp.where((place >= 0) & (place < MORE_HUBS * COPIES), place + entry % COPIES, place)


def sums_of_hubs(hubs: Nodes, sums: Rows) -> tuple[Nodes, Rows]:
    """A hub has many rows of sums: add them up. A hub of which there was no entry is past the last node."""
    first, rest = (x[: MORE_HUBS * COPIES].reshape(MORE_HUBS, COPIES, *x.shape[1:]) for x in (hubs, sums))
    return (
        jnp.concatenate([first.min(axis=1), hubs[MORE_HUBS * COPIES :]]),
        jnp.concatenate([rest.sum(axis=1), sums[MORE_HUBS * COPIES :]]),
    )
