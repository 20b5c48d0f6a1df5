"""Parquet files: tables with columns of sources, targets and optionally weights and times."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager

import polars as pl

from timelike._util.atomic_files import quiet
from timelike.io.byte_streams import File
from timelike.io.columns import Column, Columns, add_table, choose
from timelike.io.graph_builder import Builder
from timelike.io.line_layout import MOST_FIELDS, SAMPLE
from timelike.io.untrusted_parquet import UNREADABLE, check_pages

#: Rows per batch: at least `BATCH`, at most `LARGE`. A larger row group is cut into at most `PARTS` batches,
#: because each batch costs a pass over its whole row group.
BATCH, LARGE, PARTS = 2**18, 2**20, 8
#: Columns among which signs are looked for.
LOOKED_AT = 16


def row_count(file: File) -> int:
    """Return the number of rows that a table claims to have."""
    with _readable(file):
        return pl.scan_parquet(file.path or file.read(), glob=False).select(pl.len()).collect().item()


def collect(file: File, builder: Builder, columns: Columns | None = None, time: Column | None = None) -> None:
    """Add the edges of a table to the builder, batch by batch, from the columns that are needed."""
    source = file.path or file.read()
    with _readable(file):
        groups = check_pages(source, MOST_FIELDS)
        table = pl.scan_parquet(source, glob=False)
        count, names = table.select(pl.len()).collect().item(), table.collect_schema().names()
        first = table.select(names[:LOOKED_AT]).head(SAMPLE).collect().rows()
    kept, places = choose(builder, names, columns, time, first)
    row = 0
    with closing(_batches(file, table.select([names[i] for i in kept]), groups)) as batches:
        for batch in batches:
            add_table(builder, batch, places, row)
            row += batch.height
            del batch  # before waiting for the next
    if row != count:  # an unreadable batch may end the table without an error
        raise ValueError(f"{file.name}: only {row:,} of {count:,} rows can be read")


@contextmanager
def _readable(file: File) -> Iterator[None]:
    """Turn errors of polars into one-line errors that name the file."""
    try:
        with quiet():
            yield
    except UNREADABLE as error:
        text = " ".join(str(error).split())[:200]
        raise ValueError(f"{file.name}: the Parquet file cannot be read: {text}") from None


def _batches(file: File, table: pl.LazyFrame, groups: list[int]) -> Generator[pl.DataFrame, None, None]:
    """Yield a table in batches and read one ahead. (`collect_batches` reads far ahead.)"""
    reading: list[Future[pl.DataFrame]] = []
    with _readable(file), ThreadPoolExecutor(1) as pool:
        for start, end in _spans(groups):
            reading.append(pool.submit(table.slice(start, end - start).collect))
            if len(reading) > 1:
                yield reading.pop(0).result()
        for last in reading:
            yield last.result()


def _spans(groups: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the first row and end of each batch: small row groups together, large ones in parts."""
    start = end = 0
    for rows in groups:
        end += rows
        step = max(LARGE, -(-rows // PARTS))
        while end - start >= BATCH:
            yield start, min(start + step, end)
            start = min(start + step, end)
    if end > start:
        yield start, end
