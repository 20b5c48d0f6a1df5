"""What a block of threads of a GPU sees of tables, and how it reads and writes them: Pallas, by Triton."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Int

from timelike.engine.table_storage import wide


class Tile:
    """Some rows of a table, and columns up to a power of two: `size` numbers for 32·`warps` threads."""

    def __init__(self, dim: int, size: int, warps: int, interpret: bool):
        self.dim, self.width, self.warps, self.interpret = dim, pl.next_power_of_2(dim), warps, interpret
        self.rows = max(1, size // self.width)

    @property
    def axis(self) -> Int[Array, "1 width"]:
        """The columns."""
        return jnp.arange(self.width, dtype=jnp.int32)[None, :]

    def entries(self, count: int) -> tuple[Array, Array]:
        """The numbers of this block's entries, and which of them there are."""
        entries = pl.program_id(0) * self.rows + jnp.arange(self.rows, dtype=jnp.int32)
        return entries, entries < count

    def load(self, table: Any, rows: Array, some: Array, part: int = 0, once: bool = False) -> Array:
        """Some rows of a table, or of one of those side by side in it; the others 0.

        What is needed `once` is the first to leave the cache.
        """
        place, mask = table.at[rows[:, None], part * self.dim + self.axis], self.axis < self.dim
        hint = "evict_first" if once else None
        return wide(triton.load(place, mask=some[:, None] & mask, other=0, eviction_policy=hint))

    def store(self, table: Any, rows: Array, values: Array, some: Array, part: int = 0) -> None:
        """Write some rows."""
        place = table.at[rows[:, None], part * self.dim + self.axis]
        triton.store(place, values, mask=some[:, None] & (self.axis < self.dim))

    def add(self, table: Any, rows: Array, values: Array, some: Array) -> None:
        """Add to some rows, of which several may be the same."""
        if not self.interpret:
            mask = some[:, None] & (self.axis < self.dim)
            triton.atomic_add(table, (rows[:, None], self.axis), values, mask=mask)
            return

        def add(i: Array, _: None) -> None:
            row = jnp.maximum(rows[i], 0)
            table[row, :] = table[row, :] + jnp.where(some[i], values[i, : self.dim], 0.0)

        jax.lax.fori_loop(0, self.rows, add, None)

    def exchange(self, numbers: Any, places: Array, values: Array, some: Array) -> Array:
        """Put values in some places, one by one since places may be the same: what was there before."""
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
        """Run a kernel on `count` entries, a tile in each block of threads: what it changed and made."""

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
    """Something to be made, of the shape and type of something else."""
    return jax.ShapeDtypeStruct(x.shape, x.dtype)
