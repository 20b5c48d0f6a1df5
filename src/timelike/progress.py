"""What is said above a bar, where there is one."""

from __future__ import annotations

import sys


def announce(progress: bool | None, text: str) -> None:
    """Say on stderr what the next bar is of; `progress` is that of the bar (None: if it is a terminal)."""
    if sys.stderr.isatty() if progress is None else progress:
        print(text, file=sys.stderr)
