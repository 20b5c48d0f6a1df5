"""Names as a graph keeps them, and texts that are whole numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from timelike.graphs.node_names import NameColumn, NameTuple, NumberColumn

if TYPE_CHECKING:
    import polars as pl

#: Up to here names are Python objects in a tuple, beyond it a column.
SMALL = 2**17
#: Texts that are whole numbers.
WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"


def name_numbers(ids: np.ndarray) -> NameTuple | NumberColumn | None:
    """Names for nodes whose ids are these, in ascending order; none if the ids are 0 … n − 1."""
    if ids[0] == 0 and ids[-1] == len(ids) - 1:
        return None
    return NameTuple(ids.tolist()) if len(ids) <= SMALL else NumberColumn(ids)


def name_texts(names: pl.Series) -> NameTuple | NameColumn:
    """Names that are texts."""
    return NameTuple(names.to_list()) if len(names) <= SMALL else NameColumn(names)


def names_from(column: pl.Series) -> Sequence[Hashable]:
    """Names of any kind, as they were kept: many texts, or numbers in ascending order, stay a column."""
    import polars as pl

    if len(column) > SMALL and column.dtype == pl.String:
        return NameColumn(column)
    if len(column) > SMALL and column.dtype.is_integer() and column.is_sorted():
        return NumberColumn(column.to_numpy())
    return tuple(column)


def name_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """id → name: the label where it is the only one like it, else the label with the id."""
    seen = Counter(labels.values())
    names = {key: x if x and seen[x] == 1 else f"{x} ({key})".strip() for key, x in labels.items()}
    if len(set(names.values())) != len(names):
        raise ValueError("labels: two nodes have the same label; leave labels away")
    return names


def whole_numbers(texts: pl.Series) -> pl.Series | None:
    """Texts as 64-bit numbers if all of them are plain whole numbers, those that `WHOLE` describes."""
    import polars as pl

    numbers = texts.cast(pl.Int64, strict=False)
    if numbers.null_count() or not numbers.is_between(-(10**18), 10**18, closed="none").all():
        return None
    return numbers if (numbers.cast(pl.String) == texts).all() else None


def small(ids: pl.Series) -> np.ndarray | None:
    """Ids in 32 bits, or None if they do not fit or are negative."""
    found = ids.to_numpy()
    fit = found.min(initial=0) >= 0 and found.max(initial=0) < 2**31
    return found.astype(np.int32) if fit else None


def single(weights: np.ndarray | None) -> np.ndarray | None:
    """Weights in 32 bits, infinite if that is too few."""
    with np.errstate(over="ignore"):
        return None if weights is None else weights.astype(np.float32)
