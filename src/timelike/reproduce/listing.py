"""`reproduce list`: groups, their rows and how much there is to do."""

from __future__ import annotations

from timelike.reproduce.groups import GROUPS, load_group
from timelike.reproduce.row import ROWS, load_rows
from timelike.reproduce.task import Options


def listing(options: Options) -> str:
    """One line for a group, and one for each of its rows."""
    lines = []
    for name in GROUPS:
        group = load_group(name)
        lines.append(f"{name}: {group.ABOUT} ({len(list(group.tasks(options)))} tasks)")
        if (ROWS / name).is_dir():
            lines += [
                f"  {row.name}: {row.title}, d = {', '.join(map(str, row.dims))}" for row in load_rows(name)
            ]
    return "\n".join(lines)
