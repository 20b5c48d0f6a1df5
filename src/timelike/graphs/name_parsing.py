"""Build the names of a graph from columns, and parse texts that are integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from timelike.graphs.node_names import NameColumn, Names, NameTuple, NumberColumn

if TYPE_CHECKING:
    import polars as pl

#: Up to this many names are Python objects in a tuple; more are a column.
SMALL = 2**17
#: Matches texts that are integers.
WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"


def name_numbers(ids: np.ndarray) -> NameTuple | NumberColumn | None:
    """Names of nodes with these ids, in ascending order; None if the ids are 0 … n − 1."""
    if ids[0] == 0 and ids[-1] == len(ids) - 1:
        return None
    return NameTuple(ids.tolist()) if len(ids) <= SMALL else NumberColumn(ids)


def names_from(column: pl.Series) -> Names:
    """Names of any kind; many texts, or many numbers in ascending order, stay a column."""
    import polars as pl

    if len(column) > SMALL and column.dtype == pl.String:
        return NameColumn(column)
    if len(column) > SMALL and column.dtype.is_integer() and column.is_sorted():
        return NumberColumn(column.to_numpy())
    return NameTuple(column.to_list())


def name_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """id → name: the label if it is unique, else the label followed by the id."""
    count = Counter(labels.values())
    names = {key: x if x and count[x] == 1 else f"{x} ({key})".strip() for key, x in labels.items()}
    if len(set(names.values())) != len(names):
        raise ValueError("labels: two nodes have the same label; omit labels")
    return names


def whole_numbers(texts: pl.Series) -> pl.Series | None:
    """Texts as 64-bit numbers if all of them match `WHOLE`, else None."""
    import polars as pl

    numbers = texts.cast(pl.Int64, strict=False)
    if numbers.null_count() or not numbers.is_between(-(10**18), 10**18, closed="none").all():
        return None
    return numbers if (numbers.cast(pl.String) == texts).all() else None


def small(ids: pl.Series) -> np.ndarray | None:
    """Ids as 32-bit integers, or None if any is negative or too large."""
    array = ids.to_numpy()
    fit = array.min(initial=0) >= 0 and array.max(initial=0) < 2**31
    return array.astype(np.int32) if fit else None


def single(weights: np.ndarray | None) -> np.ndarray | None:
    """Weights in single precision; infinite if they are too large for it."""
    with np.errstate(over="ignore"):
        return None if weights is None else weights.astype(np.float32)
