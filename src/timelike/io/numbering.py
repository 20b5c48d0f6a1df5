"""Numbers for names in the order in which they are first seen, a whole column at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl

#: Names looked up together: so few that the arrays of one step stay in the cache.
STEP = 2**17


class Numbering:
    """An open-addressing hash table whose steps are NumPy calls on many names at once.

    A name is known by a 128-bit hash, so that two of 10⁸ names are taken for one with a probability
    of 10⁻²³. Its slot is the top bits of the first half, or the next free one.
    """

    def __init__(self, bits: int = 10) -> None:
        self._bits = bits
        self._hashes = np.zeros((2**bits, 2), np.uint64)
        self._numbers = np.full(2**bits, -1, np.int32)
        self._names: list[pl.Series] = []
        self.count = 0

    def names(self) -> pl.Series:
        """All names, by number."""
        import polars as pl

        return pl.concat(self._names, rechunk=True)

    def number(self, columns: Sequence[pl.Series]) -> np.ndarray:
        """The numbers of names as a (rows, columns) array; new names are counted on, row by row."""
        rows = len(columns[0])
        steps = [[c.slice(i, STEP) for c in columns] for i in range(0, max(rows, 1), STEP)]
        return np.concatenate([self._step(step) for step in steps])

    def _step(self, columns: Sequence[pl.Series]) -> np.ndarray:
        import polars as pl

        rows, wide = len(columns[0]), len(columns)
        halves = np.empty((rows, wide, 2), np.uint64)
        for i, column in enumerate(columns):
            for j in range(2):
                halves[:, i, j] = column.hash(j).to_numpy()
        hashes: np.ndarray = halves.reshape(-1, 2)
        while 2 * (self.count + len(hashes)) > len(self._numbers):
            self._grow()
        slots = self._slots(hashes)
        new = self._place(hashes, slots)
        self._numbers[slots[new]] = self.count + np.arange(len(new), dtype=np.int32)
        self.count += len(new)
        at = new % wide * rows + new // wide
        self._names.append(pl.concat(columns).gather(at))
        return self._numbers[slots].reshape(rows, wide)

    def _slots(self, hashes: np.ndarray) -> np.ndarray:
        return (hashes[:, 0] >> np.uint64(64 - self._bits)).astype(np.int64)

    def _place(self, hashes: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """Move `slots` on to where each hash lies; put those that lie nowhere yet into free slots.

        Returns, in order, the rows at which new hashes first occur.
        """
        new = []
        pending = np.flatnonzero(~self._holds(hashes, slots))
        while pending.size:
            free = pending[self._numbers[slots[pending]] < 0]
            claim = free[::-1].astype(np.int32)  # of many claims to one slot the last written stays
            self._numbers[slots[claim]] = claim
            won = free[self._numbers[slots[free]] == free]
            self._hashes[slots[won]] = hashes[won]
            new.append(won)
            pending = pending[~self._holds(hashes.take(pending, axis=0), slots[pending])]
            slots[pending] = (slots[pending] + 1) & (len(self._numbers) - 1)
        return np.sort(np.concatenate(new)) if new else pending

    def _holds(self, hashes: np.ndarray, slots: np.ndarray) -> np.ndarray:
        found = self._hashes.take(slots, axis=0)  # eight times as fast as indexing
        return (found[:, 0] == hashes[:, 0]) & (found[:, 1] == hashes[:, 1])

    def _grow(self) -> None:
        used = np.flatnonzero(self._numbers >= 0)
        hashes, numbers = self._hashes[used], self._numbers[used]
        self._bits += 1
        self._hashes = np.zeros((2**self._bits, 2), np.uint64)
        self._numbers = np.full(2**self._bits, -1, np.int32)
        slots = self._slots(hashes)
        self._place(hashes, slots)
        self._numbers[slots] = numbers
