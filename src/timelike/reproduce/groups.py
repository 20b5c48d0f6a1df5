"""The one list of groups of experiments: name → module, loaded when it is used."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import cast

from timelike.reproduce.task import Group, Options, Task

GROUPS = ("cyclic", "ablation", "wordnet", "toys", "figures", "best", "grid", "defaults", "negatives")

#: What `all` leaves out: what takes longer than everything else together, and what is not in the paper.
NOT_IN_ALL = ("best", "grid", "defaults", "negatives")


def load_group(name: str) -> Group:
    """The module of a group."""
    return cast(Group, importlib.import_module(f"timelike.reproduce.{name}"))


def chosen(what: str) -> list[str]:
    """The groups that a name stands for."""
    if what == "all":
        return [name for name in GROUPS if name not in NOT_IN_ALL]
    if what not in GROUPS:
        raise ValueError(f"there is no group {what!r} to reproduce; there are all, {', '.join(GROUPS)}")
    return [what]


def planned(names: Sequence[str], options: Options) -> dict[str, list[Task]]:
    """The tasks of these groups; a dimension that was asked for and that none of them has is a mistake."""
    plan = {name: list(load_group(name).tasks(options)) for name in names}
    missing = sorted(set(options.dims or ()) - _dims(plan))
    if missing:
        there = sorted(_dims({name: list(load_group(name).tasks(Options())) for name in names}))
        known = f"there is d = {', '.join(map(str, there))}" if there else "there are no dimensions to choose"
        where = names[0] if len(names) == 1 else "any of these groups"
        raise ValueError(f"--dims: there is nothing to compute in d = {missing[0]} in {where}; {known}")
    return plan


def _dims(plan: dict[str, list[Task]]) -> set[int]:
    return {task.about["dim"] for tasks in plan.values() for task in tasks if "dim" in task.about}
