"""Results on stdout, tables in files, notes on stderr."""

from __future__ import annotations

import json
import math
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from timelike._util.atomic_files import replacing

if TYPE_CHECKING:
    import polars as pl

#: Rows per row group of a Parquet file.
GROUP = 1 << 20

Take = Callable[["pl.DataFrame"], None]


def print_json(result: dict[str, Any]) -> None:
    """Print one object on one line; infinities and NaN become null."""
    print(json.dumps(_plain(result), ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(rows: Sequence[Sequence[Any]]) -> None:
    """Print rows of equal length in aligned columns: the first to the left, the others to the right."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for first, *rest in cells:
        numbers = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        print("  ".join([first.ljust(widths[0]), *numbers]).rstrip())


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


#: Local folders that stand for something else: path → what the user typed.
_SHOWN: dict[str, str] = {}


@contextmanager
def showing(name: str) -> Iterator[Callable[[Path], None]]:
    """Let results show `name` for a local path that the yielded function takes."""

    def stands(path: Path) -> None:
        _SHOWN[str(path)] = name

    try:
        yield stands
    finally:
        _SHOWN.clear()


def shown(path: object) -> str:
    """A path as the user typed it."""
    return _SHOWN.get(str(path), str(path))


def typed(path: object) -> str:
    """A path as a shell takes it, quoted if it contains blanks."""
    return shlex.quote(shown(path))


def note(*lines: str) -> None:
    """Print notes, one per line."""
    for line in lines:
        print(f"note: {line}", file=sys.stderr)


@contextmanager
def writing(file: Path | None, form: str) -> Iterator[Take]:
    """A function that writes the pieces of a table, at least one, in order to a file or standard output.

    Memory holds one piece, and the file appears once it is complete.
    """
    with ExitStack() as stack:
        out: Any = sys.stdout.buffer
        if file is not None:
            out = stack.enter_context(open(stack.enter_context(replacing(file)), "wb"))
        yield stack.enter_context(FORMS[form](out))


@contextmanager
def _separated(separator: str, out: Any) -> Iterator[Take]:
    header = [True]

    def take(piece: pl.DataFrame) -> None:
        out.write(piece.write_csv(include_header=header[0], separator=separator).encode())
        header[0] = False

    yield take


@contextmanager
def _json(out: Any) -> Iterator[Take]:
    before = [b"["]

    def take(piece: pl.DataFrame) -> None:
        if piece.height:
            out.write(before[0] + piece.write_json()[1:-1].encode())
            before[0] = b","

    yield take
    out.write(b"]\n" if before == [b","] else b"[]\n")


@contextmanager
def _parquet(out: Any) -> Iterator[Take]:
    """Write each piece to a file, on the disk of the table, then join the files into one Parquet file."""
    import polars as pl

    beside = None if out is sys.stdout.buffer else Path(out.name).parent
    with tempfile.TemporaryDirectory(dir=beside) as folder:
        pieces: list[Path] = []

        def take(piece: pl.DataFrame) -> None:
            pieces.append(Path(folder, f"{len(pieces)}.piece"))
            piece.write_parquet(pieces[-1])

        yield take
        pl.scan_parquet(pieces, glob=False).sink_parquet(out, row_group_size=GROUP)


#: The one list of table formats: name → writer.
FORMS: dict[str, Callable[[Any], Any]] = {
    "tsv": partial(_separated, "\t"),
    "csv": partial(_separated, ","),
    "parquet": _parquet,
    "json": _json,
}
