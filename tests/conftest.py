"""Fixtures shared by all tests. Nothing here changes JAX's global configuration."""

from collections.abc import Iterator

import jax
import pytest
from hypothesis import settings

settings.register_profile("timelike", deadline=None)  # timings belong in benchmarks
settings.load_profile("timelike")


@pytest.fixture
def x64() -> Iterator[None]:
    """Double precision for the length of one test."""
    with jax.enable_x64(True):
        yield
