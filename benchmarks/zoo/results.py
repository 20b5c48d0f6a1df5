"""Results of the zoo: one JSON file per graph and seed, in a folder per arm; simple methods are one arm.

`pack` keeps all of a folder in the one file that the page of the documentation is made from.
"""

from __future__ import annotations

import datetime
import json
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.zoo.questions import hide
from benchmarks.zoo.sources import facts, graph_of
from timelike._util.atomic_files import replacing
from timelike._util.hardware import cores

#: The arm with all simple methods.
SIMPLE = "simple"

#: The arm of the geometry alone; a default fit brings its answers along.
ALONE = "evidence=none"

#: What describes a default fit, not its geometry alone.
ABOUT_DEFAULT = ("alone", "ece_density", "ece_four", "top_stated", "top_adjusted", "top_right", "top")


#: Arm → (graph, seed) → result.
Arms = dict[str, dict[tuple[str, int], dict[str, Any]]]

#: The results behind the page of the documentation.
STORED = Path(__file__).parents[1] / "results" / "zoo.json"


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
    result |= {"date": datetime.datetime.now(datetime.UTC).date().isoformat(), "cores": cores()}
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


def read_all(folder: Path) -> Arms:
    """The results in a folder, by arm, then by graph and seed."""
    return _by_arm(read(file) for file in sorted(folder.glob("*/*-*.json")))


def pack(folder: Path, file: Path) -> None:
    """Put the results of a folder into one file, in place of those of the same arm, graph and seed."""
    arms = unpack(file)
    for arm, found in read_all(folder).items():
        arms.setdefault(arm, {}).update(found)
    kept = [_rounded(arms[arm][key]) for arm in sorted(arms) for key in sorted(arms[arm])]
    lines = [json.dumps(one, ensure_ascii=False) for one in kept]
    with replacing(file) as part:
        part.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def unpack(file: Path) -> Arms:
    """The results in a file that `pack` has written; none if there is no such file."""
    return _by_arm(json.loads(file.read_text("utf-8"))) if file.is_file() else {}


def _by_arm(results: Iterable[dict[str, Any]]) -> Arms:
    arms: Arms = {}
    for one in results:
        arms.setdefault(one["arm"], {})[one["graph"], one["seed"]] = one
    return arms


def _rounded(value: Any) -> Any:
    """Numbers with six digits after the point, without tracebacks."""
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items() if name != "traceback"}
    return round(value, 6) if isinstance(value, float) else value
