"""Fixtures shared by all tests. Nothing here changes JAX's global configuration."""

import gc
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import jax
import pytest
from hypothesis import settings

settings.register_profile("timelike", deadline=None)  # timings belong in benchmarks
settings.load_profile("timelike")


def pytest_collection_finish() -> None:
    """What is imported now stays; with a heap of JAX's size, to look through it all the time costs a tenth."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.fixture
def x64() -> Iterator[None]:
    """Double precision for the length of one test."""
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="session")
def elsewhere(tmp_path_factory) -> Iterator[ProcessPoolExecutor]:
    """A process in which XLA optimises nothing: pages and commands are compiled for longer than they run."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XLA_FLAGS", "--xla_backend_optimization_level=0")
        environment.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path_factory.mktemp("compiled")))
        pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        pool.submit(int).result()
    with pool:
        yield pool
