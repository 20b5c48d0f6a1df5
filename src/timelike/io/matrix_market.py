"""Matrix Market files (`.mtx`): the entry in row i, column j is an edge from node i − 1 to node j − 1."""

from __future__ import annotations

import re

from timelike._util.checks import show
from timelike.graphs.digraph import MOST_NODES, DiGraph
from timelike.io.byte_streams import File
from timelike.io.edge_lists import add_block
from timelike.io.graph_builder import Builder
from timelike.io.line_layout import Layout

BANNER = re.compile(
    r"%%matrixmarket\s+matrix\s+coordinate\s+(real|integer|pattern|double)\s+(general|symmetric)\s*"
)


def looks(head: bytes) -> bool:
    """Whether a file begins like this format."""
    return head[:14].lower() == b"%%matrixmarket"


def read(file: File, builder: Builder) -> DiGraph:
    """Read a square matrix of coordinates; a symmetric one gives edges both ways."""
    layout: Layout | None = None
    size, mirrored = (0, 0), False
    for first, block in file.blocks():
        line = first
        while layout is None and block:
            text, _, block = block.partition(b"\n")
            words = text.decode(errors="replace").lower().strip()
            if line == 1:
                kind = BANNER.fullmatch(words)
                if kind is None:
                    raise ValueError(
                        f"{file.name}, line 1: only square 'coordinate' matrices that are real, integer or "
                        f"pattern and general or symmetric can be read; the text is {show(words)}"
                    )
                weighted, mirrored = kind[1] != "pattern", kind[2] == "symmetric"
            elif words and not words.startswith("%"):
                size = _size(file.name, line, words)
                layout = Layout(" ", 3 if weighted else 2, 0, 1, 2 if weighted else None)
            line += 1
        if layout is not None and block:
            add_block(builder, line, block, layout, ("%",))
    if layout is None:
        raise ValueError(f"{file.name}: the file ends before the size of the matrix")
    nodes, entries = size
    if builder.rows + builder.bad_rows != entries:
        raise ValueError(f"{file.name}: {builder.rows:,} entries where {entries:,} were announced")
    return builder.finish_numbered(nodes, first=1, mirrored=mirrored)


def _size(name: str, line: int, words: str) -> tuple[int, int]:
    numbers = words.split()
    if len(numbers) != 3 or not all(x.isdecimal() and len(x) < 19 for x in numbers):
        raise ValueError(f"{name}, line {line}: rows, columns, entries expected; the text is {show(words)}")
    rows, columns, entries = map(int, numbers)
    if rows != columns:
        raise ValueError(f"{name}, line {line}: the matrix is {rows} × {columns}; it must be square")
    if rows > MOST_NODES:
        raise ValueError(f"{name}, line {line}: {rows:,} nodes; at most {MOST_NODES:,} are possible")
    return rows, entries
