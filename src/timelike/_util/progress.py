"""Progress bars and the captions above them."""

from __future__ import annotations

import sys
from typing import Any

#: Options of `tqdm`: show a bar only on a terminal, after two seconds, and remove it when done.
SHOWN: dict[str, Any] = {"disable": None, "delay": 2, "leave": False}


def announce(progress: bool | None, text: str) -> None:
    """Print the caption of the next bar to stderr, if `progress` (None: if stderr is a terminal)."""
    if sys.stderr.isatty() if progress is None else progress:
        print(text, file=sys.stderr)
