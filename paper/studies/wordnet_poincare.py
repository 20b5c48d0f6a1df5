"""Poincaré embeddings of WordNet with the training of their authors, instead of that of the other rows.

python -m paper.studies.wordnet_poincare [--out OUT]    # train what is missing, then print the table

As in Nickel & Kiela (NIPS 2017): Riemannian SGD with batches of 50 edges, the softmax over an edge and ten
negative samples, points that start at 0.001 from the centre, ten epochs of burn-in, and a constant rate
after it. As in their program, burn-in has a hundredth of the rate. Validation chooses rate and negatives.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

from paper.groups.wordnet import Cell, load_split
from paper.reports.tables import markdown
from paper.reports.wordnet_training import NEAR
from paper.studies import measuring
from paper.table_rows import Row, load_rows
from paper.tasks import Result, Task
from paper.training.wordnet_cells import best_f1, f1_at, train

ROW, DIM, PERCENTS, SEED = "poincare-embedding", 5, (0, 50), 0
TRAINING = {"epochs": 100, "batch_size": 50, "burn_in": 10, "init_scale": 0.001}
#: The authors replace the more general node; the negatives of the test replace each end equally often.
ONE_END, BOTH_ENDS = {"same_target": 10}, {"same_source": 5, "same_target": 5}
CANDIDATES = (
    {"learning_rate": 0.1, "negatives": ONE_END},
    {"learning_rate": 0.1, "negatives": BOTH_ENDS},
    {"learning_rate": 0.3, "negatives": BOTH_ENDS},
)


def tasks(data_dir: str | None) -> Iterator[Task]:
    """One task for each share of the closure; it trains all candidates."""
    row = next(row for row in load_rows("wordnet") if row.name == ROW)
    for percent in PERCENTS:
        about = {
            **{"row": ROW, "dim": DIM, "percent": percent, "seed": SEED, "training": TRAINING},
            "candidates": [dict(one) for one in CANDIDATES],
            "published": row.published[f"{DIM}, {percent}%"],
        }
        yield Task(f"percent-{percent}", about, functools.partial(_run, row, percent, data_dir))


def _run(row: Row, percent: int, data_dir: str | None) -> dict[str, Any]:
    """The validation F1 of every candidate, and the test F1 of the one that validation chooses."""
    split, runs = load_split(percent, data_dir), []
    for one in CANDIDATES:
        more = {**row.more, "steps": 0, "optimizer": "sgd", "final_rate": 1.0, "negatives_at": {}}
        own: Any = {**TRAINING, "more": {**more, "negatives": one["negatives"]}}
        cell = Cell(dataclasses.replace(row, **own), DIM, percent, 1, data_dir)
        runs += train(cell, split, [{"learning_rate": one["learning_rate"], "seed": SEED}])
    valid = [best_f1(run, split.valid) for run in runs]
    best = max(range(len(runs)), key=lambda i: valid[i][0])
    return {
        "valid": [round(f1, 2) for f1, _ in valid],
        "chosen": best,
        "test": round(f1_at(runs[best], split.test, valid[best][1]), 2),
        "edges": split.train.num_edges,
    }


def report(results: list[Result]) -> str:
    """Validation F1 of all candidates, test F1 of the chosen one, the published F1."""
    results = sorted(results, key=lambda r: r.about["percent"])
    body = []
    for number, one in enumerate(results[0].about["candidates"]):
        kinds = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in one["negatives"].items())
        cells = [f"{r.found['valid'][number]:.1f}" for r in results]
        body.append([f"validation, rate {one['learning_rate']:g}, negatives: {kinds}", *cells])
    body.append(["**test, chosen by validation**", *(f"**{r.found['test']:.1f}**" for r in results)])
    body.append(["test, published", *(f"{r.about['published'][0]:.1f}" for r in results)])
    training, head = results[0].about["training"], ["", *(f"{r.about['percent']} %" for r in results)]
    return (
        f"F1 in percent at d = {results[0].about['dim']}, one seed, {training['epochs']} epochs with batches "
        f"of {training['batch_size']}:\n\n"
        f"{markdown(head, body)}\n\n{_verdict(results)}"
    )


def _verdict(results: list[Result]) -> str:
    """How far from the published F1 these runs are."""
    words = [
        f"{r.found['test'] - r.about['published'][0]:+.1f} points at {r.about['percent']} %" for r in results
    ]
    low = [r for r in results if r.found["test"] < r.about["published"][0] - NEAR]
    text = f"Against the published F1: {' and '.join(words)}."
    return text if low else f"{text} With this training, the gap of the row in the table above closes."


if __name__ == "__main__":
    measuring.measure("wordnet_poincare", __doc__, tasks, report)
