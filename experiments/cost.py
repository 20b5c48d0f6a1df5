"""How long do all cyclic tables take on processor cores? An extrapolation from a sample of short runs.

python -m experiments.cost [--out OUT]    # go on with the sample, then print the estimate

Every task of the sample is computed twice with a few epochs in one process: the first time it is compiled
too, the second time not. A task then costs: compiling, and as many epochs as it has. The sample has every
graph with every model in a low and in the highest dimension, with protocols and kinds of non-edges in turn;
other tasks are scaled by the numbers of runs and programs, and linearly by dimension. Programs that tasks
share are counted for each of them. Times are those of processor cores, all threads together.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from timelike.reproduce.link_prediction import PROTOCOLS, TRIALS, Case, run
from timelike.reproduce.row import load_rows
from timelike.reproduce.run import load_results
from timelike.reproduce.task import Options, Result, Task
from timelike.reproduce.work import Work, compute

DIMS = (10, 100)
#: Epochs of the run that is compiled and of the one that is not.
FIRST, SECOND = 1, 4


class Size(NamedTuple):
    """What a task consists of."""

    programs: int
    lanes: int


def size_of(case: Case) -> Size:
    """Programs and runs: a few seeds choose between several settings, the others follow."""
    kinds = len(case.row.more["negatives"][case.negatives])
    several = kinds * len(case.row.combinations())
    if several == 1:
        return Size(1, case.seeds)
    rest = max(0, case.seeds - TRIALS)
    return Size(kinds + (rest > 0), several * min(TRIALS, case.seeds) + rest)


def cases(options: Options) -> Iterator[Case]:
    """Every task of the cyclic tables that trains."""
    for row in load_rows("cyclic"):
        for dim in options.dims_of(row):
            for negatives in row.more["negatives"]:
                for protocol in PROTOCOLS:
                    yield Case.of(row, dim, protocol, negatives, options)


def sample(options: Options) -> Iterator[Task]:
    """One task of every row and dimension of the sample."""
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
    """Seconds of a processor core for compiling, and for an epoch of all runs."""

    def seconds(epochs: int) -> float:
        short = case._replace(row=dataclasses.replace(case.row, epochs=epochs))
        start = time.process_time()
        run(short)
        return time.process_time() - start

    first, second = seconds(FIRST), seconds(SECOND)
    return {"compiling": first - second * FIRST / SECOND, "epoch": second / SECOND}


def estimate(results: list[Result], options: Options) -> dict[str, dict[str, float]]:
    """Core seconds of every task by row and what they go to, from the sample."""
    cells: dict[str, dict[int, Result]] = {}
    for result in results:
        cells.setdefault(result.about["row"], {})[result.about["dim"]] = result
    found: dict[str, dict[str, float]] = {}
    for case in cases(options):
        mine = cells.get(case.row.name)
        if not mine:
            continue
        dims, size = sorted(mine), size_of(case)
        per_program = [mine[d].found["compiling"] / mine[d].about["programs"] for d in dims]
        per_lane = [mine[d].found["epoch"] / mine[d].about["lanes"] for d in dims]
        total = found.setdefault(case.row.name, {"tasks": 0, "compiling": 0.0, "epochs": 0.0})
        total["tasks"] += 1
        total["compiling"] += size.programs * float(np.interp(case.dim, dims, per_program))
        total["epochs"] += size.lanes * case.row.epochs * float(np.interp(case.dim, dims, per_lane))
    return found


def table(found: dict[str, dict[str, float]]) -> str:
    """Minutes of one core by row, and hours of all on two."""
    lines = [
        f"{name:44}{row['tasks']:4.0f} tasks, compiling {row['compiling'] / 60:6.1f} min, "
        f"epochs {row['epochs'] / 60:6.1f} min"
        for name, row in found.items()
    ]
    tasks = sum(row["tasks"] for row in found.values())
    hours = sum(row["compiling"] + row["epochs"] for row in found.values()) / 3600
    return "\n".join([*lines, f"{tasks:.0f} tasks: {hours:.2f} core hours, {hours / 2:.2f} h on 2 cores"])


def main() -> None:
    """Measure what is missing of the sample and print the estimate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("cost"))
    parser.add_argument("--data-dir")
    given = parser.parse_args()
    tasks = sample(Options(DIMS, data_dir=given.data_dir))
    works = [Work(task, given.out / f"{task.name}.json", "python -m experiments.cost") for task in tasks]
    for work, made in compute([work for work in works if not work.finished()], 1):
        print(f"{work.file.relative_to(given.out)}: {made['cpu_seconds']} s", flush=True)
    print(table(estimate(load_results(given.out), Options())))


if __name__ == "__main__":
    main()
