"""Compute tasks in one or several processes, and store each result as soon as it is finished."""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import itertools
import json
import os
import platform
import secrets
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import timelike as tl
from paper.runner.worker_processes import share
from paper.tasks import Task

PACKAGES = ("jax", "jaxlib", "numpy", "optax", "scikit-learn", "scipy")


class Work(NamedTuple):
    """A task, the file of its result, and the command that asked for it."""

    task: Task
    file: Path
    command: str

    def program(self) -> Path:
        """A key that is equal for tasks that share compiled programs."""
        return self.file.with_name(self.file.stem.rpartition("-")[0] or self.file.stem)

    def finished(self) -> bool:
        """Whether the file holds the result of the task as it is now."""
        if not self.file.exists():
            return False
        stored = json.loads(self.file.read_text("utf-8"))["about"]
        return bool(stored == json.loads(json.dumps(self.task.about)))


def compute(works: Sequence[Work], jobs: int) -> Iterator[tuple[Work, dict[str, Any]]]:
    """Run the tasks and yield each as it finishes, with its provenance.

    Small programs compile for longer than they run, so several processes pay off even on an accelerator.
    Tasks whose names differ only after the last dash share their programs and run in the same process. The
    largest of these batches start first.
    """
    batches = [list(batch) for _, batch in itertools.groupby(works, Work.program)]
    if jobs == 1 or len(batches) < 2:
        yield from ((work, run(work)) for work in works)
        return
    os.environ.setdefault(
        "XLA_PYTHON_CLIENT_PREALLOCATE", "false"
    )  # processes share the accelerator's memory
    yield from share(sorted(batches, key=len, reverse=True), jobs, run)


def run(work: Work) -> dict[str, Any]:
    """Compute one task, store its result, and return its provenance."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = work.task.run()
    made = {
        "date": now(),
        "seconds": round(time.perf_counter() - wall, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
        "command": work.command,
        "device": device(),
        "versions": {"timelike": tl.__version__, "python": platform.python_version(), **versions()},
    }
    result = {"about": work.task.about, "found": found, "made": made}
    write(work.file, json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return made


def command() -> str:
    """The command line of this process, without the folders of the user's machine."""
    arguments = list(sys.argv[1:])
    for option in ("--out", "--data-dir"):
        if option in arguments[:-1]:
            arguments[arguments.index(option) + 1] = option.removeprefix("--").upper()
    program = "python -m paper" if Path(sys.argv[0]).name == "__main__.py" else "timelike"
    return shlex.join([*program.split(), *arguments])


def now() -> str:
    """The date and time in UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    """The versions of the packages that a result depends on."""
    return {name: importlib.metadata.version(name) for name in PACKAGES}


def cores() -> int:
    """The number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def device() -> str:
    """The name of the accelerator, or the number of processor cores."""
    import jax

    kind = jax.devices()[0]
    if kind.platform != "cpu":
        return str(kind.device_kind)
    return f"{cores()} CPU core{'s' * (cores() != 1)} ({platform.machine()})"


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file that replaces `path` at the end.

    The process may be killed at any time, and several processes may share a folder: readers see the old
    file or the new one, never a part of it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with replacing(path) as part:
        part.write_text(text, "utf-8")


def write_picture(path: Path, figure: Any) -> None:
    """Write a matplotlib figure as PNG; an unchanged figure is an unchanged file."""
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=150, metadata={"Software": None})
