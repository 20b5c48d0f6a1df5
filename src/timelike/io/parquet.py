"""Parquet files: a table with a column of sources, one of targets and perhaps one of weights."""

from __future__ import annotations

from timelike.graph import DiGraph
from timelike.io.build import Builder
from timelike.io.columns import Columns, add_table, pick, unread
from timelike.io.files import File

#: Rows read at a time.
BATCH = 2**20


def read(file: File, builder: Builder, columns: Columns | None = None) -> DiGraph:
    """Read the two or three columns that are needed, batch by batch."""
    import polars as pl

    source = file.path or file.read()
    try:
        table = pl.scan_parquet(source)
        names = table.collect_schema().names()
        if len(names) < 2:
            raise ValueError(f"{file.name}: {len(names)} columns; an edge needs a source and a target")
        used = pick(file.name, names, len(names), columns)
        builder.remarks += [x] if (x := unread(names, len(names), used)) else []
        kept = [names[i] for i in used if i is not None]
        places = (kept.index(names[used[0]]), kept.index(names[used[1]]), 2 if len(kept) == 3 else None)
        row = 0
        batches = table.select(dict.fromkeys(kept)).collect_batches(chunk_size=BATCH, maintain_order=True)
        for batch in batches:
            add_table(builder, batch, places, row)
            row += batch.height
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        first = " ".join(str(error).split())
        raise ValueError(f"{file.name}: the Parquet file cannot be read: {first[:200]}") from None
    return builder.finish()
