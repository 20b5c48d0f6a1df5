"""Many seeds over one: by sweep() and train(), the compiled epochs alone, and whole commands; CPU or GPU."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import timelike
from benchmarks.harness import (
    Epochs,
    Line,
    Options,
    child,
    dream5,
    duplication_divergence,
    interleaved,
    median_and_best,
    tfd,
)

SEEDS = 20
#: Manifold, dimension and batch: the paper's, and our default.
SETTINGS = (("anti-de-sitter", 100, 2), ("minkowski", 10, 16))
#: What a user types; on a CPU most of the wait for one seed is the start of the process and its program.
COMMAND = "--epochs 100 --geometry {} --dim {} --batch-size {}"


def run(options: Options) -> list[Line]:
    """20 seeds over one: functions, compiled epochs, and the commands that a user waits for."""
    return [*functions(options), *commands(options)]


def graphs(options: Options) -> list[tuple[str, Any]]:
    return [("duplication-divergence", duplication_divergence()), dream5(options.data_dir)]


def functions(options: Options) -> list[Line]:
    """20 seeds by sweep() over one by train(), and 20 in one program over the program of one."""
    lines = []
    for name, graph in graphs(options):
        for manifold, dim, batch in SETTINGS:
            model = tfd(manifold, dim)
            config = timelike.Config(epochs=10 if options.quick else 20, batch_size=batch, learning_rate=0.01)
            calls = {
                "train": partial(timelike.train, graph, model, config, progress=False),
                "sweep": partial(timelike.sweep, graph, model, config, seeds=SEEDS, progress=False),
                "one": Epochs(graph, model, batch_size=batch),
                "vmapped": Epochs(graph, model, seeds=SEEDS, batch_size=batch),
            }
            taken = median_and_best(interleaved(calls, options.rounds))
            median = {k: v["median"] for k, v in taken.items()}
            best = taken["sweep"]["best"] / taken["train"]["best"]
            work = f"{SEEDS} seeds over 1, {name}, {manifold}, d = {dim}, batch {batch}"
            details = {"seconds": taken, "ratio_of_best_rounds": best}
            lines.append(Line.at_most(6, work, median["sweep"] / median["train"], "×", **details))
            lines.append(Line("the same, one program in one thread", median["vmapped"] / median["one"], "×"))
    return lines


def commands(options: Options) -> list[Line]:
    """`timelike sweep` with 20 seeds over the same with one: fresh processes, the cache on disk filled."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for name, graph in graphs(options):
            edges = Path(folder, "edges.tsv")
            np.savetxt(edges, np.stack([graph.sources, graph.targets], axis=1), "%d", delimiter="\t")
            for setting in SETTINGS:
                command = ("timelike", "sweep", str(edges), *COMMAND.format(*setting).split(), "--json")
                calls = {n: partial(child, *command, "--seeds", str(n)) for n in (1, SEEDS)}
                taken = median_and_best(interleaved(calls, min(options.rounds, 5)))
                work = f"{SEEDS} seeds over 1, timelike sweep {name} {COMMAND.format(*setting)}"
                ratio = taken[SEEDS]["median"] / taken[1]["median"]
                lines.append(Line(work, ratio, "×", details={"seconds": taken}))
    return lines
