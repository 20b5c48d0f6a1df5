"""Nodes as a table: columns `id`, `name`, `kind` if names have several types, and `label` if any has one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from timelike.graphs.node_names import NAME_KINDS, as_names, names_from, plain_names

if TYPE_CHECKING:
    import polars


def name_columns(names: Sequence[Hashable] | None) -> list[polars.Series]:
    """Names as a column of their type; mixed types as text, with a column of type names."""
    import polars as pl

    if names is None:
        return []
    values = plain_names(names)
    if len({type(value) for value in values}) == 1:
        return [pl.Series("name", values)]
    text = [value if isinstance(value, str) else repr(value) for value in values]
    return [pl.Series("name", text), pl.Series("kind", [type(value).__name__ for value in values])]


def label_column(names: Sequence[Hashable] | None) -> polars.Series | None:
    """The labels of the nodes, "" where one has none; None if no node has one."""
    import polars as pl

    labels = None if names is None else as_names(names).labels
    return None if labels is None else pl.Series("label", labels, dtype=pl.String)


def node_columns(names: Sequence[Hashable] | None) -> list[polars.Series]:
    """Names and labels as columns."""
    labels = label_column(names)
    return [*name_columns(names), *([] if labels is None else [labels])]


def names_of(table: polars.DataFrame) -> Sequence[Hashable] | None:
    """The names of a table with a row per node, in the order of `id`; None if it holds none."""
    import polars as pl

    if "id" not in table.columns:
        raise ValueError(f"there is no column id, only {', '.join(table.columns)}; add the node numbers")
    if not np.array_equal(table["id"].to_numpy(), np.arange(table.height)):
        raise ValueError("id is not 0, 1, 2, … in this order; sort the rows by id")
    if "name" not in table.columns:
        return None
    column = table["name"]
    names = tuple(_of_kinds(column, table["kind"])) if "kind" in table.columns else names_from(column)
    distinct = len(set(names)) if isinstance(names, tuple) else column.n_unique()
    if distinct != table.height or column.null_count():
        raise ValueError("name has missing or repeated values; every node needs its own name")
    if "label" not in table.columns:
        return names
    if table["label"].dtype != pl.String:
        raise ValueError(f"label is of type {table['label'].dtype}; it must be text")
    return as_names(names).labelled(table["label"].fill_null("").to_list())


def _of_kinds(names: Iterable[str], kinds: Iterable[str]) -> Iterable[Hashable]:
    for name, kind in zip(names, kinds, strict=True):
        if kind not in NAME_KINDS:
            raise ValueError(f"kind of {name!r} is {kind!r}; it must be one of {', '.join(NAME_KINDS)}")
        yield NAME_KINDS[kind](name)
