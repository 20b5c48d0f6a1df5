"""Rows of link prediction: which graphs, splits and runs they stand for, and the scores they give."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from timelike.reproduce.row import Row, product
from timelike.reproduce.task import Options, Task

#: The share of all edges that is the test, and the share of the rest that validates.
TEST, VALID = 0.15, 0.1
#: Non-edges to an edge, in training and evaluation.
RATIO = 4
#: Seeds that choose between several settings, as in the paper; the chosen ones then run with all seeds.
TRIALS = 3
#: Graphs of an ensemble that `--quick` takes.
QUICK_GRAPHS = 2
#: paper: trained on all of the rest, best test epoch. honest: a tenth of the rest chooses, one test score.
PROTOCOLS = {
    "paper": "Paper's protocol (best test epoch)",
    "honest": "Honest protocol (validation chooses)",
}


class Case(NamedTuple):
    """One program: a row at one dimension under one protocol."""

    row: Row
    dim: int
    protocol: str
    negatives: str
    seeds: int
    #: Seeds of grown graphs; [None] for a data set of its own.
    graphs: list[int | None]
    data_dir: str | None

    @classmethod
    def of(cls, row: Row, dim: int, protocol: str, negatives: str, options: Options) -> Case:
        """With as many seeds and graphs as were asked for."""
        graphs = row.more.get("graphs", [None])[: QUICK_GRAPHS if options.quick else None]
        return cls(row, dim, protocol, negatives, options.seeds_of(row), graphs, options.data_dir)


def tasks_of(row: Row, options: Options) -> Iterator[Task]:
    """All dimensions, protocols and kinds of non-edges of a row."""
    row = shortened(row) if options.quick else row
    for dim in options.dims_of(row):
        for protocol in PROTOCOLS:
            for negatives in row.more["negatives"]:
                case = Case.of(row, dim, protocol, negatives, options)
                name = f"{row.name}/d{dim}-{protocol}-{negatives}"
                yield Task(name, describe(case), functools.partial(run, case))


def shortened(row: Row) -> Row:
    """The paper's bold values alone, with the first kind of training negatives."""
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
    """Whether the paper's number is one of this protocol: its own, with the non-edges named first."""
    return case.protocol == "paper" and case.negatives == next(iter(case.row.more["negatives"]))


def run(case: Case) -> dict[str, Any]:
    """Average precision in percent of every run with the best settings, its median and standard deviation.

    Of several candidates (training negatives, settings) the one with the best median over the first
    seeds is run with the others too.
    """
    row, seeds = case.row, range(case.seeds)
    kinds = row.more["negatives"][case.negatives]
    several = len(kinds) * len(row.combinations()) > 1
    first = seeds[:TRIALS] if several else seeds
    tried = [some for kind in kinds for some in _tried(case, kind, row.candidates(), first)]
    best = max(tried, key=lambda some: np.median([r["merit"] for r in some]))
    if len(first) < case.seeds:
        chosen = {name: [value] for name, value in best[0]["settings"].items()}
        best = best + _tried(case, best[0]["training"], chosen, seeds[TRIALS:])[0]
    found = [r["score"] for r in best]
    return {
        "median": round(float(np.median(found)), 2),
        "spread": round(float(np.std(found)), 2),
        "scores": found,
        "graphs": [r["graph"] for r in best],
        "training_negatives": best[0]["training"],
        "settings": best[0]["settings"],
        "best_epoch": float(np.median([r["epoch"] for r in best])),
        "diverged": sum(r["diverged"] for r in best),
        "tried": [_trial(some) for some in tried] if several else [],
    }


def _tried(case: Case, kind: str, grid: dict[str, list[float]], seeds: range) -> list[list[dict[str, Any]]]:
    """For each setting in the grid, its runs: every seed on every graph."""
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
    """What a run scores, and the merit by which its settings are chosen; 0 for one that diverged at once."""
    score = found["best_test_ap" if case.protocol == "paper" else "test_ap"]
    merit = score if case.protocol == "paper" else found["valid_ap"]
    return {
        "score": round(100 * float(np.nan_to_num(score)), 2),
        "merit": float(np.nan_to_num(merit)),
        "epoch": found["best_epoch"],
        "diverged": found["status"].startswith("diverged"),
    }


def sweep_case(
    case: Case, graph: int | None, kind: str, lanes: list[dict[str, float]]
) -> list[dict[str, Any]]:
    """What runs on one graph, side by side, have to say; a lane has the settings of a run and its seed."""
    from timelike.core.model import Model
    from timelike.engine.config import Config
    from timelike.engine.negatives import Negatives
    from timelike.likelihoods import LIKELIHOODS
    from timelike.manifolds import MANIFOLDS
    from timelike.training.sweeps import sweep

    row, honest = case.row, case.protocol == "honest"
    split = load_split(row.dataset, graph or 0, case.data_dir, case.negatives, honest)
    kinds: dict[str, Any] = {kind: RATIO}
    config = Config(
        epochs=row.epochs,
        batch_size=row.batch_size,
        burn_in=row.burn_in,
        init_scale=row.init_scale,
        negatives=Negatives(**kinds),
        select="valid" if honest else "test",
    )
    model = Model(MANIFOLDS[row.geometry](case.dim), LIKELIHOODS[row.likelihood]())
    valid = split.valid if honest else None
    return sweep(split.train, model, config, lanes, valid=valid, test=split.test, progress=False).rows


@functools.cache
def load_split(
    dataset: str, seed: int, data_dir: str | None, negatives: str = "listed", validated: bool = True
) -> Any:
    """15 % test edges, and 10 % of the others to validate, by the seed of the split, or of a grown graph.

    The non-edges of DREAM5 are listed ones, or drawn by another protocol.
    """
    from timelike import datasets
    from timelike.evaluation.splits import split_edges

    valid = VALID * (1 - TEST) if validated else 0.0
    if dataset == "duplication-divergence":
        return split_edges(datasets.duplication_divergence(seed), valid, TEST, ratio=RATIO)
    data = datasets.dream5(dataset.removeprefix("dream5:"), data_dir)
    listed = data.non_edges if negatives == "listed" else None
    return split_edges(data.graph, valid, TEST, seed, ratio=RATIO, protocol=negatives, non_edges=listed)
