"""Write the parts of `EdgeShards` from a file or a graph; a hash assigns each edge to a part.

Batches of the file are numbered and appended to one temporary file per part. Then, part by part, nodes get
the final numbers that `timelike.read` would give, and edges are sorted; repetitions share a part and merge.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike._util.checks import share, whole_number
from timelike.graphs.digraph import DiGraph
from timelike.graphs.edge_sorting import sorted_unique
from timelike.io import parquet
from timelike.io.byte_streams import File
from timelike.io.edge_shards import MOST_HELD_OUT, write_parts
from timelike.io.formats import find_rows
from timelike.io.graph_builder import Builder

if TYPE_CHECKING:
    import polars as pl

#: Estimated bytes per line of an edge list, at least.
BYTES_PER_LINE = 12


class _Spilling(Builder):
    """Numbers nodes on arrival and appends edges to the files of their parts."""

    def __init__(self, source: str, folder: Path, parts: int, skip_bad_rows: bool):
        super().__init__(source, skip_bad_rows=skip_bad_rows)
        self._files = [folder / f"{i}.edges" for i in range(parts)]
        for file in self._files:
            file.touch()

    def add(self, sources: pl.Series, targets: pl.Series, *_: Any, **__: Any) -> None:
        """Add edges between names; ignore weights and times."""
        import polars as pl

        if sources.dtype != pl.String:
            sources, targets = sources.cast(pl.Int64), targets.cast(pl.Int64)
        if self._numbering is None:
            self._start_numbering(sources.dtype)
        self.rows += len(sources)
        s, t = self._numbering.number([sources, targets])  # type: ignore[union-attr]
        s, t = self._kept(s, t, None, None)[:2]
        part = part_of(s, t, len(self._files))
        order = np.argsort(part, kind="stable")
        pairs = np.stack([s, t], axis=1)[order]
        ends = np.searchsorted(part[order], np.arange(len(self._files) + 1))
        for file, start, stop in zip(self._files, ends[:-1], ends[1:], strict=True):
            with open(file, "ab") as out:
                out.write(pairs[start:stop].tobytes())

    def parts(self, rank: np.ndarray | None) -> Iterator[np.ndarray]:
        """Yield the sorted, unique edges of each part and remove its file."""
        for file in self._files:
            pairs = np.fromfile(file, np.int32).reshape(-1, 2)
            s, t = pairs.T if rank is None else rank[pairs].T
            yield np.stack(sorted_unique(s, t))
            file.unlink()


def shard_file(
    source: str,
    folder: Path,
    per_part: int,
    hold_out: float,
    seed: int,
    format: str | None = None,
    skip_bad_rows: bool = False,
    **options: Any,
) -> None:
    """Write the parts of a file to a folder."""
    whole_number("per_part", per_part, 1)
    with File(Path(source)) as file:
        form = find_rows(file, options, format)
        rows = (
            parquet.row_count(file) if form.name == "parquet" else os.path.getsize(source) // BYTES_PER_LINE
        )
        builder = _Spilling(source, folder, max(1, -(-rows // per_part)), skip_bad_rows)
        form.collect(file, builder, **options)
    if not builder.rows:
        raise ValueError(f"{source}: there are no edges in it")
    names, rank, nodes = builder.final_names()
    drawn: list[np.ndarray] = []
    kept = _held_back(builder.parts(rank), builder.rows, hold_out, seed, drawn)
    write_parts(folder, kept, nodes, names, drawn)


def shard_graph(graph: DiGraph, folder: Path, per_part: int, hold_out: float, seed: int) -> None:
    """Write the parts of a graph to a folder; a single part keeps the graph's edge order."""
    parts = -(-graph.num_edges // whole_number("per_part", per_part, 1))
    part = part_of(graph.sources, graph.targets, parts)
    edges = np.stack([graph.sources, graph.targets])
    drawn: list[np.ndarray] = []
    each = (edges[:, part == i] for i in range(parts))
    kept = _held_back(each, graph.num_edges, hold_out, seed, drawn)
    write_parts(folder, kept, graph.num_nodes, graph.names, drawn)


def part_of(sources: np.ndarray, targets: np.ndarray, parts: int) -> np.ndarray:
    """Return the part of each edge, a hash of its ends."""
    s, t = (ends.astype(np.uint32) for ends in (sources, targets))
    mixed = (s * np.uint32(0x9E3779B1) + t) * np.uint32(0x85EBCA77)
    mixed ^= mixed >> np.uint32(15)
    return ((mixed * np.uint32(0xC2B2AE3D)) >> np.uint32(8)) % np.uint32(parts)


def _held_back(
    parts: Iterator[np.ndarray], edges: int, hold_out: float, seed: int, drawn: list[np.ndarray]
) -> Iterator[np.ndarray]:
    """Yield the parts without a random share `hold_out` of all edges, which is appended to `drawn`."""
    wanted = min(share("hold_out", hold_out), MOST_HELD_OUT / edges)
    for number, part in enumerate(parts):
        if not wanted:
            yield part
            continue
        out = np.random.default_rng([seed, number]).random(part.shape[1]) < wanted
        drawn.append(part[:, out].T)
        yield part[:, ~out]
