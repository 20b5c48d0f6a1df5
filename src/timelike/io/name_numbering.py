"""Number names column by column: a hash table that processes many names per NumPy call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

#: Rows per lookup, few enough that the arrays of one step stay in the cache.
STEP = 2**16
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Numbering:
    """Numbers names, all text or all 64-bit integers, in the order in which they are first seen.

    The table stores a key for each name: the integer, or a 128-bit hash of the text (among 10⁸ names, two
    collide with probability 10⁻²³). The slot is the top bits of the key, mixed, or the next free one.
    """

    def __init__(self, kind: Any, bits: int = 10) -> None:
        self.kind, self.count = kind, 0
        self._names: list[pl.Series] = []
        self._empty(bits)

    def _empty(self, bits: int) -> None:
        self._bits = bits
        self._keys = np.zeros((2**bits, 2 if self.kind == pl.String else 1), np.uint64)
        self._numbers = np.full(2**bits, -1, np.int32)

    def names(self) -> pl.Series:
        """Return all names in the order of their numbers."""
        return pl.concat(self._names, rechunk=True)

    def number(self, columns: Sequence[pl.Series]) -> list[np.ndarray]:
        """Return the numbers of the names in each column; number new names row by row."""
        numbers = np.empty((len(columns), len(columns[0])), np.int32)
        for i in range(0, max(len(columns[0]), 1), STEP):
            numbers[:, i : i + STEP] = self._step([c.slice(i, STEP) for c in columns]).T
        return list(numbers)

    def _step(self, columns: Sequence[pl.Series]) -> np.ndarray:
        rows, wide = len(columns[0]), len(columns)
        parts = np.empty((rows, wide, self._keys.shape[1]), np.uint64)
        for i, column in enumerate(columns):
            for j in range(parts.shape[2]):
                parts[:, i, j] = (column.hash(j) if self.kind == pl.String else column).to_numpy()
        keys = parts.reshape(-1, parts.shape[2])
        while 2 * (self.count + len(keys)) > len(self._numbers):
            self._grow()
        slots, new, numbers = self._place(keys)
        self._numbers[slots[new]] = self.count + np.arange(len(new), dtype=np.int32)
        pending = np.flatnonzero(numbers < 0)
        numbers[pending] = self._numbers[slots[pending]]
        self.count += len(new)
        self._names.append(pl.concat(columns).gather(new % wide * rows + new // wide))
        return numbers.reshape(rows, wide)

    def _place(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find the slots of keys and insert new keys into free slots.

        Returns the slots, the rows where new keys first occur, in order, and the numbers of the keys that
        were in the first slot sought; −1 for the others.
        """
        slots = ((keys[:, 0] * GOLDEN) >> np.uint64(64 - self._bits)).view(np.int64)
        numbers = self._numbers.take(slots)
        numbers[~self._holds(keys, slots)] = -1
        new, pending = [], np.flatnonzero(numbers < 0)
        while pending.size:
            free = pending[self._numbers[slots[pending]] < 0]
            claim = free[::-1].astype(np.int32)  # of several claims to a slot, the last one written wins
            self._numbers[slots[claim]] = claim
            won = free[self._numbers[slots[free]] == free]
            self._keys[slots[won]] = keys[won]
            new.append(won)
            pending = pending[~self._holds(keys.take(pending, axis=0), slots[pending])]
            slots[pending] = (slots[pending] + 1) & (len(self._numbers) - 1)
        return slots, np.sort(np.concatenate(new)) if new else pending, numbers

    def _holds(self, keys: np.ndarray, slots: np.ndarray) -> np.ndarray:
        found = self._keys.take(slots, axis=0)  # eight times as fast as indexing
        same = found[:, 0] == keys[:, 0]
        return same if found.shape[1] == 1 else same & (found[:, 1] == keys[:, 1])

    def _grow(self) -> None:
        used = np.flatnonzero(self._numbers >= 0)
        keys, numbers = self._keys[used], self._numbers[used]
        self._empty(self._bits + 1)
        slots, _, _ = self._place(keys)
        self._numbers[slots] = numbers


def whole_numbers(texts: pl.Series) -> pl.Series | None:
    """Return texts as 64-bit numbers if all of them match `WHOLE`, else None."""
    numbers = texts.cast(pl.Int64, strict=False)
    if numbers.null_count() or not numbers.is_between(-(10**18), 10**18, closed="none").all():
        return None
    return numbers if (numbers.cast(pl.String) == texts).all() else None


def small(ids: pl.Series) -> np.ndarray | None:
    """Return ids as 32-bit integers, or None if any is negative or too large."""
    array = ids.to_numpy()
    fit = array.min(initial=0) >= 0 and array.max(initial=0) < 2**31
    return array.astype(np.int32) if fit else None
