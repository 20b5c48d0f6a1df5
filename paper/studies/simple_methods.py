"""Simple methods on the graphs and splits of the tables that have none of their own.

python -m paper.studies.simple_methods [--out OUT]    # score what is missing, then print a table

`best`, `defaults`, `ablation`, `seed_graph`, `members` and `one_model` quote these results.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from paper.groups import defaults
from paper.reports.simple_rows import BEST, SHOWN, scores_of
from paper.reports.tables import markdown
from paper.studies import measuring, seed_graph
from paper.table_rows import load_rows
from paper.tasks import Result, Task
from paper.training import simple_methods
from paper.training.link_prediction import load_split


def places() -> Iterator[tuple[str, int, str]]:
    """Data set, split or graph, and kind of non-edges of every table that quotes these results."""
    for row in load_rows("best"):
        kind = "listed" if row.dataset.startswith("dream5") else "uniform"
        yield from ((row.dataset, split, kind) for split in row.more.get("splits", ()))
    for data, (kinds, splits) in defaults.DATA.items():
        yield from ((data, split, kind) for kind in kinds for split in splits)
    _, graphs = seed_graph.STARTS["complete"]
    yield from (("duplication-divergence:complete", graph, "uniform") for graph in graphs)


def tasks(data_dir: str | None) -> Iterator[Task]:
    """A task for each place."""
    for data, split, kind in dict.fromkeys(places()):
        about = {"dataset": data, "split": split, "negatives": kind}
        name = f"{data.replace(':', '-')}/{kind}-{split}"
        yield Task(name, about, functools.partial(run, data, split, kind, data_dir))


def run(data: str, split: int, kind: str, data_dir: str | None) -> dict[str, Any]:
    """Validation and test AP in percent."""
    found = simple_methods.simple_scores(load_split(data, split, data_dir, kind))
    jax.clear_caches()  # a process that keeps the programs of many graphs runs out of memory maps
    return {part: {name: round(100 * one, 2) for name, one in some.items()} for part, some in found.items()}


def report(results: list[Result]) -> str:
    """Median test AP by data set and kind of non-edges."""
    splits: dict[tuple[str, str], list[int]] = {}
    for r in results:
        splits.setdefault((r.about["dataset"], r.about["negatives"]), []).append(r.about["split"])
    body = [
        [data, kind, str(len(some))]
        + [f"{np.median(scores):.1f}" for scores in scores_of(results, data, some, kind).values()]
        for (data, kind), some in splits.items()
    ]
    return markdown(["", "non-edges", "splits", *SHOWN, BEST], body)


if __name__ == "__main__":
    measuring.measure("simple_methods", __doc__, tasks, report)
