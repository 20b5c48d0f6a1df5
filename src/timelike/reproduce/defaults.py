"""How much does tuning add to the defaults of `SpacetimeEmbedding`?

On the same splits (15 % test, a tenth of the rest to validate, 4 non-edges to an edge, d = 10): the test AP
of the estimator as it is, with the validation pairs of the split, and that of a tuned model. Where a search
was made for the data (`timelike reproduce best`), that is its recipe; elsewhere the best of a grid by
validation AP. Both are trained again with the validation edges, and neither sees the test.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from timelike.reproduce.link_prediction import load_split
from timelike.reproduce.refit import Case
from timelike.reproduce.row import load_rows
from timelike.reproduce.tables import markdown
from timelike.reproduce.task import Options, Report, Result, Task

ABOUT = "not in the paper: what the defaults of SpacetimeEmbedding reach, and what tuning adds"

DIM = 10
GEOMETRIES = ("minkowski", "cylindrical-minkowski", "anti-de-sitter")
#: Data set → the kinds of non-edges that it is evaluated on, and the seeds of splits, or of graphs, which the
#: search for the defaults did not use.
DATA = {
    **{
        f"dream5:{name}": (("listed", "uniform"), (100, 101, 102)) for name in ("in-silico", "ecoli", "yeast")
    },
    "duplication-divergence": (
        ("uniform",),
        (307, 1213, 1910, 3333, 4402, 5610, 5704, 5865, 6464, 7824),
    ),
}
EPOCHS = 100
#: A default may be so many points below the tuned result.
WITHIN = 2.0


def tasks(options: Options) -> Iterator[Task]:
    """Every data set, kind of non-edges and geometry, split by split."""
    for data, (protocols, splits) in DATA.items():
        for split in splits[: 1 if options.quick else options.seeds]:
            for protocol, geometry in itertools.product(protocols, GEOMETRIES):
                about = {
                    "dataset": data, "protocol": protocol, "geometry": geometry, "split": split, "dim": DIM,
                    "tuned": _tuned_by(data, protocol), "grid": grid(geometry), "epochs": EPOCHS,
                }  # fmt: skip
                name = f"{data.replace(':', '-')}/{protocol}/{geometry}-{split}"
                yield Task(name, about, functools.partial(compare, about, options.data_dir))


def _tuned_by(data: str, protocol: str) -> str:
    return "grid" if data.startswith("dream5") and protocol == "uniform" else "search"


def grid(geometry: str) -> dict[str, list[float]]:
    """72 settings."""
    rates = [0.001, 0.003, 0.01, 0.03] if geometry == "anti-de-sitter" else [0.003, 0.01, 0.03, 0.1]
    return {"learning_rate": rates, "tau1": [0.1, 0.3, 1.0], "tau2": [0.04, 0.1, 0.25], "alpha": [0.03, 0.12]}


def compare(about: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """AP in percent of the defaults and of the tuned model on test and validation pairs."""
    from timelike.estimator.spacetime_embedding import SpacetimeEmbedding

    data, geometry = about["dataset"], about["geometry"]
    split = load_split(data, about["split"], data_dir, about["protocol"])
    estimator = SpacetimeEmbedding(geometry, dim=DIM, refit=True, progress=False)
    default = estimator.fit(split.train, valid=split.valid).score(split)
    valid = estimator.embedding_.info["valid_ap"]
    found = {"default": round(100 * float(default), 2), "default_valid": round(100 * float(valid), 2)}
    if about["tuned"] == "grid":
        return {**found, **_best_of_grid(about, split)}
    return {**found, **_searched(data, geometry, about["split"], data_dir)}


def _searched(data: str, geometry: str, split: int, data_dir: str | None) -> dict[str, float]:
    """The recipe that a search found, the mean over its seeds."""
    from timelike.reproduce import refit

    name = f"{data.replace(':', '-')}/{geometry}"
    row = next(row for row in load_rows("best") if row.name == name)
    first = row.more["first_seed"]
    found = refit.run(Case(row, DIM, (split,), tuple(range(first, first + row.seeds)), data_dir))
    return {"tuned": found["mean"], "tuned_valid": found["valid"][0]}


def _best_of_grid(about: dict[str, Any], split: Any) -> dict[str, float]:
    """The best of the grid by validation, trained again with the validation edges."""
    from timelike.engine.config import Config
    from timelike.estimator.recipes import negatives_like, recipe
    from timelike.estimator.selection import refit
    from timelike.evaluation.pair_evaluation import evaluate
    from timelike.training.sweeps import sweep

    model, config = recipe(about["geometry"], DIM)
    negatives = negatives_like(split.valid, split.train)
    config = Config(epochs=EPOCHS, batch_size=config.batch_size, negatives=negatives)
    best = sweep(split.train, model, config, about["grid"], valid=split.valid, progress=False).best
    known = split.train.with_edges(split.valid_edges)
    test = evaluate(refit(best, known, split.valid, progress=False), split).average_precision
    return {"tuned": round(100 * test, 2), "tuned_valid": round(100 * best.info["valid_ap"], 2)}


def report(results: list[Result], folder: Path) -> Report:
    """A row for each kind of data, non-edges and geometry, the mean over graphs and splits."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in sorted(results, key=_place):
        groups.setdefault((result.about["dataset"], result.about["protocol"]), []).append(result)
    rows = []
    for (data, protocol), mine in groups.items():
        runs = {name: [r for r in mine if r.about["geometry"] == name] for name in GEOMETRIES}
        for geometry, some in {**runs, "auto": _chosen(mine)}.items():
            if some:
                about = {
                    "data": data,
                    "non_edges": protocol,
                    "geometry": geometry,
                    "by": mine[0].about["tuned"],
                }
                rows.append({**about, **_means(some)})
    text = ("data", "non_edges", "geometry", "by", "splits")
    head = ["data", "non-edges", "geometry", "tuned by", "splits", "defaults", "tuned", "difference"]
    forms = {"default": ".1f", "tuned": ".1f", "difference": "+.1f"}
    body = [
        [*(str(row[name]) for name in text), *(format(row[name], form) for name, form in forms.items())]
        for row in rows
    ]
    return Report(f"# Defaults\n\n{markdown(head, body)}\n\n{_verdict(rows)}", rows)


def _place(result: Result) -> tuple[int, int, int]:
    about = result.about
    protocols, _ = DATA[about["dataset"]]
    return list(DATA).index(about["dataset"]), protocols.index(about["protocol"]), about["split"]


def _chosen(results: Sequence[Result]) -> list[Result]:
    """What validation would choose among the geometries: on either side its own best."""
    splits: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for r in results:
        splits.setdefault((r.about["dataset"], r.about["split"]), []).append(r.found)
    found = []
    for some in splits.values():
        best = {side: max(some, key=lambda x: x[f"{side}_valid"])[side] for side in ("default", "tuned")}
        found.append(results[0]._replace(found=best))
    return found


def _means(results: Sequence[Result]) -> dict[str, Any]:
    default, tuned = (mean(r.found[name] for r in results) for name in ("default", "tuned"))
    return {"splits": len(results), "default": default, "tuned": tuned, "difference": default - tuned}


def _verdict(rows: list[dict[str, Any]]) -> str:
    low = [row for row in rows if row["difference"] < -WITHIN]
    if not low:
        return f"No default is more than {WITHIN:g} points below the tuned result."
    names = (
        f"{row['geometry']} on {row['data']} with {row['non_edges']} non-edges ({row['difference']:+.1f})"
        for row in low
    )
    return f"More than {WITHIN:g} points below the tuned result: {', '.join(names)}."
