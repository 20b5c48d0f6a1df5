"""Files of 10⁸ edges into a DiGraph: seconds and peak memory, each in a fresh process.

Edges are uniform between 10⁷ nodes, the worst case for every cache. Files are written to a temporary
folder (2.5 GB at most at a time) and read once just before, so that the disk is not what is timed.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.harness import Line, Options, child, peak_gib

EDGES, QUICK_EDGES, DEGREE = 10**8, 5 * 10**6, 10
PIECE = 10**7
#: Name → ending, the most seconds and GiB for 10⁸ edges (None: no target).
CASES = {
    "Parquet, ids 0 … n − 1": (".parquet", 15, 4),
    "Parquet, ids far apart": (".wide.parquet", 15, 4),
    "TSV, names as text": (".tsv", 90, None),
}


def run(options: Options) -> list[Line]:
    edges = QUICK_EDGES if options.quick else EDGES
    lines = []
    for name, (ending, *limits) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"edges{ending}"
            child("benchmarks.readers", "write", str(path), str(edges))
            seen = child("benchmarks.readers", "read", str(path))
        work = f"read {edges:,} edges: {name}"
        for limit, key, unit in zip(limits, ("seconds", "peak_gib"), ("s", "GiB"), strict=True):
            if limit is None or options.quick:
                lines.append(Line(work, seen[key], unit, details=seen))
            else:
                lines.append(Line.at_most(limit, work, seen[key], unit, **seen))
    seen = child("benchmarks.readers", "describe", str(min(edges, 10**7)))
    lines.append(Line(f"describe {seen['edges']:,} edges", seen["seconds"], "s", details=seen))
    return lines


def write(path: Path, edges: int) -> dict[str, int]:
    """A file of uniform edges, with names as its ending asks for."""
    import polars as pl

    rng = np.random.default_rng(0)
    nodes = edges // DEGREE
    pieces = [rng.integers(0, nodes, (2, min(PIECE, edges - i))) for i in range(0, edges, PIECE)]
    tables = (pl.DataFrame({"source": s, "target": t}) for s, t in pieces)
    if path.suffix == ".tsv":
        with path.open("wb") as file:
            for table in tables:
                names = table.select(pl.format("node{}", pl.col(x)).alias(x) for x in table.columns)
                names.write_csv(file, separator="\t", include_header=False)
    else:
        whole = pl.concat(tables)
        if ".wide" in path.suffixes:
            whole = whole.select(pl.all() * 1_000_000_007)
        whole.write_parquet(path)
    return {"bytes": path.stat().st_size}


def read(path: Path) -> dict[str, float]:
    """Read a file, and say how long it took and how much memory it needed at most."""
    import timelike

    with path.open("rb") as file:
        while file.read(2**24):
            pass
    return measured(lambda: timelike.read(path))


def describe(edges: int) -> dict[str, float]:
    """Describe a random graph."""
    from timelike.graphs.digraph import DiGraph

    s, t = np.random.default_rng(0).integers(0, edges // DEGREE, (2, edges))
    graph = DiGraph.from_arrays(s, t)
    return {**measured(graph.describe), "edges": graph.num_edges}


def measured(work) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    taken = {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
    peak = peak_gib()
    sizes = {"nodes": getattr(result, "num_nodes", 0), "edges": getattr(result, "num_edges", 0)}
    return {**taken, "peak_gib": peak, **sizes}


if __name__ == "__main__":
    if sys.argv[1] == "write":
        print(json.dumps(write(Path(sys.argv[2]), int(sys.argv[3]))))
    elif sys.argv[1] == "read":
        print(json.dumps(read(Path(sys.argv[2]))))
    else:
        print(json.dumps(describe(int(sys.argv[2]))))
