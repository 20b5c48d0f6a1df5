"""Results of the zoo: one JSON file per graph and seed, in a folder per arm; simple methods are one arm."""

from __future__ import annotations

import json
import traceback
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.zoo.questions import hide
from benchmarks.zoo.sources import facts, graph_of
from timelike._util.atomic_files import replacing

#: The arm with all simple methods.
SIMPLE = "simple"

#: The arm of the geometry alone; a default fit brings its answers along.
ALONE = "evidence=none"

#: What describes a default fit, not its geometry alone.
ABOUT_DEFAULT = ("alone", "ece_density", "ece_four", "top_stated", "top_adjusted", "top_right", "top")


class Task(NamedTuple):
    """What one worker computes: an arm on the graph of a name and seed."""

    graph: str
    seed: int
    arm: str
    methods: tuple[str, ...]
    prepared: Path | None
    folder: Path

    @property
    def file(self) -> Path:
        """Where the result goes."""
        return self.folder / self.arm / f"{self.graph}-{self.seed}.json"

    def is_done(self) -> bool:
        """Whether the result is there, without an error and with all methods."""
        result = read(self.file)
        return bool(result) and "error" not in result and {*self.methods} <= {*result.get("methods", {})}


def read(file: Path) -> dict[str, Any]:
    """A result, or nothing."""
    return json.loads(file.read_text()) if file.is_file() else {}


def compute(task: Task) -> str:
    """Compute a task, write its file, and return a line about it; an error goes into the file."""
    graph = graph_of(task.graph, task.seed, task.prepared)
    hidden, about = hide(graph, task.seed), facts(graph)
    result: dict[str, Any] = {"graph": task.graph, "seed": task.seed, "arm": task.arm}
    result |= {"facts": about, "hidden": len(hidden.edges), "not_asked": hidden.not_asked}
    old = read(task.file)
    try:
        if task.arm == SIMPLE:
            from benchmarks.zoo.simple_methods import answers

            kept = old.get("methods", {}) if old.get("facts") == about else {}
            new = [name for name in task.methods if name not in kept]
            result["methods"] = {**kept, **{name: answers(name, hidden, task.seed) for name in new}}
            line = f"{len(new)} methods"
        else:
            from benchmarks.zoo.fits import fitted_answers

            result |= fitted_answers(task.arm, hidden)
            line = f"{result['geometry']}, {result['seconds']:.1f} s"
    except Exception as error:  # a method that fails is a finding, not the end of the run
        result |= {"error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
        line = result["error"].splitlines()[0]
    if "alone" in result and task.arm == "default":  # the same geometry as a fit with evidence=none
        apart = {**result, "arm": ALONE, "answers": result.pop("alone")}
        _write(
            {name: apart[name] for name in apart if name not in ABOUT_DEFAULT}, task._replace(arm=ALONE).file
        )
    _write(result, task.file)
    return f"{task.arm} {task.graph} {task.seed}: {line}"


def _write(result: dict[str, Any], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as part:
        part.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


def read_arm(folder: Path, arm: str, graphs: Collection[str]) -> dict[tuple[str, int], dict[str, Any]]:
    """The stored results of an arm on these graphs, by graph and seed, in the order of the graphs."""
    found = {}
    for name in graphs:
        for file in sorted((folder / arm).glob(f"{name}-*.json")):
            if file.stem.removeprefix(f"{name}-").isdigit():
                found[name, int(file.stem.removeprefix(f"{name}-"))] = read(file)
    return found


def arms_in(folder: Path) -> list[str]:
    """The arms with stored results, without the simple methods."""
    return sorted(one.name for one in folder.iterdir() if one.is_dir() and one.name != SIMPLE)
