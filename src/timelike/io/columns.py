"""Which columns hold source, target, weight and time, and what a column of nodes may hold."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timelike._util.checks import show
from timelike.graphs.node_names import as_names, nearest
from timelike.io.graph_builder import Builder

if TYPE_CHECKING:
    import polars as pl

SOURCES = frozenset(
    ("source", "src", "from", "u", "head", "node1", "regulator", "tf", "citing", "follower", "subject")
)
TARGETS = frozenset(
    (
        "target",
        "dst",
        "to",
        "v",
        "tail",
        "node2",
        "gene",
        "regulated",
        "cited",
        "followee",
        "object",
        "destination",
    )
)
#: Words that name two columns of nodes and do not say which is the source: that is the first.
ENDS = (("child", "parent"), ("subclass", "superclass"), ("hyponym", "hypernym"), ("nodea", "nodeb"))
#: What may follow such a word: `TF name`, `regulatorId`, `target_gene`, `Gene Symbol`.
SORTS = ("id", "name", "symbol", "gene", "node")
Columns = Sequence[str | int]
Column = str | int


class Places(NamedTuple):
    """Where in a row source and target stand, and weight and time if they are read."""

    source: int
    target: int
    weight: int | None = None
    time: int | None = None

    def among(self, kept: Sequence[int]) -> Places:
        """The same in rows that hold only these of their fields."""
        return Places(*(None if i is None else kept.index(i) for i in self))  # type: ignore[arg-type]


def pick(
    where: str,
    header: Sequence[str] | None,
    width: int,
    columns: Columns | None,
    time: Column | None = None,
) -> Places:
    """Places of source, target and weight: those asked for, else by name, else the first two; and of time."""
    found = _ends_and_weight(where, header, width, columns)
    if time is None:
        return found
    place = _position(where, header, width, time, "time")
    taken = [name for name, other in found._asdict().items() if other == place]
    if taken:
        raise ValueError(
            f"{where}: time is {show(time)}, which is the column of the {taken[0]}; give columns"
        )
    return found._replace(time=place)


def _ends_and_weight(where: str, header: Sequence[str] | None, width: int, columns: Columns | None) -> Places:
    if columns is not None:
        if isinstance(columns, str | bytes) or len(columns) not in (2, 3):
            raise ValueError(
                f"columns is {show(columns)}; it must be (source, target) or (source, target, weight)"
            )
        return Places(*(_position(where, header, width, column, "columns") for column in columns))
    words = [] if header is None else [str(word) for word in header]
    source, target = named_ends(words) or (0, 1)
    weight = next((i for i, word in enumerate(words) if word.strip().lower() == "weight"), None)
    return Places(source, target, weight if weight not in (source, target) else None)


def named_ends(words: Sequence[str]) -> tuple[int, int] | None:
    """Where source and target stand if these words name columns of them.

    If there are several, the first two of the same sort: those of ids, say, or those of names.
    """
    cut = [_plain(word) for word in words]
    plain, sorts = [word for word, _ in cut], [sort for _, sort in cut]
    ends = [[i for i, word in enumerate(plain) if word in known] for known in (SOURCES, TARGETS)]
    if all(ends):
        return min(itertools.product(ends[0], ends[1]), key=lambda pair: sorts[pair[0]] != sorts[pair[1]])
    for one, other in ENDS:
        if one in plain and other in plain:
            first, second = sorted((plain.index(one), plain.index(other)))
            return first, second
    return None


def _plain(word: str) -> tuple[str, str]:
    """The word for an end in the name of a column, and what follows it: `tf` and `name` of `2)TF_name`."""
    whole = plain = "".join(x for x in word.lower() if x.isalnum()).lstrip("0123456789")
    while longer := next((x for x in SORTS if plain.endswith(x) and len(plain) > len(x) + 1), None):
        plain = plain.removesuffix(longer)
    return plain, whole.removeprefix(plain)


def _position(where: str, header: Sequence[str] | None, width: int, column: Column, argument: str) -> int:
    if isinstance(column, str):
        if header is None:
            raise ValueError(
                f"{where}: {argument} has {column!r} but there is no header; count columns from 0"
            )
        names = [str(name).strip() for name in header]
        if column in names:
            return names.index(column)
        near = ", ".join(nearest(as_names(names), column))
        raise ValueError(f"{where}: there is no column {column!r}; the nearest are {near}")
    if isinstance(column, bool) or not isinstance(column, int) or not 0 <= column < width:
        raise ValueError(f"{where}: {argument} has {show(column)}; there are columns 0 to {width - 1}")
    return column


def unread(header: Sequence[str] | None, width: int, used: Sequence[int | None]) -> str | None:
    """A remark on columns that were not read."""
    left = [str(i if header is None else header[i]) for i in range(width) if i not in used]
    return f"columns not read: {show(', '.join(left))[1:-1]}" if left else None


def choose(
    builder: Builder, names: Sequence[str], columns: Columns | None, time: Column | None
) -> tuple[list[int], Places]:
    """Which columns of a table to read, and the places among them of source, target, weight and time."""
    if len(names) < 2:
        raise ValueError(f"{builder.source}: {len(names)} columns; an edge needs a source and a target")
    used = pick(builder.source, names, len(names), columns, time)
    builder.remarks += [x] if (x := unread(names, len(names), used)) else []
    kept = list(dict.fromkeys(i for i in used if i is not None))
    return kept, used.among(kept)


def as_nodes(where: str, column: pl.Series) -> pl.Series:
    """A column of names as text or 64-bit whole numbers, with null where there is none."""
    import polars as pl

    kind = column.dtype
    if kind.is_float():
        column = column.fill_nan(None)
        if ((column % 1).fill_null(0) != 0).any() or (column.abs().fill_null(0) > 2**53).any():
            raise ValueError(f"{where} holds {kind}; nodes must be whole numbers or text")
        return column.cast(pl.Int64)
    if kind == pl.UInt64 and (column.fill_null(0) >= 2**63).any():
        raise ValueError(f"{where} has numbers of 2⁶³ and more; make them text")
    if kind.is_integer() or kind == pl.Null:
        return column.cast(pl.Int64)
    if kind in (pl.Categorical, pl.Enum, pl.String):
        return column.cast(pl.String)
    raise ValueError(f"{where} holds {kind}; nodes must be whole numbers or text")


def add_table(builder: Builder, table: pl.DataFrame, used: Places, first_row: int = 0) -> None:
    """Add the rows of a table; a row without source, target or (if there are times) time is malformed."""
    import polars as pl

    names = table.columns
    ends = [as_nodes(f"{builder.source}: column {names[i]!r}", table[names[i]]) for i in used[:2]]
    if ends[0].dtype != ends[1].dtype:
        ends = [end.cast(pl.String) for end in ends]
    good = ends[0].is_not_null() & ends[1].is_not_null()
    if ends[0].dtype == pl.String:
        good &= (ends[0].fill_null("") != "") & (ends[1].fill_null("") != "")
    weights = None if used.weight is None else as_weights(builder.source, table[names[used.weight]])
    kept, times = good.to_numpy(), None
    if used.time is not None:
        when = table[names[used.time]]
        times, timed = builder.clock.of_column(f"{builder.source}: column {when.name!r}", when)
        kept = kept & timed
    if not kept.all():
        for row in np.flatnonzero(~kept).tolist():
            missing = "source or target is missing"
            why = missing if not good[row] else builder.clock.problem(when[row])
            builder.bad(f"row {first_row + row}", why, table.row(row))
        if not kept.any():
            return
        ends = [end.filter(kept) for end in ends]
        weights, times = (None if x is None else x[kept] for x in (weights, times))
    builder.add(ends[0], ends[1], weights, times)


def as_weights(where: str, column: pl.Series) -> np.ndarray:
    """A column of weights as floats, NaN where there is none."""
    import polars as pl

    if not (column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null)):
        raise ValueError(f"{where}: column {column.name!r} holds {column.dtype}; weights must be numbers")
    return column.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def listed_nodes(values: Any) -> pl.Series:
    """Names given as a sequence."""
    import polars as pl

    items = list(values)
    if all(isinstance(x, str) for x in items):
        return pl.Series("nodes", items, dtype=pl.String)
    if all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in items):
        return pl.Series("nodes", [int(x) for x in items], dtype=pl.Int64)
    raise ValueError(f"nodes is {show(items)}; it must hold texts or whole numbers, or be a file of names")
