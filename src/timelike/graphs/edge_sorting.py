"""Sort edges by source, then target, and remove repetitions, with little extra memory.

An edge is one 64-bit key, with the source in its upper half.
"""

from __future__ import annotations

import numpy as np

#: Edges processed at a time in a single pass.
PIECE = 2**17
#: From this size on, polars' multithreaded sort takes half the time of NumPy's.
MANY = 2**20

#: Sources, targets, weights and times.
Edges = tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None]


def keys(s: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The keys of edges."""
    key = s.astype(np.int64)
    key <<= 32
    key |= t.astype(np.int32, copy=False)
    return key


def ends(key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sources and targets of keys."""
    return (key >> 32).astype(np.int32), key.astype(np.int32)


def sorted_unique(s: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct edges, sorted by source, then target."""
    return ordered(keys(s, t))[:2]


def ordered(key: np.ndarray, weights: np.ndarray | None = None, times: np.ndarray | None = None) -> Edges:
    """Sort edges and keep the earliest, then the first, of repeated ones. Destroys `key`."""
    order = None
    if weights is None and times is None:
        key = _sorted(key)
    elif times is not None or not _is_sorted(key):
        order = _order(key, times)
    extra = [x for x in (weights, times) if x is not None]
    columns = [np.empty(key.size, kind) for kind in (np.int32, np.int32, *(x.dtype for x in extra))]
    end, last, low = 0, -1, _low(key)
    for i in range(0, key.size, PIECE):
        place = slice(i, i + PIECE) if order is None else order[i : i + PIECE] & low
        part = key[place]
        first = np.diff(part, prepend=last) != 0
        start, end, last = end, end + int(np.count_nonzero(first)), int(part[-1])
        for array, values in zip(columns, (*ends(part), *(x[place] for x in extra)), strict=True):
            array[start:end] = values[first]
    for array in columns:
        array.resize(end, refcheck=False)
    s, t, *rest = columns
    return s, t, None if weights is None else rest[0], None if times is None else rest[-1]


def _order(key: np.ndarray, times: np.ndarray | None) -> np.ndarray:
    """Numbers whose lower bits are the positions of the edges in sorted order, ties by time, then position.

    The bits above a position hold as much of the key as fits, in passes from its lowest bits on (a radix
    sort): sorting 64-bit numbers is faster than an argsort and takes half the memory.
    """
    low = _low(key)
    bits, place = int(key.view(np.int32).max(initial=1)).bit_length(), low.bit_length()
    order: np.ndarray | None = None
    if times is not None and not _is_sorted(times):
        order = np.argsort(times, kind="stable")
    for shift in range(0, 2 * bits, 64 - place):
        packed = key.view(np.uint64) >> 32
        packed <<= bits
        packed |= key.astype(np.uint32)
        packed = packed if order is None else packed[order & low]
        packed >>= shift
        packed <<= place
        packed |= np.arange(key.size, dtype=np.uint32)
        packed = _sorted(packed)
        order = packed if order is None else order[packed & low]
    assert order is not None
    return order


def _low(key: np.ndarray) -> int:
    """The bit mask of a position among the keys."""
    return (1 << key.size.bit_length()) - 1


def _is_sorted(values: np.ndarray) -> bool:
    return bool(np.all(values[:-1] <= values[1:]))


def _sorted(values: np.ndarray) -> np.ndarray:
    """Sort numbers, in place or into a new array; the latter frees the memory of `values`."""
    if _is_sorted(values):
        return values
    if values.size < MANY:
        values.sort()
        return values
    import polars as pl

    result = pl.Series(values).sort().to_numpy()
    values.resize(0, refcheck=False)
    return result
