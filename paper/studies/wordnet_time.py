"""How long does one model of WordNet nouns take? Seconds until the last step, including compilation.

python -m paper.studies.wordnet_time [--out OUT]    # on this machine; results of others in OUT are kept

Timed are the row of the table, in five dimensions with a small share of the closure and in ten with a large
one, and a short form of the best recipe: a third of its steps, half of its negatives. One seed; validation
chooses threshold and score.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Iterator
from typing import Any

from paper.groups.wordnet import Cell, load_split
from paper.reports.tables import markdown
from paper.runner.task_results import device
from paper.studies import measuring
from paper.table_rows import Row, load_rows
from paper.tasks import Result, Task

#: Dimension and share of the closure for the row of the table.
CELLS = ((5, 10), (10, 50))
#: The index of its settings; all candidates take equally long.
TRY = 2
#: A seed that no other result uses.
SEED = 4001
#: The short form of the best recipe for a quarter of the closure, with fewer steps and a higher rate.
SHORT: dict[str, Any] = {
    "steps": 12_000,
    "learning_rate": 0.0367,
    "negatives": {
        **{"same_source": 1, "same_target": 1, "popular_same_target": 2, "active_source": 1},
        "weights": {"same_source": 2.0, "same_target": 2.0, "popular_same_target": 2.5, "active_source": 5.0},
    },
}


def cells(data_dir: str | None) -> Iterator[Cell]:
    """The cells to time."""
    row = next(row for row in load_rows("wordnet") if row.name == "minkowski")
    row = dataclasses.replace(row, settings={**row.settings, **row.more["tries"][TRY]})
    for dim, percent in CELLS:
        yield Cell(row, dim, percent, 1, data_dir)
    best = next(row for row in load_rows("best") if row.name == "wordnet/cone-d5-25")
    yield Cell(_short(best), 5, 25, 1, data_dir)


def _short(row: Row) -> Row:
    settings = {**row.settings, "learning_rate": SHORT["learning_rate"]}
    more = {**row.more, "steps": SHORT["steps"], "negatives": SHORT["negatives"]}
    return dataclasses.replace(
        row, title=f"{row.title}, the best recipe in short", settings=settings, more=more
    )


def measure(cell: Cell) -> dict[str, Any]:
    """Seconds of training, and F1 in percent on validation and test pairs."""
    from paper.training.wordnet_cells import best_f1, f1_at, train

    split = load_split(cell.percent, cell.data_dir)
    start = time.perf_counter()
    run = train(cell, split, [{**cell.settings, "seed": SEED}])[0]
    seconds = time.perf_counter() - start
    if cell.row.more.get("score") == "best":
        run = run.rescored(split.valid, "f1")
    valid, threshold = best_f1(run, split.valid)
    test = f1_at(run, split.test, threshold)
    return {"seconds": round(seconds, 1), "valid": round(valid, 2), "test": round(test, 2)}


def report(results: list[Result]) -> str:
    """A line for each model, a column for each machine."""
    machines = sorted({r.made["device"] for r in results})
    body = []
    for title in dict.fromkeys(_title(r) for r in results):
        found = {r.made["device"]: r.found for r in results if _title(r) == title}
        times = [f"{found[m]['seconds']:.0f} s" if m in found else "–" for m in machines]
        scores = " or ".join(dict.fromkeys(f"{one['test']:.1f}" for one in found.values()))
        body.append([title, *times, scores])
    return markdown(["", *machines, "test F1"], body)


def _title(result: Result) -> str:
    about = result.about
    return f"{about['title']}, d = {about['dim']}, {about['percent']} %, {about['steps']:,} steps"


def tasks(data_dir: str | None) -> Iterator[Task]:
    """A task for every cell, on this machine."""
    here = "".join(c if c.isalnum() else "-" for c in device())
    for number, cell in enumerate(cells(data_dir)):
        about = {"title": cell.row.title, "dim": cell.dim, "percent": cell.percent}
        about |= {"steps": cell.row.more["steps"], "settings": cell.settings}
        yield Task(f"{here}/{number}", about, functools.partial(measure, cell))


if __name__ == "__main__":
    measuring.measure("wordnet_time", __doc__, tasks, report)
