"""Files that are left to be made, where several processes may share a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def left(files: Mapping[Path, T], only: str = "") -> Iterator[tuple[Path, T]]:
    """Each file with `only` in its name that is not there and that no other process has begun.

    A mark beside it says that it is begun. Who was killed leaves it: remove `*.begun` to begin again.
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
