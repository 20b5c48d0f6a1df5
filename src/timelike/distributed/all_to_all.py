"""Requests to the owners of rows or edges, and their answers: all-to-all exchanges in buckets of fixed size.

Each process owns a range of row or edge numbers: process o those from `ranges[o]` to `ranges[o + 1]`.
Everything here runs inside `shard_map` over the axis `AXIS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from timelike.core.hashed_random import at
from timelike.engine.table_rows import add_rows, get_rows, set_rows
from timelike.training.cost_model import bucket_size

AXIS = "processes"

#: Up to this number of owners, comparing a number with all ranges beats a binary search.
FEW_OWNERS = 16

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
        return cls(numbers, owner, *_ranks(owner, jnp.ones(owner.shape, bool), ranges.shape[0] - 1))

    @classmethod
    def once(cls, numbers: Numbers, ranges: Int[Array, "owners_plus_1"]) -> Wanted:
        """Repeated numbers are one request, except the few that share a place in a hash table."""
        entries = jnp.arange(numbers.shape[0], dtype=jnp.int32)
        size = 1 << (2 * len(entries)).bit_length()
        place = numbers & (size - 1)
        first = get_rows(set_rows(jnp.zeros(size, jnp.int32), place, entries), place)
        first = jnp.where(get_rows(numbers, first) == numbers, first, entries)
        owner = _owner(numbers, ranges)
        rank, most = _ranks(owner, first == entries, ranges.shape[0] - 1)
        return cls(numbers, owner, get_rows(rank, first), most)

    @classmethod
    def all_rows(cls, numbers: Numbers, ranges: Int[Array, "owners_plus_1"], rows: int) -> Wanted:
        """Requests with room for every one of the `rows` of an owner: cheapest if nearly all are needed."""
        owner = _owner(numbers, ranges)
        return cls(numbers, owner, numbers - at(ranges, owner), jnp.full((), rows, jnp.int32))


def _owner(numbers: Numbers, ranges: Int[Array, "owners_plus_1"]) -> Numbers:
    if ranges.shape[0] <= FEW_OWNERS:
        return jnp.sum(numbers[:, None] >= ranges[1:], axis=1, dtype=jnp.int32)
    return jnp.searchsorted(ranges, numbers, side="right").astype(jnp.int32) - 1


def _ranks(owner: Numbers, counted: Bool[Array, "asked"], owners: int) -> tuple[Numbers, Int[Array, ""]]:
    """The rank of each counted entry among those of its owner, and the highest count."""
    of_owner = (owner == jnp.arange(owners, dtype=jnp.int32)[:, None]) & counted
    count = jnp.cumsum(of_owner, axis=1, dtype=jnp.int32)
    return jnp.sum(jnp.where(of_owner, count, 0), axis=0) - 1, jnp.max(count[:, -1])


class Route(NamedTuple):
    """Buckets of `size` numbers per owner: the requests to this process, and the places of its own answers.

    `asked` counts from the first number of this process; numbers past its last are padding. `along` are
    numbers that came with the requests.
    """

    asked: Int[Array, "owners_times_size"]
    along: tuple[Int[Array, "owners_times_size"], ...]
    place: Numbers

    @classmethod
    def of(cls, wanted: Wanted, ranges: Int[Array, "owners_plus_1"], size: int, *along: Numbers) -> Route:
        """Put the requests into buckets, and exchange these."""
        owners = ranges.shape[0] - 1
        place = jnp.where(wanted.owner < owners, wanted.owner * size + wanted.rank, owners * size)
        empty = jnp.repeat(jnp.diff(ranges), size)
        empty = jnp.stack([empty, *[jnp.zeros_like(empty)] * len(along)], axis=1)
        requests = jnp.stack([wanted.numbers - at(ranges, wanted.owner), *along], axis=1)
        asked, *sent = swap(set_rows(empty, place, requests)).T
        return cls(asked, tuple(sent), place)

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
    wanted: Wanted, ranges: Int[Array, "owners_plus_1"], answer: Callable[..., Any], *along: Numbers
) -> Any:
    """The owners' answers to each request: `answer(asked, *along)`, with numbers sent along.

    Buckets have the usual size, or room for all requests if one would overflow.
    """
    asked = wanted.numbers.shape[0]

    def exchange(size: int) -> Any:
        route = Route.of(wanted, ranges, size, *along)
        return jax.tree.map(route.fetch, answer(route.asked, *route.along))

    size = bucket_size(asked, ranges.shape[0] - 1)
    if size == asked:
        return exchange(size)
    fits = jax.lax.pmax(wanted.most, AXIS) <= size
    return jax.lax.cond(fits, lambda: exchange(size), lambda: exchange(asked))
