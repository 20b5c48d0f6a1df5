"""Questions to the owners of numbers, and their answers: all-to-all exchanges in buckets of a fixed size.

Numbers (of rows, of edges) belong to processes by ranges: those from `starts[o]` to `starts[o + 1]` to
process o. Everything here is inside `shard_map` over the axis `AXIS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from timelike.core.hashed_random import at
from timelike.engine.table_rows import add_rows, get_rows, set_rows
from timelike.training.exchange_buckets import usual

AXIS = "processes"

Numbers = Int[Array, "asked"]


class Wanted(NamedTuple):
    """What one process asks for: for each number its owner, and its place among those that the owner gets.

    `most` is how many the busiest owner gets.
    """

    numbers: Numbers
    owner: Numbers
    rank: Numbers
    most: Int[Array, ""]

    @classmethod
    def each(cls, numbers: Numbers, ranges: Int[Array, "owners_plus_1"]) -> Wanted:
        """Every number is a question; those past the last range are padding."""
        owner = _owner(numbers, ranges)
        mine = owner[:, None] == jnp.arange(ranges.shape[0] - 1)
        count = jnp.cumsum(mine, axis=0, dtype=jnp.int32)
        return cls(numbers, owner, jnp.sum(jnp.where(mine, count, 0), axis=1) - 1, jnp.max(count[-1]))

    @classmethod
    def once(cls, numbers: Numbers, ranges: Int[Array, "owners_plus_1"]) -> Wanted:
        """Repeated numbers are one question."""
        ranked = jnp.sort(numbers)
        new = jnp.append(True, ranked[1:] != ranked[:-1])
        unique = jnp.sort(jnp.where(new, ranked, jnp.iinfo(numbers.dtype).max))
        owner, starts = _owner(numbers, ranges), jnp.searchsorted(unique, ranges).astype(jnp.int32)
        place = jnp.searchsorted(unique, numbers).astype(jnp.int32)
        return cls(numbers, owner, place - at(starts, owner), jnp.max(jnp.diff(starts)))


def _owner(numbers: Numbers, ranges: Int[Array, "owners_plus_1"]) -> Numbers:
    return jnp.searchsorted(ranges, numbers, side="right").astype(jnp.int32) - 1


class Route(NamedTuple):
    """Buckets of `size` numbers for each owner: what others ask of this process, and where answers come.

    `asked` counts from the first number of this process; what is past its last is padding.
    """

    asked: Int[Array, "owners_times_size"]
    place: Numbers

    @classmethod
    def of(cls, wanted: Wanted, ranges: Int[Array, "owners_plus_1"], size: int) -> Route:
        """Put what is wanted into buckets, and exchange them."""
        owners = ranges.shape[0] - 1
        real = wanted.owner < owners
        place = jnp.where(real, wanted.owner * size + wanted.rank, owners * size)
        empty = jnp.repeat(jnp.diff(ranges), size)
        return cls(swap(set_rows(empty, place, wanted.numbers - at(ranges, wanted.owner))), place)

    def fetch(self, answers: Array) -> Array:
        """Answers of the owners, one for each of `asked`, to those who asked; padding gets anything."""
        return get_rows(swap(answers), self.place)

    def deliver(self, values: Array) -> Array:
        """Values to the owners of the numbers, beside `asked`; what belongs to one number is added up."""
        buckets = jnp.zeros((self.asked.shape[0], *values.shape[1:]), values.dtype)
        return swap(add_rows(buckets, self.place, values))


def swap(buckets: Array) -> Array:
    """Bucket o of every process to process o."""
    return jax.lax.all_to_all(buckets, AXIS, 0, 0, tiled=True)


def ask(
    wanted: Wanted,
    ranges: Int[Array, "owners_plus_1"],
    answer: Callable[[Int[Array, "owners_times_size"], Any], Any],
    with_each: Any = (),
) -> Any:
    """What the owners answer to each number, and what is sent with it: `answer(asked, with_each)`.

    Buckets have the usual size, or where one is too full, room for everything.
    """
    asked = wanted.numbers.shape[0]

    def exchange(size: int) -> Any:
        route = Route.of(wanted, ranges, size)
        return jax.tree.map(route.fetch, answer(route.asked, jax.tree.map(route.deliver, with_each)))

    size = usual(asked, ranges.shape[0] - 1)
    if size == asked:
        return exchange(size)
    fits = jax.lax.pmax(wanted.most, AXIS) <= size
    return jax.lax.cond(fits, lambda: exchange(size), lambda: exchange(asked))
