"""Tables that are written piece by piece: memory holds one piece, and a file is there when it is whole."""

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

#: Rows of a group of a Parquet file.
GROUP = 1 << 20

Take = Callable[["pl.DataFrame"], None]


@contextmanager
def writing(file: Path | None, form: str) -> Iterator[Take]:
    """What takes the pieces of a table, in their order, for a file or standard output; there must be one."""
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
    """Pieces become files of their own, and these then groups of rows of the one that is asked for."""
    import polars as pl

    pieces: list[Path] = []

    def take(piece: pl.DataFrame) -> None:
        pieces.append(workshop / f"{len(pieces)}.piece")
        piece.write_parquet(pieces[-1])

    yield take
    pl.scan_parquet(pieces, glob=False).sink_parquet(out, row_group_size=GROUP)
    for piece in pieces:
        piece.unlink()


#: The one list of forms: name → what writes it.
FORMS: dict[str, Callable[[Any, Path], Any]] = {
    "tsv": lambda out, _: _separated("\t", out),
    "csv": lambda out, _: _separated(",", out),
    "parquet": _parquet,
    "json": _json,
}
