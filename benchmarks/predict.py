"""Predictions of a trained embedding: d = 32, one query over 10^6 nodes, listed pairs, all pairs.

Wall time is what a user waits; `at_rest` in the JSON is the rate that the CPU time spent would give
on all cores with nobody else on the machine, an upper estimate (it takes perfect parallelism).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Line, Options, machine, peak_gib, tfd

DIM, LISTED, BLOCK = 32, 1 << 20, 1 << 13
GEOMETRIES = ("minkowski", "cylindrical-minkowski", "anti-de-sitter")


def run(options: Options) -> list[Line]:
    """Random points; the likelihood is the triple Fermi-Dirac."""
    nodes = 10**5 if options.quick else 10**6
    lines = []
    for geometry in GEOMETRIES:
        embedding = random_embedding(geometry, nodes)
        small = random_embedding(geometry, BLOCK)
        pairs = np.random.default_rng(1).integers(0, nodes, (2, LISTED)).astype(np.int32)
        work = f"{geometry}: {{}}".format
        for name, ask in {
            "top_targets": lambda e=embedding: e.top_targets(7, 10),
            "top_sources": lambda e=embedding: e.top_sources(7, 10),
            "most_similar": lambda e=embedding: e.most_similar(7, 10),
        }.items():
            taken = times(ask, options.rounds)
            lines.append(Line.at_most(0.2, work(f"{name} of {nodes:,}"), taken["median"], "s", **taken))
        for name, ask, count, least in (
            ("listed pairs", lambda e=embedding, p=pairs: e.prob(*p), LISTED, 5e6),
            ("all pairs (top_edges)", lambda e=small: e.top_edges(1000), BLOCK * BLOCK, 5e7),
        ):
            taken = times(ask, max(3, options.rounds // 3))
            rest = count / taken["cpu"] * machine()["cores"]
            lines.append(
                Line.at_least(least, work(name), count / taken["median"], "pairs/s", at_rest=rest, **taken)
            )
    peak = peak_gib()
    table = nodes * DIM * 4 / 2**30
    lines.append(Line(f"peak memory; one table is {table:.2f} GiB", peak, "GiB"))
    return lines


def times(call: Callable[[], Any], rounds: int) -> dict[str, float]:
    """Median and best wall seconds, and the least CPU seconds (all threads), after one call to warm up."""
    call()
    wall, cpu = [], []
    for _ in range(rounds):
        begin = time.perf_counter(), time.process_time()
        call()
        wall.append(time.perf_counter() - begin[0])
        cpu.append(time.process_time() - begin[1])
    return {"median": statistics.median(wall), "best": min(wall), "cpu": min(cpu), "rounds": rounds}


def random_embedding(geometry: str, nodes: int) -> Any:
    """Normal coordinates of deviation 0.3 around the origin."""
    import jax
    import jax.numpy as jnp

    from timelike import Embedding

    model = tfd(geometry, DIM)
    m = model.manifold
    noise = np.random.default_rng(0).normal(size=(nodes, DIM)).astype(np.float32) * 0.3
    start = jax.jit(jax.vmap(lambda x: m.exp(m.origin(), m.from_tangent_coordinates(x))))
    return Embedding(model, np.asarray(start(jnp.asarray(noise))), None, {}, {})
