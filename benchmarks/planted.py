"""A graph with a planted geometry: how near a trained model comes to the one that drew the edges.

python benchmarks/planted.py --nodes 20000 --held-out 2000 --dim 3 --tau1 0.02 --epochs 100 --batch 512

AP on held-out edges with 4 uniform non-edges each, of the planted model and of ours.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time

import jax
import numpy as np

import timelike as tl
from timelike.embedding import exact_ranking
from timelike.engine.table_storage import STORAGES
from timelike.evaluation import metrics


def hold_out(
    graph: tl.DiGraph, count: int
) -> tuple[tl.DiGraph, tl.evaluation.LabelledPairs, tl.evaluation.LabelledPairs]:
    """Training edges; validation and test pairs of `count` edges each, with 4 non-edges to each edge."""
    rng = np.random.default_rng(1)
    chosen = rng.choice(graph.num_edges, 2 * count, replace=False)
    drawn = rng.integers(0, graph.num_nodes, (10 * count, 2), dtype=np.int32)
    drawn = drawn[(drawn[:, 0] != drawn[:, 1]) & ~graph.has_edges(drawn[:, 0], drawn[:, 1])]
    pairs = [
        tl.evaluation.LabelledPairs.build(graph.pairs[chosen[i::2]], drawn[i::2][: 4 * count])
        for i in range(2)
    ]
    left = np.ones(graph.num_edges, bool)
    left[chosen] = False
    return graph.subgraph(left), *pairs


def ap(model: tl.Model, points: np.ndarray, pairs: tl.evaluation.LabelledPairs) -> float:
    scores = exact_ranking.listed(model, points, np.asarray(pairs.sources), np.asarray(pairs.targets))
    return metrics.average_precision(scores, np.asarray(pairs.labels))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=10**6)
    parser.add_argument("--degree", type=float, default=10)
    parser.add_argument("--held-out", type=int, default=20_000)
    parser.add_argument("--dim", type=int, nargs="+", default=[10])
    parser.add_argument("--tau1", type=float, nargs="+", default=[0.1])
    parser.add_argument("--alpha", type=float, default=0.5)
    parser.add_argument("--negatives", type=int, nargs="+", default=[4])
    parser.add_argument("--epochs", type=int, default=80)
    parser.add_argument("--batch", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--tables", nargs="+", default=["float32"], choices=STORAGES)
    parser.add_argument("--seconds", type=float, default=600, help="begin no training after this many")
    parser.add_argument("--out")
    a = parser.parse_args()
    began = time.perf_counter()
    made = tl.datasets.planted(a.nodes, a.degree)
    train, valid, test = hold_out(made.graph, a.held_out)
    found = {"graph": repr(made.graph), "planted_ap": ap(made.model, made.points, test)}
    found |= {"make_s": time.perf_counter() - began, "device": jax.devices()[0].device_kind, "runs": []}
    print(found, flush=True)
    for dim, tau1, negatives, tables in itertools.product(a.dim, a.tau1, a.negatives, a.tables):
        if time.perf_counter() - began > a.seconds:
            break
        likelihood = tl.likelihoods.TripleFermiDirac(tau1, 0.05, a.alpha)
        model = tl.Model(tl.manifolds.Minkowski(dim), likelihood)
        config = tl.Config(
            epochs=a.epochs,
            batch_size=a.batch,
            learning_rate=a.rate,
            burn_in=1,
            optimizer="adam",
            negatives=tl.Negatives(uniform=negatives),
            tables=tables,
        )
        start = time.perf_counter()
        embedding = tl.train(train, model, config, valid=valid, progress=False)
        run = {
            "model": repr(model),
            "negatives": negatives,
            "epochs": a.epochs,
            "batch": a.batch,
            "rate": a.rate,
            "tables": tables,
        }
        run |= {"train_s": time.perf_counter() - start, "best_epoch": embedding.info["best_epoch"]}
        run |= {"ap": ap(embedding.model, embedding.points, test)}
        found["runs"].append(run)
        print(run, flush=True)
    if a.out:
        with open(a.out, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
