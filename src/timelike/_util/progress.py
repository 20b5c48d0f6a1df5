"""How bars are shown, and what is said above them."""

from __future__ import annotations

import sys
from typing import Any

#: How a bar is shown: on a terminal, of what takes more than two seconds, as long as it takes.
SHOWN: dict[str, Any] = {"disable": None, "delay": 2, "leave": False}


def announce(progress: bool | None, text: str) -> None:
    """Say on stderr what the next bar is of; `progress` is that of the bar (None: if it is a terminal)."""
    if sys.stderr.isatty() if progress is None else progress:
        print(text, file=sys.stderr)
