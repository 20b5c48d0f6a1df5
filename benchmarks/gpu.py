"""Speed on an accelerator: WordNet epochs, and a table of 10⁷ rows against the memory-bandwidth floor.

python benchmarks/gpu.py wordnet --edges FILE [--batch 50 …] | table [--dim 10 …] | top
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from timelike.core.model import Model
from timelike.embedding.exact_ranking import best_of, best_of_node, of_node
from timelike.engine.config import Config
from timelike.engine.epoch import init_state, run_epoch
from timelike.engine.negatives import Negatives
from timelike.graphs.digraph import DiGraph
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import Minkowski
from timelike.training.cost_model import KEPT
from timelike.training.prepare import make_numbers, prepare


def seconds_per_epoch(graph: DiGraph, dim: int, config: Config, repeats: int = 5) -> tuple[float, float]:
    """Median seconds of a warm epoch, and of the first compilation."""
    model = Model(Minkowski(dim), TripleFermiDirac(0.05, 0.05, 0.075))
    plan, data = prepare(graph, model, config, None, None, None, alone=True)
    numbers = make_numbers(model, config)
    state = jax.jit(partial(init_state, plan, num_nodes=graph.num_nodes))(numbers)
    started = time.perf_counter()
    epoch = jax.jit(partial(run_epoch, plan), donate_argnums=2).lower(numbers, data, state).compile()
    compiled = time.perf_counter() - started
    times = []
    for _ in range(repeats + 1):
        started = time.perf_counter()
        state, report = epoch(numbers, data, state)
        jax.block_until_ready((state, report))
        times.append(time.perf_counter() - started)
    return float(np.median(times[1:])), compiled


def bandwidth() -> float:
    """Bytes per second of a copy of 4 GiB, read and write counted."""
    x = jnp.zeros(2**30, jnp.float32)
    copy = jax.jit(lambda x: x + 1)
    jax.block_until_ready(copy(x))
    started = time.perf_counter()
    for _ in range(10):
        y = copy(x)
    jax.block_until_ready(y)
    return 10 * 2 * x.nbytes / (time.perf_counter() - started)


def wordnet(edges: str, batches: list[int], dims: list[int]) -> list[dict]:
    pairs = np.loadtxt(edges, dtype=np.int64)
    graph = DiGraph.from_arrays(pairs[:, 0], pairs[:, 1])
    rows = []
    for dim in dims:
        for batch in batches:
            for optimizer in ("sgd", "adam"):
                median, compiled = seconds_per_epoch(
                    graph, dim, Config(batch_size=batch, optimizer=optimizer)
                )
                steps = -(-graph.num_edges // batch)
                rows.append(
                    {
                        "graph": repr(graph),
                        "dim": dim,
                        "batch": batch,
                        "optimizer": optimizer,
                        "s_per_epoch": median,
                        "us_per_step": 1e6 * median / steps,
                        "edges_per_s": graph.num_edges / median,
                        "compile_s": compiled,
                    }
                )
                print(rows[-1], flush=True)
    return rows


def ends(drawn: str, nodes: int, count: int) -> np.ndarray:
    """Nodes of `count` ends: any, or by Zipf's law (the node of rank r is drawn in proportion to 1/r)."""
    rng = np.random.default_rng(0)
    if drawn == "uniform":
        return rng.integers(0, nodes, (2, count), dtype=np.int32)
    rank = np.minimum(np.exp(rng.random((2, count)) * np.log(nodes)).astype(np.int64), nodes - 1)
    return (rank * 2654435761 % nodes).astype(np.int32)  # hubs lie anywhere


def table(
    dims: list[int], nodes: int, batch: int, steps: int, optimizers: list[str], tables: str
) -> list[dict]:
    """The floor: every row of a batch, repetitions counted, and its state read once and written once."""
    speed, rows = bandwidth(), []
    negatives = {"uniform": Negatives(uniform=4), "degree": Negatives(degree=4)}
    for drawn, kind in (("uniform", "uniform"), ("zipf", "uniform"), ("zipf", "degree")):
        graph = DiGraph.from_arrays(*ends(drawn, nodes, batch * steps), nodes)
        for dim in dims:
            for optimizer in optimizers:
                count = {"sgd": 1, "adam": 3}[optimizer]
                config = Config(
                    batch_size=batch, optimizer=optimizer, negatives=negatives[kind], tables=tables
                )
                median, compiled = seconds_per_epoch(graph, dim, config, 3)
                touched = 10 * graph.num_edges * dim * KEPT[tables] * count * 2  # 2 + 2·4 nodes per positive
                rows.append(
                    {
                        "nodes": nodes,
                        "edges drawn": drawn,
                        "negatives drawn": "by degree" if kind == "degree" else kind,
                        "dim": dim,
                        "batch": batch,
                        "optimizer": optimizer,
                        "tables": tables,
                        "s_per_epoch": median,
                        "us_per_step": 1e6 * median * batch / graph.num_edges,
                        "pairs_per_s": 5 * graph.num_edges / median,
                        "share_of_floor": touched / speed / median,
                        "copy_bytes_per_s": speed,
                        "compile_s": compiled,
                    }
                )
                print(rows[-1], flush=True)
    return rows


def top(dim: int, nodes: int) -> list[dict]:
    """The ten likeliest targets and sources of a node among so many, exact, once the points are there."""
    model = Model(Minkowski(dim), TripleFermiDirac(0.05, 0.05, 0.075))
    columns, rows = jax.random.normal(jax.random.key(0), (dim, nodes)), []
    for incoming in (False, True):
        took = []
        for node in range(6):
            started = time.perf_counter()
            best_of_node(model, columns, node, 10, np.array([node]), incoming)
            took.append(time.perf_counter() - started)
        what = "top_sources" if incoming else "top_targets"
        rows.append({"what": what, "nodes": nodes, "dim": dim, "s": float(np.median(took[1:]))})
        print(rows[-1], flush=True)
    best, scores = best_of_node(model, columns, 0, 10, np.array([0]))
    every = np.asarray(of_node(model, columns, 0))
    assert np.array_equal(best, best_of(every, 10, np.array([0])))
    assert np.array_equal(scores, every[best])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["wordnet", "table", "top"])
    parser.add_argument("--edges")
    parser.add_argument("--batch", type=int, nargs="+", default=[50, 1000, 4096])
    parser.add_argument("--dim", type=int, nargs="+", default=[5])
    parser.add_argument("--nodes", type=int, default=10**7)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--optimizer", nargs="+", default=["sgd", "adam"], choices=["sgd", "adam"])
    parser.add_argument("--tables", default="float32", choices=list(KEPT))
    parser.add_argument("--out")
    a = parser.parse_args()
    if a.what == "wordnet":
        rows = wordnet(a.edges, a.batch, a.dim)
    elif a.what == "table":
        rows = table(a.dim, a.nodes, a.batch[0], a.steps, a.optimizer, a.tables)
    else:
        rows = top(a.dim[0], a.nodes)
    if a.out:
        with open(a.out, "w") as file:
            result = {"device": jax.devices()[0].device_kind, "jax": jax.__version__, "results": rows}
            json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
