"""Tables in 16 bits: AP on held-out edges, rounded at random and to the nearest number, beside float32.

python -m benchmarks.storage planted [--nodes N] | dream5 --data FOLDER | memory [--nodes N] [--tables KIND]
"""

from __future__ import annotations

import argparse
import json
import resource

import jax.numpy as jnp
import numpy as np

import timelike as tl
from benchmarks.planted import ap, hold_out
from timelike.engine import table_rows, table_storage
from timelike.training import training_loop


def to_the_nearest(x, dtype, salt=None):
    """As `table_storage.narrow`, but the nearest number."""
    if dtype is None or jnp.dtype(dtype) not in table_storage.LOST:
        return x
    if dtype == jnp.uint16:
        return x.astype(jnp.bfloat16).view(jnp.uint16)
    return x.astype(dtype)


WAYS = [
    ("float32", table_storage.narrow),
    ("bfloat16", to_the_nearest),
    ("bfloat16", table_storage.narrow),
    ("float16", to_the_nearest),
    ("float16", table_storage.narrow),
]


def planted(nodes: int) -> tuple:
    made = tl.datasets.planted(nodes)
    train, valid, test = hold_out(made.graph, nodes // 10)
    run = {"epochs": 60, "burn_in": 1, "batch_size": 256, "optimizer": "adam", "learning_rate": 0.01}
    return train, valid, test, made.model, [run]


def dream5(folder: str) -> tuple:
    split = tl.split_edges(tl.datasets.load("dream5:ecoli", data_dir=folder), valid=0.1, test=0.1)
    model = tl.Model(tl.manifolds.Minkowski(10), tl.likelihoods.TripleFermiDirac(0.05, 0.04, 0.086, -0.07))
    run = {"epochs": 60, "burn_in": 5, "batch_size": 32}
    runs = [{**run, "optimizer": name, "learning_rate": x} for name, x in (("sgd", 0.017), ("adam", 0.02))]
    return split.train, split.valid, split.test, model, runs


def memory(nodes: int, kind: str) -> float:
    """Peak GiB of this process, with the runtime, after two epochs of few edges in d = 64."""
    ends = np.random.default_rng(0).integers(0, nodes, (2, 20_000), dtype=np.int32)
    model = tl.Model(tl.manifolds.Minkowski(64), tl.likelihoods.TripleFermiDirac())
    config = tl.Config(epochs=2, burn_in=0, batch_size=1000, optimizer="adam", tables=kind)
    tl.train(tl.DiGraph.from_arrays(*ends, nodes), model, config, progress=False)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["planted", "dream5", "memory"])
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--data")
    parser.add_argument("--tables", default="bfloat16", choices=table_storage.STORAGES)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out")
    a = parser.parse_args()
    if a.what == "memory":
        print(a.nodes, a.tables, memory(a.nodes, a.tables))
        return
    train, valid, test, model, runs = planted(a.nodes) if a.what == "planted" else dream5(a.data)
    found = []
    for run in runs:
        for kind, narrow in WAYS:
            table_rows.narrow = narrow
            training_loop._compiled.cache_clear()
            configs = [tl.Config(**run, tables=kind, seed=seed) for seed in range(a.seeds)]
            made = [tl.train(train, model, one, valid=valid, progress=False) for one in configs]
            scores = [ap(one.model, one.points, test) for one in made]
            way = "to the nearest" if narrow is to_the_nearest else "at random"
            found.append({"graph": repr(train), **run, "tables": kind, "rounded": way})
            found[-1] |= {"ap": float(np.mean(scores)), "aps": scores}
            print(found[-1], flush=True)
    if a.out:
        with open(a.out, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
