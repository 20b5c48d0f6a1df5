"""`read`: from a file, a folder, the name of a data set or an object in memory to a `DiGraph`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from timelike.graphs.digraph import DiGraph
from timelike.io.byte_streams import File
from timelike.io.columns import listed_nodes
from timelike.io.formats import allowed, find
from timelike.io.graph_builder import Builder

DATASET = re.compile(r"[a-z][a-z0-9-]*(:[^/\\]*)?")


def read(
    source: Any,
    *,
    columns: Sequence[str | int] | None = None,
    time: str | int | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | Sequence[str] | None = None,
    nodes: str | os.PathLike | Iterable | None = None,
    skip_bad_rows: bool = False,
    format: str | None = None,
    relations: Sequence[str] | None = None,
    labels: bool | None = None,
    data_dir: str | os.PathLike | None = None,
) -> DiGraph:
    """Read a directed graph.

    `source` is a file (`-`: standard input), a folder as in OGB, the name of a data set, or an
    object: a NetworkX graph, a SciPy matrix, a pandas or polars frame, an Arrow table, a NumPy array of two
    or three columns or square, a PyTorch Geometric `Data`, a list of pairs or of triples with a weight.
    The format of a file is told by its first bytes, then by its ending, unless `format` names it;
    .gz, .bz2 and .zst are unpacked.

    `columns` are source, target and perhaps weight, by name or counted from 0. `time` is the column
    (in NetworkX and GraphML the attribute of edges) that says when an edge came about, by a number or
    a date: they become `graph.times`. `delimiter`, `header` (is there one?) and `comment` (beginnings
    of lines to pass over: # and %) describe edge lists. `nodes` lists names to keep even if they have
    no edge: a sequence, or a file with one per line. `relations` are the kinds of edges
    to read, of ontologies (is_a, part_of unless given) and SIF files (all); `labels` names the nodes of
    ontologies and GraphML by label rather than id. `data_dir` is where
    the files of a data set are looked for.

    A malformed row is a `ValueError` that names its line, or is counted if `skip_bad_rows`.
    Self-loops, edges whose weight is missing, NaN, infinite, negative or 0, and repetitions of an
    edge (all but the first, with times all but the earliest) are left out and counted: see `graph.notes`.
    """
    if isinstance(source, DiGraph):
        return source
    lists = {"columns": columns, "time": time, "delimiter": delimiter, "header": header, "comment": comment}
    others = {"relations": relations, "labels": labels, "data_dir": data_dir, "format": format}
    options = {name: value for name, value in {**lists, **others}.items() if value is not None}
    listed = _nodes(nodes)
    if isinstance(source, str | os.PathLike):
        return _read_path(os.fspath(source), Builder(os.fspath(source), listed, skip_bad_rows), options)
    from timelike.io import foreign_graphs

    builder = Builder(_kind(type(source)), listed, skip_bad_rows)
    return foreign_graphs.read(
        source, builder, **allowed(foreign_graphs.read, options, "an object in memory")
    )


def _read_path(source: str, builder: Builder, options: dict[str, Any]) -> DiGraph:
    """Read a folder, a data set or a file."""
    path = Path(source)
    if path.is_dir():
        from timelike.io import ogb

        return ogb.read(path, builder, **allowed(ogb.read, options, "a folder"))
    if source != "-" and not path.exists():
        return _dataset(source, options if builder.nodes is None else {**options, "nodes": builder.nodes})
    with File(None if source == "-" else path) as file:
        builder.source = file.name
        found = find(file, options.pop("format", None))
        return found.read(file, builder, **allowed(found.read, options, f"{file.name} ({found.name})"))


def _kind(kind: type) -> str:
    """What an object is called in messages: `networkx.DiGraph`, `list`."""
    home = kind.__module__.partition(".")[0]
    return kind.__name__ if home == "builtins" else f"{home}.{kind.__name__}"


def _nodes(nodes: Any) -> Any:
    """Listed names as a column."""
    if nodes is None:
        return None
    return listed_nodes(names_in(nodes) if isinstance(nodes, str | os.PathLike) else nodes)


def names_in(path: str | os.PathLike) -> list[str]:
    """The names in a file that has one a line; empty lines and those that begin with # are passed over."""
    with File(Path(path)) as file:
        names = (line.strip() for _, line in file.lines() if not line.startswith("#"))
        return [_unquoted(name) for name in names if name]


def _unquoted(name: str) -> str:
    quoted = len(name) > 1 and name[0] == name[-1] == '"'
    return name[1:-1].replace('""', '"') if quoted else name


def _dataset(name: str, options: dict[str, Any]) -> DiGraph:
    """The data set of this name."""
    if not DATASET.fullmatch(name):
        raise FileNotFoundError(f"{name}: there is no such file, and no data set is named like this")
    from timelike import datasets
    from timelike.datasets.registry import resolve

    try:
        resolve(name)
    except ValueError as error:
        if name.partition(":")[0] in {known.partition(":")[0] for known in datasets.DATASETS}:
            raise
        raise FileNotFoundError(f"{name}: there is no such file, and {error}") from None
    return datasets.load(name, **allowed(datasets.load, options, f"the data set {name}"))
