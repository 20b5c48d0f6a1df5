"""Random numbers computed on demand: draws from a hash, and a permutation without a table."""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

#: Rounds of the Feistel network in `Shuffle`; four give a pseudo-random permutation.
ROUNDS = 4

Nodes = Int[Array, "*shape"]
Bound = Int[Array, ""] | int


def at(array: Array, index: Nodes) -> Array:
    """array[index] for indices known to be in range."""
    return array.at[index].get(mode="promise_in_bounds")


def below(key: Key[Array, ""], shape: tuple[int, ...], bound: Bound) -> Nodes:
    """Random integers in [0, bound), each from one 32-bit word (bias below bound / 2³²).

    The words are a counter scrambled twice by an integer hash, with one half of the key added before each
    pass: good enough to draw nodes, at a tenth of the cost of `jax.random.bits`.
    """
    return below_at(key, jnp.arange(math.prod(shape), dtype=jnp.uint32), bound).reshape(shape)


def below_at(key: Key[Array, ""], counter: Nodes, bound: Bound) -> Nodes:
    """The numbers that `below` draws at the flat positions `counter`."""
    first, *_, second = jax.random.key_data(key)
    words = scramble(scramble(counter * jnp.uint32(0x9E3779B9) + first) + second)
    return (words % jnp.uint32(bound)).astype(jnp.int32)


def scramble(x: Nodes) -> Nodes:
    """A permutation of 32-bit words whose output bits depend on every input bit ("lowbias32")."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ (x >> shift)) * jnp.uint32(factor)
    return x ^ (x >> 16)


class Shuffle(NamedTuple):
    """A pseudo-random permutation of `rows`·`columns` positions, computed on demand.

    A Feistel network on the grid (row, column): each round shifts the column by a random function of the row
    and the row by a random function of the column. It costs a few nanoseconds per number; sorting on the
    device costs hundreds.
    """

    by_row: Int[Array, "rounds rows"]
    by_column: Int[Array, "rounds columns"]

    @classmethod
    def draw(cls, key: Key[Array, ""], count: int) -> Shuffle:
        """A new permutation of at least `count` positions, on a grid with few more."""
        rows, columns = cls.grid(count)
        first, second = jax.random.split(key)
        return cls(below(first, (ROUNDS, rows), columns), below(second, (ROUNDS, columns), rows))

    @staticmethod
    def grid(count: int) -> tuple[int, int]:
        """Rows and columns of the grid for `count` positions."""
        root = max(1, int(np.sqrt(count)))
        rows = min(range(root, root // 2, -1), key=lambda n: -count % n)
        return rows, -(-count // rows)

    @property
    def size(self) -> int:
        """Number of permuted positions."""
        return self.by_row.shape[1] * self.by_column.shape[1]

    def __call__(self, position: Int[Array, "*shape"]) -> Int[Array, "*shape"]:
        """The image of each position; positions past `size` stay past it."""
        rows, columns = self.by_row.shape[1], self.by_column.shape[1]
        inside = jnp.minimum(position, self.size - 1)
        row, column = inside // columns, inside % columns
        for by_row, by_column in zip(self.by_row, self.by_column, strict=True):
            column = (column + at(by_row, row)) % columns
            row = (row + at(by_column, column)) % rows
        return jnp.where(position < self.size, row * columns + column, self.size)
