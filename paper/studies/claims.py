"""Divide files to compute among several processes that share a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def unclaimed(files: Mapping[Path, T], only: str = "") -> Iterator[tuple[Path, T]]:
    """Claim and yield each missing file with `only` in its name that no other process has claimed.

    A claim is a file `*.begun` beside it. A killed process leaves its claim behind; remove it to try again.
    """
    for file, task in files.items():
        if only not in file.name or file.exists():
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.close(os.open(f"{file}.begun", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        yield file, task
