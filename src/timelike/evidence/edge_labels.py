"""Signs and types of edges: read from a column, and predicted for pairs, given that they are edges."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike._util.checks import show
from timelike.evidence.named_table import MISSING, frame_of, text_names
from timelike.graphs.digraph import DiGraph
from timelike.graphs.node_names import as_names, nearest
from timelike.io.columns import named_ends

if TYPE_CHECKING:
    import polars as pl

#: Names of columns with signs, and of columns with types, that are recognised.
SIGN_COLUMNS = re.compile(r"(?i)(sign|effect|mode|mor|regulation|regulatory[ _]effect|function)")
TYPE_COLUMNS = re.compile(r"(?i)(type|kind|relation|interaction|edge[ _]type|interaction[ _]type)")

#: What people write for the two signs, in small letters.
PLUS = ("+", "1", "+1", "1.0", "activation", "activator", "activates", "up", "positive", "stimulation")
MINUS = ("-", "−", "-1", "-1.0", "repression", "repressor", "represses", "down", "negative", "inhibition")

#: Fewer edges with a class than this are too few to learn it.
FEWEST = 20

#: Most classes of a type.
MOST_CLASSES = 12


@dataclasses.dataclass(frozen=True, eq=False)
class EdgeLabels:
    """The sign or the type of edges, by the names of their ends; edges of unknown sign are left out.

    `column` names what it is, `classes` what it can be: + and − for signs. `left_out` counts rows whose
    value is missing or, as a sign, neither.
    """

    column: str
    classes: tuple[str, ...]
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    values: np.ndarray
    left_out: int = 0

    @classmethod
    def read(cls, table: Any, column: str | int | None = None, signs: bool = True) -> EdgeLabels:
        """The column of a file or polars data frame of edges; None: the column whose name is recognised.

        `signs`: the values are signs, such as +, −, 1, -1, activator or repressor; otherwise any texts.
        """
        if isinstance(table, str | os.PathLike):
            frame, where = frame_of(Path(table)), str(table)
        elif hasattr(table, "get_columns"):
            frame, where = table, "the data frame"
        else:
            raise TypeError(f"labels is {show(table)}; it must be a file or a polars data frame of edges")
        place = _place(frame, column, signs, where)
        ends = named_ends(frame.columns) or tuple(i for i in range(frame.width) if i != place)[:2]
        if len(ends) < 2 or place in ends:
            raise ValueError(f"{where}: column {frame.columns[place]} is a source or target, not a label")
        return cls._of(frame, (ends[0], ends[1]), place, signs, where)

    @classmethod
    def _of(
        cls, frame: pl.DataFrame, ends: tuple[int, int], place: int, signs: bool, where: str
    ) -> EdgeLabels:
        import polars as pl

        texts = [x.strip() for x in frame.to_series(place).cast(pl.String).fill_null("").to_list()]
        if signs:
            texts = ["+" if x.lower() in PLUS else "-" if x.lower() in MINUS else "" for x in texts]
        known = np.array([x not in MISSING for x in texts])
        words, counts = np.unique(np.array(texts, object)[known], return_counts=True)
        kept = sorted(words[np.argsort(-counts, kind="stable")][:MOST_CLASSES].tolist())
        if len(kept) < 2:
            raise ValueError(
                f"{where}: column {frame.columns[place]} has {show(kept)} only; two different "
                f"{'signs' if signs else 'types'} are needed"
            )
        number = {word: i for i, word in enumerate(kept)}
        rows = np.flatnonzero(known & np.isin(np.array(texts, object), kept))
        s, t = (frame.to_series(i).cast(pl.String).fill_null("").gather(rows).to_list() for i in ends)
        values = np.array([number[texts[i]] for i in rows], np.int32)
        column = "sign" if signs else "type"
        return cls(column, tuple(kept), tuple(s), tuple(t), values, frame.height - len(rows))

    def aligned(self, graph: DiGraph) -> np.ndarray:
        """The class of each edge of the graph, −1 without one; of a pair with several, −1."""
        number = {name: i for i, name in enumerate(text_names(graph.names, graph.num_nodes))}
        found: dict[tuple[int, int], int] = {}
        for s, t, value in zip(self.sources, self.targets, self.values.tolist(), strict=True):
            pair = (number.get(s, -1), number.get(t, -1))
            found[pair] = value if found.get(pair, value) == value else -1
        pairs = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
        return np.array([found.get(pair, -1) for pair in pairs], np.int32)

    def of_pairs(self, pairs: Iterable[tuple[Hashable, Hashable]]) -> list[str | None]:
        """The known label of each pair by name, None without one."""
        ends = zip(self.sources, self.targets, strict=True)
        known = dict(zip(ends, self.values.tolist(), strict=True))
        values = (known.get((str(s), str(t))) for s, t in pairs)
        return [None if value is None else self.classes[value] for value in values]

    def __repr__(self) -> str:
        return f"EdgeLabels({self.column}, {len(self.values):,} edges: {', '.join(self.classes)})"


def recognised(header: Sequence[str], signs: bool) -> int | None:
    """The column of a header with signs, or with types, by its name; None without one."""
    pattern = SIGN_COLUMNS if signs else TYPE_COLUMNS
    ends = named_ends([*header]) or (0, 1)
    return next((i for i, x in enumerate(header) if i not in ends and pattern.fullmatch(x.strip())), None)


def _place(frame: pl.DataFrame, column: str | int | None, signs: bool, where: str) -> int:
    """The number of the column with the labels."""
    what = "sign" if signs else "type"
    if column is None:
        place = recognised(frame.columns, signs)
        if place is None:
            raise ValueError(
                f"{where}: no column looks like a {what}; name one of {', '.join(frame.columns)}"
            )
        return place
    if isinstance(column, int) or (column not in frame.columns and str(column).isdecimal()):
        if int(column) >= frame.width:
            raise ValueError(f"{where}: {what} is {column}; the columns are 0 to {frame.width - 1}")
        return int(column)
    if column not in frame.columns:
        near = ", ".join(nearest(as_names(frame.columns), column))
        raise ValueError(f"{where}: {what} is {show(column)}; the nearest columns are {near}")
    return frame.columns.index(column)
