"""Methods without training on the pairs of the WordNet tables: reachability, counts of paths, degrees, SVD.

python -m paper.studies.wordnet_untrained [--out OUT]    # measure what is missing, then print the table

They see the training edges that the models see. Validation chooses the threshold, as for the models.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import timelike as tl
from paper.groups.wordnet import load_split
from paper.reports.tables import markdown
from paper.studies import measuring
from paper.tasks import Result, Task
from timelike.evaluation import (
    DegreeProduct,
    Katz,
    Reachability,
    Svd,
    TimesOutDegree,
    common_neighbours,
    l3,
    metrics,
)

PERCENTS = (0, 10, 25, 50)
METHODS: dict[str, Callable[[tl.DiGraph], Any]] = {
    "Reachability": Reachability,
    "Katz, paths of up to 4 edges": Katz,
    "Common neighbours, s → z → t": common_neighbours,
    "L3, normalised": l3,
    "L3, normalised, × out-degree": lambda graph: TimesOutDegree(graph, l3(graph)),
    "Degree product": DegreeProduct,
    "SVD, rank 5": lambda graph: Svd(graph, 5),
    "SVD, rank 10": lambda graph: Svd(graph, 10),
}


def tasks(data_dir: str | None) -> Iterator[Task]:
    """One task for each share of the closure."""
    for percent in PERCENTS:
        about = {"dataset": "wordnet", "percent": percent, "methods": list(METHODS)}
        yield Task(f"percent-{percent}", about, functools.partial(_scores, percent, data_dir))


def _scores(percent: int, data_dir: str | None) -> dict[str, Any]:
    """F1 of every method, and how much there is to learn from."""
    split = load_split(percent, data_dir)
    return {
        "edges": split.train.num_edges,
        "nodes": split.train.num_nodes,
        "pairs": len(split.test.labels),
        "methods": {name: measured(make(split.train), split) for name, make in METHODS.items()},
    }


def measured(scorer: Any, split: tl.Split) -> dict[str, float]:
    """Validation and test F1 in percent at the threshold of validation, and of all scores above 0."""
    begun = time.perf_counter()
    valid, test = (scorer.score(pairs.sources, pairs.targets) for pairs in (split.valid, split.test))
    seconds = time.perf_counter() - begun
    labels = [np.asarray(pairs.labels) for pairs in (split.valid, split.test)]
    threshold = metrics.best_f1_threshold(valid, labels[0])
    return {
        "valid": round(100 * metrics.f1(valid, labels[0], threshold), 2),
        "test": round(100 * metrics.f1(test, labels[1], threshold), 2),
        "above_0": round(100 * metrics.f1((test > 0).astype(float), labels[1], 0.5), 2),
        "seconds": round(seconds, 2),
    }


def report(results: list[Result]) -> str:
    """A table with methods as rows and shares of the closure as columns."""
    results = sorted(results, key=lambda r: r.about["percent"])
    body = []
    for name in results[0].about["methods"]:
        found = [r.found["methods"][name] for r in results]
        slowest = max(one["seconds"] for one in found)
        body.append([name, *(f"{one['test']:.1f}" for one in found), f"{slowest:.1f}"])
    head = ["", *(f"{r.about['percent']} %" for r in results), "slowest, s"]
    return (
        "Test F1 in percent without training; validation chooses the threshold. The last column has the "
        f"time for the {2 * results[0].found['pairs']:,} pairs of validation and test:\n\n"
        f"{markdown(head, body)}\n\n{ceiling(results)}"
    )


def ceiling(results: list[Result]) -> str:
    """What reachability scores, and why no model can score more."""
    found = [r.found["methods"]["Reachability"] for r in results]
    least, any_path = min(one["test"] for one in found), min(one["above_0"] for one in found)
    if min(least, any_path) < 100:
        return (
            f"Reachability scores at least {least:.1f} with the threshold of validation, and at least "
            f"{any_path:.1f} if any path counts."
        )
    return (
        "Reachability makes no error, with the threshold of validation or if any path counts. It is the "
        "ceiling of every WordNet table: a test pair is an edge of the closure exactly if a path of training "
        "edges joins its ends, at every share of the closure. The answers lie in the training edges. The "
        "benchmark asks for a representation, a few numbers a node that reproduce these answers, not for "
        "knowledge that the edges lack."
    )


if __name__ == "__main__":
    measuring.measure("wordnet_untrained", __doc__, tasks, report)
