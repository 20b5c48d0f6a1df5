"""Pairs of names as a file lists them: in its order, with repetitions and self-pairs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.io import edge_lists, parquet, sif
from timelike.io.byte_streams import File
from timelike.io.formats import allowed, find
from timelike.io.graph_builder import Builder

if TYPE_CHECKING:
    import polars as pl

COLLECT: dict[str, Callable[..., Any]] = {
    "edge-list": edge_lists.collect,
    "parquet": parquet.collect,
    "sif": sif.collect,
}


class PairList(Builder):
    """Hands on rows as they come, where a graph would sort them and drop some."""

    def __init__(self, source: str, take: Callable[[pl.DataFrame], None], skip_bad_rows: bool = False):
        super().__init__(source, skip_bad_rows=skip_bad_rows)
        self._take = take
        self.error: Exception | None = None

    def add(
        self,
        sources: pl.Series,
        targets: pl.Series,
        weights: np.ndarray | None = None,
        times: np.ndarray | None = None,
    ) -> None:
        """Pairs of names; weights and times are not looked at."""
        import polars as pl

        self.rows += len(sources)
        ends = [pl.Series(name, end).cast(str) for name, end in (("source", sources), ("target", targets))]
        try:
            self._take(pl.DataFrame(ends))
        except Exception as error:
            self.error = error
            raise


def read_pairs(
    source: str,
    take: Callable[[pl.DataFrame], None],
    skip_bad_rows: bool = False,
    data_dir: str | os.PathLike | None = None,
    **options: Any,
) -> Sequence[str]:
    """Hand the rows of an edge list, a SIF or a Parquet file (`-`: standard input) to `take`, piece by piece.

    A piece has the columns source and target, as text. Returns remarks on what was read. `options`
    are those of the format: `columns`, for edge lists also `delimiter` and `header`. The name of a data set
    stands for a file; its own files are looked for in `data_dir`.
    """
    if source != "-" and not Path(source).exists():
        import polars as pl

        from timelike.datasets.edge_files import pair_table
        from timelike.io import read

        graph = read(source, data_dir=data_dir, **options)
        take(pair_table(graph, graph.pairs).cast(pl.String))
        return []
    with File(None if source == "-" else Path(source)) as file:
        kind = find(file).name
        if kind not in COLLECT:
            raise ValueError(f"{file.name}: this is {kind}; pairs must come as {', '.join(COLLECT)}")
        allowed(COLLECT[kind], options, f"{file.name} ({kind})")
        found = PairList(file.name, take, skip_bad_rows)
        try:
            COLLECT[kind](file, found, **options)
        except Exception:
            if found.error is not None:  # the file is not to blame
                raise found.error from None
            raise
    if not found.rows:
        raise ValueError(f"{file.name}: there are no pairs in it")
    skipped = [f"{found.bad_rows:,} malformed rows skipped"] if found.bad_rows else []
    return [*skipped, *found.remarks]
