"""The command line of the studies that time things: run missing tasks, store them, print a table."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

from paper.runner.reproduction import load_results, write_results
from paper.runner.task_results import Work, compute
from paper.tasks import Result, Task


def measure(
    name: str,
    about: str | None,
    tasks: Callable[[str | None], Iterable[Task]],
    report: Callable[[list[Result]], str],
    draw: Callable[[list[Result], Path], None] | None = None,
) -> None:
    """Run `python -m paper.studies.NAME`; `tasks` takes the folder with data sets, or None.

    `draw` writes pictures into a folder.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(name))
    parser.add_argument("--data-dir")
    arguments = parser.parse_args()
    works = [
        Work(task, arguments.out / f"{task.name}.json", f"python -m paper.studies.{name}")
        for task in tasks(arguments.data_dir)
    ]
    for work, made in compute([work for work in works if not work.finished()], 1):
        print(f"{work.file.relative_to(arguments.out)}: {made['seconds']} s", flush=True)
    results = load_results(arguments.out)
    write_results(results, arguments.out.with_suffix(".json"))
    if draw is not None:
        draw(results, arguments.out.parent)
    print(report(results))
