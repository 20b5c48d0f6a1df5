"""Folders in the layout of the Open Graph Benchmark: `edge.csv.gz` and `num-node-list.csv.gz`, no headers."""

from __future__ import annotations

from pathlib import Path

from timelike._util.checks import show
from timelike.graphs.digraph import MOST_NODES
from timelike.io import edge_lists
from timelike.io.byte_streams import File
from timelike.io.graph_builder import Builder

EDGES, NODES = "edge.csv.gz", "num-node-list.csv.gz"


def collect(folder: Path, builder: Builder) -> None:
    """Add the edges of the one graph in a folder, or in its subfolder `raw`; its nodes are 0 … n − 1."""
    place = next((x for x in (folder, folder / "raw") if (x / EDGES).is_file()), None)
    if place is None and (folder / "train.tsv").is_file():
        raise ValueError(
            f"{folder}: `timelike split` wrote this folder; name a file in it, such as train.tsv"
        )
    if place is None:
        raise ValueError(f"{folder}: the folder must contain {EDGES} and {NODES}, as OGB's do; it does not")
    builder.node_count = _count(place / NODES)
    builder.source = str(place / EDGES)
    with File(place / EDGES) as file:
        edge_lists.collect(file, builder, columns=(0, 1), delimiter=",", header=False)


def _count(path: Path) -> int:
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
