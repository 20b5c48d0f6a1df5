"""Results on stdout, notes on stderr."""

from __future__ import annotations

import json
import math
import shlex
import sys
from collections.abc import Sequence
from typing import Any


def print_json(result: dict[str, Any]) -> None:
    """Print one object on one line; infinities and NaN become null."""
    print(json.dumps(_plain(result), ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(rows: Sequence[Sequence[Any]]) -> None:
    """Print rows of equal length in aligned columns: the first to the left, the others to the right."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for first, *rest in cells:
        numbers = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        print("  ".join([first.ljust(widths[0]), *numbers]).rstrip())


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def typed(path: object) -> str:
    """A path as a shell takes it, quoted if it contains blanks."""
    return shlex.quote(str(path))


def note(*lines: str) -> None:
    """Print notes, one per line."""
    for line in lines:
        print(f"note: {line}", file=sys.stderr)
