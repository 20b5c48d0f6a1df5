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
        self._columns: list[Any] = [None] * 3  # keys (see `edge_sorting`), weights, times

    def __len__(self) -> int:
        return self._count

    def append(
        self, s: np.ndarray, t: np.ndarray, weights: np.ndarray | None, times: np.ndarray | None
    ) -> None:
        """Add edges; the system moves the pages of a large column that grows without copying them."""
        start, end = self._count, self._count + len(s)
        for i, values in enumerate((keys(s, t), weights, times)):
            if values is None:
                continue
            column = self._columns[i]
            if column is None:
                column = self._columns[i] = np.empty(FIRST // values.itemsize, values.dtype)
            if end > len(column):
                values = values.copy()  # they may be a view of the array that moves
                column.resize(end + end // 16, refcheck=False)
            column[start:end] = values
        self._count = end

    def pieces(self) -> Iterator[Edges]:
        """Yield the present edges in pieces."""
        count = self._count
        return (self._piece(slice(i, min(i + PIECE, count))) for i in range(0, count, PIECE))

    def _piece(self, part: slice) -> Edges:
        pieces: Any = (None if column is None else column[part] for column in self._columns)
        key, weights, times = pieces
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

    def taken(self) -> Any:
        """Return keys, weights and times, and empty the buffer."""
        for column in self._columns:
            if column is not None:
                column.resize(self._count, refcheck=False)
        columns, self._columns, self._count = self._columns, [None] * 3, 0
        return columns
