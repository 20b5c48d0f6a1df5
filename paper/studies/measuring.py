"""The command line of the studies that time things: run missing tasks, store them, print a table."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

from paper.runner.reproduction import load_results, selected, write_results
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
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=())
    arguments = parser.parse_args()
    works = [
        Work(task, arguments.out / f"{task.name}.json", f"python -m paper.studies.{name}")
        for task in selected(list(tasks(arguments.data_dir)), arguments.only)
    ]
    for work, made in compute([work for work in works if not work.finished()], arguments.jobs):
        print(f"{work.file.relative_to(arguments.out)}: {made['seconds']} s", flush=True)
    results = load_results(arguments.out)
    write_results(results, arguments.out.with_suffix(".json"))
    if draw is not None:
        draw(results, arguments.out.parent)
    print(report(results))
