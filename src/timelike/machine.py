"""What a program runs on."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Iterable


def cores() -> int:
    """How many processor cores there are for this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Of those packages that are installed."""
    found = {}
    for name in packages:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
