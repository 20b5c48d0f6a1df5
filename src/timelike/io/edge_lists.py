"""Edge lists as text: one edge per line, fields divided by tabs, commas, semicolons, bars or blanks.

A file is read in blocks of whole lines. `_fast` hands a block to polars, and gives up on anything
that is not plain; `_careful` reads line by line and is the definition of what a block means.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from timelike._util.checks import show
from timelike.io.byte_streams import File
from timelike.io.columns import Column, Columns
from timelike.io.edge_times import NUMBER, Time
from timelike.io.graph_builder import Builder
from timelike.io.line_layout import BLANKS, MISSING, NAMES, RETURN, SAMPLE, Layout, fields, guess

if TYPE_CHECKING:
    import polars as pl

#: How lines begin that are passed over; `sep=;` is for Excel.
COMMENTS = ("#", "%", "sep=", '"sep=')
#: Rows that are Python objects at a time.
SOME = 2**15


def collect(
    file: File,
    builder: Builder,
    columns: Columns | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | Sequence[str] = COMMENTS,
    time: Column | None = None,
) -> None:
    """Add the edges of a list to what the builder has; what is not given is guessed from the first lines."""
    comments = tuple(filter(None, (comment,) if isinstance(comment, str) else comment))
    layout: Layout | None = None
    empty = True
    for first, block in file.blocks():
        empty = False
        if layout is None:
            sample = _sample(first, block, comments)
            if not sample:
                continue
            layout = guess(file.name, sample, columns, delimiter, header, time)
            builder.remarks += layout.remarks
        add_block(builder, first, block, layout, comments)
    if empty:
        raise ValueError(f"{file.name}: the file is empty")
    if layout is None:
        raise ValueError(f"{file.name}: there are no edges in it, only comments and blank lines")
    if layout.header and not builder.rows and not builder.bad_rows:
        raise ValueError(f"{file.name}: there is a header on line {layout.header} and nothing below it")


def _sample(first: int, block: bytes, comments: tuple[str, ...]) -> list[tuple[int, str]]:
    """The first lines with something on them."""
    lines = ((i, line.decode(errors="replace").rstrip("\r")) for i, line in _lines(first, block))
    found = []
    for i, line in lines:
        if line.strip(BLANKS) and not line.startswith(comments):
            found.append((i, line))
        if len(found) == SAMPLE:
            break
    return found


def _lines(first: int, block: bytes) -> Iterator[tuple[int, bytes]]:
    """Numbered lines, without a copy of all of them."""
    at = 0
    while at < len(block):
        end = block.index(b"\n", at)
        yield first, block[at:end]
        first, at = first + 1, end + 1


def add_block(
    builder: Builder, first: int, block: bytes, layout: Layout, comments: tuple[str, ...] = COMMENTS
) -> None:
    """Add the edges on these lines."""
    if layout.header >= first:
        cut = _after(block, layout.header - first + 1)
        first, block = layout.header + 1, block[cut:]
    while block.startswith(tuple(c.encode() for c in comments)):  # a file often begins with comments
        first, block = first + 1, block[_after(block, 1) :]
    table = _fast(block, layout, comments) if len(block) > 2**12 else None
    times = None if table is None or layout.time is None else builder.clock.of_texts(table["time"])
    if table is None or (layout.time is not None and times is None):
        _careful(builder, first, block, layout, comments)
    else:
        weights = None if layout.weight is None else table["weight"].to_numpy()
        builder.add(table["source"], table["target"], weights, times)


def _after(block: bytes, lines: int) -> int:
    """Where the text after so many lines begins."""
    at = 0
    for _ in range(lines):
        at = block.find(b"\n", at) + 1
    return at


def _fast(block: bytes, layout: Layout, comments: tuple[str, ...]) -> pl.DataFrame | None:
    """The edges of a block of plain lines, or None if there is anything to be careful about."""
    import polars as pl

    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    if layout.delimiter == " ":
        block = _single_blanks(block)
    if not layout.delimiter.isascii() or any(x in block for x in (b'"', b"\r", b"\0")):
        return None
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
    used = {"source": layout.source, "target": layout.target, "text": layout.weight, "time": layout.time}
    picked = [pl.nth(i).str.strip_chars(BLANKS).alias(name) for name, i in used.items() if i is not None]
    table = table.select(picked)
    if any(table[end].null_count() or (table[end] == "").any() for end in ("source", "target")):
        return None
    return table if layout.weight is None else _with_weights(table)


def _with_weights(table: pl.DataFrame) -> pl.DataFrame | None:
    import polars as pl

    table = table.with_columns(pl.col("text").cast(pl.Float64, strict=False).alias("weight"))
    return None if table["weight"].null_count() else table


def _single_blanks(block: bytes) -> bytes:
    """Lines whose fields are divided by exactly one blank."""
    block = block.replace(b"\t", b" ")
    while b"  " in block:
        block = block.replace(b"  ", b" ")
    return block.replace(b" \n", b"\n").replace(b"\n ", b"\n").removeprefix(b" ")


def _careful(builder: Builder, first: int, block: bytes, layout: Layout, comments: tuple[str, ...]) -> None:
    """Read line by line."""
    import polars as pl

    rows = _rows(builder, first, block, layout, comments)
    while some := list(itertools.islice(rows, SOME)):
        sources, targets, weights, times = zip(*some, strict=True)
        ends = [pl.Series(end, dtype=pl.String) for end in (sources, targets)]
        builder.add(
            ends[0],
            ends[1],
            None if layout.weight is None else np.asarray([_weight(text) for text in weights]),
            None if layout.time is None else np.asarray(times),
        )


def _rows(
    builder: Builder, first: int, block: bytes, layout: Layout, comments: tuple[str, ...]
) -> Iterator[tuple[str, str, str, Time | None]]:
    """Source, target, weight and time of every edge, with an error or a count for every row that is none."""
    for number, raw in _lines(first, block):
        where = f"line {number}"
        try:
            line = raw.decode().rstrip("\r")
        except UnicodeDecodeError:
            builder.bad(where, "this is not UTF-8 text", raw[:60])
            continue
        if not line.strip(BLANKS) or line.startswith(comments):
            continue
        if "\r" in line:
            builder.bad(where, RETURN, line)
            continue
        try:
            row = fields(line, layout.delimiter)
        except csv.Error as error:
            builder.bad(where, f"a field in quotes does not end well ({error})", line)
            continue
        problem = _problem(row, layout)
        time = None
        if problem is None and layout.time is not None:
            time = builder.clock.of(row[layout.time])
            problem = builder.clock.problem(row[layout.time]) if time is None else None
        if problem is None:
            weight = "" if layout.weight is None else row[layout.weight]
            yield row[layout.source], row[layout.target], weight, time
        else:
            builder.bad(where, problem, line)


def _problem(row: list[str], layout: Layout) -> str | None:
    """What is wrong with a row."""
    if len(row) < layout.reach:
        kind = NAMES.get(layout.delimiter, repr(layout.delimiter))
        return f"{len(row)} of {layout.reach} fields, with {kind} as delimiter"
    if any(row[layout.width :]):
        return f"{len(row)} fields where the first line has {layout.width}"
    for name, at in (("source", layout.source), ("target", layout.target)):
        if not row[at]:
            return f"the {name} is empty"
    weight = "" if layout.weight is None else row[layout.weight]
    if weight.lower() not in MISSING and not NUMBER.fullmatch(weight):
        return f"the weight {show(weight)} is no number"
    return None


def _weight(text: str) -> float:
    return float("nan") if text.lower() in MISSING else float(text)
