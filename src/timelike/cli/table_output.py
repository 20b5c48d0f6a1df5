"""Write tables piece by piece: memory holds one piece, and a file appears once it is complete."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from timelike._util.atomic_files import replacing

if TYPE_CHECKING:
    import polars as pl

#: Rows per row group of a Parquet file.
GROUP = 1 << 20

Take = Callable[["pl.DataFrame"], None]


@contextmanager
def writing(file: Path | None, form: str) -> Iterator[Take]:
    """A function that writes the pieces of a table, at least one, in order to a file or standard output."""
    if file is None:
        with (
            tempfile.TemporaryDirectory() as workshop,
            FORMS[form](sys.stdout.buffer, Path(workshop)) as take,
        ):
            yield take
        return
    with replacing(file) as part, open(part, "wb") as out, FORMS[form](out, part.parent) as take:
        yield take


@contextmanager
def _separated(separator: str, out: Any) -> Iterator[Take]:
    header = [True]

    def take(piece: pl.DataFrame) -> None:
        out.write(piece.write_csv(include_header=header[0], separator=separator).encode())
        header[0] = False

    yield take


@contextmanager
def _json(out: Any, _: Path) -> Iterator[Take]:
    before = [b"["]

    def take(piece: pl.DataFrame) -> None:
        if piece.height:
            out.write(before[0] + piece.write_json()[1:-1].encode())
            before[0] = b","

    yield take
    out.write(b"]\n" if before == [b","] else b"[]\n")


@contextmanager
def _parquet(out: Any, workshop: Path) -> Iterator[Take]:
    """Write each piece to a file, then join the files into one Parquet file."""
    import polars as pl

    pieces: list[Path] = []

    def take(piece: pl.DataFrame) -> None:
        pieces.append(workshop / f"{len(pieces)}.piece")
        piece.write_parquet(pieces[-1])

    yield take
    pl.scan_parquet(pieces, glob=False).sink_parquet(out, row_group_size=GROUP)
    for piece in pieces:
        piece.unlink()


#: The one list of table formats: name → writer.
FORMS: dict[str, Callable[[Any, Path], Any]] = {
    "tsv": lambda out, _: _separated("\t", out),
    "csv": lambda out, _: _separated(",", out),
    "parquet": _parquet,
    "json": _json,
}
