"""The options of a picture that concern its look."""

from __future__ import annotations

from typing import Any, NamedTuple

from timelike.plot.style import COLUMN


class Look(NamedTuple):
    """The options of a picture, as in `draw`."""

    width: float = COLUMN
    color: Any = None
    labels: Any = None
    edges: str = "auto"
    scale: str = "auto"
    theme: str = "light"
    edge_labels: Any = None
