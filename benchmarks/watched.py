"""Figures that every commit should keep, each beside a peer or a floor in the same run: `make bench-quick`.

A figure is the CPU time of the peer over ours, so that it hardly depends on the machine. One that falls by
more than `DROP` below the median of the last commits is measured again, and then fails. The JSON file keeps
one record per commit, and the page beside it draws them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import sklearn.metrics

import timelike as tl
from benchmarks.harness import ROOT, Epochs, machine, now, random_graph, tfd, versions
from benchmarks.predict import random_embedding
from benchmarks.watched_page import page
from timelike.embedding.targets_of_each import best_targets
from timelike.estimator.baseline_scores import evaluate_baselines
from timelike.evaluation import metrics

RESULTS = ROOT / "benchmarks" / "results" / "quick.json"
#: The share that a figure may lose; commits that it is compared with; measurements before it has failed.
DROP, LAST, ATTEMPTS = 0.2, 5, 3
#: Timings of both sides, in turns, of which the best count.
ROUNDS = 5


def cpu_seconds(call: Callable[[], Any], at_least: float = 0.1) -> float:
    """Seconds of CPU per call, of all threads and child processes: other programs disturb these least."""

    def used() -> float:
        both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(one.ru_utime + one.ru_stime for one in both)

    calls, begin = 0, used()
    while used() - begin < at_least:
        call()
        calls += 1
    return (used() - begin) / calls


def best_ratio(peer: Callable[[], Any], ours: Callable[[], Any]) -> float:
    """The time of the peer over ours, the best turn of each; one call of each to warm up."""
    peer(), ours()
    turns = [(cpu_seconds(peer), cpu_seconds(ours)) for _ in range(ROUNDS)]
    theirs, own = (min(side) for side in zip(*turns, strict=True))
    return theirs / own


def epoch(manifold: str, dim: int, graph: tl.DiGraph, batch: int) -> float:
    """Reading and writing the ten rows of every example at the speed of a large copy, over an epoch."""
    run = Epochs(graph, tfd(manifold, dim), batch_size=batch)
    source, copy = np.ones((2, 1 << 28), np.uint8)
    share = 10 * dim * 4 * graph.num_edges / source.size
    return share * best_ratio(lambda: np.copyto(copy, source), run)


def all_pairs() -> float:
    """The product of two matrices of the same size, over a ranking of all pairs."""
    embedding = random_embedding("minkowski", 1 << 13)
    return best_ratio(lambda: embedding.points @ embedding.points.T, lambda: embedding.top_edges(1000))


def targets_of_each() -> float:
    """The product of the same matrices, over the ten likeliest targets of 256 of 100,000 nodes."""
    embedding, sources = random_embedding("minkowski", 10**5), np.arange(256)

    def ours() -> None:
        list(best_targets(embedding.model, embedding.columns, sources, 10, None))

    return best_ratio(lambda: embedding.points[:256] @ embedding.points.T, ours)


def listed_pairs() -> float:
    """Reading the rows of the same pairs, over the probabilities of 2²⁰ pairs."""
    embedding = random_embedding("minkowski", 10**5)
    s, t = np.random.default_rng(1).integers(0, 10**5, (2, 1 << 20)).astype(np.int32)
    points = embedding.points
    return best_ratio(lambda: points[t] - points[s], lambda: embedding.log_prob_by_number(s, t))


def reading(ending: str) -> float:
    """`polars` reading the same 10⁶ lines, over `timelike.read`."""
    s, t = np.random.default_rng(2).integers(0, 10**5, (2, 10**6))
    table = pl.DataFrame({"source": s, "target": t})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"edges{ending}"
        if ending == ".parquet":
            table.write_parquet(file)
            return best_ratio(lambda: pl.read_parquet(file), lambda: tl.read(file))
        table.write_csv(file, separator="\t")
        return best_ratio(lambda: pl.read_csv(file, separator="\t"), lambda: tl.read(file))


def average_precision() -> float:
    """scikit-learn over our AP, of 10⁶ pairs."""
    rng = np.random.default_rng(3)
    scores, labels = rng.normal(size=10**6), rng.random(10**6) < 0.2
    theirs = sklearn.metrics.average_precision_score
    return best_ratio(lambda: theirs(labels, scores), lambda: metrics.average_precision(scores, labels))


def start() -> float:
    """`import numpy` over `import timelike`, in fresh processes."""

    def importing(name: str) -> Callable[[], Any]:
        return lambda: subprocess.run([sys.executable, "-c", f"import {name}"], check=True)

    return best_ratio(importing("numpy"), importing("timelike"))


def update() -> float:
    """A fit over an update with 1 % new edges, in seconds of CPU with compilation."""
    from benchmarks.updating import SMALL, one_percent

    return one_percent(SMALL["duplication-divergence, 400 nodes"](0), 0, "none")["ratio"]


def quality() -> float:
    """AP of a default fit over that of L3, on held-out edges of a generated graph."""
    graph = tl.datasets.duplication_divergence(seed=17, nodes=200)
    split = tl.split_edges(graph, 0, 0.15, 0)
    model = tl.SpacetimeEmbedding(baselines="none", progress=False).fit(split.train)
    peer = evaluate_baselines(split.train, split, names=["L3"])["L3"]
    return float(model.score(split) / peer.average_precision)


FIGURES: dict[str, Callable[[], float]] = {
    "epoch, Minkowski, d = 16, 10⁴ nodes, batch 4,096 (floor: a copy)": lambda: epoch(
        "minkowski", 16, random_graph(10**4, 40_000), 4096
    ),
    "epoch, Minkowski, d = 16, 10⁵ nodes, batch 4,096 (floor: a copy)": lambda: epoch(
        "minkowski", 16, random_graph(10**5, 400_000), 4096
    ),
    "epoch, anti-de Sitter, d = 100, 100 nodes, batch 2 (floor: a copy)": lambda: epoch(
        "anti-de-sitter", 100, random_graph(100, 1000), 2
    ),
    "all pairs of 8,192 nodes, d = 32 (floor: a matrix product)": all_pairs,
    "targets of each, 10⁵ nodes, d = 32 (floor: a matrix product)": targets_of_each,
    "listed pairs, d = 32 (floor: reading their rows)": listed_pairs,
    "read 10⁶ edges, TSV (peer: polars)": lambda: reading(".tsv"),
    "read 10⁶ edges, Parquet (peer: polars)": lambda: reading(".parquet"),
    "average precision of 10⁶ pairs (peer: scikit-learn)": average_precision,
    "import (floor: import numpy)": start,
    "update with 1 % new edges (peer: a fit)": update,
    "AP of a default fit (peer: L3)": quality,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.watched", description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS, help="JSON file with a record per commit")
    out = parser.parse_args().out
    records = json.loads(out.read_text()) if out.exists() else []
    head = {"commit": versions()["commit"], "date": now(), "machine": machine(), "load": os.getloadavg()[0]}
    records = [one for one in records if one["commit"] != head["commit"]]
    found, failed = {}, []
    for name, measure in FIGURES.items():
        least = floor_of(records, name)
        found[name] = measure()
        for _ in range(ATTEMPTS - 1):
            if found[name] < least:
                found[name] = max(found[name], measure())
        failed += [name] if found[name] < least else []
        print(f"{found[name]:10.3g}  (at least {least:.3g})  {name}", flush=True)
    if failed:
        sys.exit(f"fell by more than {DROP:.0%} below the last {LAST} commits: {'; '.join(failed)}")
    records.append({**head, "figures": found})
    out.write_text(json.dumps(records, indent=1, ensure_ascii=False) + "\n")
    out.with_suffix(".html").write_text(
        page(records, {name: floor_of(records, name) for name in FIGURES}), encoding="utf-8"
    )


def floor_of(records: list[dict[str, Any]], name: str) -> float:
    """The least that a figure may be."""
    before = [one["figures"][name] for one in records if name in one["figures"]][-LAST:]
    return (1 - DROP) * statistics.median(before) if before else 0.0


if __name__ == "__main__":
    main()
