"""R-MAT graphs (Chakrabarti, Zhan and Faloutsos 2004), in memory or streamed to a file.

To draw an edge, choose a quarter of the 2^scale × 2^scale adjacency matrix with probability a (top left),
b (top right), c (bottom left) or d = 1 − a − b − c (bottom right), and repeat inside it until one entry is
left. The defaults are those of Graph500. A stochastic Kronecker graph of [[a, b], [c, d]] is the same model.

Edges are drawn in chunks. Chunk k has its own generator, seeded with (seed, k), so a graph in memory and a
streamed one have the same edges. Self-loops are dropped, which leaves slightly fewer edges than
edge_factor · 2^scale. A file keeps repeated edges; a `DiGraph` keeps one of each.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from timelike._util.atomic_files import replacing
from timelike._util.checks import whole_number
from timelike.datasets.families import check_probabilities
from timelike.graphs.digraph import DiGraph

#: Edges drawn at a time, few enough for the processor's cache.
DRAW = 2**16
#: Draws per chunk: a million edges, of which a stream holds a few in memory and writes each as a row group.
DRAWS = 16


def rmat(
    scale: int = 10, edge_factor: int = 16, a: float = 0.57, b: float = 0.19, c: float = 0.19, seed: int = 0
) -> DiGraph:
    """An R-MAT graph of 2^scale nodes and about edge_factor · 2^scale edges before merging repeated ones."""
    edges = whole_number("edge_factor", edge_factor, 1) * 2 ** whole_number("scale", scale, 1, 30)
    if edges >= 2**31:
        raise ValueError(f"edge_factor · 2^scale is {edges}; it must be < 2^31; export to .parquet instead")
    chunks = list(_chunks(scale, edge_factor, (a, b, c), seed))
    sources, targets = (np.concatenate(ends) for ends in zip(*chunks, strict=True))
    return DiGraph.from_arrays(sources, targets, 2**scale)


def rmat_to_parquet(
    path: str | os.PathLike,
    scale: int,
    edge_factor: int = 16,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    seed: int = 0,
) -> int:
    """Write the edges of `rmat` to a Parquet file, chunk by chunk, and return their number.

    The columns are `source` and `target`. Memory does not grow with the graph. The file appears once it is
    complete.
    """
    import polars as pl
    from polars.io.plugins import register_io_source

    count, schema = 0, {"source": pl.Int32(), "target": pl.Int32()}

    chunks = _chunks(scale, edge_factor, (a, b, c), seed)
    first = next(chunks)  # which checks the arguments

    def tables(*_: Any) -> Iterator[pl.DataFrame]:
        nonlocal count
        for sources, targets in itertools.chain([first], chunks):
            count += sources.size
            yield pl.DataFrame({"source": sources, "target": targets}, schema)

    with replacing(path) as part:
        table = register_io_source(tables, schema=schema, validate_schema=False)
        table.sink_parquet(part, row_group_size=DRAW * DRAWS, compression="lz4")
    return count


def _chunks(
    scale: int, edge_factor: int, abc: tuple[float, float, float], seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield sources and targets, chunk by chunk."""
    total = whole_number("edge_factor", edge_factor, 1) * 2 ** whole_number("scale", scale, 1, 30)
    whole_number("seed", seed)
    check_probabilities(**dict(zip("abc", abc, strict=True)))
    if sum(abc) > 1 + 1e-9:
        raise ValueError(f"a + b + c is {sum(abc):g}; it must be ≤ 1")
    for k, start in enumerate(range(0, total, DRAW * DRAWS)):
        rng = np.random.Generator(np.random.SFC64([seed, k]))
        stop = min(start + DRAW * DRAWS, total)
        drawn = [_draw(rng, scale, min(DRAW, stop - at), abc) for at in range(start, stop, DRAW)]
        sources, targets = (np.concatenate(ends) for ends in zip(*drawn, strict=True))
        proper = sources != targets
        yield sources[proper], targets[proper]


def _draw(
    rng: np.random.Generator, scale: int, count: int, abc: tuple[float, float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Draw `count` edges, one bit of source and target per level."""
    a, ab, abc_ = np.cumsum(np.asarray(abc), dtype=np.float32)
    source, target = np.zeros((2, count), np.int32)
    for _ in range(scale):
        u = rng.random(count, dtype=np.float32)
        bottom = u >= ab
        right = ((u >= a) != bottom) | (u >= abc_)
        source <<= 1
        source |= bottom
        target <<= 1
        target |= right
    return source, target
