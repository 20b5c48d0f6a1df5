"""Rows of link prediction: the graphs, splits and runs that they stand for, and their scores."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import timelike as tl
from paper.table_rows import Row, product
from paper.tasks import Options, Task

#: The share of test edges, and the share of validation edges among the others.
TEST, VALID = 0.15, 0.1
#: Negatives per edge, in training and evaluation.
RATIO = 4
#: The number of seeds that choose between several settings, as in the paper; all seeds run the winner.
TRIALS = 3
#: The number of graphs of an ensemble that `--quick` takes.
QUICK_GRAPHS = 2
#: paper: train on all other edges, report the best test epoch. honest: a tenth of them validates instead.
PROTOCOLS = {
    "paper": "Paper's protocol (best test epoch)",
    "honest": "Honest protocol (validation chooses)",
}


class Case(NamedTuple):
    """A row in one dimension, under one protocol, against one kind of non-edges."""

    row: Row
    dim: int
    protocol: str
    negatives: str
    seeds: int
    #: Seeds of generated graphs; [None] for a data set from files.
    graphs: list[int | None]
    data_dir: str | None

    @classmethod
    def of(cls, row: Row, dim: int, protocol: str, negatives: str, options: Options) -> Case:
        """The case with the number of seeds and graphs that the user asked for."""
        graphs = row.more.get("graphs", [None])[: QUICK_GRAPHS if options.quick else None]
        return cls(row, dim, protocol, negatives, options.seeds_of(row), graphs, options.data_dir)


def tasks_of(row: Row, options: Options) -> Iterator[Task]:
    """A task for every dimension, protocol and kind of non-edges of a row."""
    row = shortened(row) if options.quick else row
    for dim in options.dims_of(row):
        for protocol in PROTOCOLS:
            for negatives in row.more["negatives"]:
                case = Case.of(row, dim, protocol, negatives, options)
                name = f"{row.name}/d{dim}-{protocol}-{negatives}"
                yield Task(name, describe(case), functools.partial(run, case))


def shortened(row: Row) -> Row:
    """The row with the paper's bold values and the first kind of training negatives only."""
    kinds = {non_edges: some[:1] for non_edges, some in row.more["negatives"].items()}
    return dataclasses.replace(row, instead={}, more={**row.more, "negatives": kinds})


def describe(case: Case) -> dict[str, Any]:
    """What identifies a case, as plain values."""
    row = case.row
    return {
        **row.about(
            "title", "dataset", "geometry", "likelihood", "epochs", "batch_size", "burn_in", "init_scale"
        ),
        "graphs": case.graphs,
        "dim": case.dim,
        "protocol": case.protocol,
        "negatives": case.negatives,
        "training_negatives": row.more["negatives"][case.negatives],
        "seeds": case.seeds,
        "candidates": row.candidates(),
        "published": row.published.get(str(case.dim)) if _comparable(case) else None,
    }


def _comparable(case: Case) -> bool:
    """Whether the published number applies: the paper's protocol, and the first kind of non-edges."""
    return case.protocol == "paper" and case.negatives == next(iter(case.row.more["negatives"]))


def run(case: Case) -> dict[str, Any]:
    """Average precision in percent of every run with the best settings, with median and standard deviation.

    The first seeds compare several candidates (training negatives, settings) by their median; the others run
    the best one only.
    """
    row, seeds = case.row, range(case.seeds)
    kinds = row.more["negatives"][case.negatives]
    several = len(kinds) * len(row.combinations()) > 1
    first = seeds[:TRIALS] if several else seeds
    tried = [runs for kind in kinds for runs in _try(case, kind, row.candidates(), first)]
    best = max(tried, key=lambda runs: np.median([r["merit"] for r in runs]))
    if len(first) < case.seeds:
        chosen = {name: [value] for name, value in best[0]["settings"].items()}
        best = best + _try(case, best[0]["training"], chosen, seeds[TRIALS:])[0]
    found = [r["score"] for r in best]
    return {
        "median": round(float(np.median(found)), 2),
        "spread": round(float(np.std(found)), 2),
        "scores": found,
        "last": round(float(np.median([r["last"] for r in best])), 2),
        "lasts": [r["last"] for r in best],
        "epochs": [r["epoch"] for r in best],
        "graphs": [r["graph"] for r in best],
        "training_negatives": best[0]["training"],
        "settings": best[0]["settings"],
        "best_epoch": float(np.median([r["epoch"] for r in best])),
        "diverged": sum(r["diverged"] for r in best),
        "tried": [_trial(runs) for runs in tried] if several else [],
    }


def _try(case: Case, kind: str, grid: dict[str, list[float]], seeds: range) -> list[list[dict[str, Any]]]:
    """For every setting of the grid, its runs: every seed on every graph."""
    settings = product(grid)
    lanes = [{**one, "seed": seed} for one in settings for seed in seeds]
    runs = [
        {"graph": graph, "training": kind, "settings": {k: found[k] for k in grid}, **scores(case, found)}
        for graph in case.graphs
        for found in sweep_case(case, graph, kind, lanes)
    ]
    return [[r for r in runs if r["settings"] == one] for one in settings]


def _trial(runs: list[dict[str, Any]]) -> dict[str, Any]:
    median = round(float(np.median([r["score"] for r in runs])), 2)
    return {"training_negatives": runs[0]["training"], **runs[0]["settings"], "median": median}


def scores(case: Case, found: dict[str, Any]) -> dict[str, Any]:
    """The score of a run at its best and at its last epoch, and the merit that chooses its settings.

    A score is 0 if the run diverged in the first epoch.
    """
    score = found["best_test_ap" if case.protocol == "paper" else "test_ap"]
    merit = score if case.protocol == "paper" else found["valid_ap"]
    return {
        "score": _percent(score),
        "last": _percent(found["last_test_ap"]),
        "merit": float(np.nan_to_num(merit)),
        "epoch": found["best_epoch"],
        "diverged": found["status"].startswith("diverged"),
    }


def _percent(value: float) -> float:
    return round(100 * float(np.nan_to_num(value)), 2)


def sweep_case(
    case: Case, graph: int | None, kind: str, settings: list[dict[str, float]]
) -> list[dict[str, Any]]:
    """The rows of a sweep on one graph, with the test AP of the last epoch; each setting names its seed."""
    row, honest = case.row, case.protocol == "honest"
    split = load_split(row.dataset, graph or 0, case.data_dir, case.negatives, honest)
    kinds: dict[str, Any] = {kind: RATIO}
    config = tl.Config(
        epochs=row.epochs,
        batch_size=row.batch_size,
        burn_in=row.burn_in,
        init_scale=row.init_scale,
        negatives=tl.Negatives(**kinds),
        select="valid" if honest else "test",
    )
    model = model_of(row.geometry, row.likelihood, case.dim)
    valid = split.valid if honest else None
    options: dict[str, Any] = {"valid": valid, "test": split.test, "keep_all": True, "progress": False}
    sweep = tl.sweep(split.train, model, config, settings, **options)
    lasts = [run.history["test_ap"][-1] for run in sweep.runs]
    return [{**one, "last_test_ap": float(last)} for one, last in zip(sweep.rows, lasts, strict=True)]


def model_of(geometry: str, likelihood: str, dim: int) -> tl.Model:
    """The model with these names, with the default numbers of both parts."""
    return tl.Model(tl.manifolds.MANIFOLDS[geometry](dim), tl.likelihoods.LIKELIHOODS[likelihood]())


@functools.cache
def load_split(
    dataset: str, seed: int, data_dir: str | None, negatives: str = "listed", validated: bool = True
) -> tl.Split:
    """15 % test edges, and 10 % of the others for validation; `seed` is that of the split or generated graph.

    The non-edges of DREAM5 are the listed ones, or drawn by another protocol. A duplication-divergence graph
    grows from a directed 3-cycle; "duplication-divergence:complete" names another start.
    """
    valid = VALID * (1 - TEST) if validated else 0.0
    name, _, start = dataset.partition(":")
    if name == "duplication-divergence":
        graph = tl.datasets.duplication_divergence(seed, start=start or "cycle")
        return tl.split_edges(graph, valid, TEST, ratio=RATIO)
    data = tl.datasets.dream5(dataset.removeprefix("dream5:"), data_dir)
    listed = data.non_edges if negatives == "listed" else None
    return tl.split_edges(data.graph, valid, TEST, seed, ratio=RATIO, negatives=negatives, listed=listed)
