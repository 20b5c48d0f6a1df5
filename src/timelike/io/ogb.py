"""Folders as the Open Graph Benchmark ships them: `edge.csv.gz` and `num-node-list.csv.gz`, no headers."""

from __future__ import annotations

from pathlib import Path

from timelike._util.checks import show
from timelike.graphs.digraph import MOST_NODES, DiGraph
from timelike.io import edge_lists
from timelike.io.byte_streams import File
from timelike.io.graph_builder import Builder

EDGES, NODES = "edge.csv.gz", "num-node-list.csv.gz"


def read(folder: Path, builder: Builder) -> DiGraph:
    """Read the one graph in a folder, or in `raw` below it; its nodes are 0 … n − 1."""
    place = next((x for x in (folder, folder / "raw") if (x / EDGES).is_file()), None)
    if place is None and (folder / "train.tsv").is_file():
        raise ValueError(f"{folder}: a folder that `timelike split` wrote; name one of its files, train.tsv")
    if place is None:
        raise ValueError(f"{folder}: a folder must hold {EDGES} (and {NODES}), as in OGB; it does not")
    count = _count(place / NODES)
    builder.source = str(place / EDGES)
    with File(place / EDGES) as file:
        edge_lists.collect(file, builder, columns=(0, 1), delimiter=",", header=False)
    return builder.finish_numbered(count)


def _count(path: Path) -> int:
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file; it says how many nodes there are")
    with File(path) as file:
        rows = [line.strip() for _, line in file.lines() if line.strip()]
    good = len(rows) == 1 and len(rows[0]) < 11 and rows[0].isdecimal() and int(rows[0]) <= MOST_NODES
    if not good:
        raise ValueError(f"{path}: one number of nodes expected; {len(rows)} lines, first {show(rows[:1])}")
    return int(rows[0])
