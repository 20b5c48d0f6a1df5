"""`timelike --help`: what a newcomer needs, on one screen."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping

ABOUT = """Directed graphs in spacetimes: learn from edges, ask which ones are missing.

  timelike fit edges.tsv --out model       learn; lines are SOURCE TARGET
  timelike predict model --all --top 20    the likeliest missing edges
  timelike explore model                   look at it in the browser
"""

HINTS = """
`timelike COMMAND --help` explains a command and lists its options. `timelike --version` prints the version,
`timelike --print-completion bash|zsh|fish` a script that completes commands and options with the tab key.
"""


def overview(groups: Mapping[str, Mapping[str, type]]) -> str:
    """The commands by group, each with the first line of what it says of itself."""
    width = min(shutil.get_terminal_size().columns, 100)
    lines = [ABOUT.rstrip()]
    for title, commands in groups.items():
        lines += ["", title]
        for name, command in commands.items():
            first = (command.__doc__ or "").splitlines()[0]
            lines += textwrap.wrap(first, width, initial_indent=f"  {name:<11}", subsequent_indent=" " * 13)
    return "\n".join([*lines, "", *textwrap.wrap(HINTS.strip(), width)])
