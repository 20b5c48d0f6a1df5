"""Seconds per epoch at the paper's settings, AdS over Minkowski, and train() itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import timelike
from benchmarks.harness import (
    Epochs,
    Line,
    Options,
    dream5,
    duplication_divergence,
    interleaved,
    median_and_best,
    random_graph,
    tfd,
)

#: Seconds per epoch of the paper (AdS, d = 100, CPU) over a thousand.
PAPER = {"duplication-divergence": 0.019, "DREAM5": 0.112}


def run(options: Options) -> list[Line]:
    name, graph = dream5(options.data_dir)
    graphs = {"duplication-divergence": duplication_divergence(), name: graph}
    return [*against_the_paper(options, graphs), *ads_over_minkowski(options)]


def against_the_paper(options: Options, graphs: dict[str, Any]) -> list[Line]:
    """AdS + TFD, d = 100, batch 2: the compiled epoch, and what train() adds to it."""
    model = tfd("anti-de-sitter", 100)
    config = timelike.Config(epochs=10 if options.quick else 50, batch_size=2, learning_rate=0.01)
    calls: dict[str, Callable[[], Any]] = {}
    for name, graph in graphs.items():
        calls[name] = Epochs(graph, model, batch_size=2)
        calls[f"train() {name}"] = partial(timelike.train, graph, model, config, progress=False)
    taken = median_and_best(interleaved(calls, options.rounds))
    lines = []
    for (name, graph), limit in zip(graphs.items(), PAPER.values(), strict=True):
        work = f"AdS + TFD, d = 100, batch 2, {name} ({graph.num_nodes} nodes, {graph.num_edges} edges)"
        median = taken[name]["median"]
        whole = taken[f"train() {name}"]["median"] / config.epochs
        lines.append(Line.at_most(limit, work, median, "s/epoch", **taken[name]))
        lines.append(Line(f"train() for {config.epochs} epochs, {name}", whole, "s/epoch"))
        lines.append(Line("train() over its compiled epochs", whole / median, "×"))
    return lines


def ads_over_minkowski(options: Options) -> list[Line]:
    """The price of curvature and of five images in time, everything else equal."""
    graph = random_graph(1000, 4000)
    lines = []
    for dim in (10, 100):
        for batch in (2, 50, 1000):
            names = ("anti-de-sitter", "minkowski")
            calls = {name: Epochs(graph, tfd(name, dim), batch_size=batch) for name in names}
            taken = median_and_best(interleaved(calls, options.rounds))
            curved, flat = (taken[name] for name in names)
            work = f"AdS over Minkowski, d = {dim}, batch {batch}"
            details = {"seconds": taken, "ratio_of_best_rounds": curved["best"] / flat["best"]}
            lines.append(Line.at_most(2.5, work, curved["median"] / flat["median"], "×", **details))
    return lines
