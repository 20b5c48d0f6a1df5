"""Do batches as small as the paper's help the hyperboloid?

python -m paper.studies.batch [--out OUT]    # measure what is missing, then print the table

The tables of graphs with cycles use batches of 16 or 32 edges, the paper 2 or 4. The hyperboloid trains with
both, in ten dimensions, on the duplication-divergence graph and on E. coli, where the paper's bold learning
rates do worst. The loss is a sum over the batch.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from paper.groups.cyclic import DATA
from paper.reports.tables import markdown, score
from paper.studies import measuring
from paper.table_rows import load_rows
from paper.tasks import Options, Result, Task
from paper.training.link_prediction import PROTOCOLS, TRIALS, Case, describe, run

GRAPHS = ("duplication-divergence", "dream5:ecoli")
GEOMETRY, DIM, SEEDS, SMALL = "hyperboloid", 10, 5, 2


def tasks(data_dir: str | None) -> Iterator[Task]:
    """Both graphs, both protocols, the batch of the row and the small one."""
    for row in load_rows("cyclic"):
        if row.geometry != GEOMETRY or row.dataset not in GRAPHS:
            continue
        non_edges = next(iter(row.more["negatives"]))
        for protocol in PROTOCOLS:
            for size in (row.batch_size, SMALL):
                other = dataclasses.replace(row, batch_size=size, seeds=SEEDS)
                case = Case.of(other, DIM, protocol, non_edges, Options(data_dir=data_dir))
                about: dict[str, Any] = {**describe(case), "bold": row.bold()["learning_rate"]}
                name = f"{row.dataset.replace(':', '-')}/{protocol}-{size}"
                yield Task(name, about, functools.partial(run, case))


def report(results: list[Result]) -> str:
    """The AP with every learning rate and batch, and how much the batch moves it."""
    seeds = results[0].about["seeds"]
    parts = [
        f"Test AP in percent of the hyperboloid, d = {results[0].about['dim']}. By learning rate: the median "
        f"of the first {min(TRIALS, seeds)} seeds with the better of the other candidates. Chosen: the "
        f"median ± standard deviation over {seeds} seeds with the candidate that the protocol chooses. Bold "
        "rates are the paper's."
    ]
    for graph in GRAPHS:
        some = [r for r in results if r.about["dataset"] == graph]
        rates = sorted({one["learning_rate"] for one in some[0].found["tried"]})
        bold = some[0].about["bold"]
        head = [DATA[graph], "batch", *(f"**{x:g}**" if x in bold else f"{x:g}" for x in rates), "chosen"]
        order = sorted(some, key=lambda r: ([*PROTOCOLS].index(r.about["protocol"]), -r.about["batch_size"]))
        body = [
            [
                f"{r.about['protocol']} protocol",
                str(r.about["batch_size"]),
                *(f"{value:.1f}" for value in _by_rate(r, rates)),
                score(r.found),
            ]
            for r in order
        ]
        parts.append(markdown(head, body))
    return "\n\n".join([*parts, _verdict(results)])


def _by_rate(result: Result, rates: Sequence[float]) -> list[float]:
    tried = result.found["tried"]
    return [max(one["median"] for one in tried if one["learning_rate"] == rate) for rate in rates]


def _verdict(results: Sequence[Result]) -> str:
    """The effect of the batch, beside that of the learning rate."""
    moved, gained, words = [], [], []
    for graph in GRAPHS:
        for protocol in PROTOCOLS:
            pair = [r for r in results if (r.about["dataset"], r.about["protocol"]) == (graph, protocol)]
            small, large = sorted(pair, key=lambda r: r.about["batch_size"])
            rates = sorted({one["learning_rate"] for one in small.found["tried"]})
            both = np.array([_by_rate(small, rates), _by_rate(large, rates)])
            moved += list(both[0] - both[1])
            gained.append(np.ptp(both[0]))
            words.append(f"{small.found['median'] - large.found['median']:+.1f}")
    text = (
        f"In the order of the tables, batches of {SMALL} change the chosen model by "
        f"{', '.join(words)} points. "
        f"They change the model of one learning rate by {min(moved):+.1f} to {max(moved):+.1f} points, and "
        f"the choice of the rate changes it by {min(gained):.1f} to {max(gained):.1f}."
    )
    if max(map(abs, moved)) < max(gained) / 5:
        text += (
            " The loss is a sum over the batch, so the points move about as far in an epoch of few large "
            "steps as in one of many small steps: the batch does not explain why the paper's lowest rates do "
            "not get far here."
        )
    return text


if __name__ == "__main__":
    measuring.measure("batch", __doc__, tasks, report)
