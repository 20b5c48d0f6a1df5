"""Positives per second against gensim and geoopt: 1,000 nodes, 4,000 edges, d = 10, 4 negatives.

The peers do the same amount of learning or less: they share the source among an edge's negatives
(6 rows of the table per positive, ours touches 10 with uniform pairs), and the geoopt loop does not
reject negatives that are edges.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Epochs, Line, Options, interleaved, median_and_best, random_graph, tfd

NODES, EDGES, DIM, NEGATIVES = 1000, 4000, 10, 4
TARGETS = {2: 50.0, 50: 20.0, 1000: 2.0}

#: A loop in Python is stopped after this many batches: it is no faster later.
BATCHES = 100


def run(options: Options) -> list[Line]:
    import torch

    from timelike.sampling import Negatives

    graph = random_graph(NODES, EDGES)
    model = tfd("minkowski", DIM)
    threads = sorted({1, torch.get_num_threads()})
    lines = []
    for batch, target in TARGETS.items():
        calls: dict[str, Callable[[], Any]] = {"gensim": gensim_epoch(graph, batch)}
        for kind in ("uniform", "target"):
            negatives = Negatives(**{kind: NEGATIVES})
            calls[f"timelike {kind}"] = Epochs(graph, model, batch_size=batch, negatives=negatives)
        for choice in itertools.product(("poincare", "lorentz"), ("dense", "sparse"), threads):
            calls["geoopt {} {} {} threads".format(*choice)] = geoopt_epoch(graph, batch, *choice)
        lines += compare(batch, target, calls, options.rounds)
    return lines


def compare(batch: int, target: float, calls: dict[str, Callable], rounds: int) -> list[Line]:
    """Ratios over the fastest peer, and everybody's positives per second."""
    taken = median_and_best(interleaved(calls, rounds))
    positives = {k: min(EDGES, BATCHES * batch) if k.startswith("geoopt") else EDGES for k in calls}
    rates = {k: positives[k] / v["median"] for k, v in taken.items()}
    quiet = {k: positives[k] / v["best"] for k, v in taken.items()}
    peers = [k for k in calls if not k.startswith("timelike")]
    fastest = max(peers, key=rates.__getitem__)
    details = {
        "best_peer": fastest,
        "positives_per_s": rates,
        "positives_per_s_best_round": quiet,
        "ratio_of_best_rounds": quiet["timelike uniform"] / max(quiet[k] for k in peers),
    }
    shown = ["timelike uniform", "timelike target", "gensim", max(peers[1:], key=rates.__getitem__)]
    shares_source = rates["timelike target"] / rates[fastest]
    return [
        Line.at_least(
            target,
            f"Minkowski + TFD, batch {batch}: positives/s over {fastest}",
            rates["timelike uniform"] / rates[fastest],
            "×",
            **details,
        ),
        Line(f"the same, negatives that share the source, batch {batch}", shares_source, "×"),
        *(Line(f"{name}, batch {batch}", rates[name], "positives/s") for name in shown),
    ]


def gensim_epoch(graph: Any, batch: int) -> Callable[[], None]:
    """One epoch of gensim's PoincareModel."""
    from gensim.models.poincare import PoincareModel

    logging.getLogger("gensim").setLevel(logging.WARNING)
    relations = [(str(s), str(t)) for s, t in zip(graph.sources, graph.targets, strict=True)]
    model = PoincareModel(relations, size=DIM, negative=NEGATIVES, burn_in=0, seed=0)
    return lambda: model.train(1, batch_size=batch, print_every=10**9)


def geoopt_epoch(graph: Any, batch: int, manifold: str, gradient: str, threads: int) -> Callable[[], None]:
    """The first batches of an epoch of the usual PyTorch loop, with geoopt's Riemannian SGD."""
    import geoopt
    import torch

    sparse = gradient == "sparse"
    torch.manual_seed(0)
    edges = torch.from_numpy(np.stack([graph.sources, graph.targets], axis=1).astype(np.int64))
    small = 1e-3 * torch.randn(NODES, DIM)
    if manifold == "poincare":
        space = geoopt.PoincareBall()
        start = small
    else:
        space = geoopt.Lorentz()
        start = space.expmap0(torch.nn.functional.pad(small, (1, 0)))
    table = geoopt.ManifoldParameter(start, manifold=space)
    kind = geoopt.optim.SparseRiemannianSGD if sparse else geoopt.optim.RiemannianSGD
    optimizer = kind([table], lr=0.01)

    def epoch() -> None:
        torch.set_num_threads(threads)
        order = torch.randperm(len(edges))[: BATCHES * batch]
        for chosen in order.split(batch):
            positives = edges[chosen]
            drawn = torch.randint(0, NODES, (len(chosen), NEGATIVES))
            points = torch.nn.functional.embedding(torch.cat([positives, drawn], 1), table, sparse=sparse)
            distances = space.dist(points[:, :1], points[:, 1:])
            loss = -torch.log_softmax(-distances, dim=1)[:, 0].sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return epoch
