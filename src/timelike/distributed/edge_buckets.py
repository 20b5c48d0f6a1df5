"""Edges on disk in buckets, one for each pair of partitions of the nodes, for tables larger than memory.

Of every `partitions` nodes with consecutive numbers, each goes to another partition, in an order that a hash
of the numbers turns: hubs that are neighbours in a file spread out, and the table of all nodes can be put
together piece by piece. Bucket p, q holds the edges from partition p to partition q, by numbers within these.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from timelike.distributed.node_dealing import NumberedFiles
from timelike.graphs.node_names import Names
from timelike.io.columns import Columns

HEAD = "buckets.json"
#: Most partitions: a bucket is a file.
MOST = 64


class EdgeBuckets(NamedTuple):
    """A folder of buckets of the edges between `nodes` nodes in partitions of at most `rows`."""

    folder: Path
    nodes: int
    partitions: int
    counts: np.ndarray

    @property
    def rows(self) -> int:
        """The number of nodes of the largest partition."""
        return -(-self.nodes // self.partitions)

    @property
    def num_edges(self) -> int:
        """The number of edges; it may be larger than 2³¹."""
        return int(self.counts.sum())

    @classmethod
    def write(cls, source: NumberedFiles, folder: Path, partitions: int) -> EdgeBuckets:
        """Read files batch by batch into a new folder; repeated edges and self-loops are left out."""
        folder.mkdir(parents=True)
        for s, t in source.batches():
            bucket = partition_of(s, partitions) * partitions + partition_of(t, partitions)
            order = np.argsort(bucket, kind="stable")
            ends = np.stack([s, t], axis=1)[order] // partitions
            cuts = np.searchsorted(bucket[order], np.arange(partitions**2 + 1))
            for number in np.flatnonzero(np.diff(cuts)):
                with open(folder / str(number), "ab") as out:
                    out.write(ends[cuts[number] : cuts[number + 1]].astype(np.int32).tobytes())
        counts = np.zeros(partitions**2, np.int64)
        for i, file in enumerate(folder / str(number) for number in range(partitions**2)):
            if file.exists():
                edges = np.unique(np.fromfile(file, np.int32).reshape(-1, 2).view(np.int64))
                edges.tofile(file)
                counts[i] = len(edges)
        if not counts.any():
            raise ValueError("no edges between different nodes; there is nothing to train on")
        about = {"nodes": source.num_nodes, "partitions": partitions, "counts": counts.tolist()}
        (folder / HEAD).write_text(json.dumps(about), encoding="utf-8")
        return cls.read(folder)

    @classmethod
    def read(cls, folder: Path) -> EdgeBuckets:
        """Open a folder that `write` has completed."""
        about = json.loads((folder / HEAD).read_text(encoding="utf-8"))
        count = about["partitions"]
        return cls(folder, about["nodes"], count, np.array(about["counts"]).reshape(count, count))

    def between(self, p: int, q: int, inside: bool) -> np.ndarray:
        """The (n, 2) edges between two partitions, or `inside` each of them; nodes of q come after p's."""
        pairs = [(p, p), (q, q)] if inside else [(p, q), (q, p)]
        shift = {p: 0, q: self.rows}
        parts = []
        for a, b in pairs:
            if self.counts[a, b]:
                edges = np.fromfile(self.folder / str(a * self.partitions + b), np.int32).reshape(-1, 2)
                parts.append(edges + np.array([shift[a], shift[b]], np.int32))
        return np.concatenate(parts) if parts else np.zeros((0, 2), np.int32)

    def number_of(self, partition: int, first: int, last: int) -> np.ndarray:
        """The nodes with places first … last − 1 of a partition."""
        block = np.arange(first, last, dtype=np.int64)
        return block * self.partitions + (partition - _turn(block)) % self.partitions


def partition_of(nodes: np.ndarray, partitions: int) -> np.ndarray:
    """The partition of each node."""
    return (nodes + _turn(nodes // partitions)) % partitions


def _turn(block: np.ndarray) -> np.ndarray:
    return ((block.astype(np.uint32) * np.uint32(0x9E3779B1)) >> np.uint32(16)).astype(np.int64)


def opened(
    files: Sequence[Path], columns: Columns | None, folder: Path, partitions: int
) -> tuple[EdgeBuckets, Names | None]:
    """The buckets in a folder, which are written unless they are there, and the names of the nodes."""
    source = NumberedFiles.of(files, columns)
    if not (folder / HEAD).exists():
        shutil.rmtree(folder, ignore_errors=True)
        EdgeBuckets.write(source, folder, partitions)
    buckets = EdgeBuckets.read(folder)
    if (buckets.partitions, buckets.nodes) != (partitions, source.num_nodes):
        raise ValueError(
            f"{folder} has {buckets.nodes:,} nodes in {buckets.partitions} partitions; the files have "
            f"{source.num_nodes:,} nodes, and partitions is {partitions}; pass the same as before"
        )
    return buckets, source.names
