"""Assign nodes to processes in a fixed pseudo-random order that is computed, not stored.

In the order of a file, hubs are often neighbours. In random order, every process has about as many edges and
receives about as many requests as the others. From a file of numbered nodes, each process reads batches and
keeps its own edges.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from timelike.core.hashed_random import Shuffle
from timelike.graphs.digraph import MOST_NODES, DiGraph
from timelike.graphs.node_names import Names, name_numbers
from timelike.io.columns import Columns, pick
from timelike.io.parquet import BATCH
from timelike.io.sources import is_several, local_files
from timelike.io.untrusted_parquet import check_pages

if TYPE_CHECKING:
    import polars as pl

#: Number of nodes placed at a time.
PIECE = 1 << 20


def places(nodes: np.ndarray, count: int) -> np.ndarray:
    """The place of each of these nodes among `count`: a number in 0 … count − 1."""
    place, result = _places(count), np.empty(len(nodes), np.int32)
    for i in range(0, len(nodes), PIECE):
        piece = nodes[i : i + PIECE]
        full = np.zeros(min(PIECE, 1 << max(len(piece) - 1, 0).bit_length()), np.int32)
        full[: len(piece)] = piece
        result[i : i + PIECE] = np.asarray(place(full))[: len(piece)]
    return result


@functools.cache
def _places(count: int) -> Any:
    """A permutation of the grid of `Shuffle`, applied again to values outside 0 … count − 1."""

    @jax.jit
    def place(nodes: jax.Array) -> jax.Array:
        shuffle = Shuffle.draw(jax.random.key(0), count)
        return jax.lax.while_loop(
            lambda x: jnp.any(x >= count), lambda x: jnp.where(x < count, x, shuffle(x)), shuffle(nodes)
        )

    return place


def dealt(graph: DiGraph) -> DiGraph:
    """The graph with its nodes in the order of `places`."""
    sources, targets = (places(x, graph.num_nodes) for x in (graph.sources, graph.targets))
    return DiGraph.from_arrays(sources, targets, graph.num_nodes, None, graph.weights)


@contextmanager
def numbered_files(source: Any, columns: Columns | None = None) -> Iterator[list[Path] | None]:
    """The files of a source if all are Parquet with integers for nodes and no weights, otherwise None."""
    if not (is_several(source) or str(source).endswith(".parquet")):
        yield None
        return
    with local_files(source) as places:
        files = [place.file for place in places]
        yield files if all(is_numbered(file, columns) for file in files) else None


def is_numbered(path: Path, columns: Columns | None = None) -> bool:
    """Whether this is a Parquet file with integers for nodes and without weights."""
    import polars as pl

    if path.suffix != ".parquet" or not path.is_file():
        return False
    try:
        check_pages(path)
        schema = pl.scan_parquet(path, glob=False).collect_schema()
    except (ValueError, pl.exceptions.PolarsError):  # reading the file reports what is wrong
        return False
    names = schema.names()
    if len(names) < 2:
        return False
    used = pick(str(path), names, len(names), columns, None)
    return used.weight is None and all(schema[names[i]].is_integer() for i in used[:2])


class OwnEdges(NamedTuple):
    """The dealt graph with only the edges of some nodes, and the names of all nodes in their order."""

    dealt: DiGraph
    names: Names | None


class NumberedFiles(NamedTuple):
    """Files of numbered nodes, read batch by batch.

    Nodes are numbered as by `timelike.read`: those that occur (`ids`), in ascending order. `ids` is None if
    they are 0 … n − 1 already.
    """

    tables: Sequence[pl.LazyFrame]
    num_nodes: int
    ids: np.ndarray | None

    @classmethod
    def of(cls, files: Sequence[Path], columns: Columns | None = None) -> NumberedFiles:
        """Open Parquet files and look for the nodes in them."""
        tables = [_ends(file, columns) for file in files]
        ids = _nodes_in(files, tables)
        plain = ids[0] == 0 and ids[-1] == len(ids) - 1
        return cls(tables, len(ids), None if plain else ids)

    @property
    def names(self) -> Names | None:
        """The names of the nodes, if they are not their numbers."""
        return None if self.ids is None else name_numbers(self.ids)

    def batches(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Sources and targets by number, without self-loops."""
        for table in self.tables:
            for batch in table.collect_batches(chunk_size=BATCH):
                s, t = (batch[end].to_numpy().astype(np.int64, copy=False) for end in "st")
                if self.ids is not None:
                    s, t = np.searchsorted(self.ids, s), np.searchsorted(self.ids, t)
                yield s[s != t], t[s != t]


def own_edges(
    files: Sequence[Path], own: Callable[[int], tuple[int, int]], columns: Columns | None = None
) -> OwnEdges:
    """The dealt graph of numbered files, with only the edges of nodes [first, last) = `own(count)`."""
    source = NumberedFiles.of(files, columns)
    first, last = own(source.num_nodes)
    kept: list[np.ndarray] = [np.zeros((2, 0), np.int32)]
    for s, t in source.batches():
        sources = places(s, source.num_nodes)
        keep = (first <= sources) & (sources < last)
        kept.append(np.stack([sources[keep], places(t[keep], source.num_nodes)]))
    dealt_ends = np.concatenate(kept, axis=1)
    del kept
    return OwnEdges(DiGraph.from_arrays(dealt_ends[0], dealt_ends[1], source.num_nodes), source.names)


def _ends(file: Path, columns: Columns | None) -> pl.LazyFrame:
    """The sources and targets of a file, as columns s and t."""
    import polars as pl

    table = pl.scan_parquet(file, glob=False)
    names = table.collect_schema().names()
    used = pick(str(file), names, len(names), columns, None)
    return table.select(*(pl.col(names[i]).alias(end) for i, end in zip(used[:2], "st", strict=True)))


def _nodes_in(files: Sequence[Path], tables: Sequence[pl.LazyFrame]) -> np.ndarray:
    """The nodes that occur in any of the tables, ascending: a byte per number up to the largest."""
    import polars as pl

    tops = []
    ends = pl.col("s", "t")
    limits = [x.name.prefix(f"{i}") for i, x in enumerate((ends.min(), ends.max(), ends.null_count()))]
    for file, table in zip(files, tables, strict=True):
        found = table.select(limits).collect(engine="streaming").row(0)
        least, most, missing = min(found[:2]), max(found[2:4]), sum(found[4:])
        if missing or least < 0 or most >= MOST_NODES:
            wrong = "rows without a node" if missing else f"nodes from {least} to {most}"
            raise ValueError(f"{file} has {wrong}; nodes must be numbers from 0 to {MOST_NODES - 1}")
        tops.append(most)
    seen = np.zeros(max(tops) + 1, bool)
    for table in tables:
        for batch in table.collect_batches(chunk_size=BATCH):
            seen[batch["s"].to_numpy()] = seen[batch["t"].to_numpy()] = True
    return np.flatnonzero(seen)
