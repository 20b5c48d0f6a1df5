"""The paper's hyperparameter grids, every combination side by side: are its bold values the best?"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from timelike.reproduce.link_prediction import TRIALS, Case, describe, sweep_case
from timelike.reproduce.row import Row, load_rows
from timelike.reproduce.tables import markdown
from timelike.reproduce.task import Options, Report, Result, Task

ABOUT = "the paper's hyperparameter grids on the cyclic graphs: the bold values found again, or better ones"

#: The grids are searched in this dimension unless others are asked for.
DIM = 10
#: Settings kept for each order, best first.
KEPT = 5


def tasks(options: Options) -> Iterator[Task]:
    """One search for each row of the cyclic tables."""
    for row in load_rows("cyclic"):
        for dim in options.dims or (DIM,):
            first = next(iter(row.more["negatives"]))
            seeds = options.seeds or (1 if options.quick else TRIALS)
            case = Case.of(row, dim, "honest", first, options)._replace(seeds=seeds)
            about = {**describe(case), "grid": whole_grid(row), "published": row.published.get(str(dim))}
            yield Task(f"{row.name}/d{dim}", about, functools.partial(run, case))


def whole_grid(row: Row) -> dict[str, list[float]]:
    """All that the paper tried, and the settings that it did not vary."""
    return {name: row.grid.get(name, values) for name, values in row.candidates().items()}


def run(case: Case) -> dict[str, Any]:
    """The best combinations by test (the paper's rule) and by validation, and the bold ones among them."""
    kind, graph = case.row.more["negatives"][case.negatives][0], case.graphs[0]
    grid = whole_grid(case.row)
    groups: dict[tuple, list[dict[str, Any]]] = {}
    for found in sweep_case(case, graph, kind, grid, range(case.seeds)).rows:
        groups.setdefault(tuple(found[name] for name in grid), []).append(found)
    table: list[dict[str, Any]] = [
        {"settings": dict(zip(grid, values, strict=True)), **_medians(runs)}
        for values, runs in groups.items()
    ]
    by_test = sorted(table, key=lambda x: -x["best_test"])
    by_valid = sorted(table, key=lambda x: -x["valid"])
    bold = [x for x in by_test if x["settings"] in case.row.bold()]
    return {
        "tried": len(table),
        "by_test": by_test[:KEPT],
        "by_valid": by_valid[:KEPT],
        "bold": bold[0],
        "bold_rank": 1 + by_test.index(bold[0]),
    }


def _medians(runs: list[dict[str, Any]]) -> dict[str, float]:
    names = {"best_test": "best_test_ap", "valid": "valid_ap", "test": "test_ap"}
    return {
        ours: round(100 * float(np.median(np.nan_to_num([r[theirs] for r in runs]))), 2)
        for ours, theirs in names.items()
    }


def report(results: list[Result], folder: Path) -> Report:
    """For each row: the bold values, the best by test, and the best by validation with its test score."""
    rows, body = [], []
    order = [row.name for row in load_rows("cyclic")]
    for about, found, made in sorted(results, key=lambda r: order.index(r.about["row"])):
        varied = [name for name, values in about["grid"].items() if len(values) > 1]
        bold, best, valid = found["bold"], found["by_test"][0], found["by_valid"][0]
        flat = {
            "dataset": about["dataset"],
            "title": about["title"],
            "dim": about["dim"],
            "tried": found["tried"],
            "bold": _show(bold, varied),
            "bold_test": bold["best_test"],
            "bold_rank": found["bold_rank"],
            "best": _show(best, varied),
            "best_test": best["best_test"],
            "by_validation": _show(valid, varied),
            "its_test": valid["test"],
            "seeds": about["seeds"],
            "seconds": made["seconds"],
        }
        rows.append(flat)
        keys = ("dataset", "title", "dim", "tried", "bold", "bold_test", "bold_rank", "best", "best_test")
        body.append([str(flat[key]) for key in (*keys, "by_validation", "its_test")])
    head = [
        "graph",
        "model",
        "d",
        "tried",
        "bold",
        "AP",
        "rank",
        "best by test",
        "AP",
        "best by validation",
        "AP",
    ]
    text = (
        "Average precision in percent, median over seeds, trained without the validation edges. “AP” of the "
        "bold and of the best by test is that of the best test epoch, the paper's rule; of the best by "
        "validation, that of the epoch that validation chose. Of several bold combinations the best is shown."
    )
    return Report("\n\n".join(["# Hyperparameter grids", text, markdown(head, body)]), rows)


def _show(one: dict[str, Any], names: list[str]) -> str:
    return ", ".join(f"{name} {one['settings'][name]:g}" for name in names)
