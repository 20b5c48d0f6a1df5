"""Find names that look the same: they differ only in characters that no screen shows, or in their coding."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import polars as pl

from timelike._util.checks import show
from timelike.graphs.node_names import NameColumn, NumberColumn

#: Matches names of which two may look the same: beyond ASCII, with control characters or superfluous blanks.
SUSPECT = r"[^\x20-\x7e]|^ | $|  "
#: Characters that are not shown: controls, format characters such as a zero-width space, and blanks.
UNSEEN = r"[\p{Cc}\p{Cf}\p{Z}]+"


def said_of_similar(names: Sequence[Hashable] | None) -> list[str]:
    """A remark on names that look the same as another, if there are any."""
    if names is None or isinstance(names, NumberColumn):
        return []
    if isinstance(names, NameColumn):
        column = pl.Series(names.to_numpy(), dtype=pl.String)
    else:
        column = pl.Series([name for name in names if isinstance(name, str)], dtype=pl.String)
    suspect = column.filter(column.str.contains(SUSPECT))
    if not len(suspect):
        return []
    looks = _looks(suspect)
    plain = column.filter(~column.str.contains(SUSPECT))
    others = plain.filter(_looks(plain).is_in(looks.implode()))
    table = pl.DataFrame({"name": pl.concat([others, suspect])})
    table = table.with_columns(look=_looks(table["name"]))
    twice = table.filter(pl.len().over("look") > 1).sort("look", maintain_order=True)
    if not twice.height:
        return []
    first = twice.filter(pl.col("look") == twice["look"][0])["name"].to_list()
    shown = " and ".join(ascii(show(name)[1:-1]) for name in first[:2])
    return [
        f"{twice.height:,} names look like another one and differ only in characters that are not shown, "
        f"such as {shown}; they are different nodes"
    ]


def _looks(names: pl.Series) -> pl.Series:
    """What a reader sees of each name."""
    return names.str.normalize("NFKC").str.replace_all(UNSEEN, " ").str.strip_chars(" ")
