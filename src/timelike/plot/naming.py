"""Names beside nodes, in the frame: they cover no other name, no hub and as few nodes as possible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Directions in which a name is tried, and the gaps to the node, in points.
DIRECTIONS, GAPS = 16, (1.5, 4.5, 9.0, 15.0, 23.0)

#: From this gap on a line leads from the name to its node.
FAR = 5.0

#: What a name costs: for each node that it covers, for each hub, and for each point of distance.
COVERS, COVERS_HUB, DISTANCE = 1.0, 60.0, 0.25


class Name(NamedTuple):
    """A name to write: where its node is (x, y), the radius of the node in points, and colour."""

    at: np.ndarray
    text: str
    radius: float
    colour: Any


def write_names(
    axes: Axes, names: Iterable[Name], dots: np.ndarray, radii: np.ndarray, size: float, paper: Any
) -> None:
    """Write names in this order of importance; one that finds no free place is left out.

    `dots` are the positions of all nodes and `radii` their radii in points. `paper` is the colour of the
    halo that keeps names readable over lines.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # fixes the position of the axes
    point = figure.dpi / 72
    shown = axes.transData.transform(dots)
    hubs = radii > max(2.0, float(np.quantile(radii, 0.9)) if len(radii) else 0.0)
    frame = axes.get_window_extent()
    edges = np.array([[frame.x0, frame.y0], [frame.x1, frame.y1]])
    taken: list[np.ndarray] = []
    for name in names:
        half = _half_of(axes, name.text, size)
        home = axes.transData.transform(name.at)
        best: tuple[float, np.ndarray, float] | None = None
        for gap in GAPS:
            for turn in range(DIRECTIONS):
                middle = home + _offset(turn, half, (name.radius + gap) * point)
                box = np.array([middle - half, middle + half])
                if not _free(box, edges, taken, point):
                    continue
                inside = ((shown > box[0] - point) & (shown < box[1] + point)).all(axis=1)
                reach = radii[hubs, None] * point
                on_hub = ((shown[hubs] > box[0] - reach) & (shown[hubs] < box[1] + reach)).all(axis=1)
                cost = COVERS * inside.sum() + COVERS_HUB * on_hub.sum() + DISTANCE * gap
                if best is None or cost < best[0] - 1e-9:
                    best = cost, middle, gap
            if best is not None and best[0] < COVERS + DISTANCE * gap:
                break
        if best is not None:
            taken.append(np.array([best[1] - half, best[1] + half]))
            _write(axes, name, (best[1] - home) / point, best[2] >= FAR, size, paper)


def _free(box: np.ndarray, edges: np.ndarray, taken: list[np.ndarray], point: float) -> bool:
    """Whether a box lies in the frame and apart from all others."""
    if (box[0] < edges[0]).any() or (box[1] > edges[1]).any():
        return False
    return not any((box[0] < other[1] + point).all() and (box[1] > other[0] - point).all() for other in taken)


def _offset(turn: int, half: np.ndarray, reach: float) -> np.ndarray:
    """From a node to the middle of a box of these half sides, `reach` away; to the right and up first."""
    angle = np.pi / 8 + (turn + 1) // 2 * (-1) ** turn * 2 * np.pi / DIRECTIONS
    way = np.array([np.cos(angle), np.sin(angle)])
    return way * reach + np.clip(1.4 * way, -1, 1) * half


def _half_of(axes: Axes, text: str, size: float) -> np.ndarray:
    """Half the width and height of a text, in pixels."""
    note = axes.annotate(text, (0, 0), xycoords="figure pixels", fontsize=size, parse_math=False)
    box = note.get_window_extent()
    note.remove()
    return np.array([box.width, box.height]) / 2


def _write(axes: Axes, name: Name, offset: np.ndarray, leads: bool, size: float, paper: Any) -> None:
    """The text with a halo below it; the halo is another text, so that this one stays text in SVG."""
    from matplotlib.patheffects import Stroke

    style: dict[str, Any] = {
        "xy": tuple(name.at), "xytext": tuple(offset), "textcoords": "offset points", "ha": "center",
        "va": "center", "annotation_clip": False, "fontsize": size, "parse_math": False,
    }  # fmt: skip
    line = {"arrowstyle": "-", "linewidth": 0.4, "color": name.colour, "shrinkA": 0, "shrinkB": name.radius}
    halo = axes.annotate(name.text, color=paper, zorder=5.9, **style)
    halo.set(path_effects=[Stroke(linewidth=1.6, foreground=paper)], gid="halo")
    axes.annotate(name.text, color=name.colour, zorder=6, arrowprops=line if leads else None, **style)
