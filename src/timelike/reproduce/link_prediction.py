"""Rows of link prediction: which graphs, splits and runs they stand for, and the scores they give."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from timelike.reproduce.row import Row
from timelike.reproduce.task import Options, Task

#: The share of all edges that is the test, and the share of the rest that validates.
TEST, VALID = 0.15, 0.1
#: Non-edges to an edge, in training and evaluation.
RATIO = 4
#: paper: trained on all of the rest, best test epoch. honest: a tenth of the rest chooses, the test is scored once.
PROTOCOLS = ("paper", "honest")


class Case(NamedTuple):
    """One program: a row at one dimension under one protocol."""

    row: Row
    dim: int
    protocol: str
    negatives: str
    seeds: int
    data_dir: str | None


def tasks_of(row: Row, options: Options) -> Iterator[Task]:
    """All dimensions, protocols and kinds of non-edges of a row."""
    for dim in options.dims_of(row):
        for negatives in row.more["negatives"]:
            for protocol in PROTOCOLS:
                case = Case(row, dim, protocol, negatives, options.seeds_of(row), options.data_dir)
                name = f"{row.name}/d{dim}-{protocol}-{negatives}"
                yield Task(name, _about(case), functools.partial(run, case))


def _about(case: Case) -> dict[str, Any]:
    row = case.row
    return {
        "row": row.name,
        "title": row.title,
        "dataset": row.dataset,
        "graphs": row.more.get("graphs"),
        "dim": case.dim,
        "protocol": case.protocol,
        "negatives": case.negatives,
        "training_negatives": row.more["negatives"][case.negatives],
        "seeds": case.seeds,
        "epochs": row.epochs,
        "batch_size": row.batch_size,
        "burn_in": row.burn_in,
        "init_scale": row.init_scale,
        "settings": row.settings,
        "published": row.published.get(str(case.dim)) if _comparable(case) else None,
    }


def _comparable(case: Case) -> bool:
    """Whether the paper's number is one of this protocol: its own, with the non-edges named first."""
    return case.protocol == "paper" and case.negatives == next(iter(case.row.more["negatives"]))


def run(case: Case) -> dict[str, Any]:
    """Average precision in percent of every run with the best settings, its median and standard deviation."""
    row, names = case.row, list(case.row.settings)
    runs = []
    for graph in row.more.get("graphs") or [None]:
        for found in _sweep(case, graph).rows:
            settings = {name: found[name] for name in names}
            runs.append({"graph": graph, "settings": settings, **_scores(case, found)})
    tried = [[r for r in runs if r["settings"] == settings] for settings in row.combinations()]
    best = max(tried, key=lambda some: np.median([r["merit"] for r in some]))
    scores = [r["score"] for r in best]
    return {
        "median": round(float(np.median(scores)), 2),
        "spread": round(float(np.std(scores)), 2),
        "scores": scores,
        "graphs": [r["graph"] for r in best],
        "settings": best[0]["settings"],
        "best_epoch": float(np.median([r["epoch"] for r in best])),
        "diverged": sum(r["diverged"] for r in best),
        "tried": [
            {**some[0]["settings"], "median": round(float(np.median([r["score"] for r in some])), 2)}
            for some in tried
        ],
    }


def _scores(case: Case, found: dict[str, Any]) -> dict[str, Any]:
    """What a run scores, and the merit by which its settings are chosen; 0 for one that diverged at once."""
    score = found["best_test_ap" if case.protocol == "paper" else "test_ap"]
    merit = score if case.protocol == "paper" else found["valid_ap"]
    return {
        "score": round(100 * float(np.nan_to_num(score)), 2),
        "merit": float(np.nan_to_num(merit)),
        "epoch": found["best_epoch"],
        "diverged": found["status"].startswith("diverged"),
    }


def _sweep(case: Case, graph: int | None) -> Any:
    """Every candidate with every seed, side by side."""
    from timelike.config import Config
    from timelike.likelihoods import LIKELIHOODS
    from timelike.manifolds import MANIFOLDS
    from timelike.model import Model
    from timelike.sampling import Negatives
    from timelike.sweeps import sweep

    row, honest = case.row, case.protocol == "honest"
    split = load_split(row.dataset, graph, case.negatives, honest, case.data_dir)
    config = Config(
        epochs=row.epochs,
        batch_size=row.batch_size,
        burn_in=row.burn_in,
        init_scale=row.init_scale,
        negatives=Negatives(**{row.more["negatives"][case.negatives]: RATIO}),
        select="valid" if honest else "test",
    )
    model = Model(MANIFOLDS[row.geometry](case.dim), LIKELIHOODS[row.likelihood]())
    valid = split.valid if honest else None
    grid = row.candidates()
    return sweep(split.train, model, config, grid, case.seeds, valid=valid, test=split.test, progress=False)


@functools.cache
def load_split(dataset: str, graph: int | None, negatives: str, honest: bool, data_dir: str | None) -> Any:
    """The one split of a graph: 15 % test edges, and 10 % of the others to validate where honest."""
    from timelike import datasets
    from timelike.split import split_edges

    valid = VALID * (1 - TEST) if honest else 0.0
    if dataset == "duplication-divergence":
        return split_edges(datasets.duplication_divergence(graph), valid, TEST, ratio=RATIO)
    data = datasets.dream5(dataset.removeprefix("dream5:"), data_dir)
    listed = {"protocol": "listed", "non_edges": data.non_edges} if negatives == "listed" else {}
    return split_edges(data.graph, valid, TEST, ratio=RATIO, **listed)
