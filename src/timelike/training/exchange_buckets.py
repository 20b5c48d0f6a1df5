"""How large the buckets of an exchange are: what a plan needs to know, without JAX."""

from __future__ import annotations

import math

#: Deviations of a random number of rows that a bucket of the usual size has room for.
DEVIATIONS = 6


def usual(asked: int, owners: int) -> int:
    """A size of buckets that numbers at random hardly ever exceed: their mean and six deviations."""
    mean = asked / owners
    return min(asked, math.ceil(mean + DEVIATIONS * math.sqrt(mean)))


def with_room(needed: int) -> int:
    """The size of a bucket for so many: a new size is a new compilation, so they go in steps of an eighth."""
    quantum = max(1, 2 ** (needed.bit_length() - 4))
    return quantum * -(-needed // quantum)
