"""Graphs in memory from other libraries, recognised by their attributes so that none need be installed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from timelike._util.checks import show
from timelike.graphs.digraph import DiGraph
from timelike.io.columns import Column, Columns, Places, add_table, choose, pick
from timelike.io.graph_builder import Builder
from timelike.io.line_layout import SAMPLE


def read(
    source: Any, builder: Builder, columns: Columns | None = None, time: Column | None = None
) -> DiGraph:
    """Read an object of any supported kind."""
    if hasattr(source, "collect_schema") and hasattr(source, "collect"):
        source = source.collect()  # a lazy frame
    if hasattr(source, "__arrow_c_stream__") and not hasattr(source, "iloc"):
        try:
            source = pl.DataFrame(source)
        except pl.exceptions.PolarsError:
            why = "it must be a table with source and target columns"
            raise ValueError(f"source is a {type(source).__name__}; {why}") from None
    if hasattr(source, "columns") and hasattr(source, "shape"):
        return _frame(source, builder, columns, time)
    if hasattr(source, "__array__"):
        return _array(np.asarray(source), builder, columns, time)
    if columns is not None:
        raise ValueError(f"columns has no meaning for {builder.source}; leave it out")
    if hasattr(source, "is_directed") and hasattr(source, "adj"):
        return _networkx(source, builder, time)
    if time is not None:
        raise ValueError(f"time has no meaning for {builder.source}; leave it out")
    if hasattr(source, "edge_index"):
        return _pytorch_geometric(source, builder)
    if hasattr(source, "tocoo"):
        return _sparse(source, builder)
    if isinstance(source, Iterable):
        return _tuples(source, builder)
    raise TypeError(
        f"source is {show(source)}; it must be a path, a NetworkX graph, a SciPy matrix, a pandas or polars "
        "frame, a NumPy array, a PyTorch Geometric Data, or a list of (source, target) pairs"
    )


def _networkx(source: Any, builder: Builder, time: Column | None) -> DiGraph:
    """Read edges with their `weight`, 1 where only some have one; undirected edges count both ways.

    `time` names the edge attribute with the times; every edge must have it.
    """
    rows = [(a, b, data.get("weight"), data.get(time)) for a, b, data in source.edges(data=True)]
    if not source.is_directed():
        builder.remarks.append("the graph is undirected: every edge counts both ways")
        rows += [(b, a, *rest) for a, b, *rest in rows if a != b]
    weighted = any(w is not None for _, _, w, _ in rows)
    edges = [(a, b, 1 if w is None else w) if weighted else (a, b) for a, b, w, _ in rows]
    return _objects(builder, list(source.nodes), edges, None if time is None else [x for *_, x in rows])


def _sparse(source: Any, builder: Builder) -> DiGraph:
    """Read entry (i, j) of a square matrix as an edge i → j, weighted by its value unless all are 1.

    Duplicate entries add up, as elsewhere in SciPy.
    """
    if source.ndim != 2 or source.shape[0] != source.shape[1]:
        raise ValueError(f"source has shape {source.shape}; an adjacency matrix must be square")
    matrix = source.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    entries = matrix.tocoo()
    weights = _floats(entries.data, builder)
    s, t = np.asarray(entries.row), np.asarray(entries.col)
    return builder.numbered(s, t, source.shape[0], None if np.all(weights == 1) else weights)


def _frame(source: Any, builder: Builder, columns: Columns | None, time: Column | None) -> DiGraph:
    """Read a pandas or polars frame like a Parquet file, or a pandas adjacency matrix."""
    if columns is None and time is None and hasattr(source, "index") and _is_adjacency(source):
        return _adjacency(source, builder)
    names = [str(name) for name in source.columns]
    head = source.head(SAMPLE)
    first = head.rows() if isinstance(head, pl.DataFrame) else list(head.itertuples(index=False, name=None))
    kept, places = choose(builder, names, columns, time, first)
    column = source.to_series if isinstance(source, pl.DataFrame) else lambda i: _series(source.iloc[:, i])
    unique = (names[i] if names.count(names[i]) == 1 else f"{names[i]} ({i})" for i in kept)
    return _columns({name: column(i) for name, i in zip(unique, kept, strict=True)}, builder, places)


def _columns(table: dict[str, Any], builder: Builder, places: Places) -> DiGraph:
    """Read named columns; row by row if any is a list, that is, holds values of several types."""
    if any(isinstance(values, list) for values in table.values()):
        values = [list(x) for x in table.values()]
        rows = zip(*(values[i] for i in places[:3] if i is not None), strict=True)
        return _tuples(rows, builder, None if places.time is None else values[places.time])
    add_table(builder, pl.DataFrame(table), places)
    return builder.finish()


def _is_adjacency(source: Any) -> bool:
    """Whether the index and the columns of a pandas frame hold the same names, in any order.

    Numbers count only from four rows on: in a short edge list they may just be default labels.
    """
    least = 4 if source.index.dtype.kind in "iu" else 2
    return least <= len(source) == len(source.columns) and set(source.index) == set(source.columns)


def _adjacency(source: Any, builder: Builder) -> DiGraph:
    """Read a frame whose index and columns name the nodes as edges row → column; NaN is no edge."""
    values = _floats(source.fillna(0).to_numpy(), builder).reshape(source.shape)
    i, j = np.nonzero(values)
    ends = [source.index[i].tolist(), source.columns[j].tolist()]
    weights = values[i, j]
    rows = zip(*ends, *([] if np.all(weights == 1) else [weights]), strict=True)
    return _objects(builder, list(source.columns), list(rows))


def _series(column: Any) -> Any:
    """Convert a pandas column to a polars one, or to a list if its values are of several types."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufb":
        return pl.Series(column.to_numpy())
    values = [None if missing else x for x, missing in zip(column.tolist(), column.isna(), strict=True)]
    try:
        return pl.Series(values, strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        return values


def _array(source: np.ndarray, builder: Builder, columns: Columns | None, time: Column | None) -> DiGraph:
    """Read two or three columns as an edge list, an edge index, any other square array as a matrix."""
    if columns is None and time is None and is_edge_index(source):
        source = source.T
    shape = f"source has shape {source.shape}"
    if source.ndim != 2:
        raise ValueError(f"{shape}; it must be (edges, 2 or 3) or square")
    rows, wide = source.shape
    if time is not None and columns is None:
        columns = [i for i in range(wide) if i != time]
    if columns is None and rows == wide:
        if wide in (2, 3):
            raise ValueError(
                f"{shape}, which may be edges or an adjacency matrix; pass columns=(0, 1) for edges, "
                "or scipy.sparse.csr_array(source) for a matrix"
            )
        if source.dtype.kind not in "iufb":
            raise ValueError(f"source holds {source.dtype}; an adjacency matrix must hold numbers")
        from scipy.sparse import csr_array

        return _sparse(csr_array(source), builder)
    if columns is None and wide not in (2, 3):
        raise ValueError(f"{shape}; it must be (edges, 2 or 3), an integer (2, edges), or square")
    used = pick(builder.source, None, wide, tuple(range(wide)) if columns is None else columns, time)
    kept = sorted({i for i in used if i is not None})
    numeric = source.dtype.kind in "iuf"
    table = {str(i): np.ascontiguousarray(source[:, i]) if numeric else source[:, i].tolist() for i in kept}
    return _columns(table, builder, used.among(kept))


def is_edge_index(array: np.ndarray) -> bool:
    """Whether these are sources above targets, as in PyTorch Geometric: whole numbers of shape (2, edges)."""
    return array.ndim == 2 and array.shape[0] == 2 and array.shape[1] > 3 and array.dtype.kind in "iu"


def _pytorch_geometric(source: Any, builder: Builder) -> DiGraph:
    """Read `edge_index` of shape (2, edges), `num_nodes`, and `edge_weight` if present."""
    tensors: Any = (getattr(source, name, None) for name in ("edge_index", "edge_weight"))
    index, weight = (np.asarray(x.detach().cpu() if hasattr(x, "detach") else x) for x in tensors)
    if index.ndim != 2 or index.shape[0] != 2 or index.dtype.kind not in "iu":
        raise ValueError(
            f"source.edge_index has shape {index.shape} of {index.dtype}; it must be integer (2, edges)"
        )
    nodes = getattr(source, "num_nodes", None)
    nodes = int(index.max(initial=-1)) + 1 if nodes is None else int(nodes)
    return builder.numbered(index[0], index[1], nodes, _floats(weight, builder) if weight.ndim else None)


def _tuples(source: Iterable[Any], builder: Builder, when: list[Any] | None = None) -> DiGraph:
    """Read pairs, or triples with a weight; `when` holds the times of the rows, if any."""
    rows: list[tuple] = []
    values: list[Any] = []
    for i, row in enumerate(source):
        good = isinstance(row, tuple | list | np.ndarray) and len(row) in (2, 3)
        if not good or any(x is None or x == "" or (isinstance(x, float) and x != x) for x in row[:2]):
            builder.bad(f"row {i}", "it must be (source, target) or (source, target, weight)", row)
        elif rows and len(row) != len(rows[0]):
            builder.bad(f"row {i}", f"it has {len(row)} items, but the first row has {len(rows[0])}", row)
        else:
            rows.append(tuple(row))
            values += [] if when is None else [when[i]]
    return _objects(builder, [], rows, None if when is None else values)


def _floats(values: Any, builder: Builder) -> np.ndarray:
    try:
        return np.asarray(values, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise ValueError(f"{builder.source}: weights must be numbers; they are {show(values)}") from None


def _objects(builder: Builder, nodes: list[Any], rows: list[tuple], when: list[Any] | None = None) -> DiGraph:
    """Read rows of names of any type, optionally with a weight, and the times of the rows, if any.

    Names become columns if all are text or all are whole numbers; else a dictionary numbers them.
    """
    times = None
    if when is not None:
        each = [builder.clock.of(value) for value in when]
        for i, time in enumerate(each):
            if time is None:
                builder.bad(f"row {i}", builder.clock.problem(when[i]), rows[i])
        rows = [row for row, time in zip(rows, each, strict=True) if time is not None]
        times = np.asarray([time for time in each if time is not None])
    weights = _floats([row[2] for row in rows], builder) if rows and len(rows[0]) == 3 else None
    edges = [row[:2] for row in rows]
    listed = [*builder.nodes, *nodes]
    for kind, dtype in ((str, pl.String), (int | np.integer, pl.Int64)):
        if all(_is_kind(x, kind) for row in (listed, *edges) for x in row):
            builder.nodes = pl.Series("nodes", listed, dtype=dtype)
            ends = [pl.Series([edge[i] for edge in edges], dtype=dtype) for i in (0, 1)]
            builder.add(ends[0], ends[1], weights, times)
            return builder.finish()
    number: dict[Any, int] = {}
    for name in listed:
        number.setdefault(name, len(number))
    try:
        codes = np.asarray([[number.setdefault(x, len(number)) for x in edge] for edge in edges], np.int64)
    except TypeError:
        raise ValueError(f"{builder.source}: nodes must be hashable, such as text and numbers") from None
    codes = codes.reshape(-1, 2)
    return builder.numbered(codes[:, 0], codes[:, 1], len(number), weights, tuple(number), times)


def _is_kind(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool) and (kind is str or abs(value) < 2**63)
