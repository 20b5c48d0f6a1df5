"""Matrix Market files (`.mtx`): the entry in row i, column j is an edge from node i − 1 to node j − 1."""

from __future__ import annotations

import re

from timelike._util.checks import show
from timelike.graphs.digraph import MOST_NODES
from timelike.io.byte_streams import File
from timelike.io.columns import Places
from timelike.io.edge_lists import add_block
from timelike.io.graph_builder import Builder
from timelike.io.line_layout import Layout

BANNER = re.compile(
    r"%%matrixmarket\s+matrix\s+coordinate\s+(real|integer|pattern|double)\s+(general|symmetric)\s*"
)


def collect(file: File, builder: Builder) -> None:
    """Add the entries of a square coordinate matrix; each entry of a symmetric one is an edge both ways."""
    layout: Layout | None = None
    entries = 0
    for line, block in file.blocks():
        while layout is None and block:
            text, _, block = block.partition(b"\n")
            words = text.decode(errors="replace").lower().strip()
            if line == 1:
                banner = BANNER.fullmatch(words)
                if banner is None:
                    raise ValueError(
                        f"{file.name}, line 1: only square 'coordinate' matrices that are real, integer or "
                        f"pattern and general or symmetric are supported; the text is {show(words)}"
                    )
                weighted, builder.mirrored = banner[1] != "pattern", banner[2] == "symmetric"
            elif words and not words.startswith("%"):
                builder.node_count, entries = _size(file.name, line, words)
                builder.first_node = 1
                layout = Layout(" ", 3 if weighted else 2, Places(0, 1, 2 if weighted else None))
            line += 1
        if layout is not None and block:
            add_block(builder, line, block, layout, ("%",))
    if layout is None:
        raise ValueError(f"{file.name}: the file ends before the size of the matrix")
    if builder.rows + builder.bad_rows != entries:
        raise ValueError(f"{file.name}: {builder.rows:,} entries, but the header announces {entries:,}")


def _size(name: str, line: int, words: str) -> tuple[int, int]:
    """Parse the size line into the number of nodes and of entries."""
    numbers = words.split()
    if len(numbers) != 3 or not all(x.isdecimal() and len(x) < 19 for x in numbers):
        raise ValueError(f"{name}, line {line}: expected rows, columns, entries; the text is {show(words)}")
    rows, columns, entries = map(int, numbers)
    if rows != columns:
        raise ValueError(f"{name}, line {line}: the matrix is {rows} × {columns}; it must be square")
    if rows > MOST_NODES:
        raise ValueError(f"{name}, line {line}: {rows:,} nodes; the limit is {MOST_NODES:,}")
    return rows, entries
