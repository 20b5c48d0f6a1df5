"""What nodes can be coloured by: time, degrees, components, and columns of a table of the user's."""

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

#: Colours that are told apart; what is rarer than the first so many is "other".
CATEGORIES = 7
#: Columns that are offered.
MOST_COLUMNS = 50


class Colour(NamedTuple):
    """A value per node: a number (NaN: unknown), or the position of its category (the last: other)."""

    label: str
    values: np.ndarray
    categories: list[str] | None = None


def of_graph(clock: str, time: np.ndarray, graph: DiGraph | None) -> list[Colour]:
    """Time (or what `clock` calls it), and where there are edges degrees and weakly connected components."""
    found = [Colour(clock, time.astype(np.float32))]
    if graph is None or not graph.num_edges:
        return found
    out, into = (np.bincount(ends, minlength=graph.num_nodes) for ends in (graph.sources, graph.targets))
    found += [Colour("degree", out + into), Colour("out-degree", out), Colour("in-degree", into)]
    numbers = components(graph)
    _, sizes = np.unique(numbers, return_counts=True)
    found.append(_categories("component", [f"{n + 1} ({sizes[n]:,} nodes)" for n in numbers]))
    return [c._replace(values=c.values.astype(np.float32)) for c in found]


def components(graph: DiGraph) -> np.ndarray:
    """The number of each node's weakly connected component, the largest first."""
    from scipy.sparse.csgraph import connected_components

    labels = connected_components(graph.adjacency(), connection="weak")[1]
    order = np.argsort(-np.bincount(labels), kind="stable")
    return np.argsort(order)[labels]


def read_columns(file: Path, embedding: Any) -> list[Colour]:
    """The columns of a table whose first one names nodes; those that it does not name have no colour."""
    from timelike.graphs.node_lookup import find_nodes

    table = _read(file)
    if table.width < 2:
        raise ValueError(f"{file}: there is one column; the first names nodes, others are needed beside it")
    count = len(embedding.points)
    rows = find_nodes(table.to_series(0).cast(str), count, embedding.names)
    if (rows < 0).all():
        raise ValueError(f"{file}: its first column, {table.columns[0]!r}, names no node of the model")
    return [_column(column, rows, count) for column in table.get_columns()[1 : 1 + MOST_COLUMNS]]


def _read(file: Path) -> pl.DataFrame:
    import polars as pl

    if not file.is_file():
        raise FileNotFoundError(f"{file}: there is no such file")
    if file.suffix.lower() == ".parquet":
        with blaming(file):
            return read_table(file)
    try:
        separator = "," if file.suffix.lower() == ".csv" else "\t"
        return pl.read_csv(file, separator=separator, infer_schema_length=None, glob=False)
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{file}: not readable as a table with a header ({show(str(error))})") from None


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
    """The most frequent texts as categories; all others, and nodes without one, as the last."""
    named, numbers, counts = np.unique(
        [text for text in texts if text is not None], return_inverse=True, return_counts=True
    )
    place = np.full(len(named), CATEGORIES)
    order = np.argsort(-counts, kind="stable")[:CATEGORIES]
    place[order] = np.arange(len(order))
    values = np.full(len(texts), float(CATEGORIES), np.float32)
    values[[text is not None for text in texts]] = place[numbers]
    return Colour(label, values, [str(named[i]) for i in order])
