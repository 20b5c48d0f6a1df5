"""Run the source of `engine.sampling` on NumPy: no compilation per shape, and every index checked."""

from contextlib import ExitStack
from unittest import mock

import numpy as np

from timelike.core import hashed_random
from timelike.engine import sampling


def in_numpy():
    """A context in which the modules compute with NumPy arrays."""
    rng = np.random.default_rng(0)

    def at(array, index):
        assert ((index >= 0) & (index < len(array))).all()
        return array[index]

    def below(_, shape, bound):
        return rng.integers(0, bound, shape, dtype=np.int32)

    stack = ExitStack()
    stack.enter_context(mock.patch.object(sampling, "computed_once", lambda run: run))
    for module in (sampling, hashed_random):
        stack.enter_context(mock.patch.multiple(module, jnp=np, at=at, below=below))
    return stack
