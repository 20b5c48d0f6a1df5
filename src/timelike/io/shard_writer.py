"""Write the parts of `EdgeShards` from a file or a graph; a hash assigns each edge to a part.

Batches of the file are numbered and appended to one temporary file per part. Then, part by part, nodes get
the final numbers that `timelike.read` would give, and edges are sorted; repetitions share a part and merge.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from timelike._util.checks import share, show, whole_number
from timelike.graphs.digraph import DiGraph
from timelike.graphs.edge_sorting import sorted_unique
from timelike.graphs.node_names import NameColumn, Names
from timelike.io import parquet
from timelike.io.byte_streams import File
from timelike.io.edge_shards import DEGREES, HEAD, HELD_OUT, MOST_HELD_OUT, NAMES, part_file
from timelike.io.formats import find_rows
from timelike.io.graph_builder import Builder
from timelike.io.sources import Place, is_several, local_files

#: Estimated bytes per line of an edge list, at least.
BYTES_PER_LINE = 12
#: The parts, each (2, edges), sorted and unique; the number of edges with repetitions, of nodes; names.
Parts = tuple[Iterator[np.ndarray], int, int, Names | None]


class _Spilling(Builder):
    """Numbers nodes on arrival and appends edges to the files of their parts."""

    def __init__(self, source: str, folder: Path, parts: int, skip_bad_rows: bool):
        super().__init__(source, skip_bad_rows=skip_bad_rows)
        self._files = [folder / f"{i}.edges" for i in range(parts)]
        for file in self._files:
            file.touch()

    def add(self, sources: pl.Series, targets: pl.Series, *_: Any, **__: Any) -> None:
        """Add edges between names; ignore weights and times."""
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


def write_shards(
    source: Any, folder: Path, per_part: int, hold_out: float, seed: int, options: dict[str, Any]
) -> None:
    """Write the parts of a file or of a `DiGraph` to a folder; a single part keeps the graph's edge order."""
    whole_number("per_part", per_part, 1)
    wanted = share("hold_out", hold_out)
    read = _graph_parts if isinstance(source, DiGraph) else _file_parts
    parts, edges, nodes, names = read(source, folder, per_part, **options)
    wanted = min(wanted, MOST_HELD_OUT / max(edges, 1))
    degrees, counts, digest = np.zeros((2, nodes), np.int32), [], hashlib.sha256()
    held_out = [np.zeros((0, 2), np.int32)]
    for number, part in enumerate(parts):
        if wanted:
            out = np.random.default_rng([seed, number]).random(part.shape[1]) < wanted
            held_out.append(part[:, out].T)
            part = part[:, ~out]
        part = np.ascontiguousarray(part, np.int32)
        np.save(part_file(folder, number), part)
        counts.append(part.shape[1])
        digest.update(part.tobytes())
        for end in range(2):
            degrees[end] += np.bincount(part[end], minlength=nodes).astype(np.int32)
    if not sum(counts):
        raise ValueError("no edges between different nodes; there is nothing to train on")
    np.save(folder / DEGREES, degrees)
    np.save(folder / HELD_OUT, np.concatenate(held_out))
    if names is not None:
        _write_names(folder, names)
    about = {"nodes": nodes, "edges": counts, "checksum": digest.hexdigest()[:16]}
    (folder / HEAD).write_text(json.dumps(about), encoding="utf-8")


def _file_parts(
    source: Any,
    folder: Path,
    per_part: int,
    format: str | None = None,
    skip_bad_rows: bool = False,
    **options: Any,
) -> Parts:
    alone = None if is_several(source) else [Place(Path(source), str(source))]
    with nullcontext(alone) if alone else local_files(source) as places, ExitStack() as stack:
        files = [stack.enter_context(File(place.file, place.name)) for place in places]
        forms = [find_rows(file, options, format) for file in files]
        rows = sum(map(_rows, files, forms))
        name = files[0].name if len(files) == 1 else f"{len(files):,} files"
        builder = _Spilling(name, folder, max(1, -(-rows // per_part)), skip_bad_rows)
        for file, form in zip(files, forms, strict=True):
            builder.source = file.name
            form.collect(file, builder, **options)
    if not builder.rows:
        raise ValueError(f"{name}: there are no edges in it")
    names, rank, nodes = builder.final_names()
    return builder.parts(rank), builder.rows, nodes, names


def _rows(file: File, form: Any) -> int:
    """About how many rows a file has, at most."""
    assert file.path is not None
    return parquet.row_count(file) if form.name == "parquet" else file.path.stat().st_size // BYTES_PER_LINE


def _graph_parts(graph: DiGraph, _: Path, per_part: int, **__: Any) -> Parts:
    parts = -(-graph.num_edges // per_part)
    part = part_of(graph.sources, graph.targets, parts)
    edges = np.stack([graph.sources, graph.targets])
    return (edges[:, part == i] for i in range(parts)), graph.num_edges, graph.num_nodes, graph.names


def _write_names(folder: Path, names: Any) -> None:
    column = names.to_numpy() if isinstance(names, NameColumn) else np.asarray(names)
    if column.dtype.kind == "i":
        np.save(folder / NAMES[0], column.astype(np.int64))
        return

    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"the first node is named {show(names[0])}; names must be all text or all integers")
    pl.DataFrame({"name": pl.Series(list(names))}).write_parquet(folder / NAMES[1])


def part_of(sources: np.ndarray, targets: np.ndarray, parts: int) -> np.ndarray:
    """Return the part of each edge, a hash of its ends."""
    s, t = (ends.astype(np.uint32) for ends in (sources, targets))
    mixed = (s * np.uint32(0x9E3779B1) + t) * np.uint32(0x85EBCA77)
    mixed ^= mixed >> np.uint32(15)
    return ((mixed * np.uint32(0xC2B2AE3D)) >> np.uint32(8)) % np.uint32(parts)
