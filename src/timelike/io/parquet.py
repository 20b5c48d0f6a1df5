"""Parquet files: a table with columns of sources, of targets and perhaps of weights and times."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from timelike._util.atomic_files import quiet
from timelike.io.byte_streams import File
from timelike.io.columns import Column, Columns, add_table, choose
from timelike.io.graph_builder import Builder
from timelike.io.untrusted_parquet import check_pages

if TYPE_CHECKING:
    import polars as pl

#: Rows read at a time, at least, and at most unless a group of rows has more. Such a group is cut into a few
#: parts: every part costs a look at the whole group.
BATCH, LARGE, PARTS = 2**18, 2**20, 8


def rows(file: File) -> int:
    """How many rows a table is said to have."""
    import polars as pl

    try:
        return pl.scan_parquet(file.path or file.read(), glob=False).select(pl.len()).collect().item()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(file, error) from None


def collect(file: File, builder: Builder, columns: Columns | None = None, time: Column | None = None) -> None:
    """Add the edges of a table to what the builder has: the columns that are needed, batch by batch."""
    import polars as pl

    source = file.path or file.read()
    try:
        groups = check_pages(source)
    except ValueError as error:
        raise _unreadable(file, error) from None
    try:
        with quiet():
            _collect(source, groups, builder, columns, time)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _unreadable(file, error) from None


def _unreadable(file: File, error: BaseException) -> ValueError:
    return ValueError(f"{file.name}: the Parquet file cannot be read: {' '.join(str(error).split())[:200]}")


def _collect(
    source: Path | bytes, groups: list[int], builder: Builder, columns: Columns | None, time: Column | None
) -> None:
    import polars as pl

    table = pl.scan_parquet(source, glob=False)
    count = table.select(pl.len()).collect().item()
    names = table.collect_schema().names()
    kept, places = choose(builder, names, columns, time)
    row = 0
    for batch in _batches(table.select([names[i] for i in kept]), groups):
        add_table(builder, batch, places, row)
        row += batch.height
        del batch  # before the next is waited for
    if row != count:  # a batch that cannot be read may end the others without an error
        raise ValueError(
            f"{builder.source}: {row:,} rows could be read of the {count:,} that it is said to have"
        )


def _batches(table: pl.LazyFrame, groups: list[int]) -> Iterator[pl.DataFrame]:
    """A table in pieces, the next of which is read meanwhile. (`collect_batches` reads far ahead.)"""
    reading: list[Future[pl.DataFrame]] = []
    with ThreadPoolExecutor(1) as pool:
        for start, end in _spans(groups):
            reading.append(pool.submit(table.slice(start, end - start).collect))
            if len(reading) > 1:
                yield reading.pop(0).result()
        for last in reading:
            yield last.result()


def _spans(groups: list[int]) -> Iterator[tuple[int, int]]:
    """First row and end of pieces: small groups of rows together, large ones in parts."""
    start = end = 0
    for rows in groups:
        end += rows
        step = max(LARGE, -(-rows // PARTS))
        while end - start >= BATCH:
            yield start, min(start + step, end)
            start = min(start + step, end)
    if end > start:
        yield start, end
