"""Cost per example as the graph grows: Minkowski + TFD, d = 16, SGD, batch 4,096.

The floor is the memory traffic of the rows that an example touches: each of its 10 rows is read and
written once, at the bandwidth that a plain copy of a large array reaches here.
"""

from __future__ import annotations

import numpy as np

from benchmarks.harness import (
    Epochs,
    Line,
    Options,
    interleaved,
    median_and_best,
    random_graph,
    seconds,
    tfd,
)

DIM, BATCH, ROWS = 16, 4096, 10
MOST_EDGES = 20_000_000
BYTES_PER_EXAMPLE = ROWS * DIM * 4 * 2


def run(options: Options) -> list[Line]:
    """Whole epochs of random graphs with 4 edges per node (2 for the largest)."""
    sizes = [10**3, 10**4, 10**5] if options.quick else [10**k for k in range(3, 8)]
    bandwidth = copy_bandwidth()
    lines = [Line("bandwidth of a copy, read + written", bandwidth / 1e9, "GB/s")]
    edges = {nodes: max(BATCH, min(4 * nodes, MOST_EDGES)) for nodes in sizes}
    model = tfd("minkowski", DIM)
    calls = {n: Epochs(random_graph(n, e), model, batch_size=BATCH) for n, e in edges.items()}
    taken = median_and_best(interleaved(calls, 3 if options.quick else 5))
    cost = {n: taken[n]["median"] / edges[n] for n in sizes}
    floor = BYTES_PER_EXAMPLE / bandwidth
    for n in sizes:
        power = f"10^{len(str(n)) - 1}"
        details = {"seconds": taken[n], "share_of_floor": floor / cost[n]}
        lines.append(Line(f"{power} nodes, {edges[n]:,} edges", 1e9 * cost[n], "ns/example", details=details))
        ratio = cost[n] / cost[sizes[0]]
        lines.append(Line.at_most(4, f"cost per example, {power} over 10^3 nodes", ratio, "×"))
    lines.append(Line("the floor", 1e9 * floor, "ns/example"))
    return lines


def copy_bandwidth(size: int = 1 << 28) -> float:
    """Bytes per second, read and written, of copying an array that no cache holds."""
    a, b = np.zeros(size, np.uint8), np.ones(size, np.uint8)
    return 2 * size / min(seconds(lambda: np.copyto(a, b)) for _ in range(5))
