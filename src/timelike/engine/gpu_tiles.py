"""How a block of GPU threads reads and writes tables: Pallas on Triton."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Int

from timelike.engine.table_storage import wide


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
