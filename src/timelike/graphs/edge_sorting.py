"""Edges in order: by source, then target, once each, with little memory beside what is sorted.

Both ends of an edge are one 64-bit key, the source in its upper half.
"""

from __future__ import annotations

import numpy as np

#: Edges handled at a time where a whole array would only be passed through.
PIECE = 2**17
#: From here on polars' sort, in several threads, halves NumPy's time.
MANY = 2**20

#: Sources, targets, weights and times.
Edges = tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None]


def keys(s: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Both ends of edges as one number."""
    found = s.astype(np.int64)
    found <<= 32
    found |= t.astype(np.int32, copy=False)
    return found


def ends(key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sources and targets."""
    return (key >> 32).astype(np.int32), key.astype(np.int32)


def sorted_unique(s: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges by source, then target, once each."""
    return ordered(keys(s, t))[:2]


def ordered(key: np.ndarray, weights: np.ndarray | None = None, times: np.ndarray | None = None) -> Edges:
    """Sources, targets, weights and times; of repeated edges the earliest, then the first. Uses `key` up."""
    order = None
    if weights is None and times is None:
        key = _sorted(key)
    elif times is not None or not _is_sorted(key):
        order = _order(key, times)
    given = [x for x in (weights, times) if x is not None]
    found = [np.empty(key.size, kind) for kind in (np.int32, np.int32, *(x.dtype for x in given))]
    end, last, low = 0, -1, _low(key)
    for i in range(0, key.size, PIECE):
        place = slice(i, i + PIECE) if order is None else order[i : i + PIECE] & low
        part = key[place]
        first = np.diff(part, prepend=last) != 0
        start, end, last = end, end + int(np.count_nonzero(first)), int(part[-1])
        for array, values in zip(found, (*ends(part), *(x[place] for x in given)), strict=True):
            array[start:end] = values[first]
    for array in found:
        array.resize(end, refcheck=False)
    s, t, *rest = found
    return s, t, None if weights is None else rest[0], None if times is None else rest[-1]


def _order(key: np.ndarray, times: np.ndarray | None) -> np.ndarray:
    """Numbers whose lower bits are the places of edges in order, equal ones by time, then as they came.

    Above a place there is as much of the key as there is room for, the lowest bits first: to sort 64-bit
    numbers is faster than to sort places, and takes half the memory.
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
    """The bits of a place among the keys."""
    return (1 << key.size.bit_length()) - 1


def _is_sorted(values: np.ndarray) -> bool:
    return bool(np.all(values[:-1] <= values[1:]))


def _sorted(values: np.ndarray) -> np.ndarray:
    """Numbers in order; where they are not sorted in place their memory is given back."""
    if _is_sorted(values):
        return values
    if values.size >= MANY:
        try:
            import polars as pl
        except ImportError:
            pass
        else:
            found = pl.Series(values).sort().to_numpy()
            values.resize(0, refcheck=False)
            return found
    values.sort()
    return values
