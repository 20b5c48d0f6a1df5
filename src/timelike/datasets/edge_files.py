"""Write data sets to edge files, by node name."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from timelike._util.atomic_files import replacing, write_rows
from timelike._util.checks import output_path
from timelike.datasets.dream5 import FILES, dream5
from timelike.datasets.measurements import table
from timelike.datasets.registry import load, resolve
from timelike.datasets.rmat import rmat, rmat_to_parquet
from timelike.graphs.digraph import DiGraph

if TYPE_CHECKING:
    import polars as pl

#: File ending → column separator (None: Parquet).
ENDINGS = {".tsv": "\t", ".csv": ",", ".tsv.gz": "\t", ".csv.gz": ",", ".parquet": None}


def export(name: str, out: str | os.PathLike, data_dir: str | os.PathLike | None = None) -> dict[str, Any]:
    """Write a data set as columns `source`, `target` and, if it has weights, `weight`.

    The ending of `out` sets the format: .tsv, .csv, either also with .gz, or .parquet. R-MAT graphs are
    streamed to Parquet in bounded memory and with repeated edges. Returns the number of edges written, and
    the number of nodes without edges, which are not in the file (None if unknown).
    """
    path = output_path("out", out, ENDINGS)
    dataset, parameters = resolve(name)
    if dataset.make is rmat and path.suffix.lower() == ".parquet":
        scale, *rest = {**dataset.parameters, **parameters}.values()
        return {"edges": rmat_to_parquet(path, scale, *rest), "isolated": None}
    graph = load(name, data_dir)
    with replacing(path) as part:
        write_edges(edge_table(graph), part)
    linked = np.zeros(graph.num_nodes, bool)
    linked[graph.sources] = linked[graph.targets] = True
    return {"edges": graph.num_edges, "isolated": int(graph.num_nodes - linked.sum())}


def export_non_edges(
    name: str, out: str | os.PathLike, data_dir: str | os.PathLike | None = None
) -> dict[str, Any]:
    """Write the listed non-edges of a DREAM5 network as `export` writes edges; return their number."""
    path = output_path("out", out, ENDINGS)
    resolve(name)
    family, _, network = name.partition(":")
    if family != "dream5":
        raise ValueError(f"{name} lists no non-edges; only {', '.join(f'dream5:{x}' for x in FILES)} do")
    graph, non_edges, _ = dream5(network, data_dir)
    with replacing(path) as part:
        write_edges(pair_table(graph, non_edges), part)
    return {"non_edges": len(non_edges)}


def export_table(
    name: str, which: str, out: str | os.PathLike, data_dir: str | os.PathLike | None = None
) -> dict[str, Any]:
    """Write a table that goes with a data set, see `table`; return its numbers of rows and columns."""
    path = output_path("out", out, ENDINGS)
    found = table(name, which, data_dir)
    with replacing(path) as part:
        write_edges(found, part)
    return {"rows": found.height, "columns": found.width}


def edge_table(graph: DiGraph) -> pl.DataFrame:
    """Return the edges by node name: columns source, target and, if present, weight and time."""
    table = pair_table(graph, graph.pairs)
    more = {"weight": graph.weights, "time": graph.times}
    return table.with_columns(**{name: values for name, values in more.items() if values is not None})


def pair_table(graph: DiGraph, pairs: np.ndarray) -> pl.DataFrame:
    """Return pairs of nodes, an (n, 2) array, by node name."""
    import polars as pl

    ends = pl.DataFrame(pairs, schema=["source", "target"])
    if graph.names is None:
        return ends
    names = pl.Series([str(name) for name in graph.names])
    return ends.select(names.gather(ends[end]).alias(end) for end in ends.columns)


def write_edges(frame: pl.DataFrame, path: Path) -> None:
    """Write a table in the format given by the ending of the path."""
    name = path.name.lower()
    separator = next(separator for ending, separator in ENDINGS.items() if name.endswith(ending))
    if separator is None:
        frame.write_parquet(path)
        return
    opener: Any = gzip.open if name.endswith(".gz") else open
    with opener(path, "wb") as file:
        write_rows(frame, file, separator=separator, quote_style=_quotes(frame.to_series(0)))


def write_nodes(graph: DiGraph, path: Path) -> None:
    """Write one name per line, to be read with `nodes=`."""
    import polars as pl

    names = pl.Series([str(graph.name(i)) for i in range(graph.num_nodes)])
    with open(path, "wb") as file:
        write_rows(names.to_frame(), file, header=False, quote_style=_quotes(names))


def _quotes(names: pl.Series) -> Literal["always", "necessary"]:
    """Quote names if one begins with #: its line would be read as a comment."""
    return "always" if names.cast(str).str.starts_with("#").any() else "necessary"
