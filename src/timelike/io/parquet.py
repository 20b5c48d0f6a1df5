"""Parquet files: a table with columns of sources, of targets and perhaps of weights and times."""

from __future__ import annotations

from pathlib import Path

from timelike.files import quiet
from timelike.graph import DiGraph
from timelike.io.build import Builder
from timelike.io.columns import Column, Columns, add_table, choose
from timelike.io.files import File
from timelike.parquet_pages import check_pages

#: Rows read at a time.
BATCH = 2**20


def read(file: File, builder: Builder, columns: Columns | None = None, time: Column | None = None) -> DiGraph:
    """Read the columns that are needed, batch by batch."""
    collect(file, builder, columns, time)
    return builder.finish()


def rows(file: File) -> int:
    """How many rows a table is said to have."""
    import polars as pl

    try:
        return pl.scan_parquet(file.path or file.read(), glob=False).select(pl.len()).collect().item()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ValueError(f"{file.name}: the Parquet file cannot be read: {str(error)[:200]}") from None


def collect(file: File, builder: Builder, columns: Columns | None = None, time: Column | None = None) -> None:
    """Add the edges of a table to what the builder has."""
    import polars as pl

    source = file.path or file.read()
    try:
        check_pages(source)
    except ValueError as error:
        raise _unreadable(file, error) from None
    try:
        with quiet():
            _collect(source, builder, columns, time)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _unreadable(file, error) from None


def _unreadable(file: File, error: BaseException) -> ValueError:
    return ValueError(f"{file.name}: the Parquet file cannot be read: {' '.join(str(error).split())[:200]}")


def _collect(source: Path | bytes, builder: Builder, columns: Columns | None, time: Column | None) -> None:
    import polars as pl

    table = pl.scan_parquet(source, glob=False)
    count = table.select(pl.len()).collect().item()
    names = table.collect_schema().names()
    kept, places = choose(builder, names, columns, time)
    row = 0
    for batch in table.select([names[i] for i in kept]).collect_batches(
        chunk_size=BATCH, maintain_order=True
    ):
        add_table(builder, batch, places, row)
        row += batch.height
    if row != count:  # a batch that cannot be read may end the others without an error
        raise ValueError(
            f"{builder.source}: {row:,} rows could be read of the {count:,} that it is said to have"
        )
