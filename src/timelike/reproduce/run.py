"""Plan what is to be computed, leave out what is finished, and write the reports."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import time
from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from timelike.reproduce.groups import chosen, load_group, planned
from timelike.reproduce.processes import sigterm_interrupts
from timelike.reproduce.task import Options, Report, Result
from timelike.reproduce.work import Work, command, compute, write


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
    """Compute the groups that `what` stands for in `jobs` processes; write reports into `out`. By group.

    `only` takes the tasks that have all of these texts in their names. After an interruption there
    are reports of what was finished, and `resume` goes on.
    """
    asked = command()
    plan = {
        name: [
            Work(task, out / name / f"{task.name}.json", asked)
            for task in tasks
            if all(text in task.name for text in only)
        ]
        for name, tasks in planned(chosen(what), options).items()
    }
    works = [work for some in plan.values() for work in some]
    if not works:
        texts = " and ".join(only)
        raise ValueError(f"nothing to do: of {what}, no task in these dimensions has {texts} in its name")
    todo = [work for work in works if not work.finished()]
    if len(todo) < len(works) and not resume:
        finished = len(works) - len(todo)
        raise ValueError(f"{out} has {finished} finished tasks; --resume goes on, or name another --out")
    number, begun = len(works) - len(todo), time.monotonic()
    try:
        with sigterm_interrupts():
            for done, (work, made) in enumerate(compute(todo, jobs), 1):
                number += 1
                left = (time.monotonic() - begun) / done * (len(todo) - done)
                text = f"{work.file.relative_to(out)}: {made['seconds']:.1f} s"
                say(f"[{number}/{len(works)}] {text}; about {left / 60:.0f} min left")
    except KeyboardInterrupt:
        for name in plan:
            write_report(name, out)
        message = f"stopped after {number} of {len(works)} tasks, which are kept; --resume goes on"
        raise KeyboardInterrupt(message) from None
    return {name: write_report(name, out) for name in plan}


def load_results(folder: Path) -> list[Result]:
    """All finished tasks of a group: from its folder, or from the file `<group>.json` that collects them."""
    if folder.is_file():
        return [Result(**result) for result in json.loads(folder.read_text("utf-8"))]
    paths = (path for path in sorted(folder.rglob("*.json")) if not path.parent.name.endswith(".part"))
    return [Result(**json.loads(path.read_text("utf-8"))) for path in paths]


def write_report(name: str, out: Path) -> Report:
    """Markdown, CSV, JSON and pictures of all that is finished in a group."""
    results = load_results(out / name)
    report = load_group(name).report(list(results), out)
    write(out / f"{name}.md", f"{report.markdown.rstrip()}\n\n{how(results)}\n")
    write(out / f"{name}.csv", _csv(report.rows))
    write_results(results, out / f"{name}.json")
    return report


def write_results(results: Iterable[Result], file: Path) -> None:
    """Collect results in one file, which `load_results` reads, with a line for each."""
    lines = [json.dumps(result._asdict(), ensure_ascii=False) for result in results]
    write(file, "[\n" + ",\n".join(lines) + "\n]\n")


def how(results: Iterable[Result]) -> str:
    """One sentence: when, on what, by which command, how long."""
    made = [result.made for result in results]
    if not made:
        return "Nothing has been computed yet."
    dates = sorted({m["date"][:10] for m in made})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    devices = " and ".join(sorted({m["device"] for m in made}))
    commands = " and ".join(f"`{c}`" for c in sorted({_whole(m["command"]) for m in made}))
    wall, total = _wall(made), sum(m["seconds"] for m in made)
    versions = ", ".join(f"{k} {v}" for k, v in made[-1]["versions"].items())
    return (
        f"Made {when} by {commands} on {devices}; the {len(made)} tasks took {wall / 60:.1f} minutes, "
        f"{total / 60:.1f} added up over processes ({versions})."
    )


def _wall(made: Iterable[dict[str, Any]]) -> float:
    """Seconds in which at least one of the tasks was running; dates are of their ends."""
    ends = [(datetime.fromisoformat(m["date"]).timestamp(), m["seconds"]) for m in made]
    total, until = 0.0, 0.0
    for begin, end in sorted((end - seconds, end) for end, seconds in ends):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def _whole(command: str) -> str:
    """The command without the part of the tasks that it asked for, and without how they were shared."""
    return re.sub(r" --(only( [^-]\S*)+|dims( \d+)+|jobs \d+|resume)", "", command)


def _csv(rows: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
