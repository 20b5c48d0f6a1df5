"""Nodes as users type them: texts, in files, options and forms."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from timelike.graphs.node_names import as_names, nearest

if TYPE_CHECKING:
    import numpy as np
    import polars as pl


def find_nodes(texts: pl.Series, nodes: int, names: Sequence[Hashable] | None) -> np.ndarray:
    """The number of each node that is named by a text, −1 if there is no such node.

    Names that are whole numbers are found by their text, and so are nodes without names.
    """
    import polars as pl

    from timelike.graphs.name_parsing import WHOLE

    asked = texts.unique(maintain_order=True)
    whole = asked.str.contains(WHOLE).to_list()
    if names is None:
        found = [int(x) if ok and 0 <= int(x) < nodes else None for x, ok in zip(asked, whole, strict=True)]
    else:
        lookup = as_names(names)
        found = lookup.find(asked.to_list())
        left = [i for i, number in enumerate(found) if number is None and whole[i]]
        for i, number in zip(left, lookup.find([int(asked[i]) for i in left]), strict=True):
            found[i] = number
    table = pl.DataFrame({"text": asked, "number": pl.Series(found, dtype=pl.Int32)})
    column = texts.alias("text").to_frame().join(table, on="text", how="left", maintain_order="left")
    return column["number"].fill_null(-1).to_numpy()


def unknown(text: str, nodes: int, names: Sequence[Hashable] | None) -> str:
    """What to say about a node that does not exist."""
    if names is None:
        return f"there is no node {text!r}; these nodes have no names, only the numbers 0 to {nodes - 1}"
    return f"there is no node {text!r}; the nearest names are {', '.join(nearest(as_names(names), text))}"
