"""Each process reads a file of numbered nodes in batches and keeps its own edges."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from timelike.distributed.node_dealing import places
from timelike.graphs.digraph import MOST_NODES, DiGraph
from timelike.io.columns import Columns, pick
from timelike.io.parquet import BATCH
from timelike.io.untrusted_parquet import check_pages


def is_numbered(path: Path, columns: Columns | None = None) -> bool:
    """Whether this is a Parquet file with integers for nodes and without weights."""
    import polars as pl

    if path.suffix != ".parquet" or not path.is_file():
        return False
    try:
        check_pages(path)
        schema = pl.scan_parquet(path, glob=False).collect_schema()
    except (ValueError, pl.exceptions.PolarsError):  # reading the file reports what is wrong
        return False
    names = schema.names()
    if len(names) < 2:
        return False
    used = pick(str(path), names, len(names), columns, None)
    return used.weight is None and all(schema[names[i]].is_integer() for i in used[:2])


def own_edges(path: Path, own: Callable[[int], tuple[int, int]], columns: Columns | None = None) -> DiGraph:
    """The dealt graph of a numbered file, with only the edges of nodes [first, last) = `own(count)`."""
    import polars as pl

    table = pl.scan_parquet(path, glob=False)
    names = table.collect_schema().names()
    used = pick(str(path), names, len(names), columns, None)
    table = table.select(*(pl.col(names[i]).alias(end) for i, end in zip(used[:2], "st", strict=True)))
    least, most, missing = _limits(table)
    if missing or least < 0 or most >= MOST_NODES:
        wrong = "rows without a node" if missing else f"nodes from {least} to {most}"
        raise ValueError(f"{path} has {wrong}; nodes must be numbers from 0 to {MOST_NODES - 1}")
    first, last = own(most + 1)
    kept: list[np.ndarray] = [np.zeros((2, 0), np.int32)]
    for batch in table.collect_batches(chunk_size=BATCH):
        s, t = batch["s"].to_numpy(), batch["t"].to_numpy()
        sources = places(s, most + 1)
        keep = (first <= sources) & (sources < last) & (s != t)
        kept.append(np.stack([sources[keep], places(t[keep], most + 1)]))
    ends = np.concatenate(kept, axis=1)
    del kept
    return DiGraph.from_arrays(ends[0], ends[1], most + 1)


def _limits(table: Any) -> tuple[int, int, int]:
    import polars as pl

    ends = pl.col("s", "t")
    least, most, missing = (
        table.select(x).collect(engine="streaming").row(0)
        for x in (ends.min(), ends.max(), ends.null_count())
    )
    return min(least), max(most), sum(missing)
