"""The list of experiment groups; each is a module with `ABOUT`, `tasks` and `report` (`tasks.Group`)."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, cast

from paper.table_rows import ROWS, load_rows
from paper.tasks import Group, Options, Task

GROUPS = (
    *("honest", "cyclic", "ablation", "wordnet", "toys", "figures"),
    *("best", "grid", "defaults", "negatives", "beyond"),
)

#: Groups that `all` skips: they take longer than all others together, or are not in the paper.
NOT_IN_ALL = ("honest", "best", "grid", "defaults", "negatives", "beyond")


def load_group(name: str) -> Group:
    """The module of a group."""
    return cast(Group, importlib.import_module(f"paper.groups.{name}"))


def expand(what: str) -> list[str]:
    """The groups that a name stands for: those of `all`, or the one group of this name."""
    if what == "all":
        return [name for name in GROUPS if name not in NOT_IN_ALL]
    if what not in GROUPS:
        raise ValueError(f"group is {what!r}; it must be all or one of {', '.join(GROUPS)}")
    return [what]


def plan(names: Sequence[str], options: Options) -> dict[str, list[Task]]:
    """The tasks of every group; a `ValueError` if a requested dimension occurs in none of them."""
    tasks = {name: list(load_group(name).tasks(options)) for name in names}
    missing = sorted(set(options.dims or ()) - _dims(tasks))
    if missing:
        available = sorted(_dims({name: list(load_group(name).tasks(Options())) for name in names}))
        allowed = f"choose from d = {', '.join(map(str, available))}" if available else "omit the option"
        where = names[0] if len(names) == 1 else "any group"
        raise ValueError(f"--dims has {missing[0]}, but {where} has no task in d = {missing[0]}; {allowed}")
    return tasks


def _dims(tasks: dict[str, list[Task]]) -> set[int]:
    return {task.about["dim"] for some in tasks.values() for task in some if "dim" in task.about}


def listing(options: Options) -> dict[str, dict[str, Any]]:
    """For every group: its subject, its number of tasks, and its rows."""
    groups = {}
    for name, tasks in plan(GROUPS, options).items():
        rows = load_rows(name) if (ROWS / name).is_dir() else []
        titles = {row.name: f"{row.title}, d = {', '.join(map(str, row.dims))}" for row in rows}
        groups[name] = {"about": load_group(name).ABOUT, "tasks": len(tasks), "rows": titles}
    return groups


def as_text(groups: dict[str, dict[str, Any]]) -> str:
    """A listing with one line for every group and every row."""
    lines = []
    for name, group in groups.items():
        lines.append(f"{name}: {group['about']} ({group['tasks']} tasks)")
        lines += [f"  {row}: {title}" for row, title in group["rows"].items()]
    return "\n".join(lines)
