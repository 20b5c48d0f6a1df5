"""Cytoscape's simple interaction format (`.sif`): a source, a relation, and one or more targets per line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from timelike._util.checks import show
from timelike.io.byte_streams import File
from timelike.io.edge_lists import COMMENTS, add_rows
from timelike.io.graph_builder import Builder
from timelike.io.line_layout import BLANKS, RETURN


def collect(file: File, builder: Builder, relations: Sequence[str] | None = None) -> None:
    """Add the edges of these relations (default: all); a name alone on a line is a node without edges."""
    counts, skipped = Counter[str](), list[int]()
    add_rows(builder, _rows(file, builder, relations, counts, skipped))
    if skipped:
        builder.remarks.append(
            f"{len(skipped):,} lines that look like edges skipped as comments; the first is line {skipped[0]}"
        )
    present = show(", ".join(f"{name} ({count:,})" for name, count in counts.most_common()))[1:-1]
    if unknown := sorted({*(relations or ())} - {*counts}):
        raise ValueError(f"{file.name}: no relation {unknown[0]!r}; the file has {present or 'none'}")
    if len(counts) > 1:
        which = "all read alike" if relations is None else f"read: {', '.join(relations)}"
        builder.remarks.append(f"relations: {present}; {which}")


def _rows(
    file: File, builder: Builder, relations: Sequence[str] | None, counts: Counter[str], skipped: list[int]
) -> Iterator[tuple[str, str, None, None]]:
    """Yield the edges of these relations and count all. With tabs as delimiter, names may contain blanks."""
    delimiter = re.compile(r"\t" if b"\t" in file.head() else r"[ \t]+")
    for number, line in file.lines():
        source, *rest = (field.strip(BLANKS) for field in delimiter.split(line.strip(BLANKS)))
        if not source or line.startswith(COMMENTS):
            skipped += [number] * (len(rest) > 1 and bool(line[1:2].strip(BLANKS + "#%")))
            continue
        if "\r" in line:
            builder.bad(f"line {number}", RETURN, line)
        elif not rest:
            builder.lone.append(source)
        elif len(rest) == 1 or "" in rest:
            builder.bad(f"line {number}", "expected SOURCE RELATION TARGET [TARGET …] or a single node", line)
        else:
            counts[rest[0]] += len(rest) - 1
            if relations is None or rest[0] in relations:
                yield from ((source, target, None, None) for target in rest[1:])
