"""The paper's grid of 81 settings on WordNet: are its bold values the best, and do they reach its numbers?

python -m paper.studies.wordnet_grid [--jobs 4] [--out OUT]    # train what is missing, then print the table

All settings of a grid train side by side in one program, on a GPU or on all cores. More cores may change the
last digits.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from paper.groups.grid import SYMBOLS
from paper.groups.wordnet import Cell, load_split
from paper.reports.tables import markdown, score
from paper.reports.wordnet_rivals import columns
from paper.studies import measuring
from paper.table_rows import load_rows, product
from paper.tasks import Result, Task
from paper.training.wordnet_cells import best_f1, f1_of, train

ROW = "minkowski-paper"
#: As in the paper: the mean validation F1 of two seeds after 50 epochs chooses; then five seeds train longer.
EPOCHS, SEEDS = 50, (1000, 1001)
#: The paper draws "randomly": any two nodes, or, like the files of the test, another end of either kind.
NEGATIVES = {"uniform": {"uniform": 4}, "both ends": {"same_source": 2, "same_target": 2}}
TEXT = (
    "F1 in percent. The mean validation F1 of two seeds after {epochs} epochs chooses from {count} settings; "
    "then {seeds} other seeds train for {long} epochs, and the test is scored once, at the threshold of "
    "validation: median ± standard deviation. `rank` is the place of the paper's bold values by validation. "
    "The paper does not say which random pairs its negatives are; here: {kinds}."
)
#: What the kinds are called in the text.
KINDS = {"uniform": "any two nodes", "both ends": "an edge with another source or another target"}


def tasks(data_dir: str | None) -> Iterator[Task]:
    """A task for each kind of negatives, dimension and share of the closure."""
    row = next(row for row in load_rows("wordnet") if row.name == ROW)
    for kind in NEGATIVES:
        for dim in row.dims:
            for percent in row.more["percents"]:
                cell = Cell(row, dim, percent, row.seeds, data_dir)
                name = f"{kind.replace(' ', '-')}/d{dim}/{percent}"
                yield Task(name, describe(cell, kind), functools.partial(run, cell, kind))


def describe(cell: Cell, kind: str) -> dict[str, Any]:
    """What identifies a grid, as plain values."""
    row = cell.row
    return {
        **row.about("title", "epochs", "batch_size", "burn_in", "init_scale"),
        **{"dataset": "wordnet", "dim": cell.dim, "percent": cell.percent, "seeds": cell.seeds},
        **{"negatives": kind, "drawn": NEGATIVES[kind], "grid": row.grid, "bold": row.settings},
        **{"searched": {"epochs": EPOCHS, "seeds": list(SEEDS)}},
        "published": row.published[cell.case],
    }


def run(cell: Cell, kind: str) -> dict[str, Any]:
    """The mean validation F1 of every setting, and the test F1 of the best one with fresh seeds."""
    split = load_split(cell.percent, cell.data_dir)
    row = dataclasses.replace(cell.row, more={**cell.row.more, "negatives": NEGATIVES[kind]})
    short, long = (
        dataclasses.replace(cell, row=dataclasses.replace(row, epochs=n)) for n in (EPOCHS, row.epochs)
    )
    settings = product(row.grid)
    lanes = [{**one, "seed": seed} for one in settings for seed in SEEDS]
    found = [best_f1(one, split.valid)[0] for one in train(short, split, lanes, threads=None)]
    valid = np.mean(np.reshape(found, (len(settings), len(SEEDS))), axis=1)
    chosen = settings[int(np.argmax(valid))]
    runs = train(long, split, [{**chosen, "seed": seed} for seed in range(cell.seeds)], threads=None)
    return {"searched": [round(float(one), 2) for one in valid], "settings": chosen, **f1_of(runs, split)}


def report(results: list[Result]) -> str:
    """For each kind of negatives: what was chosen, its test F1, and the place of the bold values."""
    results = sorted(results, key=lambda r: (r.about["negatives"] != "uniform", *_case(r)))
    about = results[0].about
    text = TEXT.format(
        epochs=about["searched"]["epochs"],
        count=len(results[0].found["searched"]),
        seeds=about["seeds"],
        long=about["epochs"],
        kinds=" and, apart, ".join(text for kind, text in KINDS.items() if kind in _kinds(results)),
    )
    cases = sorted({_case(r) for r in results})
    body = [line for kind in NEGATIVES for line in _lines(kind, results, cases)]
    return "\n\n".join([text, markdown(["", *columns(cases)], body), verdict(results)])


def _kinds(results: Sequence[Result]) -> set[str]:
    return {r.about["negatives"] for r in results}


def _case(result: Result) -> tuple[int, int]:
    return result.about["dim"], result.about["percent"]


def _lines(kind: str, results: Sequence[Result], cases: Sequence[tuple[int, int]]) -> Iterator[list[str]]:
    """Four lines of the table: test, published, rank of the bold values, chosen values."""
    found = {_case(r): r for r in results if r.about["negatives"] == kind}
    if not found:
        return
    shown = {
        f"{kind}: test [published]": lambda r: f"{score(r.found)} [{r.about['published'][0]:.1f}]",
        f"{kind}: validation, bold → best": lambda r: f"{_bold(r):.1f} → {max(r.found['searched']):.1f}",
        f"{kind}: rank of the bold values": lambda r: f"{_rank(r)} of {len(r.found['searched'])}",
        f"{kind}: chosen": lambda r: ", ".join(f"{SYMBOLS[k]} {x:g}" for k, x in r.found["settings"].items()),
    }
    for title, cell in shown.items():
        yield [title, *(cell(found[case]) if case in found else "–" for case in cases)]


def _bold(result: Result) -> float:
    """The validation F1 of the bold values."""
    settings = product(result.about["grid"])
    return float(result.found["searched"][settings.index(result.about["bold"])])


def _rank(result: Result) -> int:
    return 1 + sum(one > _bold(result) for one in result.found["searched"])


def verdict(results: Sequence[Result]) -> str:
    """How often the bold values are the best, the published F1 is reached, and a value is at an edge."""
    texts = []
    for kind in NEGATIVES:
        some = [r for r in results if r.about["negatives"] == kind]
        if not some:
            continue
        gaps = [r.found["median"] - r.about["published"][0] for r in some]
        texts.append(
            f"With {kind} negatives, the bold values are the best by validation in "
            f"{sum(_rank(r) == 1 for r in some)} of {len(some)} cells; the test F1 of the chosen ones is at "
            f"least the published one in {sum(gap >= 0 for gap in gaps)} and differs from it by "
            f"{min(gaps):+.1f} to {max(gaps):+.1f} points."
        )
    edges = ", ".join(f"{SYMBOLS[name]} {_at_edge(name, results)}" for name in results[0].about["grid"])
    return f"{' '.join(texts)} Chosen values at an end of the paper's grid, of {len(results)}: {edges}."


def _at_edge(name: str, results: Sequence[Result]) -> int:
    """How many chosen values are the least or the largest of their grid."""
    return sum(
        r.found["settings"][name] in (min(r.about["grid"][name]), max(r.about["grid"][name])) for r in results
    )


if __name__ == "__main__":
    measuring.measure("wordnet_grid", __doc__, tasks, report)
