"""Values to colour nodes by: time, degrees, components, and columns of a user's table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timelike._util.checks import show
from timelike.embedding.model_folder import blaming
from timelike.graphs.digraph import DiGraph
from timelike.io.untrusted_parquet import read_table

if TYPE_CHECKING:
    import polars as pl

#: Number of distinct colours; rarer categories become "other".
CATEGORIES = 7
#: Most columns offered.
MOST_COLUMNS = 50


class Colour(NamedTuple):
    """A value per node: a number (NaN: unknown), or the index of its category (the last: other)."""

    label: str
    values: np.ndarray
    categories: list[str] | None = None


def of_graph(clock: str, time: np.ndarray, graph: DiGraph | None) -> list[Colour]:
    """Time (labelled `clock`), and for a graph with edges the degrees and weakly connected components."""
    colours = [Colour(clock, time)]
    if graph is not None and graph.num_edges:
        out, into = (np.bincount(ends, minlength=graph.num_nodes) for ends in (graph.sources, graph.targets))
        colours += [Colour("degree", out + into), Colour("out-degree", out), Colour("in-degree", into)]
        numbers = components(graph)
        sizes = np.bincount(numbers)
        colours.append(_categories("component", [f"{n + 1} ({sizes[n]:,} nodes)" for n in numbers]))
    return [c._replace(values=c.values.astype(np.float32)) for c in colours]


def components(graph: DiGraph) -> np.ndarray:
    """The weakly connected component of each node, numbered from the largest."""
    from scipy.sparse.csgraph import connected_components

    labels = connected_components(graph.adjacency(), connection="weak")[1]
    order = np.argsort(-np.bincount(labels), kind="stable")
    return np.argsort(order)[labels]


def read_columns(file: Path, embedding: Any) -> list[Colour]:
    """The columns of a table whose first column names nodes; unnamed nodes get no colour."""
    from timelike.graphs.node_names import find_nodes

    table = _read(file)
    if table.width < 2:
        raise ValueError(f"{file} has one column; it needs node names in the first and values in others")
    count = len(embedding.points)
    rows = find_nodes(table.to_series(0).cast(str), count, embedding.names)
    if (rows < 0).all():
        raise ValueError(f"{file}: the first column, {table.columns[0]!r}, names no node of the model")
    return [_column(column, rows, count) for column in table.get_columns()[1 : 1 + MOST_COLUMNS]]


def _read(file: Path) -> pl.DataFrame:
    import polars as pl

    if not file.is_file():
        raise FileNotFoundError(f"{file} does not exist")
    if file.suffix.lower() == ".parquet":
        with blaming(file):
            return read_table(file)
    try:
        separator = "," if file.suffix.lower() == ".csv" else "\t"
        return pl.read_csv(file, separator=separator, infer_schema_length=None, glob=False)
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{file} cannot be read as a table with a header ({show(str(error))})") from None


def _column(column: pl.Series, rows: np.ndarray, count: int) -> Colour:
    known = rows >= 0
    if column.dtype.is_numeric():
        values = np.full(count, np.nan, np.float32)
        values[rows[known]] = column.to_numpy().astype(np.float32)[known]
        return Colour(column.name, values)
    texts: list[Any] = [None] * count
    for row, text in zip(rows[known], column.cast(str).filter(known), strict=True):
        texts[row] = text
    return _categories(column.name, texts)


def _categories(label: str, texts: list[Any]) -> Colour:
    """The most frequent texts as categories; other texts and missing ones share the last index."""
    named, numbers, counts = np.unique(
        [text for text in texts if text is not None], return_inverse=True, return_counts=True
    )
    place = np.full(len(named), CATEGORIES)
    order = np.argsort(-counts, kind="stable")[:CATEGORIES]
    place[order] = np.arange(len(order))
    values = np.full(len(texts), float(CATEGORIES), np.float32)
    values[[text is not None for text in texts]] = place[numbers]
    return Colour(label, values, [str(named[i]) for i in order])
