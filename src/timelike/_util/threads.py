"""Work on all cores: functions that run in threads, and values that several threads make only once."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
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
