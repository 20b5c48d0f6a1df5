"""Edge lists as text: one edge per line, fields separated by tabs, commas, semicolons, bars or blanks.

A file is read in blocks of whole lines. `_fast` parses a block with polars and gives up on anything unusual;
`_rows` reads line by line and defines what a block means.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from timelike._util.checks import show
from timelike.graphs.digraph import MOST_NODES
from timelike.io.byte_streams import File, numbered_lines
from timelike.io.columns import Column, Columns
from timelike.io.doubtful_comments import DoubtfulComments
from timelike.io.edge_times import NUMBER, Clock, Time
from timelike.io.graph_builder import Builder
from timelike.io.line_layout import BLANKS, MISSING, RETURN, SAMPLE, Layout, fields, guess, named, too_wide

#: Beginnings of lines to skip; `sep=;` is for Excel.
COMMENTS = ("#", "%", "sep=", '"sep=')
#: Rows held as Python objects at a time.
SOME = 2**15
EDGES, NODES = "edge.csv.gz", "num-node-list.csv.gz"


def collect(
    file: File,
    builder: Builder,
    columns: Columns | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | Sequence[str] = COMMENTS,
    time: Column | None = None,
) -> None:
    """Add the edges of a list to the builder; missing options are guessed from the first lines."""
    comments = tuple(filter(None, (comment,) if isinstance(comment, str) else comment))
    layout: Layout | None = None
    empty, doubtful = True, DoubtfulComments()
    for first, block in file.blocks():
        empty = False
        if layout is None:
            sample = _sample(file.name, first, block, comments)
            if not sample:
                continue
            layout = guess(file.name, sample, columns, delimiter, header, time)
            builder.remarks += layout.remarks
        add_block(builder, first, block, layout, comments, doubtful)
    builder.remarks += doubtful.remarks()
    if empty:
        raise ValueError(f"{file.name}: the file is empty")
    if layout is None:
        raise ValueError(f"{file.name}: there are no edges in it, only comments and blank lines")
    if layout.header and not builder.rows and not builder.bad_rows:
        raise ValueError(f"{file.name}: line {layout.header} is a header, and no edges follow it")


def _sample(name: str, first: int, block: bytes, comments: tuple[str, ...]) -> list[tuple[int, str]]:
    """Return the first lines that are neither blank nor comments; refuse those of a wide table."""
    skipped, sample = tuple(c.encode() for c in comments), []
    for number, raw in numbered_lines(first, block):
        if raw.startswith(skipped):
            continue
        if problem := too_wide(raw):
            raise ValueError(f"{name}, line {number}: {problem}")
        line = raw.decode(errors="replace").rstrip("\r")
        if line.strip(BLANKS):
            sample.append((number, line))
        if len(sample) == SAMPLE:
            break
    return sample


def add_block(
    builder: Builder,
    first: int,
    block: bytes,
    layout: Layout,
    comments: tuple[str, ...] = COMMENTS,
    doubtful: DoubtfulComments | None = None,
) -> None:
    """Add the edges of a block of lines, the first of which has the number `first`."""
    doubtful = DoubtfulComments() if doubtful is None else doubtful
    skipped = tuple(c.encode() for c in comments)  # files often begin with comments
    at = 0
    while layout.header >= first or block.startswith(skipped, at):
        end = block.find(b"\n", at)
        if layout.header != first:
            doubtful.see(first, block[at:end].decode(errors="replace"), layout)
        first, at = first + 1, end + 1
    block = block[at:]
    table = _fast(block, layout, comments) if len(block) > 2**12 else None
    times = None if table is None or layout.places.time is None else builder.clock.of_texts(table["time"])
    if table is None or (layout.places.time is not None and times is None):
        add_rows(builder, _rows(builder, first, block, layout, comments, doubtful))
    else:
        weights = None if layout.places.weight is None else table["weight"].to_numpy()
        builder.add(table["source"], table["target"], weights, times)


def _fast(block: bytes, layout: Layout, comments: tuple[str, ...]) -> pl.DataFrame | None:
    """Return the edges of a block of plain lines, or None if anything in it needs care."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    if layout.delimiter == " ":
        block = _single_blanks(block)
    if not layout.delimiter.isascii() or any(x in block for x in (b'"', b"\r", b"\0")):
        return None
    if block.count(layout.delimiter.encode(), 0, block.index(b"\n")) >= layout.width:
        return None  # polars would make as many columns as the first line has fields
    try:
        table = pl.read_csv(
            block, separator=layout.delimiter, has_header=False, infer_schema=False, quote_char=None
        )
    except pl.exceptions.PolarsError:
        return None
    if table.height != block.count(b"\n") or not layout.reach <= table.width <= layout.width:
        return None
    if any(table.select(pl.nth(0).str.starts_with(start).any()).item() for start in comments):
        return None
    used = {name: i for name, i in layout.places._asdict().items() if i is not None}
    table = table.select(pl.nth(i).str.strip_chars(BLANKS).alias(name) for name, i in used.items())
    if any(table[end].null_count() or (table[end] == "").any() for end in ("source", "target")):
        return None
    if layout.places.weight is None:
        return table
    table = table.with_columns(pl.col("weight").cast(pl.Float64, strict=False))
    return None if table["weight"].null_count() else table


def _single_blanks(block: bytes) -> bytes:
    """Separate the fields of each line by exactly one blank."""
    block = block.replace(b"\t", b" ")
    while b"  " in block:
        block = block.replace(b"  ", b" ")
    return block.replace(b" \n", b"\n").replace(b"\n ", b"\n").removeprefix(b" ")


def add_rows(builder: Builder, rows: Iterator[tuple]) -> None:
    """Add rows of source, target, weight and time (None in all rows: there are none), some at a time."""
    while some := list(itertools.islice(rows, SOME)):
        s, t, *rest = zip(*some, strict=True)
        weights, times = (None if x[0] is None else np.asarray(x) for x in rest)
        builder.add(pl.Series(s, dtype=pl.String), pl.Series(t, dtype=pl.String), weights, times)


def _rows(
    builder: Builder,
    first: int,
    block: bytes,
    layout: Layout,
    comments: tuple[str, ...],
    doubtful: DoubtfulComments,
) -> Iterator[tuple[str, str, float | None, Time | None]]:
    """Yield source, target, weight and time of every edge; reject or count malformed rows."""
    for number, raw in numbered_lines(first, block):
        line = raw[:60].decode(errors="replace")
        try:
            if problem := too_wide(raw, layout.delimiter):
                raise ValueError(problem)
            line = raw.decode().rstrip("\r")
            if line.startswith(comments):
                doubtful.see(number, line, layout)
            elif line.strip(BLANKS):
                yield _row(line, layout, builder.clock)
        except UnicodeDecodeError:
            builder.bad(f"line {number}", "this is not UTF-8 text", raw[:60])
        except csv.Error as error:
            builder.bad(f"line {number}", f"a quoted field is malformed ({error})", line)
        except ValueError as problem:
            builder.bad(f"line {number}", str(problem), line)


def _row(line: str, layout: Layout, clock: Clock) -> tuple[str, str, float | None, Time | None]:
    """Parse one line; a `ValueError` says what is wrong with it."""
    if "\r" in line:
        raise ValueError(RETURN)
    row = fields(line, layout.delimiter)
    if len(row) < layout.reach:
        found = f"{len(row)} field{'s' * (len(row) != 1)}"
        raise ValueError(f"{found}, but at least {layout.reach} are needed {named(layout.delimiter)}")
    if any(row[layout.width :]):
        raise ValueError(f"{len(row)} fields, but the first line has {layout.width}")
    s, t, w, at = layout.places
    if not row[s] or not row[t]:
        raise ValueError(f"the {'target' if row[s] else 'source'} is empty")
    weight = None if w is None else parsed_weight(row[w])
    return row[s], row[t], weight, None if at is None else clock.required(row[at])


def parsed_weight(text: str) -> float:
    """Return a weight, NaN if it is missing."""
    if text.lower() in MISSING:
        return float("nan")
    if not NUMBER.fullmatch(text):
        raise ValueError(f"the weight {show(text)} is not a number")
    return float(text)


def collect_folder(folder: Path, builder: Builder) -> None:
    """Add the graph of a folder in the layout of the Open Graph Benchmark, or of its subfolder `raw`.

    The nodes are 0 … n − 1; the files have no headers.
    """
    place = next((x for x in (folder, folder / "raw") if (x / EDGES).is_file()), None)
    if place is None and (folder / "train.tsv").is_file():
        raise ValueError(
            f"{folder}: `timelike split` wrote this folder; name a file in it, such as train.tsv"
        )
    if place is None:
        raise ValueError(f"{folder}: the folder must contain {EDGES} and {NODES}, as OGB's do; it does not")
    builder.node_count = _node_count(place / NODES)
    builder.source = str(place / EDGES)
    with File(place / EDGES) as file:
        collect(file, builder, columns=(0, 1), delimiter=",", header=False)


def _node_count(path: Path) -> int:
    if not path.is_file():
        raise ValueError(f"{path}: no such file; it must hold the number of nodes")
    with File(path) as file:
        rows = [line.strip() for _, line in file.lines() if line.strip()]
    good = len(rows) == 1 and len(rows[0]) < 11 and rows[0].isdecimal() and int(rows[0]) <= MOST_NODES
    if not good:
        raise ValueError(
            f"{path}: expected one number of nodes; {len(rows)} lines, the first {show(rows[:1])}"
        )
    return int(rows[0])
