"""Discussion items of the paper: descent directions, times on anti-de Sitter, and other signatures."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

import timelike as tl
from paper.reports.beyond_tables import sections
from paper.studies.search_setup import search_config
from paper.tasks import Options, Report, Result, Task
from paper.training.descent_directions import DIRECTIONS, Probe, Redirected, ambient_gradient
from paper.training.link_prediction import load_split
from paper.training.simple_methods import SIMPLE
from timelike.core import Manifold
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import AntiDeSitter, DeSitter, Hyperboloid, Minkowski, PseudoHyperboloid

ABOUT = "not in the paper: descent directions, other times and other signatures, from its Discussion"

DIM = 10
#: Data set → seeds of graphs or splits: the first graphs of the ablation, splits that no search used.
SEEDS = {
    "duplication-divergence": (307, 1213, 1910, 3333, 4402),
    "dream5:ecoli": (102, 103, 104),
    "dream5:in-silico": (102, 103, 104),
}
#: Fresh seeds of the chosen settings; the search has others.
FINALS = (100, 101, 102, 103, 104)
#: The paper's likelihoods: anti-de Sitter on duplication-divergence and on DREAM5, Minkowski.
NUMBERS: tuple[dict[str, float], ...] = (
    {"tau1": 0.4, "tau2": 0.15, "alpha": 0.15, "r": -0.1},
    {"tau1": 0.15, "tau2": 0.07, "alpha": 0.06, "r": -0.1},
    {"tau1": 0.075, "tau2": 0.03, "alpha": 0.06, "r": 0.0},
)
#: Wide enough that few searches should end at an edge; the page counts those that do.
RATES = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
FEWER_RATES = (0.0002, 0.0005, 0.0015, 0.005, 0.015, 0.04, 0.1, 0.3, 1.0)
#: Row of a table → its manifold.
ADS = AntiDeSitter(DIM)
DIRECTED: dict[str, Manifold] = {
    "double projection": ADS,
    **{f.__name__.replace("_", " "): Redirected(ADS, i) for i, f in enumerate(DIRECTIONS)},
}
SPACES: dict[str, Manifold] = {
    "anti-de Sitter": ADS,
    "anti-de Sitter, angle": AntiDeSitter(DIM, arc=0),
    "anti-de Sitter, projected": Redirected(ADS, DIRECTIONS.index(ambient_gradient)),
    "two-time hyperboloid": PseudoHyperboloid(2, DIM - 2),
    "de Sitter": DeSitter(DIM),
    "Minkowski": Minkowski(DIM),
    "hyperboloid": Hyperboloid(DIM),
}
MODELS = {"descent": DIRECTED, "space": SPACES}


def tasks(options: Options) -> Iterator[Task]:
    """The simple methods, then every manifold on every graph."""
    places = [(data, seed) for data in SEEDS for seed in SEEDS[data][: 1 if options.quick else None]]
    for data, seed in places:
        about: dict[str, Any] = {"title": "simple methods", "dataset": data, "split": seed}
        about["methods"] = list(SIMPLE)
        run = functools.partial(_baselines, data, seed, options.data_dir)
        yield Task(f"simple/{data.replace(':', '-')}-{seed}", about, run)
    models = [(kind, title) for kind in MODELS for title in MODELS[kind]]
    for (kind, title), (data, seed) in itertools.product(models, places):
        about = {"kind": kind, "title": title, "dataset": data, "split": seed, "dim": DIM}
        about |= {"runs": search_runs(kind, data), "finals": list(FINALS)}
        train = functools.partial(_train, kind, title, data, seed, options.data_dir)
        name = f"{kind}/{title.replace(' ', '-').replace(',', '')}/{data.replace(':', '-')}-{seed}"
        yield Task(name, about, train)


def search_runs(kind: str, data: str) -> list[dict[str, float]]:
    """The runs that validation chooses from, all but the seed: one likelihood for directions."""
    if kind == "descent":
        numbers = NUMBERS[0 if data == "duplication-divergence" else 1]
        return [{**numbers, "learning_rate": rate, "seed": seed} for rate in RATES for seed in (0, 1)]
    grid = itertools.product(NUMBERS, FEWER_RATES)
    return [{**numbers, "learning_rate": rate, "seed": 0} for numbers, rate in grid]


def _train(kind: str, title: str, data: str, seed: int, data_dir: str | None) -> dict[str, Any]:
    """AP in percent of fresh seeds with the settings of the best mean validation AP; test is scored once."""
    if seed == SEEDS[data][0]:
        jax.clear_caches()  # graphs of one data set share their programs, others do not
    split, listed = load_split(data, seed, data_dir), data != "duplication-divergence"
    config = search_config(split.train, "listed" if listed else "uniform")
    model = tl.Model(MODELS[kind][title], TripleFermiDirac())
    sweep = functools.partial(tl.sweep, split.train, model, config, valid=split.valid, progress=False)
    merits = _merits(sweep(search_runs(kind, data)).rows)
    winner = max(merits, key=merits.__getitem__)
    best = dict(winner)
    probe = None
    if kind == "descent":
        chosen = tl.Model(model.manifold, TripleFermiDirac(**{name: best[name] for name in NUMBERS[0]}))
        probe = Probe(split.train, listed, chosen, config, best["learning_rate"])
    ends = sweep([{**best, "seed": one} for one in FINALS], test=split.test, on_epoch=probe).rows
    return {
        "settings": best,
        **{part: [_percent(row[f"{part}_ap"]) for row in ends] for part in ("valid", "test")},
        "best_epoch": [row["best_epoch"] for row in ends],
        "searched": [{**dict(settings), "valid": merit} for settings, merit in merits.items()],
        **(probe.shares() if probe else {}),
    }


def _merits(rows: list[dict[str, Any]]) -> dict[tuple[tuple[str, float], ...], float]:
    """The mean validation AP in percent over the seeds of every setting."""
    found: dict[tuple, list[float]] = {}
    for row in rows:
        settings = tuple((name, row[name]) for name in (*NUMBERS[0], "learning_rate"))
        found.setdefault(settings, []).append(_percent(row["valid_ap"]))
    return {settings: round(float(np.mean(merits)), 2) for settings, merits in found.items()}


def _percent(score: float) -> float:
    """0 if the run diverged in its first epoch."""
    return round(100 * float(np.nan_to_num(score)), 2)


def _baselines(data: str, seed: int, data_dir: str | None) -> dict[str, Any]:
    """Validation and test AP in percent of the simple methods, which learn what the models learn."""
    split = load_split(data, seed, data_dir)
    found = {
        name: tl.estimator.evaluate_baselines(split.train, pairs, valid=split.valid, names=SIMPLE)
        for name, pairs in (("valid", split.valid), ("test", split.test))
    }
    return {
        part: {name: _percent(score.average_precision) for name, score in scores.items()}
        for part, scores in found.items()
    }


def report(results: list[Result], folder: Path) -> Report:
    """Three tables, each with what its numbers say."""
    rows = [
        {"kind": r.about["kind"], "title": r.about["title"], "dataset": r.about["dataset"]}
        | {"split": r.about["split"], "valid": np.mean(r.found["valid"]), "test": np.mean(r.found["test"])}
        for r in results
        if "kind" in r.about
    ]
    return Report("\n\n".join(["# Beyond the paper", *sections(results)]), rows)
