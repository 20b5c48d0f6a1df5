"""Keys above a picture: what colours and markers of nodes mean, and the scale of the edges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from timelike.plot.node_inks import NodeInks
from timelike.plot.style import COLUMN

#: In narrower pictures, in inches, the key of the edges is above that of the nodes.
NARROW = 2.7

#: Most groups of nodes beside the key of the edges, in a column of a paper.
BESIDE = 3

#: Height of a line of a key, in inches.
LINE = 0.135

SPACING: dict[str, Any] = {"handletextpad": 0.3, "columnspacing": 0.7, "borderaxespad": 0, "borderpad": 0.2}


def draw_keys(
    axes: Any, inks: NodeInks, points: Any, edges: Any, width: float, colours: dict[str, str] | None = None
) -> None:
    """Above the axes: the key of the nodes on the left; that of the edges on the right, or above it.

    `colours` are those of the labels of edges.
    """
    from matplotlib.lines import Line2D

    dot: dict[str, Any] = {"linestyle": "", "markersize": 3.2, "markeredgewidth": 0}
    handles, labels, lines = [], [], 0
    if inks.values is not None:
        at, shades = _samples(inks), points.cmap
        handles = [Line2D([], [], marker="o", color=shades(points.norm(x)), **dot) for x in at]
        numbers = [f"{x:.3g}".replace("-", "−") for x in at]
        labels = [f"{inks.label} {numbers[0]}", *numbers[1:]] if at else []
    elif any(group.label for group in inks.groups):
        handles = [Line2D([], [], marker=group.marker, color=group.colour, **dot) for group in inks.groups]
        labels = [str(group.label) for group in inks.groups]
    if handles:
        columns = min(len(handles), 9 if width > COLUMN + 1 else BESIDE)
        lines = -(-len(handles) // columns)
        _legend(axes, handles, labels, columns, "lower left", 0.0, 0)
    if edges is not None:
        above = lines if width < NARROW or (len(handles) > BESIDE and width < COLUMN + 1) else 0
        shades = {"probability 0": edges.cmap(0.0), "½": edges.cmap(0.5), "1": edges.cmap(1.0)}
        if colours is not None:
            shades = {text: colour for text, colour in colours.items() if text}
        ends = [Line2D([], [], linewidth=1.6, color=colour) for colour in shades.values()]
        names = [*shades]
        if above:
            _legend(axes, ends, names, len(names), "lower left", 0.0, above)
            return
        first = axes.get_legend()
        _legend(axes, ends, names, len(names), "lower right", 1.0, 0)
        if first is not None and _overlap(axes, first, axes.get_legend()):
            axes.get_legend().remove()
            _legend(axes, ends, names, len(names), "lower left", 0.0, lines, former=first)


def _legend(
    axes: Any,
    handles: list,
    labels: list[str],
    columns: int,
    place: str,
    across: float,
    above: int,
    former: Any = None,
) -> None:
    from matplotlib.transforms import ScaledTranslation

    up = ScaledTranslation(0, 0.03 + LINE * above, axes.get_figure(root=True).dpi_scale_trans)
    flat = {"loc": place, "bbox_to_anchor": (across, 1.0), "bbox_transform": axes.transAxes + up}
    former = axes.get_legend() if former is None else None
    legend = axes.legend(handles, labels, ncols=columns, handlelength=1.1, **flat, **SPACING)
    for text in legend.get_texts():
        text.set_parse_math(False)
    if former is not None:
        axes.add_artist(former)


def _overlap(axes: Any, first: Any, second: Any) -> bool:
    """Whether two keys lie on each other, as the axes are laid out now."""
    axes.get_figure(root=True).draw_without_rendering()
    return first.get_window_extent().overlaps(second.get_window_extent())


def _samples(inks: NodeInks) -> list[float]:
    """The least, a middle and the greatest of the known values."""
    assert inks.values is not None
    known = inks.values[np.isfinite(inks.values)]
    if not len(known):
        return []
    low, high = float(known.min()), float(known.max())
    middle = round(math.sqrt(low * high)) if inks.log else (low + high) / 2
    return [low, middle, high] if high > low else [low]
