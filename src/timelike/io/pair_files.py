"""Pairs of names in file order, with repetitions and self-pairs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from timelike.io.byte_streams import File
from timelike.io.formats import find_rows
from timelike.io.graph_builder import Builder


class PairList(Builder):
    """Passes rows on as they come; a graph would sort and filter them."""

    def __init__(self, source: str, take: Callable[[pl.DataFrame], None], skip_bad_rows: bool = False):
        super().__init__(source, skip_bad_rows=skip_bad_rows)
        self._take = take

    def add(self, sources: pl.Series, targets: pl.Series, *_: Any, **__: Any) -> None:
        """Pass on pairs of names; ignore weights and times."""
        self.rows += len(sources)
        self._take(pl.DataFrame({"source": sources, "target": targets}).cast(pl.String))


def read_pairs(
    source: str,
    take: Callable[[pl.DataFrame], None],
    skip_bad_rows: bool = False,
    data_dir: str | os.PathLike | None = None,
    **options: Any,
) -> Sequence[str]:
    """Pass the rows of an edge list, SIF or Parquet file (`-`: standard input) to `take`, batch by batch.

    A batch has the columns source and target, as text. `options` are those of the format: `columns`, and for
    edge lists `delimiter` and `header`. `source` may also name a data set, whose files are looked up in
    `data_dir`. Returns remarks on what was read.
    """
    if source != "-" and not Path(source).exists():
        from timelike.datasets.edge_files import pair_table
        from timelike.io import read

        graph = read(source, data_dir=data_dir, **options)
        take(pair_table(graph, graph.pairs).cast(pl.String))
        return []
    with File(None if source == "-" else Path(source)) as file:
        pairs = PairList(file.name, take, skip_bad_rows)
        find_rows(file, options).collect(file, pairs, **options)
    if not pairs.rows:
        raise ValueError(f"{file.name}: there are no pairs in it")
    skipped = [f"{pairs.bad_rows:,} malformed rows skipped"] if pairs.bad_rows else []
    return [*skipped, *pairs.remarks]
