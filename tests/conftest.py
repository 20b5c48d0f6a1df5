"""Fixtures shared by all tests, and which of them compile quickly. JAX's configuration stays as it is.

Tests are for the CPU, where the same seed gives the same bits, unless JAX_PLATFORMS names something else.
"""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import pytest
from hypothesis import settings
from quick_compiling import compile_quickly

from timelike._util import progress

progress.SECONDS = 1e9  # a busy machine must not add lines to what commands say

settings.register_profile("timelike", deadline=None)  # timings belong in benchmarks
settings.load_profile("timelike")

TESTS = Path(__file__).parent

#: Folders and modules where a formula is compared with another, or a model is needed, but its last digits are
#: not what is tested. The rest is compiled as for users: safety, numerics, axioms, training, rankings, bits.
COMPILED_QUICKLY = {
    *("baselines", "clients", "commands", "datasets", "estimator", "explore"),
    *("io", "manifolds/test_maps.py", "many", "paper", "plot"),
    *(f"embedding/test_{name}.py" for name in ("add_nodes", "calibration", "ensembles", "export", "store")),
    *(f"evaluate/test_{name}.py" for name in ("baselines", "compare", "evaluate", "negative_kinds")),
    *(f"reliability/test_{name}.py" for name in ("bad_input", "crash", "faults", "interrupts", "no_code")),
    *(f"train/test_{name}.py" for name in ("grid", "planning", "sampling", "train")),
    *(f"test_{name}.py" for name in ("cli", "docs", "errors", "examples", "leaks", "paper", "shapes")),
}


#: The files that take longest, with `make long`: 160 CPU seconds and less.
LONGEST = (
    "test_docs.py",
    "test_documented_commands.py",
    "test_notebooks.py",
    "test_examples.py",
    "test_vectors.py",
)


def is_compiled_quickly(item: pytest.Item) -> bool:
    """Whether the tests of this module need no optimised programs."""
    if not item.path.is_relative_to(TESTS):
        return False
    module = item.path.relative_to(TESTS)
    return module.as_posix() in COMPILED_QUICKLY or module.parts[0] in COMPILED_QUICKLY


def pytest_configure(config: pytest.Config) -> None:
    """Workers take the files in the order below, not by their number of tests."""
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is compiled as for users comes first: a worker then changes its way of compiling once.

    Then the longest files: a worker that began one of them last would be left alone with it.
    """

    def place(item: pytest.Item) -> tuple[bool, int]:
        name = item.path.name
        return is_compiled_quickly(item), LONGEST.index(name) if name in LONGEST else len(LONGEST)

    items.sort(key=place)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before all fixtures, which may fit a model for many tests."""
    compile_quickly(is_compiled_quickly(item))


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
