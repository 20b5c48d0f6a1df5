"""The tables of cyclic graphs: five models on four graphs, under the paper's protocol and an honest one."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from timelike.reproduce.link_prediction import PROTOCOLS, load_split, tasks_of
from timelike.reproduce.row import Row, load_rows
from timelike.reproduce.tables import (
    below_published,
    below_riemannian,
    by_dimension,
    choices,
    flat,
    gathered,
    is_riemannian,
    markdown,
    trained_with,
)
from timelike.reproduce.task import Options, Report, Result, Task

ABOUT = "link prediction on graphs with cycles (the paper's main and full tables)"

DATA = {
    "duplication-divergence": "Duplication-divergence, one graph",
    "dream5:in-silico": "DREAM5 in silico",
    "dream5:ecoli": "DREAM5 E. coli",
    "dream5:yeast": "DREAM5 S. cerevisiae",
}
CHOICES = {
    "paper": "What test scores chose, by the first seeds: the best score with each kind of training "
    "negatives, settings, and the median best epoch (the first ten are the burn-in):",
    "honest": "What validation chose, by the first seeds: the kind of training negatives where there are "
    "two, settings, and the median best epoch:",
}


def tasks(options: Options) -> Iterator[Task]:
    """Scores of the graph alone, then every row."""
    rows = load_rows("cyclic")
    for row in {row.dataset: row for row in rows}.values():
        for negatives in row.more["negatives"]:
            yield _baseline_task(row, negatives, options)
    for row in rows:
        yield from tasks_of(row, options)


def _baseline_task(row: Row, negatives: str, options: Options) -> Task:
    graphs = row.more.get("graphs") or [None]
    about = {"title": "baselines", "dataset": row.dataset, "graphs": graphs, "negatives": negatives}
    name = f"{row.name.split('/')[0]}/baselines-{negatives}"
    return Task(
        name, about, functools.partial(_baselines, row.dataset, graphs[0], negatives, options.data_dir)
    )


def _baselines(dataset: str, graph: int | None, negatives: str, data_dir: str | None) -> dict[str, Any]:
    """Test AP of what needs no training."""
    from timelike.estimator.baseline_scores import evaluate_baselines

    split = load_split(dataset, graph or 0, data_dir, negatives, validated=False)
    scores = evaluate_baselines(split.train, split.test)
    return {name: round(100 * found.average_precision, 2) for name, found in scores.items()}


def report(results: list[Result], folder: Path) -> Report:
    """A table for each graph, protocol and kind of non-edges, and how they compare with the targets."""
    runs = [r for r in results if r.about["title"] != "baselines"]
    order = {row.name: i for i, row in enumerate(load_rows("cyclic"))}
    runs.sort(key=lambda r: (order.get(r.about["row"], len(order)), r.about["dim"]))
    parts = [
        "# Graphs with cycles",
        "Average precision in percent, median ± standard deviation over seeds; published ones in brackets.",
    ]
    for dataset, title in DATA.items():
        mine = [r for r in runs if r.about["dataset"] == dataset]
        if mine:
            parts += [f"## {title}", *_tables(mine)]
    parts += [
        "## Scores of the graph alone",
        _baseline_table(results),
        "## Against the targets",
        _targets(runs, degree_products(results)),
    ]
    return Report("\n\n".join(parts), [flat(r) for r in runs])


def _tables(results: Sequence[Result]) -> Iterator[str]:
    for negatives in dict.fromkeys(r.about["negatives"] for r in results):
        for protocol, title in PROTOCOLS.items():
            mine = [
                r for r in results if (r.about["protocol"], r.about["negatives"]) == (protocol, negatives)
            ]
            if mine:
                seeds = sorted({r.about["seeds"] for r in mine})
                yield f"{title}, {negatives} non-edges; {' or '.join(map(str, seeds))} seeds:"
                yield by_dimension(mine)
                if any(r.found["tried"] for r in mine):
                    yield CHOICES[protocol]
                    yield choices(mine)


def _baseline_table(results: Sequence[Result]) -> str:
    found = [r for r in results if r.about["title"] == "baselines"]
    if not found:
        return "Not computed."
    names = list(found[0].found)
    body = [
        [DATA[r.about["dataset"]], r.about["negatives"], *(f"{r.found[name]:.1f}" for name in names)]
        for r in sorted(found, key=lambda r: list(DATA).index(r.about["dataset"]))
    ]
    return markdown(["graph", "non-edges", *names], body)


def degree_products(results: Sequence[Result]) -> dict[tuple[str, str], float]:
    """What the degrees of the training graph alone score, by data set and kind of non-edges."""
    found = (r for r in results if r.about["title"] == "baselines")
    return {(r.about["dataset"], r.about["negatives"]): r.found["degree product"] for r in found}


def _targets(runs: Sequence[Result], degrees: Mapping[tuple[str, str], float]) -> str:
    compared = [r for r in runs if r.about["published"]]
    spacetimes = [r for r in compared if not is_riemannian(r)]
    low = below_published(compared)
    tables = [[r for r in compared if r.about["dataset"] == dataset] for dataset in DATA]
    beaten = [r for table in tables for r in below_riemannian(table)]
    cheap = [r for r in spacetimes if r.found["median"] <= degrees.get(_task(r), -math.inf)]
    total = len(spacetimes)
    lines = [
        f"- {total - len(low)} of {total} cells of spacetimes reach the published median less its spread.",
        f"- {total - len(beaten)} of {total} lie above both Riemannian rows.",
        f"- {total - len(cheap)} of {total} lie above the degree product, which needs no training.",
    ]
    for kind in ("uniform", "target"):
        same = [[r for r in (trained_with(kind, r) for r in table) if r] for table in tables]
        count = sum(not is_riemannian(r) for table in same for r in table)
        above = count - sum(len(below_riemannian(table)) for table in same)
        lines.append(
            f"- Above both Riemannian rows, with {kind} training negatives for every model (first seeds): "
            f"{above} of {count}."
        )
    parts = ["\n".join(lines)]
    named = {
        "Below the published median less its spread": low,
        "Not above both Riemannian rows": beaten,
        "Not above the degree product": cheap,
    }
    for what, cells in named.items():
        if cells:
            parts += [f"{what}, d =", gathered(DATA.values(), (_place(r) for r in cells))]
    return "\n\n".join(parts)


def _task(result: Result) -> tuple[str, str]:
    return result.about["dataset"], result.about["negatives"]


def _place(result: Result) -> tuple[str, str, int]:
    about = result.about
    return about["title"], DATA[about["dataset"]], about["dim"]
