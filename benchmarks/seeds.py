"""Many seeds over one: by sweep() and train(), and the compiled epochs alone; on a CPU or a GPU."""

from __future__ import annotations

from functools import partial

import timelike
from benchmarks.harness import (
    Epochs,
    Line,
    Options,
    dream5,
    duplication_divergence,
    interleaved,
    median_and_best,
    tfd,
)

SEEDS = 20
#: Manifold, dimension and batch: the paper's, and our default.
SETTINGS = (("anti-de-sitter", 100, 2), ("minkowski", 10, 16))


def run(options: Options) -> list[Line]:
    """20 seeds by sweep() over one by train(), and 20 in one program over the program of one."""
    lines = []
    for name, graph in (("duplication-divergence", duplication_divergence()), dream5(options.data_dir)):
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
