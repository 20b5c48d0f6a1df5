"""Seconds per epoch, beside those that the paper gives.

python -m paper.studies.runtimes [--out OUT]    # measure what is missing, then print the table

An epoch is one pass over the training edges with four negatives each, in batches as large as the paper's; no
pairs are scored. The shortest of several epochs counts, because other programs may share the machine;
compilation is timed apart.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import timelike as tl
from paper.reports.tables import markdown
from paper.studies import measuring
from paper.tasks import Result, Task
from paper.training.link_prediction import RATIO, load_split, model_of

#: The seed of the duplication-divergence graph of the tables.
GRAPH = 307
CPU, V100 = "CPU, one process", "NVIDIA V100"
EPOCHS = 30
#: WordNet has long epochs.
EPOCHS_OF = {"wordnet": 6}
#: Data, geometry, dimension, batch, the paper's seconds per epoch, and its machine. The paper gives numbers
#: for anti-de Sitter spacetime; the others take "approximately an order of magnitude" less.
CASES: tuple[tuple[str, str, int, int, float, str], ...] = (
    ("duplication-divergence", "anti-de-sitter", 100, 2, 19.0, CPU),
    ("duplication-divergence", "cylindrical-minkowski", 100, 2, 1.9, CPU),
    ("duplication-divergence", "minkowski", 100, 2, 1.9, CPU),
    ("dream5:in-silico", "anti-de-sitter", 100, 2, 112.0, CPU),
    ("dream5:in-silico", "cylindrical-minkowski", 100, 2, 11.2, CPU),
    ("dream5:in-silico", "minkowski", 100, 2, 11.2, CPU),
    ("wordnet:0", "minkowski", 5, 50, 60.0, V100),
    ("wordnet:0", "minkowski", 10, 50, 60.0, V100),
    ("wordnet:50", "minkowski", 5, 50, 280.0, V100),
    ("wordnet:50", "minkowski", 10, 50, 280.0, V100),
)
GEOMETRIES = {
    "anti-de-sitter": "anti-de Sitter",
    "cylindrical-minkowski": "cylindrical Minkowski",
    "minkowski": "Minkowski",
}


def tasks(data_dir: str | None) -> Iterator[Task]:
    """A task for each case."""
    for data, geometry, dim, batch, published, machine in CASES:
        about: dict[str, Any] = {"data": data, "geometry": geometry, "dim": dim, "batch_size": batch}
        about |= {"epochs": EPOCHS_OF.get(data.partition(":")[0], EPOCHS), "negatives": RATIO}
        about |= {"published": published, "published_on": machine}
        about["about"] = geometry != "anti-de-sitter" and machine == CPU
        name = f"{data.replace(':', '-')}/{geometry}-{dim}"
        yield Task(name, about, functools.partial(run, about, data_dir))


def training_graph(data: str, data_dir: str | None) -> tl.DiGraph:
    """The training edges of a data set, as in the paper's protocol."""
    name, _, share = data.partition(":")
    if name == "wordnet":
        return tl.datasets.wordnet_split(int(share), data_dir).train
    return load_split(data, GRAPH if name == "duplication-divergence" else 0, data_dir, validated=False).train


def run(about: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """The shortest and the median epoch in seconds, the first one, and how busy the machine was."""
    graph = training_graph(about["data"], data_dir)
    config = tl.Config(
        epochs=about["epochs"],
        batch_size=about["batch_size"],
        negatives=tl.Negatives(uniform=about["negatives"]),
        select="last",
    )
    model = model_of(about["geometry"], "triple-fermi-dirac", about["dim"])
    times: list[float] = []
    tl.train(graph, model, config, progress=False, on_epoch=lambda *_: times.append(time.perf_counter()))
    seconds = np.diff(times)
    return {
        "edges": graph.num_edges,
        "best": round(float(seconds[1:].min()), 5),
        "median": round(float(np.median(seconds[1:])), 5),
        "first": round(float(seconds[0]), 2),
        "load": round(os.getloadavg()[0], 1),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    }


def report(results: list[Result]) -> str:
    """A line for each case with the ratio of both times, and their range."""
    order = [(case[0], case[1], case[2]) for case in CASES]
    results = sorted(
        results, key=lambda r: order.index((r.about["data"], r.about["geometry"], r.about["dim"]))
    )
    body, ratios = [], []
    for about, found, _ in results:
        ratios.append(about["published"] / found["best"])
        published = f"{'about ' * about['about']}{about['published']:g} s ({about['published_on']})"
        body.append(
            [
                _title(about),
                f"{found['edges']:,}",
                str(about["batch_size"]),
                published,
                f"{found['best']:.2g} s",
                f"{found['median']:.2g} s",
                f"{_round(ratios[-1]):,}",
            ]
        )
    head = ["", "training edges", "batch", "paper", "ours, shortest", "ours, median", "paper / ours"]
    loads = [r.found["load"] for r in results]
    about, counted = results[0].about, sorted({r.about["epochs"] - 1 for r in results})
    text = (
        f"Seconds per epoch with {about['negatives']} negatives per edge, without scoring. Ours: the "
        f"shortest and the median of {' or '.join(map(str, counted))} epochs after the first, on "
        f"{results[0].made['device']} with a load average of {min(loads):g} to {max(loads):g}."
    )
    exact = [ratio for ratio, r in zip(ratios, results, strict=True) if not r.about["about"]]
    first = [r.found["first"] for r in results]
    ends = (
        f"Where the paper gives a number, the ratio is {_round(min(exact)):,} to {_round(max(exact)):,}. The "
        "machines differ, and the paper does not say whether its seconds include the scores of every epoch. "
        f"Our first epoch, which includes compilation unless the program is in the cache, took "
        f"{min(first):.1f} to {max(first):.1f} s."
    )
    return "\n\n".join((text, markdown(head, body), ends))


def _title(about: dict[str, Any]) -> str:
    name, _, part = about["data"].partition(":")
    what = {"wordnet": f"WordNet, {part} %", "dream5": f"DREAM5 {part.replace('-', ' ')}"}.get(name, name)
    return f"{what}, {GEOMETRIES[about['geometry']]}, d = {about['dim']}"


def _round(ratio: float) -> int:
    """Two significant digits."""
    return int(float(f"{ratio:.2g}"))


if __name__ == "__main__":
    measuring.measure("runtimes", __doc__, tasks, report)
