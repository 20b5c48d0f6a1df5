"""The edges of a file as they come: in memory once, 8 bytes for both ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from timelike.graphs.edge_sorting import PIECE, Edges, ends, keys

#: Bytes that a column begins with. So large a one has pages of its own: they are in use from when they are
#: first written to until the column is let go.
FIRST = 2**25


class EdgeList:
    """Edges between numbered nodes as they came. All have a weight or none has, and so with times."""

    def __init__(self) -> None:
        self._count = 0
        self._columns = _Column(), _Column(), _Column()  # keys (see `sorting`), weights, times

    def __len__(self) -> int:
        return self._count

    def append(
        self, s: np.ndarray, t: np.ndarray, weights: np.ndarray | None, times: np.ndarray | None
    ) -> None:
        """Add edges."""
        for column, values in zip(self._columns, (keys(s, t), weights, times), strict=True):
            column.put(self._count, values)
        self._count += len(s)

    def pieces(self) -> Iterator[Edges]:
        """The edges that are here now, some at a time."""
        count = self._count
        return (self._piece(i, min(i + PIECE, count)) for i in range(0, count, PIECE))

    def _piece(self, start: int, end: int) -> Edges:
        key, weights, times = (column.part(start, end) for column in self._columns)
        return *ends(key), weights, times

    def change(self, change: Callable[..., Edges]) -> None:
        """Put what `change` makes of edges, as many or fewer, into their place."""
        pieces, self._count = self.pieces(), 0
        for piece in pieces:
            self.append(*change(*piece))

    def mirror(self) -> None:
        """Add all edges the other way round."""
        for s, t, weights, times in self.pieces():
            self.append(t, s, weights, times)

    def taken(self) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
        """Keys, weights and times, which are here no more."""
        key, weights, times = (column.taken(self._count) for column in self._columns)
        self._count = 0
        return key, weights, times


class _Column:
    """An array that grows at its end, or None; the system moves the pages of a large one, and copies none."""

    def __init__(self) -> None:
        self._values: np.ndarray | None = None

    def put(self, start: int, values: np.ndarray | None) -> None:
        if values is None:
            return
        if self._values is None:
            self._values = np.empty(FIRST // values.itemsize, values.dtype)
        end = start + len(values)
        if end > len(self._values):
            values = values.copy()  # they may be a part of what moves
            self._values.resize(end + end // 16, refcheck=False)
        self._values[start:end] = values

    def part(self, start: int, end: int) -> Any:
        return None if self._values is None else self._values[start:end]

    def taken(self, count: int) -> Any:
        values, self._values = self._values, None
        if values is not None:
            values.resize(count, refcheck=False)
        return values
