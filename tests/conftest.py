"""Fixtures shared by all tests. Nothing here changes JAX's global configuration.

Tests are for the CPU, where the same seed gives the same bits, unless JAX_PLATFORMS names something else.
"""

import gc
import os
from collections.abc import Iterator

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import pytest
from hypothesis import settings

settings.register_profile("timelike", deadline=None)  # timings belong in benchmarks
settings.load_profile("timelike")


def pytest_collection_finish() -> None:
    """What is imported stays: to look through it again and again takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.fixture
def x64() -> Iterator[None]:
    """Double precision for the length of one test."""
    with jax.enable_x64(True):
        yield
