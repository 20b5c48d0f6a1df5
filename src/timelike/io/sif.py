"""Cytoscape's simple interaction format (`.sif`): a source, a kind of edge, and one target or several."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from timelike._util.checks import show
from timelike.graphs.digraph import DiGraph
from timelike.io.byte_streams import File
from timelike.io.edge_lists import COMMENTS, SOME
from timelike.io.graph_builder import Builder
from timelike.io.line_layout import BLANKS, RETURN


def read(file: File, builder: Builder, relations: Sequence[str] | None = None) -> DiGraph:
    """Read the edges of these kinds, of all unless given; a name alone on a line is a node without edges."""
    import polars as pl

    lone = collect(file, builder, relations)
    builder.add_nodes(pl.Series(lone, dtype=pl.String))
    return builder.finish()


def collect(file: File, builder: Builder, relations: Sequence[str] | None = None) -> list[str]:
    """Add the edges to what the builder has, as they are read; returns the nodes without any."""
    import polars as pl

    lone, kinds = list[str](), Counter[str]()
    rows = _rows(file, builder, relations, lone, kinds)
    while some := list(itertools.islice(rows, SOME)):
        sources, targets = (pl.Series(end, dtype=pl.String) for end in zip(*some, strict=True))
        builder.add(sources, targets)
    there = show(", ".join(f"{kind} ({count:,})" for kind, count in kinds.most_common()))[1:-1]
    if unknown := sorted({*(relations or ())} - {*kinds}):
        raise ValueError(f"{file.name}: there is no relation {unknown[0]!r}; there are {there or 'none'}")
    if len(kinds) > 1:
        which = "all read alike" if relations is None else f"read: {', '.join(relations)}"
        builder.remarks.append(f"kinds of edges: {there}; {which}")
    return lone


def _rows(
    file: File, builder: Builder, relations: Sequence[str] | None, lone: list[str], kinds: Counter[str]
) -> Iterator[tuple[str, str]]:
    """The edges of these kinds; all kinds are counted. Names may hold blanks if tabs divide the fields."""
    divided = re.compile(r"\t" if b"\t" in file.head() else r"[ \t]+")
    for number, line in file.lines():
        if not line.strip(BLANKS) or line.startswith(COMMENTS):
            continue
        source, *rest = (field.strip(BLANKS) for field in divided.split(line.strip(BLANKS)))
        if "\r" in line:
            builder.bad(f"line {number}", RETURN, line)
        elif not rest:
            lone.append(source)
        elif len(rest) == 1 or "" in rest:
            builder.bad(f"line {number}", "it must be SOURCE KIND TARGET, more targets or a node alone", line)
        else:
            kinds[rest[0]] += len(rest) - 1
            if relations is None or rest[0] in relations:
                yield from ((source, target) for target in rest[1:])
