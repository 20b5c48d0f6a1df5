"""Peak memory of train() above the edge list: 10⁷ edges, 10⁶ nodes, d = 16, Adam, in a fresh process.

The starting point is the resident size with the edge list in memory and JAX not even imported, so
the runtime, the compiler and the program count too; a tiny graph shows how much they are.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np

from benchmarks.harness import Line, Options, child, peak_gib, tfd

DIM, BATCH, DEGREE = 16, 4096, 10


def run(options: Options) -> list[Line]:
    nodes = 10**5 if options.quick else 10**6
    tiny = child("benchmarks.memory", "1000")
    seen = child("benchmarks.memory", str(nodes))
    table = nodes * DIM * 4 / 2**30
    work = f"peak memory above the edge list, {nodes * DEGREE:,} edges, {nodes:,} nodes, d = {DIM}, Adam"
    tables = (seen["above_gib"] - tiny["above_gib"]) / table
    return [
        Line.at_most(2, work, seen["above_gib"], "GiB", **seen, tables_of_points=tables),
        Line("the same for 1,000 nodes: runtime and compiler", tiny["above_gib"], "GiB", details=tiny),
        Line("one table of points", table, "GiB"),
    ]


def measure(nodes: int) -> dict[str, float]:
    """Build sorted edges without a larger temporary, then train for two epochs."""
    from timelike.graphs.digraph import DiGraph

    targets = np.random.default_rng(0).integers(0, nodes, (nodes, DEGREE), dtype=np.int32)
    targets.sort(axis=1)
    sources = np.repeat(np.arange(nodes, dtype=np.int32), DEGREE)
    graph = DiGraph(sources, targets.reshape(-1), nodes)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    base = pages * os.sysconf("SC_PAGE_SIZE") / 2**30

    from timelike.engine.config import Config
    from timelike.training.training_loop import train

    config = Config(epochs=2, batch_size=BATCH, optimizer="adam", learning_rate=0.01)
    train(graph, tfd("minkowski", DIM), config, progress=False)
    peak = peak_gib()
    return {"edge_list_gib": base, "above_gib": peak - base}


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
