"""A graph of 10⁸ edges on one machine: R-MAT from a Parquet file, one epoch, time and peak memory.

An example is a pair that is scored and whose points move: an edge and each of its four negatives.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness import Line, Options, child, peak_gib, tfd

DIM, BATCH, PAIRS = 16, 4096, 5
SCALE, EDGE_FACTOR = 25, 3


def run(options: Options) -> list[Line]:
    from timelike.datasets.rmat import rmat_to_parquet

    scale = SCALE - 6 if options.quick else SCALE
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "edges.parquet"
        rmat_to_parquet(file, scale, EDGE_FACTOR)
        seen = child("benchmarks.big", str(file))
    work = f"R-MAT, {seen['nodes']:,} nodes, {seen['edges']:,} edges, d = {DIM}, train() for one epoch"
    rate = PAIRS * seen["edges"] / seen["epoch_s"]
    return [
        Line.at_least(1.5e6, f"{work}: examples", rate, "examples/s", **seen),
        Line.at_most(12, f"{work}: peak memory", seen["peak_gib"], "GiB"),
        Line("reading the Parquet file", seen["read_s"], "s"),
    ]


def measure(file: Path) -> dict[str, float]:
    """Read and train in this process: an epoch with compilation, and one without."""
    import timelike

    begin = time.perf_counter()
    graph = timelike.read(file)
    read, took = time.perf_counter() - begin, []
    config = timelike.Config(epochs=1, batch_size=BATCH, learning_rate=0.01)
    for _ in range(2):
        begin = time.perf_counter()
        timelike.train(graph, tfd("minkowski", DIM), config, progress=False)
        took.append(time.perf_counter() - begin)
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "read_s": read,
        "first_epoch_s": took[0],
        "epoch_s": took[1],
        "peak_gib": peak_gib(),
    }


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
