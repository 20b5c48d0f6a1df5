"""Edges in a folder of memory-mapped parts: as many as fit on the disk, not in memory.

`shards.json` says how many nodes and edges there are. `part-00000.npy` and so on hold sources and targets,
two rows of 32-bit numbers, sorted and unique; which part an edge is in is decided by a hash, so each part is
a random sample of the edges. `degrees.npy` holds how many edges leave and enter each node, `held-out.npy`
edges that are in no part, to validate on, and `names.npy` or `names.parquet` the names of nodes.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Hashable, Iterable
from functools import cached_property
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from timelike._util.atomic_files import read_text, replacing_folder
from timelike._util.checks import show, whole_number
from timelike.graphs.digraph import MOST_NODES, DiGraph
from timelike.graphs.edge_sorting import sorted_unique
from timelike.graphs.node_names import NameColumn, Names, NumberColumn
from timelike.io.untrusted_parquet import read_table

HEAD, DEGREES, HELD_OUT = "shards.json", "degrees.npy", "held-out.npy"
NAMES = ("names.npy", "names.parquet")

#: More edges than these tell no better which epoch is best.
MOST_HELD_OUT = 20_000
#: Edges in a part: half a gibibyte, of which a device holds three at a time.
PER_PART = 1 << 26


class EdgeShards:
    """A folder of edges to stream from, as `EdgeShards.write` made it; `train` takes it like a graph."""

    def __init__(self, folder: str | os.PathLike):
        self.folder = Path(folder)
        head = self.folder / HEAD
        try:
            about = json.loads(read_text(head))
            self.num_nodes = whole_number("nodes", about["nodes"], 1, MOST_NODES)
            self.counts = [whole_number("edges", x) for x in about["edges"]]
            self.checksum = str(about["checksum"])
        except (KeyError, RecursionError, TypeError, ValueError):
            raise ValueError(f"{head} is not of a folder of shards; write it anew") from None
        except (FileNotFoundError, NotADirectoryError):
            raise FileNotFoundError(
                f"{self.folder} is no folder of shards; EdgeShards.write makes one"
            ) from None

    @classmethod
    def write(
        cls,
        source: Any,
        folder: str | os.PathLike,
        *,
        per_part: int = PER_PART,
        hold_out: float = 0.0,
        seed: int = 0,
        **options: Any,
    ) -> EdgeShards:
        """Divide the edges of a file, as `timelike.read` takes them, or of a `DiGraph` into parts.

        The file is an edge list or Parquet and is read once, in pieces; a part must fit into memory, the
        nodes' names and numbers too. Loops and repetitions are left out; weights and times are not read.
        `hold_out` is the share of edges to draw, by `seed`, to validate on, but at most about 20,000; see
        `streaming.validation_pairs`. `options` are those of `read` for such files.
        """
        from timelike.io.shard_writer import shard_file, shard_graph

        with replacing_folder(Path(folder)) as new:
            if isinstance(source, DiGraph):
                shard_graph(source, new, per_part, hold_out, seed)
            else:
                shard_file(os.fspath(source), new, per_part, hold_out, seed, **options)
        return cls(folder)

    @property
    def num_edges(self) -> int:
        """How many edges there are, in all parts."""
        return sum(self.counts)

    @cached_property
    def names(self) -> Names | None:
        """What the user calls the nodes; None: their numbers."""
        numbers, texts = (self.folder / file for file in NAMES)
        if numbers.exists():
            return NumberColumn(np.array(_array(numbers, np.int64, (self.num_nodes,))))
        if not texts.exists():
            return None
        import polars as pl

        try:
            column = read_table(texts).get_column("name", default=None)
        except ValueError as error:
            raise ValueError(f"{texts}: {error}; write the shards anew") from None
        if column is None or column.dtype != pl.String or column.count() != self.num_nodes:
            raise ValueError(f"{texts} is not as {HEAD} says; write the shards anew")
        return NameColumn(column)

    def name(self, node: int) -> Hashable:
        """What the user calls a node."""
        return int(node) if self.names is None else self.names[node]

    def part(self, number: int) -> np.ndarray:
        """Sources and targets of one part, (2, edges), memory-mapped."""
        return _array(_part(self.folder, number), np.int32, (2, self.counts[number]))

    @property
    def degrees(self) -> np.ndarray:
        """How many edges leave and enter each node, (2, nodes)."""
        return np.array(_array(self.folder / DEGREES, np.int32, (2, self.num_nodes)))

    @property
    def held_out(self) -> np.ndarray:
        """Edges that are in no part, (edges, 2)."""
        return np.array(_array(self.folder / HELD_OUT, np.int32, (None, 2)))

    def has_edges(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Whether each pair is an edge of some part, or held out: binary searches in every part."""
        s, t = (np.asarray(ends, np.int32) for ends in (sources, targets))
        found = np.zeros(s.shape, bool)
        parts = [self.part(i) for i in range(len(self.counts))]
        for ends in [*parts, np.stack(sorted_unique(*self.held_out.T))]:
            low, high = (np.searchsorted(ends[0], s, side) for side in ("left", "right"))
            for i in np.flatnonzero(low < high):
                row = ends[1][low[i] : high[i]]
                at = np.searchsorted(row, t[i])
                found[i] |= at < len(row) and row[at] == t[i]
        return found

    def __repr__(self) -> str:
        return f"EdgeShards({self.num_nodes:,} nodes, {self.num_edges:,} edges, {len(self.counts)} parts)"


#: What can be trained on.
AnyGraph = DiGraph | EdgeShards


def write_parts(
    folder: Path, parts: Iterable[np.ndarray], nodes: int, names: Any, held_out: Iterable[np.ndarray]
) -> None:
    """Fill a folder with parts, each (2, edges), sorted and unique; held-out edges come (edges, 2)."""
    degrees, counts, digest = np.zeros((2, nodes), np.int32), [], hashlib.sha256()
    for number, part in enumerate(parts):
        np.save(_part(folder, number), np.ascontiguousarray(part, np.int32))
        counts.append(part.shape[1])
        digest.update(np.ascontiguousarray(part, np.int32).tobytes())
        for end in range(2):
            degrees[end] += np.bincount(part[end], minlength=nodes).astype(np.int32)
    if not sum(counts):
        raise ValueError("there are no edges between different nodes to learn from")
    np.save(folder / DEGREES, degrees)
    np.save(folder / HELD_OUT, np.concatenate([np.zeros((0, 2), np.int32), *held_out]))
    if names is not None:
        _write_names(folder, names)
    about = {"nodes": nodes, "edges": counts, "checksum": digest.hexdigest()[:16]}
    (folder / HEAD).write_text(json.dumps(about), encoding="utf-8")


def _write_names(folder: Path, names: Any) -> None:
    column = names.to_numpy() if isinstance(names, NameColumn) else np.asarray(names)
    if column.dtype.kind == "i":
        np.save(folder / NAMES[0], column.astype(np.int64))
        return
    import polars as pl

    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"the first node is called {show(names[0])}; names must be all texts or all numbers")
    pl.DataFrame({"name": pl.Series(list(names))}).write_parquet(folder / NAMES[1])


def _array(file: Path, kind: type, shape: tuple[int | None, ...]) -> np.ndarray:
    """An array as it should be, memory-mapped; None: any length."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers as Python 2 wrote them
            found = np.lib.format.open_memmap(file, mode="r")
    except (OSError, OverflowError, SyntaxError, TokenError, TypeError, ValueError) as error:
        raise ValueError(f"{file} cannot be read ({error}); write the shards anew") from None
    lengths = [length if want is None else want for length, want in zip(found.shape, shape, strict=False)]
    if found.dtype != kind or found.ndim != len(shape) or list(found.shape) != lengths:
        raise ValueError(f"{file} is not as {HEAD} says; write the shards anew")
    return found


def _part(folder: Path, number: int) -> Path:
    return folder / f"part-{number:05d}.npy"
