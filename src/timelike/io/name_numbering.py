"""Number names column by column: hash tables that process many names per NumPy call."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl

#: Names per lookup, few enough that the arrays of one step stay in the cache.
STEP = 2**16


class Numbering:
    """Numbers strings in the order in which they are first seen.

    The table stores a 128-bit hash of each name: among 10⁸ names, two collide with probability 10⁻²³.
    The slot is the top bits of the first half of the hash, or the next free one.
    """

    def __init__(self, bits: int = 10) -> None:
        self._bits = bits
        self._hashes = np.zeros((2**bits, 2), np.uint64)
        self._numbers = np.full(2**bits, -1, np.int32)
        self._names: list[pl.Series] = []
        self.count = 0

    def names(self) -> pl.Series:
        """Return all names in the order of their numbers."""
        return pl.concat(self._names, rechunk=True)

    def number(self, columns: Sequence[pl.Series]) -> list[np.ndarray]:
        """Return the numbers of the names in each column; number new names row by row."""
        rows = len(columns[0])
        steps = [[c.slice(i, STEP) for c in columns] for i in range(0, max(rows, 1), STEP)]
        numbers = np.concatenate([self._step(step) for step in steps])
        return [numbers[:, i].copy() for i in range(len(columns))]

    def _step(self, columns: Sequence[pl.Series]) -> np.ndarray:
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
        """Advance `slots` to the slot of each hash and insert new hashes into free slots.

        Returns the rows where new hashes first occur, in order.
        """
        new = []
        pending = np.flatnonzero(~self._holds(hashes, slots))
        while pending.size:
            free = pending[self._numbers[slots[pending]] < 0]
            claim = free[::-1].astype(np.int32)  # of several claims to a slot, the last one written wins
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


class IdNumbering:
    """Numbers integer ids, in no particular order.

    A slot holds an id next to its number plus one (0: free), so that a lookup touches one cache line. The
    slot of an id is the top bits of its product with 2⁶⁴/φ, or the next free one.
    """

    GOLDEN = np.uint64(0x9E3779B97F4A7C15)

    def __init__(self, bits: int = 10) -> None:
        self._bits = bits
        self._table = self._empty()
        self._ids: list[np.ndarray] = []
        self.count = 0

    def names(self) -> pl.Series:
        """Return all ids in the order of their numbers."""
        return pl.Series(np.concatenate(self._ids))

    def number(self, columns: Sequence[pl.Series]) -> list[np.ndarray]:
        """Return the numbers of the ids in each column; number new ids."""
        ids = [column.to_numpy() for column in columns]
        with ThreadPoolExecutor(len(ids)) as pool:  # NumPy releases the GIL during lookups
            numbers = list(pool.map(self._find, ids))
        unknown = [np.flatnonzero(x < 0) for x in numbers]
        self._add(_unique(np.concatenate([x[at] for x, at in zip(ids, unknown, strict=True)])))
        for x, at, found in zip(ids, unknown, numbers, strict=True):
            found[at] = self._find(x[at])
        return numbers

    def _empty(self) -> np.ndarray:
        table = np.empty((2**self._bits, 2), np.int64)  # unlike np.zeros, it requests large pages
        table.fill(0)
        return table

    def _slots(self, ids: np.ndarray) -> np.ndarray:
        hashes = ids.view(np.uint64) * self.GOLDEN
        hashes >>= np.uint64(64 - self._bits)
        return hashes.view(np.int64)

    def _find(self, ids: np.ndarray) -> np.ndarray:
        """Return the numbers of ids, −1 for unknown ones."""
        numbers = np.empty(len(ids), np.int32)
        for i in range(0, len(ids), STEP):
            step = slice(i, i + STEP)
            self._find_step(ids[step], numbers[step])
        return numbers

    def _find_step(self, ids: np.ndarray, numbers: np.ndarray) -> None:
        slots = self._slots(ids)
        found = self._table.take(slots, axis=0)
        numbers[:] = found[:, 1]
        pending = np.flatnonzero((found[:, 0] != ids) & (numbers > 0))
        ids, slots = ids[pending], slots[pending]
        while pending.size:
            slots = (slots + 1) & (len(self._table) - 1)
            found = self._table.take(slots, axis=0)
            numbers[pending] = found[:, 1]
            more = np.flatnonzero((found[:, 0] != ids) & (found[:, 1] > 0))
            pending, ids, slots = pending[more], ids[more], slots[more]
        numbers -= 1

    def _add(self, ids: np.ndarray) -> None:
        """Number new, unique ids."""
        first, self.count = self.count, self.count + len(ids)
        self._ids.append(ids)
        if 3 * self.count > 2 * len(self._table):
            first, ids = 0, np.concatenate(self._ids)
            self._bits = (3 * self.count // 2).bit_length()
            self._table = self._empty()
        self._place(ids, np.arange(first + 1, self.count + 1))

    def _place(self, ids: np.ndarray, numbers: np.ndarray) -> None:
        """Insert new, unique ids into free slots."""
        cells = self._table.reshape(-1)  # ids and numbers alternate
        for i in range(0, len(ids), STEP):
            new, number = ids[i : i + STEP], numbers[i : i + STEP]
            at = 2 * self._slots(new)
            while new.size:
                free = np.flatnonzero(cells.take(at + 1) == 0)
                cells[at[free] + 1] = number[free]  # of several claims to a slot, the last one written wins
                won = cells.take(at + 1) == number
                cells[at[won]] = new[won]
                new, number, at = new[~won], number[~won], (at[~won] + 2) & (len(cells) - 1)


def _unique(ids: np.ndarray) -> np.ndarray:
    """Return each id once, sorted; for random ids this is ten times as fast as `np.unique`."""
    ids = np.sort(ids)
    return ids[np.flatnonzero(np.diff(ids, prepend=ids[:1] - 1))]


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
