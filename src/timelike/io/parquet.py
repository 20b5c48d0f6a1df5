"""Parquet files: a table with a column of sources, one of targets and perhaps one of weights."""

from __future__ import annotations

from timelike.graph import DiGraph
from timelike.io.build import Builder
from timelike.io.columns import Columns, add_table, choose
from timelike.io.files import File

#: Rows read at a time.
BATCH = 2**20


def read(file: File, builder: Builder, columns: Columns | None = None) -> DiGraph:
    """Read the two or three columns that are needed, batch by batch."""
    import polars as pl

    source = file.path or file.read()
    try:
        table = pl.scan_parquet(source)
        kept, places = choose(builder, table.collect_schema().names(), columns)
        row = 0
        for batch in table.select(kept).collect_batches(chunk_size=BATCH, maintain_order=True):
            add_table(builder, batch, places, row)
            row += batch.height
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        first = " ".join(str(error).split())
        raise ValueError(f"{file.name}: the Parquet file cannot be read: {first[:200]}") from None
    return builder.finish()
