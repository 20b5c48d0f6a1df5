"""Seconds to compile an epoch in a fresh process: cold, then with JAX's compilation cache on disk."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time

from benchmarks.harness import Epochs, Line, Options, child, random_graph, tfd

PROGRAMS = (("minkowski", 10, 50), ("anti-de-sitter", 100, 2))


def run(options: Options) -> list[Line]:
    lines = []
    for manifold, dim, batch in PROGRAMS:
        runs = [cold_and_cached(manifold, dim, batch) for _ in range(1 if options.quick else 5)]
        for which, (limit, results) in enumerate(zip((6, 1), zip(*runs, strict=True), strict=True)):
            total = statistics.median(x["trace_s"] + x["compile_s"] for x in results)
            work = f"first compile, {('cold', 'with the cache')[which]}, {manifold}, d = {dim}, batch {batch}"
            lines.append(Line.at_most(limit, work, total, "s", runs=list(results)))
            to_first = statistics.median(x["first_epoch_s"] for x in results)
            cpu = statistics.median(x["first_epoch_cpu_s"] for x in results)
            lines.append(Line("imports done to first epoch done", to_first, "s"))
            lines.append(Line("the same, processor time of all threads", cpu, "s"))
    return lines


def cold_and_cached(manifold: str, dim: int, batch: int) -> tuple[dict, dict]:
    """The same program twice, each time in a fresh process, with an empty and then a filled cache."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "JAX_COMPILATION_CACHE_DIR": folder,
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
        arguments = ("benchmarks.compiling", manifold, str(dim), str(batch))
        return child(*arguments, **settings), child(*arguments, **settings)


def measure(manifold: str, dim: int, batch: int) -> dict[str, float]:
    """Trace, compile and run one epoch."""
    import timelike.training.training_loop  # noqa: F401  (imports are not compilation)

    graph = random_graph(1000, 4000)
    begin, busy = time.perf_counter(), time.process_time()
    epoch = Epochs(graph, tfd(manifold, dim), batch_size=batch)
    epoch()
    return {
        "trace_s": epoch.trace_seconds,
        "compile_s": epoch.compile_seconds,
        "first_epoch_s": time.perf_counter() - begin,
        "first_epoch_cpu_s": time.process_time() - busy,
    }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
