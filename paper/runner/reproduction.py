"""Plan the tasks of a group, skip the finished ones, compute the rest, and write the reports."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from paper.groups import expand, load_group, plan
from paper.runner.task_results import Work, command, compute, write
from paper.runner.worker_processes import sigterm_interrupts
from paper.tasks import Options, Report, Result, Task


def reproduce(
    what: str,
    options: Options,
    out: Path,
    *,
    only: Collection[str] = (),
    resume: bool = False,
    jobs: int = 1,
    say: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True),
) -> dict[str, Report]:
    """Compute a group, or all, in `jobs` processes; write reports into `out` and return them by group.

    `only` selects the tasks whose names or titles contain all of these texts. An interrupted run writes
    reports of the finished tasks; `resume` continues it.
    """
    typed = command()
    works = {
        name: [Work(task, out / name / f"{task.name}.json", typed) for task in selected(tasks, only)]
        for name, tasks in plan(expand(what), options).items()
    }
    total = sum(map(len, works.values()))
    if not total:
        raise ValueError(
            f"--only is {' and '.join(only)}: no task of {what} has it in its name or title; "
            "`list` shows the rows that begin the names, and their titles"
        )
    todo = [work for group in works.values() for work in group if not work.finished()]
    number, begun = total - len(todo), time.monotonic()
    if number and not resume:
        raise ValueError(f"--out is {out}, which holds {number} finished tasks; add --resume or change --out")
    try:
        with sigterm_interrupts():
            for done, (work, made) in enumerate(compute(todo, jobs), 1):
                number += 1
                left = (time.monotonic() - begun) / done * (len(todo) - done)
                text = f"{work.file.relative_to(out)}: {made['seconds']:.1f} s"
                say(f"[{number}/{total}] {text}; about {left / 60:.0f} min left")
    except KeyboardInterrupt:
        for name in works:
            write_report(name, out)
        message = f"stopped after {number} of {total} tasks; they are stored, --resume continues"
        raise KeyboardInterrupt(message) from None
    return {name: write_report(name, out) for name in works}


def selected(tasks: Sequence[Task], only: Collection[str]) -> list[Task]:
    """The tasks that match all texts: each is a whole title, or else a part of a name or a title."""
    for text in only:
        titles = [str(task.about.get("title", "")) for task in tasks]
        whole = text in titles
        tasks = [
            task
            for task, title in zip(tasks, titles, strict=True)
            if (text == title if whole else text in task.name or text.lower() in title.lower())
        ]
    return list(tasks)


def load_results(path: Path) -> list[Result]:
    """All finished tasks of a group, from its folder or from the file `<group>.json` that collects them."""
    if path.is_file():
        return [Result(**result) for result in json.loads(path.read_text("utf-8"))]
    return [Result(**json.loads(file.read_text("utf-8"))) for file in sorted(path.rglob("*.json"))]


def write_report(name: str, out: Path) -> Report:
    """Write Markdown, CSV, JSON and pictures of all finished tasks of a group, with their commands."""
    results = load_results(out / name)
    report = load_group(name).report(list(results), out)
    made = provenance(results, whole=True)
    report = report._replace(markdown=f"{report.markdown.rstrip()}\n\n{made}")
    write(out / f"{name}.md", f"{report.markdown}\n")
    write(out / f"{name}.csv", _csv(report.rows))
    write_results(results, out / f"{name}.json")
    return report


def write_results(results: Iterable[Result], file: Path) -> None:
    """Collect results in one file, one line each, for `load_results`."""
    lines = [json.dumps(result._asdict(), ensure_ascii=False) for result in results]
    write(file, "[\n" + ",\n".join(lines) + "\n]\n")


def aged(results: Iterable[Result], tasks: Iterable[Task]) -> str:
    """A sentence that counts the results whose recipe has changed since they were computed; or nothing."""
    now = [json.loads(json.dumps(task.about)) for task in tasks]
    old = [str(r.about.get("title", "")) for r in results if json.loads(json.dumps(r.about)) not in now]
    if not old:
        return ""
    titles = list(dict.fromkeys(old))
    counts = (
        "; ".join(f"{title}: {old.count(title)}" for title in titles) if len(titles) < 6 else "all models"
    )
    return (
        f" The recipe of {len(old)} of them has changed since ({counts}): the tables show what was computed "
        "then, and the command computes what the recipe says now."
    )


def provenance(results: Iterable[Result], whole: bool = False) -> str:
    """One sentence: date, command, machine, duration and versions.

    A `whole` command has the options that select or distribute tasks, too.
    """
    made = [result.made for result in results]
    if not made:
        return "Nothing has been computed yet."
    dates = sorted({m["date"][:10] for m in made})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    devices = " and ".join(sorted({m["device"] for m in made}))
    names = {m["command"] if whole else present_name(m["command"]) for m in made}
    commands = " and ".join(f"`{name}`" for name in sorted(names))
    wall, total = _wall(made), sum(m["seconds"] for m in made)
    versions = ", ".join(f"{k} {v}" for k, v in made[-1]["versions"].items())
    return (
        f"Made {when} by {commands} on {devices}; the {len(made)} tasks took {wall / 60:.1f} minutes, "
        f"{total / 60:.1f} added up over processes ({versions})."
    )


def _wall(made: Iterable[dict[str, Any]]) -> float:
    """Seconds during which at least one task was running; the dates are those of the ends."""
    ends = [(datetime.fromisoformat(m["date"]).timestamp(), m["seconds"]) for m in made]
    total, until = 0.0, 0.0
    for begin, end in sorted((end - seconds, end) for end, seconds in ends):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def present_name(command: str) -> str:
    """The command by its present name, without the options that select or distribute tasks."""
    command = command.replace("timelike.reproduce", "paper").replace("experiments.", "paper.studies.")
    return re.sub(r" --(only( [^-]\S*)+|dims( \d+)+|jobs \d+|resume)", "", command)


def _csv(rows: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
