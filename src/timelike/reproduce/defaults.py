"""How much does tuning add to the defaults of `SpacetimeEmbedding`?

On the same splits (10 % validation, 15 % test, 4 non-edges to an edge, d = 10): the test AP of the estimator
as it is, and that of the best of a grid by validation AP. Both see the same training edges, validation pairs
and kind of negatives, and neither sees the test.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from timelike.reproduce.tables import markdown
from timelike.reproduce.task import Options, Report, Result, Task

ABOUT = "not in the paper: what the defaults of SpacetimeEmbedding reach, and what a grid adds"

DIM, VALID, TEST = 10, 0.1, 0.15
#: Seeds of the splits; split 0 of some graphs was looked at when the defaults were settled.
SPLITS = (1, 2)
GEOMETRIES = ("minkowski", "cylindrical-minkowski", "anti-de-sitter")
#: Data set → the kinds of non-edges that it is evaluated on.
DATA = {
    **{f"dream5:{name}": ("listed", "uniform") for name in ("in-silico", "ecoli", "yeast")},
    **{f"duplication-divergence:seed={seed}": ("uniform",) for seed in (3, 5, 17)},
}
#: Training negatives that look like those of the evaluation.
NEGATIVES = {"uniform": {"uniform": 4}, "listed": {"target": 4}}
EPOCHS = 100
#: A default may be so many points below the tuned result.
WITHIN = 2.0


def tasks(options: Options) -> Iterator[Task]:
    """Every data set, kind of non-edges and geometry, split by split."""
    for split in SPLITS[: 1 if options.quick else options.seeds]:
        for data, protocols in DATA.items():
            for protocol, geometry in itertools.product(protocols, GEOMETRIES):
                about = {
                    "dataset": data, "protocol": protocol, "geometry": geometry, "split": split, "dim": DIM,
                    "negatives": NEGATIVES[protocol], "grid": grid(geometry), "epochs": EPOCHS,
                }  # fmt: skip
                name = f"{data.replace(':', '-').replace('=', '-')}/{protocol}/{geometry}-{split}"
                yield Task(name, about, functools.partial(compare, about, options.data_dir))


def grid(geometry: str) -> dict[str, list[float]]:
    """72 settings."""
    rates = [0.001, 0.003, 0.01, 0.03] if geometry == "anti-de-sitter" else [0.003, 0.01, 0.03, 0.1]
    return {"learning_rate": rates, "tau1": [0.1, 0.3, 1.0], "tau2": [0.04, 0.1, 0.25], "alpha": [0.03, 0.12]}


def compare(about: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """AP of the defaults and of the tuned model on test and validation pairs."""
    from timelike.config import Config
    from timelike.estimator import SpacetimeEmbedding
    from timelike.recipes import recipe
    from timelike.sampling import Negatives
    from timelike.sweeps import sweep

    split = _split(about["dataset"], about["protocol"], about["split"], data_dir)
    geometry, negatives = about["geometry"], Negatives(**about["negatives"])
    estimator = SpacetimeEmbedding(geometry, dim=DIM, negatives=negatives, progress=False)
    default = estimator.fit(split.train, valid=split.valid).score(split)
    model, config = recipe(geometry, DIM)
    config = Config(epochs=EPOCHS, batch_size=config.batch_size, negatives=negatives)
    runs = sweep(
        split.train, model, config, about["grid"], valid=split.valid, test=split.test, progress=False
    )
    best = max(runs.rows, key=lambda row: row["valid_ap"])
    percent = {
        "default": default,
        "default_valid": estimator.embedding_.info["valid_ap"],
        "tuned": best["test_ap"],
        "tuned_valid": best["valid_ap"],
    }
    chosen = {name: best[name] for name in about["grid"]}
    return {**{name: round(100 * float(value), 2) for name, value in percent.items()}, "chosen": chosen}


def _split(data: str, protocol: str, seed: int, data_dir: str | None) -> Any:
    from timelike import datasets
    from timelike.splits import split_edges

    if protocol == "listed":
        known = datasets.dream5(data.removeprefix("dream5:"), data_dir)
        return split_edges(known.graph, VALID, TEST, seed, protocol=protocol, non_edges=known.non_edges)
    return split_edges(datasets.load(data, data_dir), VALID, TEST, seed, protocol=protocol)


def report(results: list[Result], folder: Path) -> Report:
    """A row for each kind of data, non-edges and geometry, the mean over graphs and splits."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in sorted(results, key=_place):
        kind = result.about["dataset"].partition(":seed")[0]
        groups.setdefault((kind, result.about["protocol"]), []).append(result)
    rows = []
    for (data, protocol), mine in groups.items():
        runs = {name: [r for r in mine if r.about["geometry"] == name] for name in GEOMETRIES}
        for geometry, some in {**runs, "auto": _chosen(mine)}.items():
            if some:
                rows.append({"data": data, "non_edges": protocol, "geometry": geometry, **_means(some)})
    text = ("data", "non_edges", "geometry", "splits")
    head = ["data", "non-edges", "geometry", "splits", "defaults", "tuned", "difference"]
    forms = {"default": ".1f", "tuned": ".1f", "difference": "+.1f"}
    body = [
        [*(str(row[name]) for name in text), *(format(row[name], form) for name, form in forms.items())]
        for row in rows
    ]
    return Report(f"# Defaults\n\n{markdown(head, body)}\n\n{_verdict(rows)}", rows)


def _place(result: Result) -> tuple[int, int, int]:
    about = result.about
    protocols = DATA[about["dataset"]]
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
