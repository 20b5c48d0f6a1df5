"""How much does tuning add to the defaults of `SpacetimeEmbedding`?

The defaults and a tuned model are compared by test AP on the same splits (15 % test edges, a tenth of the
others for validation, 4 negatives per edge, d = 10). Where a search was made for the data (group `best`),
the tuned model is its recipe; elsewhere it is the best of a grid by validation AP. Both train again with the
validation edges, and neither sees the test edges before.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import timelike as tl
from paper.reports.simple_rows import BEST, simple_scores
from paper.reports.tables import markdown
from paper.runner.reproduction import load_results
from paper.tasks import Options, Report, Result, Task
from paper.training.link_prediction import RATIO, load_split, model_of

ABOUT = "not in the paper: the defaults of SpacetimeEmbedding, and how much tuning adds"

RESULTS = Path(__file__).parents[1] / "results"
DIM = 10
GEOMETRIES = ("minkowski", "cylindrical-minkowski", "anti-de-sitter")
#: Data set → the kinds of non-edges in its evaluation, and the seeds of its splits or graphs. The search for
#: the defaults used other seeds.
DATA = {
    **{
        f"dream5:{name}": (("listed", "uniform"), (100, 101, 102)) for name in ("in-silico", "ecoli", "yeast")
    },
    "duplication-divergence": (
        ("uniform",),
        (307, 1213, 1910, 3333, 4402, 5610, 5704, 5865, 6464, 7824),
    ),
}
EPOCHS, BATCH_SIZE = 100, 32
#: The tolerated difference to the tuned result, in points.
WITHIN = 2.0
#: Heading of the column with the simple method that is best by validation on each split.
SIMPLE = "best simple method"


def tasks(options: Options) -> Iterator[Task]:
    """A task for every data set, split, kind of non-edges and geometry."""
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
    """The grid of 72 settings."""
    rates = [0.001, 0.003, 0.01, 0.03] if geometry == "anti-de-sitter" else [0.003, 0.01, 0.03, 0.1]
    return {"learning_rate": rates, "tau1": [0.1, 0.3, 1.0], "tau2": [0.04, 0.1, 0.25], "alpha": [0.03, 0.12]}


def compare(about: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """AP in percent of the defaults and of the tuned model on test and validation pairs."""
    data, geometry = about["dataset"], about["geometry"]
    split = load_split(data, about["split"], data_dir, about["protocol"])
    estimator = tl.SpacetimeEmbedding(geometry, dim=DIM, refit=True, evidence="none", progress=False)
    default = estimator.fit(split.train, valid=split.valid).score(split)
    valid = estimator.embedding_.info["valid_ap"]
    found = {"default": round(100 * float(default), 2), "default_valid": round(100 * float(valid), 2)}
    return {**found, **(_best_of_grid(about, split) if about["tuned"] == "grid" else {})}


def _best_of_grid(about: dict[str, Any], split: tl.Split) -> dict[str, float]:
    """The best of the grid by validation AP, trained again with the validation edges."""
    model = model_of(about["geometry"], "triple-fermi-dirac", DIM)
    config = tl.Config(epochs=EPOCHS, batch_size=BATCH_SIZE, negatives=tl.Negatives(uniform=RATIO))
    best = tl.sweep(split.train, model, config, about["grid"], valid=split.valid, progress=False).best
    known = split.train.with_edges(split.valid_edges)
    until = tl.Config.from_dict(best.info["config"]).ended_at(best.info["best_epoch"])
    again = tl.train(known, best.model, until, progress=False)
    test = tl.evaluate(again, split).average_precision
    return {"tuned": round(100 * test, 2), "tuned_valid": round(100 * best.info["valid_ap"], 2)}


def report(results: list[Result], folder: Path) -> Report:
    """A row for each data set, kind of non-edges and geometry: means over graphs and splits."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in sorted(_with_recipes(results), key=_place):
        groups.setdefault((result.about["dataset"], result.about["protocol"]), []).append(result)
    rows = []
    for (data, protocol), group in groups.items():
        runs = {name: [r for r in group if r.about["geometry"] == name] for name in GEOMETRIES}
        splits = dict.fromkeys(r.about["split"] for r in group)
        simple = mean(simple_scores(data, splits, protocol).get(BEST, [math.nan]))
        for geometry, some in {**runs, "auto": _best_geometries(group)}.items():
            if some:
                about = {
                    "data": data,
                    "non_edges": protocol,
                    "geometry": geometry,
                    "by": group[0].about["tuned"],
                }
                rows.append({**about, **_means(some), "simple": simple})
    text = ("data", "non_edges", "geometry", "by", "splits")
    head = ["data", "non-edges", "geometry", "tuned by", "splits", "defaults", "tuned", "difference", SIMPLE]
    forms = {"default": ".1f", "tuned": ".1f", "difference": "+.1f", "simple": ".1f"}
    body = [
        [*(str(row[name]) for name in text), *(format(row[name], form) for name, form in forms.items())]
        for row in rows
    ]
    made = f"The [searched recipes](#recipes-from-a-search) were computed {_days(_recipes())}."
    return Report(f"# Defaults\n\n{markdown(head, body)}\n\n{_verdict(rows)} {made}", rows)


def _with_recipes(results: Sequence[Result]) -> list[Result]:
    """The results, with the stored scores of the searched recipes on the same splits."""
    recipes = {(r.about["dataset"], r.about.get("geometry")): r for r in _recipes()}
    found = []
    for r in results:
        if r.about["tuned"] == "search":
            recipe = recipes[r.about["dataset"], r.about["geometry"]]
            place = recipe.about["splits"].index(r.about["split"])
            tuned = {"tuned": recipe.found["scores"][place], "tuned_valid": recipe.found["valid"][place]}
            r = r._replace(found={**r.found, **tuned})
        found.append(r)
    return found


def _recipes() -> list[Result]:
    """The stored results of single models that a search tuned, in the dimension of the comparison."""
    known = load_results(RESULTS / "best.json") if (RESULTS / "best.json").is_file() else []
    return [r for r in known if r.about["dim"] == DIM and "members" not in r.about]


def _days(results: Sequence[Result]) -> str:
    days = sorted({r.made["date"][:10] for r in results})
    return f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"


def _place(result: Result) -> tuple[int, int, int]:
    about = result.about
    protocols, _ = DATA[about["dataset"]]
    return list(DATA).index(about["dataset"]), protocols.index(about["protocol"]), about["split"]


def _best_geometries(results: Sequence[Result]) -> list[Result]:
    """The geometry that validation would choose on each split, for the defaults and for tuning."""
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
    """Where the defaults stay below tuning, and below the best simple method."""
    low = [row for row in rows if row["difference"] < -WITHIN]
    names = "; ".join(
        f"{row['geometry']} on {row['data']} with {row['non_edges']} non-edges ({row['difference']:+.1f})"
        for row in low
    )
    if names:
        text = f"More than {WITHIN:g} points below the tuned result: {names}."
    else:
        text = f"No default is more than {WITHIN:g} points below the tuned result."
    known = [row for row in rows if not math.isnan(row["simple"])]
    above = sum(row["default"] > row["simple"] for row in known)
    return f"{text} {above} of {len(known)} defaults are above the {SIMPLE}, chosen on validation."
