"""What a graph is built from, checked: rows of edges, names, weights and times."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from timelike._util.checks import instance, show
from timelike.graphs.node_names import NameColumn


def checked_times(times: Any, count: int) -> np.ndarray:
    """One number or date per edge; dates in microseconds."""
    array = np.asarray(times)
    if array.shape != (count,):
        raise ValueError(f"times has shape {array.shape}; it must be ({count},), one time per edge")
    if array.dtype.kind not in "iufM":
        raise TypeError(f"times holds {array.dtype}; it must hold numbers or datetime64")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise ValueError(f"times[{bad[0]}] is {array[bad[0]]}; every edge needs a time")
    return array.astype("datetime64[us]") if array.dtype.kind == "M" else array


def count_names(names: Sequence[Hashable], num_nodes: int | None) -> int:
    """The number of nodes, from unique names."""
    repeated = 0 if isinstance(names, NameColumn) else len(names) - len(set(names))
    if repeated:
        raise ValueError(f"names has {repeated} repeated entries; every node needs a unique name")
    if num_nodes is not None and num_nodes != len(names):
        raise ValueError(f"num_nodes is {num_nodes} but names has {len(names)} entries; they must match")
    return len(names)


def checked_rows(edges: Iterable[tuple]) -> list[tuple]:
    """Rows of two names, or of two names and a weight."""
    instance("edges", edges, Iterable, "a list of (source, target) pairs")
    rows: list[tuple] = []
    for i, edge in enumerate(edges):
        row = () if isinstance(edge, str) or not isinstance(edge, Iterable) else tuple(edge)
        if len(row) not in (2, 3) or len(row) != len((rows or [row])[0]):
            raise ValueError(
                f"edges[{i}] is {show(edge)}; edges must all be (source, target) or (source, target, weight)"
            )
        if not all(isinstance(name, Hashable) for name in row[:2]):
            raise TypeError(
                f"edges[{i}] is {show(edge)}; names must be hashable, such as strings and numbers"
            )
        rows.append(row)
    return rows


def checked_weights(weights: Sequence[float] | np.ndarray, count: int) -> np.ndarray:
    """One positive weight per edge, in single precision."""
    try:
        array = np.asarray(weights, dtype=np.float32).reshape(-1)
    except (TypeError, ValueError):
        raise TypeError(f"weights is {show(weights)}; it must hold one number per edge") from None
    if array.size != count:
        raise ValueError(f"weights has {array.size} entries; it must have {count}, one per edge")
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if bad.size:
        raise ValueError(f"weights[{bad[0]}] is {array[bad[0]]}; weights must be finite and > 0")
    return array
