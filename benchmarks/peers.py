"""Positives per second against gensim and geoopt: 1,000 nodes, 4,000 edges, d = 10, 4 negatives.

The peers do the same amount of learning or less: they share the source among an edge's negatives
(6 rows of the table per positive, ours touches 10 with uniform pairs), and the geoopt loop does not
reject negatives that are edges. Each library runs in a process of its own, in turns with the others:
PyTorch's threads keep a core busy for a while after their work is done.
"""

from __future__ import annotations

import functools
import itertools
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import ROOT, Epochs, Line, Options, median_and_best, random_graph, seconds, tfd
from timelike._util.hardware import cores

NODES, EDGES, DIM, NEGATIVES = 1000, 4000, 10, 4
TARGETS = {2: 50.0, 50: 20.0, 1000: 2.0}

#: A loop in Python is stopped after this many batches: it is no faster later.
BATCHES = 100


def run(options: Options) -> list[Line]:
    threads = [str(n) for n in sorted({1, cores()})]
    loops = itertools.product(["geoopt"], ["poincare", "lorentz"], ["dense", "sparse"], threads)
    names = ["gensim", "timelike uniform", "timelike target", *map(" ".join, loops)]
    libraries = {name: Library(name) for name in ("gensim", "timelike", "geoopt")}
    lines = []
    for batch, target in TARGETS.items():
        taken: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(options.rounds):
            for name in names:
                taken[name].append(libraries[name.split()[0]].seconds(batch, name))
        lines += compare(batch, target, taken)
    for library in libraries.values():
        library.stop()
    return lines


class Library:
    """A process that has one library loaded and times an epoch of it when asked."""

    def __init__(self, name: str):
        command = [sys.executable, "-m", "benchmarks.peers", name]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, cwd=ROOT, **pipes)

    def seconds(self, batch: int, name: str) -> float:
        """Seconds per epoch of a contender."""
        print(batch, name, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def stop(self) -> None:
        """No more questions."""
        self.process.communicate()


def main() -> None:
    """The process of one library: a line with batch and contender in, the seconds of its epoch out."""
    answers, sys.stdout = os.fdopen(os.dup(1), "w"), sys.stderr  # what a library prints is no answer
    for line in sys.stdin:
        batch, name = line.split(maxsplit=1)
        print(seconds(contender(int(batch), name.strip())), file=answers, flush=True)


@functools.cache
def contender(batch: int, name: str) -> Callable[[], None]:
    """An epoch that can be run again and again, after its first time."""
    library, *choice = name.split()
    make = {"gensim": gensim_epoch, "timelike": timelike_epoch, "geoopt": geoopt_epoch}[library]
    call = make(random_graph(NODES, EDGES), batch, *choice)
    call()
    return call


def compare(batch: int, target: float, taken: dict[str, list[float]]) -> list[Line]:
    """Ratios over the fastest peer, and everybody's positives per second."""
    positives = {k: min(EDGES, BATCHES * batch) if k.startswith("geoopt") else EDGES for k in taken}
    summary = median_and_best(taken)
    rates = {k: positives[k] / v["median"] for k, v in summary.items()}
    quiet = {k: positives[k] / v["best"] for k, v in summary.items()}
    peers = [k for k in taken if not k.startswith("timelike")]
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


def timelike_epoch(graph: Any, batch: int, kind: str) -> Callable[[], None]:
    """One of ours, with one kind of negatives."""
    from timelike.engine.negatives import Negatives

    return Epochs(graph, tfd("minkowski", DIM), batch_size=batch, negatives=Negatives(**{kind: NEGATIVES}))


def gensim_epoch(graph: Any, batch: int) -> Callable[[], None]:
    """One epoch of gensim's PoincareModel."""
    from gensim.models.poincare import PoincareModel

    logging.getLogger("gensim").setLevel(logging.WARNING)
    relations = [(str(s), str(t)) for s, t in zip(graph.sources, graph.targets, strict=True)]
    model = PoincareModel(relations, size=DIM, negative=NEGATIVES, burn_in=0, seed=0)
    return lambda: model.train(1, batch_size=batch, print_every=10**9)


def geoopt_epoch(graph: Any, batch: int, manifold: str, gradient: str, threads: str) -> Callable[[], None]:
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
        torch.set_num_threads(int(threads))
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


if __name__ == "__main__":
    main()
