"""What scripts here have in common: measure what is missing, keep it, and print a table of all there is."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

from timelike.reproduce.run import load_results, write_results
from timelike.reproduce.task import Result, Task
from timelike.reproduce.work import Work, compute


def measure(
    name: str,
    about: str | None,
    tasks: Callable[[str | None], Iterable[Task]],
    report: Callable[[list[Result]], str],
) -> None:
    """Be the command `python -m experiments.NAME`; `tasks` takes the folder with data sets, or None."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(name))
    parser.add_argument("--data-dir")
    given = parser.parse_args()
    works = [
        Work(task, given.out / f"{task.name}.json", f"python -m experiments.{name}")
        for task in tasks(given.data_dir)
    ]
    for work, made in compute([work for work in works if not work.finished()], 1):
        print(f"{work.file.relative_to(given.out)}: {made['seconds']} s", flush=True)
    results = load_results(given.out)
    write_results(results, given.out.with_suffix(".json"))
    print(report(results))
