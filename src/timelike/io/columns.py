"""Find the columns with source, target, weight and time, and add tables of edges to a builder."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from timelike._util.checks import show
from timelike.graphs.node_names import as_names, nearest
from timelike.io.graph_builder import Builder
from timelike.io.sign_columns import is_sign, remark, sign_between

#: Names of the source column, and of the target column.
SOURCES = re.compile("source|src|from|u|head|node1|regulator|tf|citing|follower|subject")
TARGETS = re.compile("target|dst|to|v|tail|node2|gene|regulated|cited|followee|object|destination")
#: Pairs of names that do not say which column is the source: the first one is.
ENDS = (("child", "parent"), ("subclass", "superclass"), ("hyponym", "hypernym"), ("nodea", "nodeb"))
#: Words that may follow such a name: `TF name`, `regulatorId`, `target_gene`, `Gene Symbol`.
SUFFIXES = ("id", "name", "symbol", "gene", "node")
Columns = Sequence[str | int]
Column = str | int


class Places(NamedTuple):
    """Column numbers of source and target, and of weight and time if they are read."""

    source: int
    target: int
    weight: int | None = None
    time: int | None = None

    def among(self, kept: Sequence[int]) -> Places:
        """Return the same columns numbered within a selection."""
        return Places(*(None if i is None else kept.index(i) for i in self))  # type: ignore[arg-type]


def pick(
    where: str,
    header: Sequence[str] | None,
    width: int,
    columns: Columns | None,
    time: Column | None = None,
) -> Places:
    """Find source, target and weight (as requested, else by name, else the first two columns) and time."""
    if columns is None:
        words = [] if header is None else [str(word) for word in header]
        ends = named_ends(words) or (0, 1)
        named = (i for i, word in enumerate(words) if word.strip().lower() == "weight" and i not in ends)
        places = Places(*ends, next(named, None))
    elif isinstance(columns, str | bytes) or len(columns) not in (2, 3):
        raise ValueError(
            f"columns is {show(columns)}; it must be (source, target) or (source, target, weight)"
        )
    else:
        places = Places(*(_position(where, header, width, column, "columns") for column in columns))
    if time is None:
        return places
    place = _position(where, header, width, time, "time")
    taken = [name for name, other in places._asdict().items() if other == place]
    if taken:
        raise ValueError(f"{where}: time is {show(time)}, which is the {taken[0]} column; set columns too")
    return places._replace(time=place)


def named_ends(words: Sequence[str]) -> tuple[int, int] | None:
    """Return the positions of source and target if these words name them.

    If several do, take the first two with the same suffix: both ids, say, or both names.
    """
    stems, suffixes = zip(*map(_stem, words), strict=True) if words else ((), ())
    ends = [[i for i, stem in enumerate(stems) if known.fullmatch(stem)] for known in (SOURCES, TARGETS)]
    if all(ends):
        return min(
            itertools.product(ends[0], ends[1]), key=lambda pair: suffixes[pair[0]] != suffixes[pair[1]]
        )
    for pair in ENDS:
        if all(end in stems for end in pair):
            first, second = sorted(stems.index(end) for end in pair)
            return first, second
    return None


def _stem(word: str) -> tuple[str, str]:
    """Split a column name into stem and suffixes: `2)TF_name` into `tf` and `name`."""
    whole = stem = "".join(x for x in word.lower() if x.isalnum()).lstrip("0123456789")
    while suffix := next((x for x in SUFFIXES if stem.endswith(x) and len(stem) > len(x) + 1), None):
        stem = stem.removesuffix(suffix)
    return stem, whole.removeprefix(stem)


def _position(where: str, header: Sequence[str] | None, width: int, column: Column, argument: str) -> int:
    if isinstance(column, str):
        if header is None:
            raise ValueError(
                f"{where}: {argument} has {column!r}, but there is no header; use column numbers from 0"
            )
        names = [str(name).strip() for name in header]
        if column in names:
            return names.index(column)
        near = ", ".join(nearest(as_names(names), column))
        raise ValueError(f"{where}: there is no column {column!r}; the nearest names are {near}")
    if isinstance(column, bool) or not isinstance(column, int) or not 0 <= column < width:
        raise ValueError(f"{where}: {argument} has {show(column)}; the columns are 0 to {width - 1}")
    return column


def unread(header: Sequence[str] | None, width: int, used: Sequence[int | None]) -> list[str]:
    """Return a remark on the columns that are not read, if any."""
    left = [str(i if header is None else header[i]) for i in range(width) if i not in used]
    return [f"columns not read: {show(', '.join(left))[1:-1]}"] if left else []


def without_signs(
    where: str,
    used: Places,
    header: Sequence[str] | None,
    rows: Sequence[Sequence[object]],
    width: int,
) -> tuple[Places, list[int], list[str]]:
    """Return the columns to read, the columns of signs, and a remark on each.

    `rows` are the first rows. A weight of 1 and −1 only is a sign; signs as nodes are an error.
    """
    signs, remarks = [], []
    for i in range(width):
        values = [row[i] for row in rows if len(row) > i]
        if i == used.time or not is_sign(values):
            continue
        called = i if header is None else header[i]
        if i not in used[:2]:
            signs.append(i)
            remarks.append(remark(called, values))
            used = used._replace(weight=None) if i == used.weight else used
        elif {*map(str, values)} & {"+", "-"}:
            end = "source" if i == used.source else "target"
            raise ValueError(f"{where}: the {end} column {show(called)} holds signs; name other columns")
    return used, signs, remarks


def choose(
    builder: Builder,
    names: Sequence[str],
    columns: Columns | None,
    time: Column | None,
    rows: Sequence[Sequence[object]],
) -> tuple[list[int], Places]:
    """Return the columns of a table to read, and which of them are source, target, weight and time.

    `rows` are the first rows of the table.
    """
    if len(names) < 2:
        raise ValueError(f"{builder.source}: {len(names)} columns; a source and a target column are needed")
    if columns is None and named_ends(names) is None and sign_between(rows):
        columns = (0, 2)
    used = pick(builder.source, names, len(names), columns, time)
    used, signs, remarks = without_signs(builder.source, used, names, rows, len(names))
    builder.remarks += remarks + unread(names, len(names), (*used, *signs))
    kept = list(dict.fromkeys(i for i in used if i is not None))
    return kept, used.among(kept)


def _as_nodes(where: str, column: pl.Series) -> pl.Series:
    """Return a column of nodes as strings or 64-bit integers, with nulls for missing ones."""
    kind = column.dtype
    if kind == pl.UInt64 and (column.fill_null(0) >= 2**63).any():
        raise ValueError(f"{where} has numbers of 2⁶³ and more; convert them to text")
    if kind.is_integer() or kind == pl.Null:
        return column.cast(pl.Int64)
    if kind in (pl.Categorical, pl.Enum, pl.String):
        return column.cast(pl.String)
    if kind.is_float():
        column = column.fill_nan(None)
        if ((column % 1).fill_null(0) == 0).all() and (column.abs().fill_null(0) <= 2**53).all():
            return column.cast(pl.Int64)
    raise ValueError(f"{where} holds {kind}; nodes must be whole numbers or text")


def add_table(builder: Builder, table: pl.DataFrame, used: Places, first_row: int = 0) -> None:
    """Add the rows of a table; a row without source, target or (if times are read) time is malformed."""
    names = table.columns
    ends = [_as_nodes(f"{builder.source}: column {names[i]!r}", table[names[i]]) for i in used[:2]]
    if ends[0].dtype != ends[1].dtype:
        ends = [end.cast(pl.String) for end in ends]
    good = ends[0].is_not_null() & ends[1].is_not_null()
    if ends[0].dtype == pl.String:
        good &= (ends[0].fill_null("") != "") & (ends[1].fill_null("") != "")
    weights, times, kept = None, None, good.to_numpy()
    if used.weight is not None:
        column = table[names[used.weight]]
        if not (column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null)):
            where = f"{builder.source}: column {column.name!r}"
            raise ValueError(f"{where} holds {column.dtype}; weights must be numbers")
        weights = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    if used.time is not None:
        when = table[names[used.time]]
        times, timed = builder.clock.of_column(f"{builder.source}: column {when.name!r}", when)
        kept = kept & timed
    if not kept.all():
        for row in np.flatnonzero(~kept).tolist():
            why = builder.clock.problem(when[row]) if good[row] else "the source or target is missing"
            builder.bad(f"row {first_row + row}", why, table.row(row))
        if not kept.any():
            return
        ends = [end.filter(kept) for end in ends]
        weights, times = (None if x is None else x[kept] for x in (weights, times))
    builder.add(ends[0], ends[1], weights, times)
