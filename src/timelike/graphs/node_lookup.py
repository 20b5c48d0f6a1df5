"""Look up nodes that users name by text, in files, options and forms."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from timelike.graphs.node_names import as_names, nearest

if TYPE_CHECKING:
    import numpy as np
    import polars as pl


def find_nodes(texts: pl.Series, nodes: int, names: Sequence[Hashable] | None) -> np.ndarray:
    """The number of the node that each text names, −1 if there is no such node.

    A text also matches an integer name or, in a graph without names, a node number.
    """
    import polars as pl

    from timelike.graphs.name_parsing import WHOLE

    distinct = texts.unique(maintain_order=True)
    whole = distinct.str.contains(WHOLE).to_list()
    if names is None:
        numbers = [
            int(x) if ok and 0 <= int(x) < nodes else None for x, ok in zip(distinct, whole, strict=True)
        ]
    else:
        lookup = as_names(names)
        numbers = lookup.find(distinct.to_list())
        missing = [i for i, number in enumerate(numbers) if number is None and whole[i]]
        for i, number in zip(missing, lookup.find([int(distinct[i]) for i in missing]), strict=True):
            numbers[i] = number
    table = pl.DataFrame({"text": distinct, "number": pl.Series(numbers, dtype=pl.Int32)})
    column = texts.alias("text").to_frame().join(table, on="text", how="left", maintain_order="left")
    return column["number"].fill_null(-1).to_numpy()


def unknown(value: Hashable, nodes: int, names: Sequence[Hashable] | None) -> str:
    """The error message about a node that does not exist."""
    if names is None:
        return f"there is no node {value!r}; these nodes have no names, only the numbers 0 to {nodes - 1}"
    return f"there is no node {value!r}; the nearest names are {', '.join(nearest(as_names(names), value))}"
