"""Files written whole or not at all; files of arrays with a little JSON, which run no code when read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


@contextmanager
def replacing(path: str | os.PathLike, writer: str = "") -> Iterator[Path]:
    """A file beside `path` to write to, which takes the place of `path` in the end.

    A crash leaves the old file or the new one, never half of one. There is one such file for each
    `writer`, so that a killed run leaves one at most; processes that may write the same `path` at the
    same time need different ones.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file")
    part = path.with_name(f".{path.name}{writer and '.'}{writer}.part")
    try:
        yield part
        sync(part)
        os.replace(part, path)
        sync(path.absolute().parent)
    finally:
        part.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk itself, where the system can do that by name."""
    if os.name != "posix":
        return
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def write_tensors(path: Path, tensors: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Write arrays, and JSON `about` them."""
    from safetensors.numpy import save_file

    metadata = {key: json.dumps(value, sort_keys=True) for key, value in about.items()}
    with replacing(path) as part:
        save_file({k: np.asarray(x, order="C") for k, x in tensors.items()}, part, metadata)


def read_tensors(path: Path, what: str, cure: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays of a file and what is said about them; a file that is not `what` is an error with a cure."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            about = {key: json.loads(text) for key, text in (file.metadata() or {}).items()}
            return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118
    except FileNotFoundError:
        raise
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(f"{path} is not a readable {what} ({error}); {cure}") from None
