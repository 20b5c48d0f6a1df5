"""`read` makes a `DiGraph` from a file, a folder, a data set or an object; `read_pairs` reads pairs only."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from timelike._util.checks import show
from timelike.graphs.digraph import DiGraph
from timelike.io.byte_streams import File
from timelike.io.edge_lists import collect_folder
from timelike.io.formats import check_options, find, find_rows
from timelike.io.graph_builder import Builder
from timelike.io.sources import is_several, local_files

DATASET = re.compile(r"[a-z][a-z0-9-]*(:[^/\\]*)?")


def read(
    source: Any,
    *,
    columns: Sequence[str | int] | None = None,
    time: str | int | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | Sequence[str] | None = None,
    sheet: str | int | None = None,
    nodes: str | os.PathLike | Iterable | None = None,
    skip_bad_rows: bool = False,
    format: str | None = None,
    relations: Sequence[str] | None = None,
    labels: bool | None = None,
    data_dir: str | os.PathLike | None = None,
) -> DiGraph:
    """Read a directed graph.

    `source` is a file (`-`: standard input), a URL (`s3://`, `gs://`, `abfs://`), a glob, a folder of
    Parquet, CSV or TSV files, or a list of these, whose rows count as those of one file; a folder in OGB's
    layout; the name of a data set; or an object: a NetworkX graph, a SciPy matrix, a pandas or polars frame,
    an Arrow table, a NumPy array or tensor (two or three columns, square, or an integer `edge_index` of shape
    (2, edges)), a PyTorch Geometric `Data`, a list of pairs or of triples with a weight.
    `format` names the format of a file; by default, the first bytes and then the file ending decide.
    Files in .gz, .bz2 and .zst are decompressed.

    `columns` are source, target and optionally weight, by name or number (from 0). A column of signs (+ and
    -, activates and represses, 1 and -1) is never a node or a weight; `graph.notes` names it. `time` is the
    column (for NetworkX and GraphML, the edge attribute) with the time of each edge, a number or a date, for
    `graph.times`. `delimiter`, `header` (True or False) and `comment` (beginnings of lines to skip,
    default: # and %) describe edge lists; `sheet` is the sheet of an Excel file, by name or number (from 0).
    `nodes` lists nodes to keep even if they have no edge: a sequence, or a file with one name per line.
    `relations` selects the relations to read from ontologies (default: is_a, part_of, broader; of WordNet
    is_a) and SIF files (default: all). `labels` names the nodes of ontologies and GraphML by label instead
    of id. `data_dir` is the folder with the files of a data set.

    A malformed row raises a `ValueError` that names its line; with `skip_bad_rows` it is counted.
    Self-loops, edges whose weight is missing, NaN, infinite, negative or 0, and repeated edges (all but
    the first, or with times all but the earliest) are left out and counted: see `graph.notes`.
    """
    if isinstance(source, DiGraph):
        return source
    lists = {"columns": columns, "time": time, "delimiter": delimiter, "header": header, "comment": comment}
    others = {
        "relations": relations,
        "labels": labels,
        "data_dir": data_dir,
        "format": format,
        "sheet": sheet,
    }
    options = {name: value for name, value in {**lists, **others}.items() if value is not None}
    listed = _nodes(nodes)
    if is_several(source):
        return _read_several(source, Builder("the files", listed, skip_bad_rows), options)
    if isinstance(source, str | os.PathLike):
        return _read_path(os.fspath(source), Builder(os.fspath(source), listed, skip_bad_rows), options)
    from timelike.io import foreign_graphs

    kind = type(source)
    home = kind.__module__.partition(".")[0]
    builder = Builder(
        kind.__name__ if home == "builtins" else f"{home}.{kind.__name__}", listed, skip_bad_rows
    )
    return foreign_graphs.read(
        source, builder, **check_options(foreign_graphs.read, options, "an object in memory")
    )


def _read_path(source: str, builder: Builder, options: dict[str, Any]) -> DiGraph:
    """Read a folder, a data set or a file."""
    path = Path(source)
    if path.is_dir():
        collect_folder(path, builder, **check_options(collect_folder, options, "a folder"))
        return builder.finish()
    if source != "-" and not path.exists():
        return _dataset(source, {**options, "nodes": builder.nodes} if len(builder.nodes) else options)
    with File(None if source == "-" else path) as file:
        builder.source = file.name
        form = find(file, options.pop("format", None))
        form.collect(file, builder, **check_options(form.collect, options, f"{file.name} ({form.name})"))
        builder.remarks += file.remarks
        return builder.finish()


def _read_several(source: Any, builder: Builder, options: dict[str, Any]) -> DiGraph:
    """Read the rows of several files, or of remote ones, as if they were one file."""
    form_name = options.pop("format", None)
    with local_files(source) as places:
        for place in places:
            with File(place.file, place.name) as file:
                builder.source = file.name
                before = len(builder.remarks)
                form = find_rows(file, options, form_name) if len(places) > 1 else find(file, form_name)
                check_options(form.collect, options, f"{file.name} ({form.name})")
                form.collect(file, builder, **options)
                said = [*builder.remarks[before:], *file.remarks]
                builder.remarks[before:] = [line for line in said if line not in builder.remarks[:before]]
        builder.source = places[0].name if len(places) == 1 else f"{len(places):,} files"
        return builder.finish()


def _nodes(nodes: Any) -> pl.Series | None:
    """Return the listed nodes as a column."""
    if nodes is None:
        return None

    items = list(names_in(nodes) if isinstance(nodes, str | os.PathLike) else nodes)
    if all(isinstance(x, str) for x in items):
        return pl.Series("nodes", items, dtype=pl.String)
    if all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in items):
        return pl.Series("nodes", [int(x) for x in items], dtype=pl.Int64)
    raise ValueError(f"nodes is {show(items)}; it must hold text or whole numbers, or be a file of names")


def names_in(path: str | os.PathLike) -> list[str]:
    """Return the names in a file, one per line; skip empty lines and comments.

    A comment is a line that begins with # and a blank. `#4` may be a name or a comment, so it is an error;
    in quotes, it is a name.
    """
    names = []
    with File(Path(path)) as file:
        for number, line in file.lines():
            name = line.strip()
            if re.match("#[^#\\s]", name):
                raise ValueError(
                    f"{file.name}, line {number}: {show(name)} may be a name or a comment; put a name into "
                    "double quotes, or a blank behind the # of a comment"
                )
            if name and not name.startswith("#"):
                names.append(name[1:-1].replace('""', '"') if re.fullmatch('".*"', name) else name)
    return names


def _dataset(name: str, options: dict[str, Any]) -> DiGraph:
    """Load the data set of this name."""
    if not DATASET.fullmatch(name):
        raise FileNotFoundError(f"{name}: there is no such file, and no data set has this name")
    from timelike import datasets
    from timelike.datasets.registry import resolve

    try:
        resolve(name)
    except ValueError as error:
        if name.partition(":")[0] in {known.partition(":")[0] for known in datasets.DATASETS}:
            raise
        raise FileNotFoundError(f"{name}: there is no such file, and {error}") from None
    return datasets.load(name, **check_options(datasets.load, options, f"the data set {name}"))


class PairList(Builder):
    """Passes rows on as they come; a graph would sort and filter them."""

    def __init__(self, source: str, take: Callable[[pl.DataFrame], None], skip_bad_rows: bool = False):
        super().__init__(source, skip_bad_rows=skip_bad_rows)
        self._take = take

    def add(self, sources: pl.Series, targets: pl.Series, *_: Any, **__: Any) -> None:
        """Pass on pairs of names; ignore weights and times."""
        self.rows += len(sources)
        self._take(pl.DataFrame({"source": sources, "target": targets}).cast(pl.String))


def read_pairs(
    source: str,
    take: Callable[[pl.DataFrame], None],
    skip_bad_rows: bool = False,
    data_dir: str | os.PathLike | None = None,
    **options: Any,
) -> Sequence[str]:
    """Pass the rows of an edge list, Excel, SIF or Parquet file (`-`: standard input) to `take` in batches.

    A batch has the columns source and target, as text. `options` are those of the format: `columns`, and for
    edge lists `delimiter` and `header`. `source` may also name a data set, whose files are looked up in
    `data_dir`. Returns remarks on what was read.
    """
    if is_several(source):
        with local_files(source) as places:
            said = [
                line
                for place in places
                for line in _file_pairs(File(place.file, place.name), take, skip_bad_rows, options)
            ]
        return list(dict.fromkeys(said))
    if source != "-" and not Path(source).exists():
        from timelike.datasets.edge_files import pair_table

        graph = read(source, data_dir=data_dir, **options)
        take(pair_table(graph, graph.pairs).cast(pl.String))
        return []
    return _file_pairs(File(None if source == "-" else Path(source)), take, skip_bad_rows, options)


def _file_pairs(
    opened: File, take: Callable[[pl.DataFrame], None], skip_bad_rows: bool, options: dict[str, Any]
) -> list[str]:
    with opened as file:
        pairs = PairList(file.name, take, skip_bad_rows)
        find_rows(file, options).collect(file, pairs, **options)
        pairs.remarks += file.remarks
    if not pairs.rows:
        raise ValueError(f"{file.name}: there are no pairs in it")
    skipped = [f"{pairs.bad_rows:,} malformed rows skipped"] if pairs.bad_rows else []
    return [*skipped, *pairs.remarks]
