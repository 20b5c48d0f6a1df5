"""Compute tasks, one after the other or in several processes, and store each as soon as it is finished."""

from __future__ import annotations

import datetime
import itertools
import json
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from timelike._util.atomic_files import replacing
from timelike._util.hardware import cores, versions
from timelike._version import __version__
from timelike.reproduce.processes import share
from timelike.reproduce.task import Task

PACKAGES = ("jax", "jaxlib", "numpy", "optax", "scikit-learn", "scipy")


class Work(NamedTuple):
    """A task, the file of its result, and the command that asked for it."""

    task: Task
    file: Path
    command: str

    def program(self) -> Path:
        """The same for tasks that share compiled programs."""
        return self.file.with_name(self.file.stem.rpartition("-")[0] or self.file.stem)

    def finished(self) -> bool:
        """Whether the result is there, of a task that is still the same."""
        if not self.file.exists():
            return False
        return bool(
            json.loads(self.file.read_text("utf-8"))["about"] == json.loads(json.dumps(self.task.about))
        )


def compute(works: Sequence[Work], jobs: int) -> Iterator[tuple[Work, dict[str, Any]]]:
    """Run the tasks; each as it is finished, with when, where and how it was made.

    Small programs are compiled for longer than they run, so several processes pay even on an
    accelerator. Tasks whose names differ only after the last dash share their programs: they go
    to the same process, and those that are most begin.
    """
    batches = [list(some) for _, some in itertools.groupby(works, Work.program)]
    if jobs == 1 or len(batches) < 2:
        yield from ((work, run(work)) for work in works)
        return
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # they share the accelerator's memory
    yield from share(sorted(batches, key=len, reverse=True), jobs, run)


def run(work: Work) -> dict[str, Any]:
    """Compute one task and store its result."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = work.task.run()
    made = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - wall, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
        "command": work.command,
        "device": device(),
        "versions": {
            "timelike": __version__,
            "python": platform.python_version(),
            **versions(PACKAGES),
        },
    }
    result = {"about": work.task.about, "found": found, "made": made}
    write(work.file, json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return made


def command() -> str:
    """What the user typed, without the folders of their machine."""
    arguments = list(sys.argv[1:])
    for option in ("--out", "--data-dir"):
        if option in arguments[:-1]:
            arguments[arguments.index(option) + 1] = option.removeprefix("--").upper()
    program = "python -m timelike.reproduce" if Path(sys.argv[0]).name == "__main__.py" else "timelike"
    return " ".join([program, *arguments])


def device() -> str:
    """The accelerator, or the number of processor cores."""
    import jax

    kind = jax.devices()[0]
    if kind.platform != "cpu":
        return str(kind.device_kind)
    return f"{cores()} CPU core{'s' * (cores() != 1)} ({platform.machine()})"


def write(path: Path, text: str) -> None:
    """The whole file or the old one: a run can be killed at any time, and several can share a folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_text(text, "utf-8")


def write_picture(path: Path, figure: Any) -> None:
    """The same for a figure of matplotlib, byte for byte."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        figure.savefig(part, dpi=150, metadata={"Software": None})
