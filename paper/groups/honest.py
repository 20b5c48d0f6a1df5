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
LEFT_OUT = ("reciprocity", "reachability")  # few edges are mutual, and the graphs have cycles
SIMPLE = (*(name for name in tl.estimator.UNTRAINED if name not in LEFT_OUT), "dot product")
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
    """Where the spacetimes win and where they do not: differences to both rivals, and splits won."""
    rivals = {"simple method": BEST["simple"], "Riemannian model": BEST["Riemannian"]}
    body, won = [], dict.fromkeys(rivals, 0)
    for column, (_, kind, _) in COLUMNS.items():
        some = scores(results, column)
        if not some[BEST["spacetime"]]:
            continue
        line = [column.removesuffix(", uniform"), kind]
        for title, name in rivals.items():
            gaps = np.subtract(some[BEST["spacetime"]], some[name])
            won[title] += int(np.median(gaps) > 0)
            line.append(f"{np.median(gaps):+.1f}, {np.sum(gaps > 0)} of {len(gaps)}")
        body.append(line)
    head = ["best spacetime against the best …", "non-edges", *rivals]
    words = " and ".join(f"beat the best {title} in {count} of {len(body)}" for title, count in won.items())
    rule = (
        f"Spacetimes {words} of these comparisons. Each side takes its method with the best validation AP in "
        "each split. Cells: median difference of test AP, and splits in which the spacetime is better."
    )
    return f"{markdown(head, body)}\n\n{rule}"
