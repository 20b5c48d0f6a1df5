"""Options of the commands that read edge files, and the nodes that are named in those files."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from timelike._util.choices import EdgeFormat
from timelike.cli.options import chosen, optional
from timelike.cli.printing import note
from timelike.graphs.node_lookup import find_nodes, unknown

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from timelike.graphs.digraph import DiGraph

Edges = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="EDGES")]
Folder = Annotated[Path | None, optional("FOLDER")]


@dataclasses.dataclass(frozen=True)
class PairOptions:
    """How files of pairs are read. What is not given is guessed from the first lines."""

    columns: Annotated[str | None, optional("SOURCE,TARGET[,WEIGHT]")] = None
    """The columns, by name in the header or counted from 0."""

    delimiter: Annotated[str | None, optional("TEXT")] = None
    r"""What divides the fields of a line, for example ',' or '\t'."""

    header: Annotated[Literal["yes", "no"] | None, optional("{yes,no}")] = None
    """Whether the first line names the columns."""

    skip_bad_rows: bool = False
    """Leave out and count rows that cannot be read, instead of stopping at the first."""

    data_dir: Folder = None
    """A folder with the files of data sets; the environment variable TIMELIKE_DATA names another."""

    @property
    def layout(self) -> dict[str, Any]:
        """What is said about the lines and columns of files."""
        columns = None if self.columns is None else [_column(word) for word in _words(self.columns)]
        delimiter = None if self.delimiter is None else self.delimiter.replace("\\t", "\t")
        header = None if self.header is None else self.header == "yes"
        options = {"columns": columns, "delimiter": delimiter, "header": header}
        return {name: value for name, value in options.items() if value is not None}

    def pairs(self, source: str, nodes: int, names: Sequence[Hashable] | None) -> np.ndarray:
        """The (n, 2) node numbers of the pairs that a file or a data set lists, in its order."""
        import numpy as np

        found: list[np.ndarray] = []
        self.each_pairs(source, nodes, names, found.append)
        return np.concatenate(found)

    def each_pairs(
        self,
        source: str,
        nodes: int,
        names: Sequence[Hashable] | None,
        take: Callable[[np.ndarray], None],
    ) -> None:
        """The same in pieces, as they are read, each handed to `take`."""
        import numpy as np
        from tqdm import tqdm

        from timelike._util.progress import SHOWN
        from timelike.graphs.node_names import as_names
        from timelike.io.pair_files import read_pairs

        known_names = None if names is None else as_names(names)
        called = "standard input" if source == "-" else source
        rows = unknown_rows = 0

        def find(table: pl.DataFrame) -> None:
            nonlocal rows, unknown_rows
            ends = [find_nodes(table[end], nodes, known_names) for end in ("source", "target")]
            known = (ends[0] >= 0) & (ends[1] >= 0)
            if not known.all() and not self.skip_bad_rows:
                row = int((~known).argmax())
                wrong = table["source" if ends[0][row] < 0 else "target"][row]
                raise ValueError(f"{called}, pair {rows + row + 1}: {unknown(wrong, nodes, names)}")
            rows, unknown_rows = rows + len(known), unknown_rows + int((~known).sum())
            if known.any():
                take(np.stack(ends, axis=1)[known])
            bar.update(len(known))

        with tqdm(desc="pairs", unit="pair", unit_scale=True, **SHOWN) as bar:
            remarks = read_pairs(source, find, self.skip_bad_rows, self.data_dir, **self.layout)
        if unknown_rows:
            remarks = [*remarks, f"{unknown_rows:,} pairs with unknown nodes skipped"]
        note(*(f"{called}: {remark}" for remark in remarks))
        if unknown_rows == rows:
            raise ValueError(f"{called}: there is no pair of known nodes in it")


@dataclasses.dataclass(frozen=True)
class GraphOptions(PairOptions):
    """How edges are read. What is not given is guessed from the first lines."""

    nodes: Annotated[Path | None, optional("FILE")] = None
    """Nodes to keep even if they have no edge: a file with one name on a line."""

    format: Annotated[EdgeFormat | None, chosen(EdgeFormat)] = None
    """The format of the edge file; if not given, what its first bytes and its ending say."""

    relations: Annotated[str | None, optional("NAME,NAME…")] = None
    """The kinds of edges to read; of an ontology (OBO) is_a,part_of unless given, of a SIF file all."""

    labels: bool = False
    """Call the nodes of OBO and GraphML files by their labels, not by their ids."""

    @property
    def given(self) -> dict[str, Any]:
        """The options of `timelike.read` that were given."""
        relations = None if self.relations is None else _words(self.relations)
        options = {"nodes": self.nodes, "format": self.format, "relations": relations}
        given = {name: value for name, value in options.items() if value is not None}
        return {**self.layout, **given, **({"labels": True} if self.labels else {})}

    def graph(self, source: str) -> DiGraph:
        """The graph of a file, of standard input or of a data set; what was left out is said on stderr."""
        from timelike.io import read

        graph = read(source, skip_bad_rows=self.skip_bad_rows, data_dir=self.data_dir, **self.given)
        if graph.notes is not None:
            note(*(f"{graph.notes.source}: {line}" for line in graph.notes.lines()))
        return graph


@dataclasses.dataclass(frozen=True)
class TimedOptions(GraphOptions):
    """How edges are read. What is not given is guessed from the first lines."""

    time: Annotated[str | None, optional("COLUMN")] = None
    """The column with the time of each edge, a number or a date: the latest edges are held out, not random
    ones."""

    @property
    def given(self) -> dict[str, Any]:
        """The options of `timelike.read` that were given."""
        return {**super().given, **({} if self.time is None else {"time": _column(self.time)})}


def _words(text: str) -> list[str]:
    """What commas divide, without the blanks around it."""
    return [word.strip() for word in text.split(",")]


def _column(word: str) -> str | int:
    return int(word) if word.isdecimal() else word
