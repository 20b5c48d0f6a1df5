"""Questions to the owners of numbers, and their answers: all-to-all exchanges in buckets of a fixed size.

Numbers (of rows, of edges) belong to processes by ranges: those from `starts[o]` to `starts[o + 1]` to
process o. A process sorts the numbers that it asks for; those of an owner then lie side by side, and repeated
ones can be asked for once. Everything here is inside `shard_map` over the axis `AXIS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from timelike.shuffle import at
from timelike.tables import add_rows, get_rows

AXIS = "processes"

Numbers = Int[Array, "asked"]


class Wanted(NamedTuple):
    """What one process asks for: sorted numbers, those of an owner side by side, padding last.

    `entry` says for each number that was given where it is among the sorted ones; those of owner o lie
    from `starts[o]` to `starts[o + 1]`.
    """

    numbers: Numbers
    entry: Numbers
    starts: Int[Array, "owners_plus_1"]

    @classmethod
    def of(cls, numbers: Numbers, ranges: Int[Array, "owners_plus_1"], once: bool) -> Wanted:
        """Sort what is asked for; with `once`, repeated numbers are one question. Padding is past the end."""
        order = jnp.argsort(numbers)
        ranked = at(numbers, order)
        new = jnp.append(True, ranked[1:] != ranked[:-1]) if once else jnp.ones(ranked.shape, bool)
        place = jnp.cumsum(new, dtype=jnp.int32) - 1
        entry = jnp.zeros_like(numbers).at[order].set(place, unique_indices=True)
        if once:
            ranked = jnp.full_like(ranked, ranges[-1]).at[place].set(ranked)
        return cls(ranked, entry, jnp.searchsorted(ranked, ranges).astype(jnp.int32))

    @property
    def most(self) -> Int[Array, ""]:
        """The largest bucket that any process sends to any owner."""
        return jax.lax.pmax(jnp.max(jnp.diff(self.starts)), AXIS)


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
        slots = wanted.starts[:-1, None] + jnp.arange(size, dtype=jnp.int32)
        numbers = get_rows(wanted.numbers, slots.reshape(-1)).reshape(owners, size)
        past = jnp.diff(ranges)[:, None]
        send = jnp.where(slots < wanted.starts[1:, None], numbers - ranges[:-1, None], past)
        owner = jnp.searchsorted(wanted.starts, wanted.entry, side="right") - 1
        place = owner * size + wanted.entry - at(wanted.starts, owner)
        place = jnp.where(wanted.entry < wanted.starts[-1], place, owners * size)
        return cls(swap(send.reshape(-1)), place.astype(jnp.int32))

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


def usual(asked: int, owners: int) -> int:
    """A size of buckets that numbers at random hardly ever exceed: their mean and six deviations."""
    mean = asked / owners
    return min(asked, math.ceil(mean + 6 * math.sqrt(mean)))


def ask(
    numbers: Numbers,
    ranges: Int[Array, "owners_plus_1"],
    answer: Callable[[Int[Array, "owners_times_size"], Any], Any],
    with_each: Array | None = None,
    real: Bool[Array, "asked"] | None = None,
) -> Any:
    """What the owners answer to each number, and what is sent with it: `answer(asked, with_each)`.

    Buckets have the usual size, or where one is too full, room for everything. Questions that are not
    `real` are not asked.
    """
    numbers = numbers if real is None else jnp.where(real, numbers, ranges[-1])
    wanted = Wanted.of(numbers, ranges, once=with_each is None)

    def exchange(size: int) -> Any:
        route = Route.of(wanted, ranges, size)
        sent = None if with_each is None else route.deliver(with_each)
        return jax.tree.map(route.fetch, answer(route.asked, sent))

    size = usual(numbers.shape[0], ranges.shape[0] - 1)
    if size == numbers.shape[0]:
        return exchange(size)
    fits = wanted.most <= size
    return jax.lax.cond(fits, lambda: exchange(size), lambda: exchange(numbers.shape[0]))
