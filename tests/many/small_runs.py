"""A small graph and short runs, the same in every process; and how to start processes."""

import dataclasses
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np

import timelike as tl
from timelike.distributed.node_dealing import dealt, places
from timelike.evaluation.labelled_pairs import LabelledPairs

HERE = Path(__file__).parent
MODEL = tl.Model(tl.manifolds.Minkowski(4), tl.likelihoods.TripleFermiDirac())
KINDS = tl.Negatives(uniform=2, same_source=1)


def split_of():
    """Weighted edges of a small graph, with validation pairs."""
    split = tl.split_edges(tl.datasets.duplication_divergence(17), valid=0.1, test=0)
    weights = np.linspace(0.5, 2, split.train.num_edges, dtype=np.float32)
    return dataclasses.replace(split, train=dataclasses.replace(split.train, weights=weights))


def config_of(**changes):
    """More than 200 steps of Adam."""
    settings = {"epochs": 4, "burn_in": 0, "batch_size": 18, "learning_rate": 0.01, "optimizer": "adam"}
    return tl.Config(**settings | {"negatives": KINDS} | changes)


def by_one(**changes):
    """The result of `timelike.train` on the same graph: points in node order, and the history."""
    split = split_of()
    graph, nodes = dealt(split.train), split.train.num_nodes
    ends = (places(np.asarray(end), nodes) for end in split.valid[:2])
    valid = LabelledPairs(*ends, split.valid.labels)
    found = tl.train(graph, MODEL, config_of(**changes), valid=valid, progress=False)
    return found.points[places(np.arange(nodes), nodes)], found.history


def address():
    """A free port on this machine."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return f"localhost:{free.getsockname()[1]}"


def environment(cache):
    """Few threads, because processes share two cores, and one compilation cache for all tests."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*sys.path, str(HERE)]),
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false",
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1",
    }


def run_processes(count, folder, cache, **options):
    """Run the worker in `count` processes to the end, and return its result, if any."""
    folder.mkdir(exist_ok=True)
    where = address()
    started = [
        subprocess.Popen(
            [sys.executable, HERE / "worker.py", where, str(count), str(i), folder, json.dumps(options)],
            env=environment(cache),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for i in range(count)
    ]
    said = [process.communicate(timeout=400)[1] for process in started]
    assert [process.returncode for process in started] == [0] * count, said
    result = folder / f"{count}.npz"
    return dict(np.load(result)) if result.exists() else None
