"""How a block of GPU threads reads and writes tables, and groups the entries of a batch by node.

Pallas on Triton, for the kernels of `gpu_step`. A hash table of many short linked lists holds the entries,
those of one node in the same list. The first entry of every node then gets a list of the others. Entries of
hubs (`table_rows.Places`) are in no list.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Int

from timelike.engine.table_storage import wide

Nodes = Int[Array, "entries"]

#: The end of a list; an entry that is in no list.
NONE, UNLINKED = -1, -2
#: Entries per block of threads, and warps (32 threads) per block.
FINDING = 128, 4


class Tile:
    """Some rows of a table, with columns padded to a power of two: `size` numbers for 32·`warps` threads."""

    def __init__(self, dim: int, size: int, warps: int, interpret: bool):
        self.dim, self.width, self.warps, self.interpret = dim, pl.next_power_of_2(dim), warps, interpret
        self.rows = max(1, size // self.width)

    @property
    def axis(self) -> Int[Array, "1 width"]:
        """Column numbers."""
        return jnp.arange(self.width, dtype=jnp.int32)[None, :]

    def entries(self, count: int) -> tuple[Array, Array]:
        """The entry numbers of this block, and which of them exist."""
        entries = pl.program_id(0) * self.rows + jnp.arange(self.rows, dtype=jnp.int32)
        return entries, entries < count

    def load(self, table: Any, rows: Array, some: Array, part: int = 0, once: bool = False) -> Array:
        """Read the rows that `some` selects, zeros for the others; `part` selects one of the packed tables.

        Rows needed only `once` leave the cache first.
        """
        place, mask = table.at[rows[:, None], part * self.dim + self.axis], self.axis < self.dim
        hint = "evict_first" if once else None
        return wide(triton.load(place, mask=some[:, None] & mask, other=0, eviction_policy=hint))

    def store(self, table: Any, rows: Array, values: Array, some: Array, part: int = 0) -> None:
        """Write the rows that `some` selects."""
        place = table.at[rows[:, None], part * self.dim + self.axis]
        triton.store(place, values, mask=some[:, None] & (self.axis < self.dim))

    def add(self, table: Any, rows: Array, values: Array, some: Array) -> None:
        """Add to the rows that `some` selects; rows may repeat."""
        if not self.interpret:
            mask = some[:, None] & (self.axis < self.dim)
            triton.atomic_add(table, (rows[:, None], self.axis), values, mask=mask)
            return

        def add(i: Array, _: None) -> None:
            row = jnp.maximum(rows[i], 0)
            table[row, :] = table[row, :] + jnp.where(some[i], values[i, : self.dim], 0.0)

        jax.lax.fori_loop(0, self.rows, add, None)

    def exchange(self, numbers: Any, places: Array, values: Array, some: Array) -> Array:
        """Write values atomically, since places may repeat, and return the previous values."""
        if not self.interpret:
            return triton.atomic_xchg(numbers, (places,), values, mask=some)

        def exchange(i: Array, before: Array) -> Array:
            old = numbers[places[i]]
            numbers[places[i]] = jnp.where(some[i], values[i], old)
            return before.at[i].set(old)

        return jax.lax.fori_loop(0, self.rows, exchange, jnp.zeros_like(values))

    def call(
        self,
        kernel: Any,
        count: int,
        inputs: list[Array],
        changed: list[Array],
        made: list[jax.ShapeDtypeStruct],
    ) -> list[Array]:
        """Run a kernel on `count` entries, one tile per block of threads: the arrays it changed and made."""

        def run(*refs: Any) -> None:
            given, outputs = refs[: len(inputs)], refs[len(inputs) + len(changed) :]
            kernel(self, given, outputs[: len(changed)], outputs[len(changed) :])

        return pl.pallas_call(
            run,
            [*map(like, changed), *made],
            grid=(pl.cdiv(count, self.rows),),
            input_output_aliases={len(inputs) + i: i for i in range(len(changed))},
            compiler_params=triton.CompilerParams(num_warps=self.warps, num_stages=1),
            interpret=self.interpret,
        )(*inputs, *changed)


def like(x: Array) -> jax.ShapeDtypeStruct:
    """The shape and type of an array, for an output."""
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


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


@cache
def work(interpret: bool = False) -> bool:
    """Whether kernels compile and count right on this machine: those that group entries are tried once."""
    try:
        own, others = meet(4, jnp.array([2, 1, 2, 4, 2], jnp.int32), [], interpret)
    except Exception:  # of any kind: a compiler that does not know the device, or no longer exists
        return False
    first = sorted(own.tolist()) == [1, 2, 4, 4, 4]
    return first and sum(link >= 0 for link in others.tolist()) == 2


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
