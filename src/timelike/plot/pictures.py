"""Figures outside pyplot's global state that show themselves in notebooks, and axes to draw into."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

#: Pixels per inch of paper on the screen of a notebook; files and retina screens have more.
SCREEN = 120


class Picture(Figure):
    """A figure that a notebook shows inline, whatever the backend of matplotlib is."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=2 * SCREEN)
        width, height = self.get_size_inches()
        return file.getvalue(), {"width": round(width * SCREEN), "height": round(height * SCREEN)}


def axes_for(ax: Any, width: float, height: float, **projection: Any) -> tuple[Figure, Any, bool]:
    """The figure and the axes to draw into, and whether the figure is new: none is, if `ax` is given."""
    if ax is None:
        figure = Picture((width, height), layout="compressed")
        return figure, figure.add_subplot(**projection), True
    if not isinstance(ax, Axes):
        raise TypeError(f"ax is {ax!r}; it must be matplotlib axes, such as plt.subplots()[1]")
    if projection and ax.name != projection.get("projection"):
        raise ValueError('ax must be three-dimensional here: plt.subplots(subplot_kw={"projection": "3d"})')
    owner = ax.get_figure(root=True)
    assert owner is not None
    return owner, ax, False
