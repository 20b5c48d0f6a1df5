"""Work on all cores: values that several threads make only once, and linear algebra on one core."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Made = TypeVar("Made")


def made_once(make: Callable[..., Made]) -> Callable[..., Made]:
    """`functools.cache`, for threads too: the first one makes the value, the others wait for it."""
    cached, lock = functools.cache(make), threading.RLock()

    @functools.wraps(make)
    def get(*arguments: Any) -> Made:
        with lock:
            return cached(*arguments)

    return get


@contextmanager
def one_core_each() -> Iterator[None]:
    """BLAS of NumPy and SciPy on the calling core only.

    Its threads wait for each other in busy loops. For matrices with a hundred columns, and beside other work,
    they take up to fifty times as long as one.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):
        yield
