"""Values to colour nodes by: time, degrees, components, and columns of a user's table."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from timelike._util.checks import show
from timelike.embedding.embedding import Embedding
from timelike.embedding.model_folder import blaming
from timelike.graphs.digraph import DiGraph
from timelike.graphs.node_names import find_nodes
from timelike.io.untrusted_parquet import read_table

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
        texts = pl.Series("component", [f"{n + 1} ({sizes[n]:,} nodes)" for n in numbers])
        colours.append(_categories(texts))
    return [c._replace(values=c.values.astype(np.float32)) for c in colours]


def components(graph: DiGraph) -> np.ndarray:
    """The weakly connected component of each node, numbered from the largest."""
    from scipy.sparse.csgraph import connected_components

    labels = connected_components(graph.adjacency(), connection="weak")[1]
    order = np.argsort(-np.bincount(labels), kind="stable")
    return np.argsort(order)[labels]


def read_columns(file: Path, embedding: Embedding) -> list[Colour]:
    """The columns of a table whose first column names nodes; unnamed nodes get no colour."""
    table = _read(file)
    if table.width < 2:
        raise ValueError(f"{file} has one column; it needs node names in the first and values in others")
    nodes = find_nodes(table.to_series(0).cast(str), len(embedding.points), embedding.names)
    (known,) = np.nonzero(nodes >= 0)
    if not len(known):
        raise ValueError(f"{file}: the first column, {table.columns[0]!r}, names no node of the model")
    rows = np.full(len(embedding.points), -1)
    rows[nodes[known]] = known
    values = table[:, 1 : 1 + MOST_COLUMNS].select(pl.all().gather(pl.Series(rows).replace(-1, None)))
    return [_column(column) for column in values]


def _read(file: Path) -> pl.DataFrame:
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


def _column(column: pl.Series) -> Colour:
    if column.dtype.is_numeric():
        return Colour(column.name, column.cast(pl.Float32).to_numpy())
    return _categories(column.cast(str))


def _categories(texts: pl.Series) -> Colour:
    """The most frequent texts as categories; other texts and missing ones share the last index."""
    counts = texts.drop_nulls().alias("text").value_counts().sort("count", "text", descending=[True, False])
    named = counts["text"][:CATEGORIES].to_list()
    numbers = list(range(len(named)))
    values = texts.replace_strict(named, numbers, default=CATEGORIES, return_dtype=pl.Float32)
    return Colour(texts.name, values.to_numpy(), named)
