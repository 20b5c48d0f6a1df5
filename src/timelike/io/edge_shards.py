"""Edges in a folder of memory-mapped parts, for graphs larger than memory.

`shards.json` holds the numbers of nodes and edges. `part-00000.npy` and so on hold sources and targets: two
rows of 32-bit numbers, sorted and unique. A hash assigns each edge to a part, so each part is a random sample
of the edges. `degrees.npy` holds the out-degrees and in-degrees, `held-out.npy` validation edges that are in
no part, and `names.npy` or `names.parquet` the names of the nodes.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Hashable
from functools import cached_property
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import polars as pl

from timelike._util.atomic_files import read_text, replacing_folder
from timelike._util.checks import whole_number
from timelike.graphs.digraph import MOST_NODES, DiGraph
from timelike.graphs.edge_sorting import sorted_unique
from timelike.graphs.node_names import NameColumn, Names, NumberColumn
from timelike.io.untrusted_parquet import read_table

HEAD, DEGREES, HELD_OUT = "shards.json", "degrees.npy", "held-out.npy"
NAMES = ("names.npy", "names.parquet")

#: More validation edges than this do not choose the best epoch any better.
MOST_HELD_OUT = 20_000
#: Edges per part: half a gibibyte. A device holds three parts at a time.
PER_PART = 1 << 26


class EdgeShards:
    """A folder of edges that `EdgeShards.write` wrote; `train` streams from it as from a graph."""

    def __init__(self, folder: str | os.PathLike):
        self.folder = Path(folder)
        head = self.folder / HEAD
        try:
            about = json.loads(read_text(head))
            self.num_nodes = whole_number("nodes", about["nodes"], 1, MOST_NODES)
            self.counts = [whole_number("edges", x) for x in about["edges"]]
            self.checksum = str(about["checksum"])
        except (KeyError, RecursionError, TypeError, ValueError):
            raise ValueError(f"{head} is not a valid index of edge shards; write the shards again") from None
        except (FileNotFoundError, NotADirectoryError):
            raise FileNotFoundError(
                f"{self.folder} is not a folder of edge shards; EdgeShards.write creates one"
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
        """Divide the edges of a file or of a `DiGraph` into parts of at most about `per_part` edges.

        The file must be an edge list, SIF or Parquet; it is read once, in batches. One part and the nodes'
        names and numbers must fit into memory. Self-loops and repetitions are dropped; weights and times are
        not read. `hold_out` is the share of edges to hold out for validation, drawn with `seed`, at most
        about 20,000; see `streaming.validation_pairs`. `options` are those of `read` for the file format.
        """
        from timelike.io.shard_writer import write_shards

        with replacing_folder(Path(folder)) as new:
            write_shards(source, new, per_part, hold_out, seed, options)
        return cls(folder)

    @property
    def num_edges(self) -> int:
        """The number of edges in all parts."""
        return sum(self.counts)

    @cached_property
    def names(self) -> Names | None:
        """The names of the nodes; None if they are numbers 0 … n − 1."""
        numbers, texts = (self.folder / file for file in NAMES)
        if numbers.exists():
            return NumberColumn(np.array(_array(numbers, np.int64, (self.num_nodes,))))
        if not texts.exists():
            return None

        try:
            column = read_table(texts).get_column("name", default=None)
        except ValueError as error:
            raise ValueError(f"{texts}: {error}; write the shards again") from None
        if column is None or column.dtype != pl.String or column.count() != self.num_nodes:
            raise ValueError(f"{texts} does not match {HEAD}; write the shards again")
        return NameColumn(column)

    def name(self, node: int) -> Hashable:
        """The name of a node."""
        return int(node) if self.names is None else self.names[node]

    def part(self, number: int) -> np.ndarray:
        """Memory-map the sources and targets of one part, (2, edges)."""
        return _array(part_file(self.folder, number), np.int32, (2, self.counts[number]))

    def in_memory(self) -> DiGraph:
        """The edges of all parts as one graph, without those that are held out."""
        s, t = np.concatenate([self.part(number) for number in range(len(self.counts))], axis=1)
        return DiGraph.from_arrays(s, t, self.num_nodes, self.names)

    @property
    def degrees(self) -> np.ndarray:
        """The out-degrees and in-degrees of the nodes, (2, nodes)."""
        return np.array(_array(self.folder / DEGREES, np.int32, (2, self.num_nodes)))

    @property
    def held_out(self) -> np.ndarray:
        """The held-out edges, which are in no part, (edges, 2)."""
        return np.array(_array(self.folder / HELD_OUT, np.int32, (None, 2)))

    def has_edges(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Whether each pair is an edge of some part or held out, by binary search in every part."""
        s, t = (np.asarray(ends, np.int32) for ends in (sources, targets))
        known = np.zeros(s.shape, bool)
        parts = [self.part(i) for i in range(len(self.counts))]
        for ends in [*parts, np.stack(sorted_unique(*self.held_out.T))]:
            low, high = (np.searchsorted(ends[0], s, side) for side in ("left", "right"))
            for i in np.flatnonzero(low < high):
                row = ends[1][low[i] : high[i]]
                at = np.searchsorted(row, t[i])
                known[i] |= at < len(row) and row[at] == t[i]
        return known

    def __repr__(self) -> str:
        return f"EdgeShards({self.num_nodes:,} nodes, {self.num_edges:,} edges, {len(self.counts)} parts)"


#: The graphs that `train` accepts.
AnyGraph = DiGraph | EdgeShards


def _array(file: Path, kind: type, shape: tuple[int | None, ...]) -> np.ndarray:
    """Memory-map an array of the given dtype and shape (None: any length)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about headers written by Python 2
            array = np.lib.format.open_memmap(file, mode="r")
    except (OSError, OverflowError, SyntaxError, TokenError, TypeError, ValueError) as error:
        raise ValueError(f"{file} cannot be read ({error}); write the shards again") from None
    lengths = [length if want is None else want for length, want in zip(array.shape, shape, strict=False)]
    if array.dtype != kind or array.ndim != len(shape) or list(array.shape) != lengths:
        raise ValueError(f"{file} does not match {HEAD}; write the shards again")
    return array


def part_file(folder: Path, number: int) -> Path:
    """Return the file of a part."""
    return folder / f"part-{number:05d}.npy"
