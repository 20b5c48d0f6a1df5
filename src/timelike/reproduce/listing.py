"""`reproduce list`: groups, their rows and how much there is to do."""

from __future__ import annotations

from typing import Any

from timelike.reproduce.groups import GROUPS, load_group, planned
from timelike.reproduce.row import ROWS, load_rows
from timelike.reproduce.task import Options


def listing(options: Options) -> dict[str, dict[str, Any]]:
    """What each group is about, how many tasks it has, and what its rows are."""
    found = {}
    for name, tasks in planned(GROUPS, options).items():
        rows = load_rows(name) if (ROWS / name).is_dir() else []
        titles = {row.name: f"{row.title}, d = {', '.join(map(str, row.dims))}" for row in rows}
        found[name] = {"about": load_group(name).ABOUT, "tasks": len(tasks), "rows": titles}
    return found


def as_text(groups: dict[str, dict[str, Any]]) -> str:
    """One line for a group, and one for each of its rows."""
    lines = []
    for name, group in groups.items():
        lines.append(f"{name}: {group['about']} ({group['tasks']} tasks)")
        lines += [f"  {row}: {title}" for row, title in group["rows"].items()]
    return "\n".join(lines)
