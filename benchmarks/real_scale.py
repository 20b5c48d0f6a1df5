"""Quality on a real graph of 10⁶ edges: the big path (streamed, 16 bits), the small one, simple methods.

python -m benchmarks.real_scale EDGES [--dims 16 32 64 128] [--epochs N] [--out FILE]
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import timelike as tl
from benchmarks.harness import child, machine, now, peak_gib, versions
from timelike.evaluation import metrics
from timelike.evaluation.questions import question_pairs

#: Parts of a streamed graph.
PARTS = 4
#: Test edges, drawn once; AP is on these and on the non-edges of each question.
TEST = 20_000
WAYS = {"in memory, float32": ("float32", False), "streamed, bfloat16": ("bfloat16", True)}
#: Simple methods that are quick on 10⁶ edges.
SIMPLE = ("degree product", "L3 normalised", "reciprocity", "SVD")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_scale", description=__doc__)
    parser.add_argument("edges", help="any file that timelike reads")
    parser.add_argument("--dims", type=int, nargs="+", default=[16, 32, 64, 128])
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        print(json.dumps(run(options.edges, *json.loads(options.run))))
        return
    arguments = [options.edges, "--run"]
    rows = [child("benchmarks.real_scale", *arguments, json.dumps(["simple", 0, 0]))]
    for dim in options.dims:
        rows += [
            child("benchmarks.real_scale", *arguments, json.dumps([way, dim, options.epochs])) for way in WAYS
        ]
        for row in rows[-len(WAYS) :]:
            print(json.dumps(row), flush=True)
    found = {"date": now(), "machine": machine(), "versions": versions(), "rows": rows}
    if options.out is not None:
        options.out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def run(edges: str, way: str, dim: int, epochs: int) -> dict[str, Any]:
    """One line of the table: AP of each question, seconds of training, and the peak of this process."""
    graph = tl.read(edges)
    train, questions = held_out(graph)
    about = {"way": way, "dim": dim, "edges": train.num_edges, "nodes": train.num_nodes}
    if way == "simple":
        return {**about, "ap": simple(train, questions)}
    tables, streamed = WAYS[way]
    config = dataclasses.replace(configuration(epochs), tables=tables)
    with tempfile.TemporaryDirectory() as folder:
        given: Any = train
        if streamed:
            given = tl.EdgeShards.write(train, Path(folder) / "shards", per_part=train.num_edges // PARTS)
        begin, cpu = time.perf_counter(), time.process_time()
        trained = tl.train(given, model_of(dim), config, progress=False)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    ap = answered(trained.log_prob_by_number, questions)
    return {**about, "epochs": epochs, "ap": ap, "seconds": seconds, "cpu_seconds": cpu, "gib": peak_gib()}


def held_out(graph: tl.DiGraph) -> tuple[tl.DiGraph, dict[str, Any]]:
    """The graph without the test edges, and the four questions about these."""
    chosen = np.random.default_rng(0).choice(graph.num_edges, TEST, replace=False)
    kept = np.ones(graph.num_edges, bool)
    kept[chosen] = False
    return graph.subgraph(kept), question_pairs(graph, graph.pairs[chosen], 0)


def model_of(dim: int) -> tl.Model:
    return tl.Model(tl.manifolds.Minkowski(dim), tl.likelihoods.TripleFermiDirac())


def configuration(epochs: int) -> tl.Config:
    """Large batches, and negatives for all four questions."""
    negatives = tl.Negatives(uniform=2, same_source=1, same_target=1, reversed=1)
    how = {"batch_size": 4096, "optimizer": "adam", "learning_rate": 0.02, "burn_in": 0, "select": "last"}
    return tl.Config(epochs=epochs, negatives=negatives, **how)


def simple(graph: tl.DiGraph, questions: dict[str, Any]) -> dict[str, dict[str, float]]:
    from timelike.estimator.baseline_scores import BASELINES

    found = {}
    for name in SIMPLE:
        scorer: Any = BASELINES[name](graph, None, print)
        found[name] = answered(scorer.score, questions)
    return found


def answered(score: Any, questions: dict[str, Any]) -> dict[str, float]:
    """AP of each question."""
    found = {}
    for kind, pairs in questions.items():
        s, t, labels = (np.asarray(x) for x in pairs)
        found[kind] = metrics.average_precision(np.asarray(score(s, t)), labels)
    return found


if __name__ == "__main__":
    main()
