"""Run tasks, keep what is finished, and write the reports."""

from __future__ import annotations

import csv
import datetime
import importlib.metadata
import io
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from timelike._version import __version__
from timelike.reproduce.groups import chosen, load_group
from timelike.reproduce.task import Options, Report, Result, Task

PACKAGES = ("jax", "jaxlib", "numpy", "optax", "scikit-learn", "scipy")


def reproduce(
    what: str,
    options: Options,
    out: Path,
    *,
    only: Collection[str] = (),
    resume: bool = False,
    say: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True),
) -> dict[str, Report]:
    """Compute the groups that `what` stands for, and write their reports into `out`; by group."""
    plan = {
        name: [t for t in load_group(name).tasks(options) if all(word in t.name for word in only)]
        for name in chosen(what)
    }
    done = {(name, t.name) for name, tasks in plan.items() for t in tasks if _finished(out / name, t)}
    if done and not resume:
        raise ValueError(f"{out} has {len(done)} finished tasks; --resume goes on, or name another --out")
    if not any(plan.values()):
        raise ValueError(
            f"nothing to do: of {what}, no task in these dimensions has {' and '.join(only)} in its name"
        )
    total, number = sum(map(len, plan.values())), 0
    reports = {}
    for name, tasks in plan.items():
        for task in tasks:
            number += 1
            if (name, task.name) not in done:
                made = _run(out / name, task)
                say(f"[{number}/{total}] {name}/{task.name}: {made['seconds']:.1f} s")
        reports[name] = write_report(name, out)
    return reports


def load_results(folder: Path) -> list[Result]:
    """All finished tasks of a group: from its folder, or from the file `<group>.json` that collects them."""
    if folder.is_file():
        return [Result(**result) for result in json.loads(folder.read_text("utf-8"))]
    return [Result(**json.loads(path.read_text("utf-8"))) for path in sorted(folder.rglob("*.json"))]


def write_report(name: str, out: Path) -> Report:
    """Markdown, CSV, JSON and pictures of all that is finished in a group."""
    results = load_results(out / name)
    report = load_group(name).report(results, out)
    text = f"{report.markdown.rstrip()}\n\n{how(results)}\n"
    _write(out / f"{name}.md", text)
    _write(out / f"{name}.csv", _csv(report.rows))
    lines = [json.dumps(result._asdict(), ensure_ascii=False) for result in results]
    _write(out / f"{name}.json", "[\n" + ",\n".join(lines) + "\n]\n")
    return report


def how(results: Iterable[Result]) -> str:
    """One sentence: when, on what, by which command, how long."""
    made = [result.made for result in results]
    if not made:
        return "Nothing has been computed yet."
    dates = sorted({m["date"][:10] for m in made})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    devices = " and ".join(sorted({m["device"] for m in made}))
    commands = " and ".join(f"`{c}`" for c in sorted({m["command"] for m in made}))
    seconds = sum(m["seconds"] for m in made)
    versions = ", ".join(f"{k} {v}" for k, v in made[-1]["versions"].items())
    return f"Made {when} by {commands} on {devices} in {seconds / 60:.1f} minutes ({versions})."


def _finished(folder: Path, task: Task) -> bool:
    path = _place(folder, task)
    return path.exists() and json.loads(path.read_text("utf-8"))["about"] == _plain(task.about)


def _place(folder: Path, task: Task) -> Path:
    return folder / f"{task.name}.json"


def _run(folder: Path, task: Task) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        found = task.run()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped in {task.name}; what was finished is kept, --resume goes on"
        ) from None
    made = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - wall, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
        "command": command(),
        "device": device(),
        "versions": versions(),
    }
    result = {"about": task.about, "found": found, "made": made}
    _write(_place(folder, task), json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return made


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def command() -> str:
    """What the user typed, without the folders of their machine."""
    arguments = list(sys.argv[1:])
    for option in ("--out", "--data-dir"):
        if option in arguments[:-1]:
            arguments[arguments.index(option) + 1] = option.removeprefix("--").upper()
    if Path(sys.argv[0]).name == "__main__.py":
        return " ".join(["python -m timelike.reproduce", *arguments])
    return " ".join(["timelike", *arguments])


def device() -> str:
    """The accelerator, or the number of processor cores."""
    import jax

    kind = jax.devices()[0]
    if kind.platform != "cpu":
        return str(kind.device_kind)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} CPU core{'s' * (cores != 1)} ({platform.machine()})"


def versions() -> dict[str, str]:
    """Of this package, Python and what it computes with."""
    found = {"timelike": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _csv(rows: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _write(path: Path, text: str) -> None:
    """The whole file or the old one: a run can be killed at any time, and several can share a folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(text, "utf-8")
    os.replace(temporary, path)
