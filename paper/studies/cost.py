"""How long do all cyclic tables take on processor cores? An extrapolation from a sample of short runs.

python -m paper.studies.cost [--out OUT]    # measure what is missing of the sample, then print the estimate

Every task of the sample runs twice in one process, with few epochs; the first run also compiles. The cost of
a task is that of compiling plus that of its epochs. The sample has every graph with every model in a low and
in the highest dimension, alternating between protocols and kinds of non-edges. Other tasks are scaled by the
numbers of runs and programs, and linearly by dimension. Programs that tasks share are counted for each of
them. Times are core seconds, summed over threads.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from paper.reports.tables import markdown
from paper.studies import measuring
from paper.table_rows import load_rows
from paper.tasks import Options, Result, Task
from paper.training.link_prediction import PROTOCOLS, TRIALS, Case, run

DIMS = (10, 100)
#: Epochs of the first run, which compiles, and of the second.
FIRST, SECOND = 1, 4


class Size(NamedTuple):
    """The numbers of programs and runs of a task."""

    programs: int
    lanes: int


def size_of(case: Case) -> Size:
    """The size of a case: the first seeds compare the settings, the others run the best."""
    kinds = len(case.row.more["negatives"][case.negatives])
    several = kinds * len(case.row.combinations())
    if several == 1:
        return Size(1, case.seeds)
    rest = max(0, case.seeds - TRIALS)
    return Size(kinds + (rest > 0), several * min(TRIALS, case.seeds) + rest)


def cases(options: Options) -> Iterator[Case]:
    """Every case of the cyclic tables."""
    for row in load_rows("cyclic"):
        for dim in options.dims_of(row):
            for negatives in row.more["negatives"]:
                for protocol in PROTOCOLS:
                    yield Case.of(row, dim, protocol, negatives, options)


def sample(options: Options) -> Iterator[Task]:
    """One task for every row and dimension of the sample."""
    by_cell: dict[tuple[int, str], list[Case]] = {}
    for case in cases(options):
        by_cell.setdefault((DIMS.index(case.dim), case.row.name), []).append(case)
    for number, (_, some) in enumerate(sorted(by_cell.items(), key=lambda cell: cell[0][0])):
        case = some[number % len(some)]
        name = f"{case.row.name}/d{case.dim}-{case.protocol}-{case.negatives}"
        about = {
            **{"row": case.row.name, "dim": case.dim, "protocol": case.protocol, "epochs": case.row.epochs},
            **{"negatives": case.negatives, "seeds": case.seeds, **size_of(case)._asdict()},
        }
        yield Task(name, about, functools.partial(measure, case))


def measure(case: Case) -> dict[str, float]:
    """Core seconds for compiling, and for one epoch of all runs."""

    def seconds(epochs: int) -> float:
        short = case._replace(row=dataclasses.replace(case.row, epochs=epochs))
        start = time.process_time()
        run(short)
        return time.process_time() - start

    first, second = seconds(FIRST), seconds(SECOND)
    return {"compiling": first - second * FIRST / SECOND, "epoch": second / SECOND}


def estimate(results: list[Result], options: Options) -> dict[str, dict[str, float]]:
    """Core seconds by row for compiling and for epochs, extrapolated from the sample."""
    found: dict[str, dict[str, float]] = {}
    for case in cases(options):
        size, total = (
            size_of(case),
            found.setdefault(case.row.name, {"tasks": 0, "compiling": 0, "epochs": 0}),
        )
        total["tasks"] += 1
        total["compiling"] += size.programs * at(results, case, "compiling", "programs")
        total["epochs"] += size.lanes * case.row.epochs * at(results, case, "epoch", "lanes")
    return found


def at(results: list[Result], case: Case, what: str, per: str) -> float:
    """The cost of one program or run, interpolated between the dimensions of the sample.

    If a row was not timed in the highest dimension, it grows like the worst case of its model elsewhere.
    """
    costs = {(r.about["row"], r.about["dim"]): r.found[what] / r.about[per] for r in results}
    name, model = case.row.name, case.row.name.rpartition("/")[2]
    low, high = DIMS
    same = [row for row, dim in costs if dim == high and row.rpartition("/")[2] == model]
    growth = [costs[row, high] / costs[row, low] for row in same]
    begin = costs[name, low]
    end = costs.get((name, high), begin * max(growth))
    return float(np.interp(case.dim, DIMS, [begin, end]))


def report(results: list[Result]) -> str:
    """Core minutes by graph, and hours for everything on two cores."""
    found: dict[str, dict[str, float]] = {}
    for name, row in estimate(results, Options()).items():
        graph = found.setdefault(name.partition("/")[0], dict.fromkeys(row, 0.0))
        for what, value in row.items():
            graph[what] += value
    body = [
        [name, f"{row['tasks']:.0f}", *(f"{row[what] / 60:.0f}" for what in ("compiling", "epochs"))]
        for name, row in found.items()
    ]
    hours = sum(row["compiling"] + row["epochs"] for row in found.values()) / 3600
    return (
        f"{markdown(['graph', 'tasks', 'compiling, core minutes', 'training, core minutes'], body)}\n\n"
        f"An extrapolation from {len(results)} tasks, timed with a few epochs: {hours:.1f} core hours, "
        f"{hours / 2:.1f} h on two cores."
    )


if __name__ == "__main__":
    measuring.measure("cost", __doc__, lambda data_dir: sample(Options(DIMS, data_dir=data_dir)), report)
