"""The one list of groups of experiments: name → module, loaded when it is used."""

from __future__ import annotations

import importlib
from typing import cast

from timelike.reproduce.task import Group

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
