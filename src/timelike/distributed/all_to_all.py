"""Requests to the owners of rows or edges, and their answers: all-to-all exchanges in buckets of fixed size.

Each process owns a range of row or edge numbers: process o those from `ranges[o]` to `ranges[o + 1]`.
Everything here runs inside `shard_map` over the axis `AXIS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from timelike.core.hashed_random import at
from timelike.engine.table_rows import add_rows, get_rows, set_rows
from timelike.training.cost_model import bucket_size

AXIS = "processes"

Numbers = Int[Array, "asked"]


class Wanted(NamedTuple):
    """The requests of one process: for each number its owner, and its rank among the owner's requests.

    `most` is the number of requests to the busiest owner.
    """

    numbers: Numbers
    owner: Numbers
    rank: Numbers
    most: Int[Array, ""]

    @classmethod
    def each(cls, numbers: Numbers, ranges: Int[Array, "owners_plus_1"]) -> Wanted:
        """Every number is a request; those past the last range are padding."""
        owner = _owner(numbers, ranges)
        of_owner = owner[:, None] == jnp.arange(ranges.shape[0] - 1)
        count = jnp.cumsum(of_owner, axis=0, dtype=jnp.int32)
        return cls(numbers, owner, jnp.sum(jnp.where(of_owner, count, 0), axis=1) - 1, jnp.max(count[-1]))

    @classmethod
    def once(cls, numbers: Numbers, ranges: Int[Array, "owners_plus_1"]) -> Wanted:
        """Repeated numbers are one request."""
        ranked = jnp.sort(numbers)
        new = jnp.append(True, ranked[1:] != ranked[:-1])
        unique = jnp.sort(jnp.where(new, ranked, jnp.iinfo(numbers.dtype).max))
        owner, starts = _owner(numbers, ranges), jnp.searchsorted(unique, ranges).astype(jnp.int32)
        place = jnp.searchsorted(unique, numbers).astype(jnp.int32)
        return cls(numbers, owner, place - at(starts, owner), jnp.max(jnp.diff(starts)))


def _owner(numbers: Numbers, ranges: Int[Array, "owners_plus_1"]) -> Numbers:
    return jnp.searchsorted(ranges, numbers, side="right").astype(jnp.int32) - 1


class Route(NamedTuple):
    """Buckets of `size` numbers per owner: the requests to this process, and the places of its own answers.

    `asked` counts from the first number of this process; numbers past its last are padding.
    """

    asked: Int[Array, "owners_times_size"]
    place: Numbers

    @classmethod
    def of(cls, wanted: Wanted, ranges: Int[Array, "owners_plus_1"], size: int) -> Route:
        """Put the requests into buckets, and exchange these."""
        owners = ranges.shape[0] - 1
        real = wanted.owner < owners
        place = jnp.where(real, wanted.owner * size + wanted.rank, owners * size)
        empty = jnp.repeat(jnp.diff(ranges), size)
        return cls(swap(set_rows(empty, place, wanted.numbers - at(ranges, wanted.owner))), place)

    def fetch(self, answers: Array) -> Array:
        """Send answers, one for each of `asked`, to the requesters; padding gets arbitrary values."""
        return get_rows(swap(answers), self.place)

    def deliver(self, values: Array) -> Array:
        """Send values to the owners of the numbers, aligned with `asked`; values of a number are summed."""
        buckets = jnp.zeros((self.asked.shape[0], *values.shape[1:]), values.dtype)
        return swap(add_rows(buckets, self.place, values))


def swap(buckets: Array) -> Array:
    """Send bucket o of every process to process o."""
    return jax.lax.all_to_all(buckets, AXIS, 0, 0, tiled=True)


def ask(
    wanted: Wanted,
    ranges: Int[Array, "owners_plus_1"],
    answer: Callable[[Int[Array, "owners_times_size"], Any], Any],
    with_each: Any = (),
) -> Any:
    """The owners' answers to each request: `answer(asked, with_each)`, with data sent along.

    Buckets have the usual size, or room for all requests if one would overflow.
    """
    asked = wanted.numbers.shape[0]

    def exchange(size: int) -> Any:
        route = Route.of(wanted, ranges, size)
        return jax.tree.map(route.fetch, answer(route.asked, jax.tree.map(route.deliver, with_each)))

    size = bucket_size(asked, ranges.shape[0] - 1)
    if size == asked:
        return exchange(size)
    fits = jax.lax.pmax(wanted.most, AXIS) <= size
    return jax.lax.cond(fits, lambda: exchange(size), lambda: exchange(asked))
