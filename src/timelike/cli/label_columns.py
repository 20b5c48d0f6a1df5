"""Signs and types of edges on the command line: read beside the edges, and written beside predictions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from timelike.cli.printing import Take, note
from timelike.cli.saved_models import Fitted
from timelike.graphs.node_names import find_nodes

if TYPE_CHECKING:
    import polars as pl

    from timelike.evidence.edge_labels import EdgeLabels

#: Edge files whose first line may name a column of signs or types.
TEXTS = {".tsv": "\t", ".tab": "\t", ".txt": "\t", ".csv": ","}


def read_labels(edges: Sequence[str], sign: str | None, kind: str | None) -> list[EdgeLabels]:
    """Signs and types of the edges in one file, from the columns named; notes say how many have none.

    A column that looks like types and is not named is mentioned; of signs, the reader says so.
    """
    from timelike.evidence.edge_labels import EdgeLabels

    if sign is None and kind is None:
        for file in edges:
            _mention(Path(file))
        return []
    if len(edges) > 1:
        raise ValueError(f"--sign and --type need one file of edges, not {len(edges)}; join the files")
    path, found = Path(edges[0]), []
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; --sign and --type need a file of edges")
    for column, signs in ((sign, True), (kind, False)):
        if column is not None:
            one = EdgeLabels.read(path, column, signs)
            note(f"{path}: {len(one.values):,} rows have a {one.column}, {one.left_out:,} have none")
            found.append(one)
    return found


def _mention(path: Path) -> None:
    """Note a column that looks like types and is not used."""
    from timelike.evidence.edge_labels import recognised

    separator = TEXTS.get(path.suffix.lower())
    if separator is None or not path.is_file():
        return
    with open(path, encoding="utf-8", errors="replace") as file:
        header = file.readline(10_000).rstrip("\n").split(separator)
    place = recognised(header, signs=False) if len(header) > 2 else None
    if place is not None:
        note(f"{path}: column {header[place]} is not used; --type {header[place]} predicts it too")


def label_columns(fitted: Fitted, take: Take) -> Take:
    """`take` for tables of edges with sign or type, and its probability, after the first three columns."""
    if not fitted.labels:
        return take
    import polars as pl

    nodes, names = len(fitted.embedding.points), fitted.embedding.names

    def take_more(table: pl.DataFrame) -> None:
        if {"source", "target"} <= {*table.columns}:
            s, t = (find_nodes(table[end].cast(pl.String), nodes, names) for end in ("source", "target"))
            more: list[Any] = []
            for model in fitted.labels:
                classes, likely = model.of_pairs(s, t)
                more.append(pl.Series(model.column, classes, dtype=pl.String))
                more.append(pl.Series(f"{model.column}_probability", likely, dtype=pl.Float32).round(3))
            columns = table.get_columns()
            table = pl.DataFrame([*columns[:3], *more, *columns[3:]])
        take(table)

    return take_more
