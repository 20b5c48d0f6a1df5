"""Options of the commands that read edge files, and the reading itself."""

from __future__ import annotations

import dataclasses
import glob
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from timelike._util.choices import EdgeFormat
from timelike.cli.options import File, Flag, chosen, optional
from timelike.cli.printing import note
from timelike.graphs.node_names import find_nodes, unknown
from timelike.graphs.reading_notes import counted

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from timelike.graphs.digraph import DiGraph

#: The edges of a command that trains or splits.
Edges = Annotated[
    tuple[str, ...],
    tyro.conf.Positional,
    tyro.conf.arg(
        metavar="EDGES",
        help_behavior_hint="",
        help="Edge files (TSV, Parquet, GraphML, OWL, …), folders of them or URLs (s3://…), `-` for standard "
        "input, or a data set: dream5:ecoli.",
    ),
]


def is_there(item: str) -> bool:
    """Whether this is a file or a folder, or a glob that matches some."""
    return Path(item).exists() or bool(glob.glob(item, recursive=True))


def source_of(edges: Sequence[str]) -> str | list[str]:
    """The one source that EDGES names, or the list of several."""
    if not edges:
        raise ValueError("EDGES is missing; name a file, a folder, a URL or a data set")
    return edges[0] if len(edges) == 1 else list(edges)


DataDir = Annotated[
    Path | None,
    optional("FOLDER", help="Folder with the files of data sets; default: $TIMELIKE_DATA, then the cache."),
]


@dataclasses.dataclass(frozen=True)
class LayoutOptions:
    """How to read edge files. Without these options, the first lines decide."""

    columns: Annotated[str | None, optional("SOURCE,TARGET[,WEIGHT]")] = None
    """Columns to read, by their names in the header or by number, counted from 0."""

    delimiter: Annotated[str | None, optional("TEXT")] = None
    r"""Separator of the fields of a line, for example ',' or '\t'."""

    header: Annotated[Literal["yes", "no"] | None, optional("{yes,no}")] = None
    """Whether the first line names the columns."""

    comment: Annotated[str | None, optional("TEXT")] = None
    """Beginning of lines to skip; default: # and %. '' reads every line."""

    sheet: Annotated[str | None, optional("SHEET")] = None
    """Sheet of an Excel file, by name or by number, counted from 0; default: the first."""

    skip_bad_rows: Flag = False
    """Skip and count rows that cannot be read, instead of stopping at the first one."""

    data_dir: DataDir = None

    @property
    def layout(self) -> dict[str, Any]:
        """The options about lines and columns that were given, for `timelike.read`."""
        columns = None if self.columns is None else [_column(word) for word in _words(self.columns)]
        delimiter = None if self.delimiter is None else self.delimiter.replace("\\t", "\t")
        header = None if self.header is None else self.header == "yes"
        sheet = None if self.sheet is None else _column(self.sheet)
        options = {"columns": columns, "delimiter": delimiter, "header": header, "sheet": sheet}
        options["comment"] = self.comment
        return {name: value for name, value in options.items() if value is not None}

    @property
    def read_options(self) -> dict[str, Any]:
        """The options of `timelike.read` that were given."""
        return self.layout

    def graph(self, source: str | Sequence[str]) -> DiGraph:
        """Read files, standard input or a data set; notes on stderr count what was left out."""
        from timelike.io import read

        graph = read(source, skip_bad_rows=self.skip_bad_rows, data_dir=self.data_dir, **self.read_options)
        if graph.notes is not None:
            note(*(f"{graph.notes.source}: {line}" for line in graph.notes.lines()))
        return graph


@dataclasses.dataclass(frozen=True)
class PairOptions(LayoutOptions):
    """How to read files of pairs. Without these options, the first lines decide."""

    missing: Literal["error", "skip"] = "error"
    """What to do with names in lists and pairs that the model does not know: stop, or skip and count them."""

    def pairs(self, source: str, nodes: int, names: Sequence[Hashable] | None) -> np.ndarray:
        """The node numbers of the pairs in a file or a data set, in its order, as an (n, 2) array."""
        import numpy as np

        pieces: list[np.ndarray] = []
        self.each_pairs(source, nodes, names, pieces.append)
        return np.concatenate(pieces)

    def each_pairs(
        self,
        source: str,
        nodes: int,
        names: Sequence[Hashable] | None,
        take: Callable[[np.ndarray], None],
    ) -> int:
        """Read pairs in pieces, hand each piece to `take`, and return the number of pairs left out."""
        import numpy as np

        from timelike._util.progress import bar
        from timelike.graphs.node_names import as_names
        from timelike.io.reading import read_pairs

        known_names = None if names is None else as_names(names)
        called = "standard input" if source == "-" else source
        rows = unknown_rows = 0

        def find(table: pl.DataFrame) -> None:
            nonlocal rows, unknown_rows
            ends = [find_nodes(table[end], nodes, known_names) for end in ("source", "target")]
            known = (ends[0] >= 0) & (ends[1] >= 0)
            if not known.all() and not (self.skip_bad_rows or self.missing == "skip"):
                row = int((~known).argmax())
                wrong = table["source" if ends[0][row] < 0 else "target"][row]
                what = f"{called}, pair {rows + row + 1}: {unknown(wrong, nodes, names)}"
                raise ValueError(f"{what}; --missing skip leaves such pairs out")
            rows, unknown_rows = rows + len(known), unknown_rows + int((~known).sum())
            if known.any():
                take(np.stack(ends, axis=1)[known])
            shown.update(len(known))

        with bar(None, "pairs", unit="pair", unit_scale=True) as shown:
            remarks = read_pairs(source, find, self.skip_bad_rows, self.data_dir, **self.layout)
        if unknown_rows:
            remarks = [*remarks, counted(unknown_rows, "pairs with unknown nodes skipped")]
        note(*(f"{called}: {remark}" for remark in remarks))
        if unknown_rows == rows:
            raise ValueError(f"{called}: no pair has two known nodes")
        return unknown_rows


@dataclasses.dataclass(frozen=True)
class GraphOptions(PairOptions):
    """How to read edges. Without these options, the first lines decide."""

    nodes: File = None
    """Nodes to keep even if they have no edges: a file with one name per line."""

    format: Annotated[EdgeFormat | None, chosen(EdgeFormat)] = None
    """Format of the edge file; default: detected from its first bytes and its ending."""

    relations: Annotated[str | None, optional("NAME,NAME…")] = None
    """Kinds of edges to read; default: is_a,part_of of an ontology, is_a of WordNet, all of a SIF file."""

    labels: Flag = False
    """Name the nodes of ontologies and GraphML files by their labels, not their ids."""

    @property
    def read_options(self) -> dict[str, Any]:
        """The options of `timelike.read` that were given."""
        relations = None if self.relations is None else _words(self.relations)
        options: dict[str, Any] = {"nodes": self.nodes, "format": self.format, "relations": relations}
        options["labels"] = self.labels or None
        return {**self.layout, **{name: value for name, value in options.items() if value is not None}}


@dataclasses.dataclass(frozen=True)
class TimedOptions(GraphOptions):
    """How to read edges. Without these options, the first lines decide."""

    time: Annotated[str | None, optional("COLUMN")] = None
    """Column with the time of each edge, a number or a date: hold out the latest edges, not random ones."""

    @property
    def read_options(self) -> dict[str, Any]:
        """The options of `timelike.read` that were given."""
        return {**super().read_options, **({} if self.time is None else {"time": _column(self.time)})}


def _words(text: str) -> list[str]:
    """The parts between commas, without the blanks around them."""
    return [word.strip() for word in text.split(",")]


def _column(word: str) -> str | int:
    return int(word) if word.isdecimal() else word
