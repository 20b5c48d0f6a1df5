"""What an epoch takes on a CPU, in one process and in several of this machine, for `timelike plan`.

python -m benchmarks.steps [--out results/steps.json]; then `python -m benchmarks.rates`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.harness import Epochs, machine, now, random_graph, tfd, versions
from benchmarks.many import started_together

RESULTS = Path(__file__).parent / "results" / "steps.json"

#: Nodes, dimensions, batch size and edges of the runs of one process.
ALONE = [
    (10**4, 10, 512, 50_000),
    (10**5, 10, 512, 50_000),
    (10**5, 10, 4096, 200_000),
    (10**6, 10, 4096, 200_000),
    (10**5, 64, 4096, 200_000),
    (10**6, 64, 4096, 200_000),
    (10**5, 10, 65536, 200_000),
    (10**6, 10, 65536, 200_000),
]
#: Processes, batch size and epochs of the runs on one R-MAT graph.
TOGETHER = [(1, 4096, 3), (2, 4096, 3), (4, 4096, 2), (1, 65536, 5), (2, 65536, 5), (4, 65536, 3)]
SCALE, EDGE_FACTOR, DIM, ROUNDS = 17, 8, 10, 4


def alone(nodes: int, dim: int, batch: int, edges: int) -> dict[str, Any]:
    """Epochs of `train`, compiled: the shortest, in seconds of the clock and of the processor."""
    call = Epochs(
        random_graph(nodes, edges),
        tfd("minkowski", dim),
        batch_size=batch,
        optimizer="adam",
        learning_rate=0.01,
    )
    call()
    return {"nodes": nodes, "dim": dim, "batch": batch, "edges": edges, **_shortest(call, ROUNDS)}


def _shortest(call: Any, rounds: int) -> dict[str, float]:
    taken = []
    for _ in range(rounds):
        clock, used = time.perf_counter(), time.process_time()
        call()
        taken.append((time.perf_counter() - clock, time.process_time() - used))
    clock, used = (min(x) for x in zip(*taken, strict=True))
    return {"seconds": round(clock, 4), "cpu_seconds": round(used, 4)}


def together(file: Path, count: int, batch: int, epochs: int) -> dict[str, Any]:
    """Epochs of one run on so many processes of this machine; one process is `train`."""
    said = started_together("benchmarks.steps", count, str(file), str(batch), str(epochs))
    return {"processes": count, "batch": batch, **said[0]}


def work(address: str, count: int, number: int, file: Path, batch: int, epochs: int) -> dict[str, Any]:
    """What one process does."""
    import timelike as tl

    config: Any = {"batch_size": batch, "optimizer": "adam", "learning_rate": 0.01}
    model = tfd("minkowski", DIM)
    if count == 1:
        from timelike.distributed.node_dealing import dealt

        graph = dealt(tl.read(file))
        call: Any = Epochs(graph, model, **config)
        size = graph
    else:
        import jax

        jax.distributed.initialize(address, count, number, heartbeat_timeout_seconds=3600)
        from timelike.distributed.node_dealing import own_edges
        from timelike.distributed.sharded_edges import own_nodes, rows_of
        from timelike.distributed.sharded_run import mesh_of_all
        from timelike.distributed.sharded_train import Run

        mesh = mesh_of_all()
        mine = own_edges([file], lambda nodes: own_nodes(mesh, rows_of(mesh, nodes))).dealt
        run = Run(mine, model, tl.Config(epochs=epochs + 2, negatives=tl.Negatives(uniform=4), **config))
        size = run.edges

        def call() -> None:
            done = len(run.history)
            while len(run.history) == done:
                run.advance()

    call()
    return {"nodes": size.num_nodes, "edges": size.num_edges, **_shortest(call, epochs)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.steps", description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS)
    out = parser.parse_args().out
    before = os.getloadavg()
    rows = [alone(*setting) for setting in ALONE]
    with tempfile.TemporaryDirectory() as folder:
        import timelike as tl

        file = Path(folder) / "edges.parquet"
        tl.datasets.rmat_to_parquet(file, scale=SCALE, edge_factor=EDGE_FACTOR)
        many = [together(file, *setting) for setting in TOGETHER]
    head = {"command": "python -m benchmarks.steps", "date": now(), "machine": machine()}
    head |= {"versions": versions(), "load_average": {"before": before, "after": os.getloadavg()}}
    out.write_text(json.dumps({**head, "alone": rows, "together": many}, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] and ":" in sys.argv[1]:
        address, count, number, file, batch, epochs = sys.argv[1:]
        print(
            json.dumps(work(address, int(count), int(number), Path(file), int(batch), int(epochs))),
            flush=True,
        )
        os._exit(0)  # without waiting for the others
    main()
