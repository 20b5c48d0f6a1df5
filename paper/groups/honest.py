"""Link prediction without a look at the test, beside the strongest simple methods.

Every method sees the training edges of a fold; the validation edges choose its settings, epoch and negatives,
or its rank; then it learns the validation edges too, and the test is scored once. The folds of a network have
disjoint test edges; duplication-divergence graphs are independent of each other.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

import timelike as tl
from paper.reports.tables import markdown
from paper.tasks import Options, Report, Result, Task

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
SIMPLE = (
    "degree product",
    "common neighbours",
    "L3",
    "L3 normalised",
    "L3 × out-degree",
    "Katz",
    "SVD",
    "dot product",
)
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
#: Rows that take the best of several methods by validation.
BEST = {
    "simple": "Best simple method by validation",
    "Riemannian": "Best Riemannian model by validation",
    "spacetime": "Best spacetime by validation",
}
CHOSEN = dict(zip(BEST.values(), (SIMPLE, RIEMANNIAN, SPACETIMES), strict=True))


def tasks(options: Options) -> Iterator[Task]:
    """A task for every fold or graph."""
    for data, kind, seeds in COLUMNS.values():
        for seed in seeds[: 1 if options.quick else options.seeds]:
            about = {
                "dataset": data,
                "negatives": kind,
                "seed": seed,
                "dim": DIM,
                "methods": [*MODELS, *SIMPLE],
            }
            name = f"{data.replace(':', '-')}/{kind}-{seed}"
            yield Task(name, about, functools.partial(compare, about, options.data_dir))


def compare(about: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """Validation and test AP in percent of every method on one split."""
    split = split_of(about, data_dir)
    known = split.train.with_edges(split.valid_edges)
    baselines = functools.partial(tl.estimator.evaluate_baselines, split.train, names=SIMPLE)
    valid = {name: one.average_precision for name, one in baselines(split.valid, valid=split.valid).items()}
    test = {name: one.average_precision for name, one in baselines(split, learned=known).items()}
    for geometry in MODELS:
        estimator = tl.SpacetimeEmbedding(geometry, dim=DIM, refit=True, baselines="none", progress=False)
        test[geometry] = estimator.fit(split.train, valid=split).score(split)
        valid[geometry] = estimator.embedding_.info["valid_ap"]
    jax.clear_caches()  # a process that keeps the programs of many graphs runs out of memory maps
    return {
        part: {k: round(100 * float(x), 2) for k, x in some.items()}
        for part, some in (("valid", valid), ("test", test))
    }


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
    found = [r.found for r in results if (r.about["dataset"], r.about["negatives"]) == (data, kind)]
    rows = {name: [one["test"][name] for one in found] for name in (*SIMPLE, *MODELS)}
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


def table(results: list[Result], columns: list[str]) -> str:
    """Median ± standard deviation over splits; the best of the simple methods and of the models is bold."""
    found = {column: some for column in columns if any((some := scores(results, column)).values())}
    medians = {c: {name: float(np.median(x)) for name, x in some.items()} for c, some in found.items()}
    top = {
        (c, x): max(one[n] for n in names)
        for c, one in medians.items()
        for x, names in (("s", SIMPLE), ("m", MODELS))
    }
    body = []
    for name in (*SIMPLE, BEST["simple"], *RIEMANNIAN, BEST["Riemannian"], *SPACETIMES, BEST["spacetime"]):
        line = [MODELS.get(name, name)]
        for column, some in found.items():
            text = f"{medians[column][name]:.1f} ± {np.std(some[name]):.1f}"
            bold = medians[column][name] in (top[column, "s"], top[column, "m"]) and name not in CHOSEN
            line.append(f"**{text}**" if bold else text)
        body.append(line)
    return markdown(["", *(name.removesuffix(", uniform") for name in found)], body)


def verdict(results: list[Result]) -> str:
    """Where the spacetimes win and where they do not, in words, counted over splits."""
    rule = "Each side takes its method with the best validation AP in each split; differences are medians."
    others = {"simple methods": BEST["simple"], "Riemannian models": BEST["Riemannian"]}
    lines = [rule, *(_against(results, name, title) for title, name in others.items())]
    return "\n".join(lines)


def _against(results: list[Result], other: str, title: str) -> str:
    """The columns in which the best spacetime beats another best method, and those in which it does not."""
    found: dict[bool, list[str]] = {True: [], False: []}
    for column, (_, kind, _) in COLUMNS.items():
        some = scores(results, column)
        if some[other]:
            gaps = np.subtract(some[BEST["spacetime"]], some[other])
            share = f"better in {np.sum(gaps > 0)} of {len(gaps)} splits"
            where = f"{column.removesuffix(', uniform')}, {kind} non-edges"
            found[bool(np.median(gaps) > 0)].append(f"{where} ({np.median(gaps):+.1f} points, {share})")
    words = {True: f"Spacetimes beat {title} on", False: f"Spacetimes do not beat {title} on"}
    return " ".join(f"{words[won]} {'; '.join(names)}." for won, names in found.items() if names)
