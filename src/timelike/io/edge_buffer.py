"""A growing buffer of edges, held in memory once: 8 bytes for both ends of an edge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from timelike.graphs.edge_sorting import PIECE, Edges, ends, keys

#: Initial bytes of a column. An array this large has its own memory pages, which count only once written to
#: and are returned when the column is released.
FIRST = 2**25


class EdgeList:
    """Edges between numbered nodes, in order of arrival. All have weights or none has; the same for times."""

    def __init__(self) -> None:
        self._count = 0
        self._columns = _Column(), _Column(), _Column()  # keys (see `edge_sorting`), weights, times

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
        """Yield the present edges in pieces."""
        count = self._count
        return (self._piece(i, min(i + PIECE, count)) for i in range(0, count, PIECE))

    def _piece(self, start: int, end: int) -> Edges:
        key, weights, times = (column.part(start, end) for column in self._columns)
        return *ends(key), weights, times

    def change(self, change: Callable[..., Edges]) -> None:
        """Replace the edges, piece by piece, by what `change` returns: as many or fewer."""
        pieces, self._count = self.pieces(), 0
        for piece in pieces:
            self.append(*change(*piece))

    def mirror(self) -> None:
        """Add the reverse of every edge."""
        for s, t, weights, times in self.pieces():
            self.append(t, s, weights, times)

    def taken(self) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
        """Return keys, weights and times, and empty the buffer."""
        key, weights, times = (column.taken(self._count) for column in self._columns)
        self._count = 0
        return key, weights, times


class _Column:
    """An array that grows at its end, or None; the system moves the pages of a large one without copying."""

    def __init__(self) -> None:
        self._values: np.ndarray | None = None

    def put(self, start: int, values: np.ndarray | None) -> None:
        if values is None:
            return
        if self._values is None:
            self._values = np.empty(FIRST // values.itemsize, values.dtype)
        end = start + len(values)
        if end > len(self._values):
            values = values.copy()  # they may be a view of the array that moves
            self._values.resize(end + end // 16, refcheck=False)
        self._values[start:end] = values

    def part(self, start: int, end: int) -> Any:
        return None if self._values is None else self._values[start:end]

    def taken(self, count: int) -> Any:
        values, self._values = self._values, None
        if values is not None:
            values.resize(count, refcheck=False)
        return values
