"""Link prediction without a look at the test, beside the strongest simple methods.

Every method sees the training edges of a fold; the validation edges choose its settings, epoch and negatives,
or its rank; then it learns the validation edges too, and the test is scored once. The folds of a network have
disjoint test edges; duplication-divergence graphs are independent of each other.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

import timelike as tl
from paper.reports.tables import markdown
from paper.tasks import Options, Report, Result, Task
from paper.training.simple_methods import SIMPLE, simple_scores

ABOUT = "not in the paper: all methods chosen on validation, over disjoint folds or independent graphs"

DIM, FOLDS, VALID, RATIO = 10, 6, 0.085, 4
MODELS = {
    "euclidean": "Euclidean + FD",
    "hyperboloid": "Hyperboloid + FD",
    "minkowski": "Minkowski + TFD",
    "anti-de-sitter": "Anti-de Sitter + TFD",
    "cylindrical-minkowski": "Cylindrical Minkowski + TFD",
}
RIEMANNIAN = ("euclidean", "hyperboloid")
SPACETIMES = ("minkowski", "anti-de-sitter", "cylindrical-minkowski")
NETWORKS = {
    "dream5:in-silico": "DREAM5 in silico",
    "dream5:ecoli": "DREAM5 E. coli",
    "dream5:yeast": "DREAM5 S. cerevisiae",
}
GROWN = "duplication-divergence"
#: Column → data set, kind of non-edges, folds or seeds of its graphs. The search for the portfolio
#: of `fit` used other splits of the same networks, and other grown graphs.
COLUMNS: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "Duplication-divergence": (GROWN, "uniform", tuple(range(9100, 9110))),
    **{title: (data, "listed", tuple(range(FOLDS))) for data, title in NETWORKS.items()},
    **{f"{title}, uniform": (data, "uniform", tuple(range(FOLDS))) for data, title in NETWORKS.items()},
}
#: Every model learns the validation edges, too, as the simple methods do.
QUIET: dict[str, Any] = {"refit": True, "baselines": "none", "progress": False}
#: A fit without options, which joins geometry and evidence.
FIT = "default fit"
#: Rows that take the best of several methods by validation.
BEST = {
    "simple": "Best simple method by validation",
    "Riemannian": "Best Riemannian model by validation",
    "spacetime": "Best spacetime by validation",
}
CHOSEN = dict(zip(BEST.values(), (SIMPLE, RIEMANNIAN, SPACETIMES), strict=True))
#: Rows of the table, in order, and their titles.
ROWS = {
    **{name: name for name in (*SIMPLE, BEST["simple"])},
    **{name: MODELS[name] for name in RIEMANNIAN},
    BEST["Riemannian"]: BEST["Riemannian"],
    **{name: MODELS[name] for name in SPACETIMES},
    BEST["spacetime"]: BEST["spacetime"],
    FIT: "`timelike fit`, defaults: geometry and evidence",
}
SHORT = {
    BEST["simple"]: "best simple method",
    BEST["Riemannian"]: "best Riemannian model",
    BEST["spacetime"]: "best spacetime",
    FIT: "default fit",
}
#: What is compared split by split.
DUELS = (
    (FIT, BEST["simple"]),
    (BEST["spacetime"], BEST["simple"]),
    (BEST["spacetime"], BEST["Riemannian"]),
)


def tasks(options: Options) -> Iterator[Task]:
    """Two tasks for every fold or graph: all geometries and simple methods, and a default fit."""
    for data, kind, seeds in COLUMNS.values():
        for seed in seeds[: 1 if options.quick else options.seeds]:
            name = f"{data.replace(':', '-')}/{kind}"
            place = {"dataset": data, "negatives": kind, "seed": seed}
            about = {**place, "dim": DIM, "methods": [*MODELS, *SIMPLE]}
            yield Task(f"{name}-{seed}", about, functools.partial(compare, about, options.data_dir))
            about = {**place, "title": FIT}
            yield Task(f"{name}-fit-{seed}", about, functools.partial(fit, about, options.data_dir))


def compare(about: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """Validation and test AP in percent of every method on one split."""
    split = split_of(about, data_dir)
    found = simple_scores(split)
    for geometry in MODELS:
        estimator = tl.SpacetimeEmbedding(geometry, dim=DIM, evidence="none", **QUIET)
        found["test"][geometry] = estimator.fit(split.train, valid=split).score(split)
        found["valid"][geometry] = estimator.embedding_.info["valid_ap"]
    jax.clear_caches()  # a process that keeps the programs of many graphs runs out of memory maps
    return {part: {k: round(100 * float(x), 2) for k, x in some.items()} for part, some in found.items()}


def fit(about: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """Test AP in percent of a fit that has no options but the split."""
    split = split_of(about, data_dir)
    estimator = tl.SpacetimeEmbedding(**QUIET).fit(split.train, valid=split)
    jax.clear_caches()
    return {"test": {FIT: round(100 * estimator.score(split), 2)}, "geometry": estimator.geometry_}


def split_of(about: dict[str, Any], data_dir: str | None) -> tl.Split:
    """A fold of a network, or a split of a grown graph."""
    data, seed = about["dataset"], about["seed"]
    if data == GROWN:
        return tl.split_edges(tl.datasets.duplication_divergence(seed=seed), VALID, 0.15, 0, ratio=RATIO)
    network = tl.datasets.dream5(data.removeprefix("dream5:"), data_dir)
    listed = network.non_edges if about["negatives"] == "listed" else None
    folds = tl.evaluation.folds(
        network.graph, FOLDS, VALID, 0, negatives=about["negatives"], ratio=RATIO, listed=listed
    )
    return next(itertools.islice(folds, seed, None))


def scores(results: list[Result], column: str) -> dict[str, list[float]]:
    """Row of the table → its test AP on every split of a column."""
    data, kind, _ = COLUMNS[column]
    here = [r for r in results if (r.about["dataset"], r.about["negatives"]) == (data, kind)]
    here.sort(key=lambda r: r.about["seed"])
    found, fits = ([r.found for r in here if (r.about.get("title") == FIT) == fit] for fit in (False, True))
    rows = {name: [one["test"][name] for one in found] for name in (*SIMPLE, *MODELS)}
    rows[FIT] = [one["test"][FIT] for one in fits]
    best = {
        title: [one["test"][max(names, key=lambda name: one["valid"][name])] for one in found]
        for title, names in CHOSEN.items()
    }
    return {**rows, **best}


def report(results: list[Result], folder: Path) -> Report:
    """Both tables and the verdict."""
    first = table(results, [name for name in COLUMNS if "uniform" not in name])
    uniform = table(results, [name for name in COLUMNS if "uniform" in name])
    second = f"## Uniform non-edges of DREAM5\n\n{uniform}"
    text = f"# Chosen on validation\n\n{first}\n\n{verdict(results)}\n\n{second}"
    rows = [
        {
            "column": column,
            "method": name,
            "median": float(np.median(values)),
            "spread": float(np.std(values)),
        }
        for column in COLUMNS
        for name, values in scores(results, column).items()
        if values
    ]
    return Report(text, rows)


def table(results: list[Result], columns: list[str], left_out: Collection[str] = ()) -> str:
    """Median ± standard deviation over splits, without the rows that are left out.

    Bold: the best simple method, the best geometry, and the default fit if it is above both.
    """
    found = {column: some for column in columns if any((some := scores(results, column)).values())}
    medians = {c: {name: float(np.median(x)) for name, x in some.items() if x} for c, some in found.items()}
    top: dict[str, set[str]] = {}
    for column, one in medians.items():
        both = ([name for name in names if name in one] for names in (SIMPLE, MODELS))
        top[column] = {max(names, key=one.__getitem__) for names in both if names}
        if one.get(FIT, 0) > max((one[name] for name in top[column]), default=0):
            top[column].add(FIT)
    body = []
    shown = {name for some in found.values() for name, values in some.items() if values}
    for name in (name for name in ROWS if name in shown and name not in left_out):
        line = [ROWS[name]]
        for column, some in found.items():
            text = f"{medians[column][name]:.1f} ± {np.std(some[name]):.1f}" if some[name] else "–"
            line.append(f"**{text}**" if name in top[column] else text)
        body.append(line)
    return markdown(["", *(name.removesuffix(", uniform") for name in found)], body)


def verdict(results: list[Result]) -> str:
    """Who wins where: median differences, and splits won; duels that were not computed are left out."""
    found = {column: scores(results, column) for column in COLUMNS}
    duels = [duel for duel in DUELS if any(some[duel[0]] for some in found.values())]
    body = [
        [column.removesuffix(", uniform"), COLUMNS[column][1], *(_duel(some, *duel) for duel in duels)]
        for column, some in found.items()
    ]
    head = ["", "non-edges", *(f"{SHORT[one]} − {SHORT[other]}" for one, other in duels)]
    wins = []
    for one, other in duels:
        medians = [float(np.median(gaps)) for some in found.values() if len(gaps := _gaps(some, one, other))]
        above = f"{sum(gain > 0 for gain in medians)} of {len(medians)}"
        wins.append(f"the {SHORT[one]} is above the {SHORT[other]} in {above}")
    rule = (
        f"In these comparisons, {'; '.join(wins)}. Of simple methods, Riemannian models and spacetimes, the "
        "one with the best validation AP in each split counts. Cells: median difference of test AP, and "
        "splits above zero."
    )
    return f"{markdown(head, body)}\n\n{rule}"


def _gaps(some: dict[str, list[float]], one: str, other: str) -> np.ndarray:
    """The differences of test AP, split by split; none unless all splits were computed."""
    if not some[one] or len(some[one]) != len(some[other]):
        return np.empty(0)
    return np.subtract(some[one], some[other])


def _duel(some: dict[str, list[float]], one: str, other: str) -> str:
    gaps = _gaps(some, one, other)
    return f"{np.median(gaps):+.1f}, {np.sum(gaps > 0)} of {len(gaps)}" if len(gaps) else "–"
