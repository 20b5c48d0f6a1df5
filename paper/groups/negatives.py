"""How hard each kind of non-edges is: average precision of the degree product alone."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import timelike as tl
from paper.reports.tables import markdown
from paper.tasks import Options, Report, Result, Task

ABOUT = "not in the paper: the degree product against each kind of non-edges of DREAM5"

DATA = {"dream5:in-silico": "in silico", "dream5:ecoli": "*E. coli*", "dream5:yeast": "*S. cerevisiae*"}
KINDS = ("uniform", "same_target", "active_source", "same_source", "listed", "degree", "reversed")
SPLITS, TEST, RATIO = 5, 0.15, 4


def tasks(options: Options) -> Iterator[Task]:
    """One task for each network."""
    for data in DATA:
        splits = 1 if options.quick else options.seeds or SPLITS
        about = {
            "dataset": data,
            "kinds": list(KINDS),
            "splits": splits,
            "test": TEST,
            "ratio": RATIO,
        }
        run = functools.partial(_scores, data, splits, options.data_dir)
        yield Task(data.replace(":", "-"), about, run)


def _scores(data: str, splits: int, data_dir: str | None) -> dict[str, float]:
    """The median test AP over splits, by kind of negatives."""
    known = tl.datasets.dream5(data.removeprefix("dream5:"), data_dir)
    found = {}
    for kind in KINDS:
        listed = known.non_edges if kind == "listed" else None
        parts = (
            tl.split_edges(known.graph, 0, TEST, seed, negatives=kind, ratio=RATIO, listed=listed)
            for seed in range(splits)
        )
        scores = (
            tl.estimator.evaluate_baselines(split.train, split, names=("degree product",)) for split in parts
        )
        values = [score["degree product"].average_precision for score in scores]
        found[kind] = round(100 * median(values), 2)
    return found


def report(results: list[Result], folder: Path) -> Report:
    """A table with networks as rows and kinds as columns."""
    rows = [{"data": r.about["dataset"], **r.found} for r in results]
    rows.sort(key=lambda row: list(DATA).index(row["data"]))
    body = [[DATA[row["data"]], *(f"{row[name]:.1f}" for name in KINDS)] for row in rows]
    return Report(f"# Kinds of negatives\n\n{markdown(['', *KINDS], body)}", rows)
