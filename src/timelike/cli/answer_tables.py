"""Answers of `timelike predict` as tables: rows with nodes by name, and numbers in few digits."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from timelike.cli.printing import Take, note
from timelike.cli.saved_models import Fitted
from timelike.graphs.node_names import find_nodes, unknown

if TYPE_CHECKING:
    import polars as pl

#: Significant digits of a list; pairs of a file keep them all.
DIGITS = 3


def table_of(rows: Sequence[Any], columns: Sequence[str], kind: Any) -> pl.DataFrame:
    """Rows as a table, numbers in the precision of the computation.

    `kind` is the type of the columns of nodes: text if their names have several types.
    """
    import polars as pl

    table = {}
    for i, column in enumerate(columns):
        values = [row[i] for row in rows]
        if column in ("steps", "known"):
            table[column] = pl.Series(values, dtype=pl.Boolean if column == "known" else pl.Int32)
        elif column not in ("source", "target", "node"):
            table[column] = pl.Series(values, dtype=pl.Float64).round_sig_figs(DIGITS).cast(pl.Float32)
        elif kind == pl.String:
            table[column] = pl.Series([x if isinstance(x, str) else repr(x) for x in values], dtype=kind)
        else:
            table[column] = pl.Series(values, dtype=kind)
    return pl.DataFrame(table)


def labelling(fitted: Fitted, take: Take) -> Take:
    """`take` for tables with the labels of their nodes as last columns, if the model has labels."""
    from timelike.embedding.node_table import label_column

    labels = label_column(fitted.embedding.names)
    if labels is None:
        return take
    names, labels = name_column(fitted), labels.replace("", None)

    def take_labelled(table: pl.DataFrame) -> None:
        for column in [x for x in ("source", "target", "node") if x in table.columns]:
            found = table[column].replace_strict(names, labels, default=None, return_dtype=labels.dtype)
            table = table.with_columns(found.alias("label" if column == "node" else f"{column}_label"))
        take(table)

    return take_labelled


def nodes_in(fitted: Fitted, file: Path | None, skip_missing: bool = False) -> list[Hashable] | None:
    """The nodes that a file names, one per line; None without a file.

    `skip_missing` leaves out names that the model does not know; a note counts them.
    """
    import polars as pl

    from timelike.io import names_in

    if file is None:
        return None
    texts, embedding = names_in(file), fitted.embedding
    numbers = find_nodes(pl.Series(texts, dtype=pl.String), len(embedding.points), embedding.names)
    missing = [text for text, number in zip(texts, numbers, strict=True) if number < 0]
    if missing and not skip_missing:
        wrong = unknown(missing[0], len(embedding.points), embedding.names)
        raise ValueError(f"{file}: {wrong}; --missing skip leaves such names out")
    if len(missing) == len(texts):
        raise ValueError(f"{file}: no name in it is a node of the model")
    if missing:
        note(f"{file}: {len(missing):,} unknown names skipped, the first {missing[0]!r}")
    return [embedding.name(number) for number in numbers if number >= 0]


def name_column(fitted: Fitted) -> pl.Series:
    """The names of the nodes, by number."""
    import polars as pl

    from timelike.embedding.node_table import name_columns

    columns = name_columns(fitted.embedding.names)
    return columns[0] if columns else pl.Series(range(len(fitted.embedding.points)))
