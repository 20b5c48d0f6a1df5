"""Checksums of all files of a folder, in the format of `sha256sum`, so that no change goes unnoticed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from timelike._util.atomic_files import read_text

#: The list of checksums; `sha256sum --check` reads it too.
SUMS = "SHA256SUMS"


def write_checksums(folder: Path) -> None:
    """List the files in a folder with their checksums."""
    names = sorted(file.name for file in folder.iterdir())
    rows = [f"{_digest(folder / name)}  {name}\n" for name in names]
    (folder / SUMS).write_text("".join(rows), encoding="utf-8")


def check_checksums(folder: Path, names: Iterable[str]) -> None:
    """Raise a `ValueError` that names the first file that is missing or was changed since it was written.

    The list must have those of the `names` that the folder has. Other files are not checked, nor are folders
    without a list, which earlier versions wrote.
    """
    sums = folder / SUMS
    if not sums.exists():
        return
    rows = read_text(sums).splitlines()
    listed = {row.partition("  ")[2] for row in rows}
    if missing := [name for name in names if name not in listed and (folder / name).exists()]:
        raise ValueError(f"{sums} does not list {missing[0]}; it was cut off, or the file was added later")
    for row in rows:
        digest, _, name = row.partition("  ")
        file = folder / name
        if file.name != name:
            raise ValueError(f"{sums} lists {name!r}, which is no file of this folder")
        if not file.is_file():
            raise ValueError(
                f"{file} is missing, but {SUMS} lists it; if you removed it on purpose, delete {sums}"
            )
        if _digest(file) != digest:
            raise ValueError(
                f"{file} was changed or damaged after it was written: its checksum is not the one in {SUMS}; "
                f"if you changed it on purpose, delete {sums}"
            )


def _digest(file: Path) -> str:
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
