"""Draws a scene with matplotlib: nodes, edges, light cones, and node names that do not overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.embedding.embedding import Embedding
from timelike.plot.drawn_nodes import ARROWS, Selection
from timelike.plot.scenes import Scene
from timelike.plot.style import COLUMN, EDGES, FUTURE, PAST, finish, short, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: In graphs of at most this many nodes every node is named.
NAMES = 12

#: Largest height of a picture relative to its width.
TALL = 1.3

#: Colour of the nodes whose light cones are drawn.
CHOSEN = "#D55E00"

#: Styles of guide lines, in two and in three dimensions.
GUIDES, GUIDES_3D = {"color": "0.75", "linewidth": 0.6}, {"color": "0.85", "linewidth": 0.4}

#: Background box that keeps text readable over lines.
BOX = {"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.6}


def draw_scene(embedding: Embedding, chosen: Selection, scene: Scene, width: float = COLUMN) -> Figure:
    """Draw a scene as a figure, `width` inches wide."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    flat = scene.at.shape[1] == 2
    with styled():
        figure = Figure((width, TALL * width), layout="compressed")
        axes: Any = figure.add_subplot(**({} if flat else {"projection": "3d", "computed_zorder": False}))
        for line in scene.guides:
            axes.plot(*line.T, zorder=0, **(GUIDES if flat else GUIDES_3D))
        (_set_axes if flat else _set_axes_3d)(axes, scene)
        _draw_edges(axes, scene, chosen)
        _draw_cones(axes, scene)
        size = float(np.clip(100 / np.sqrt(len(scene.at)), 1, 16))
        style: dict[str, Any] = {"linewidths": 0, **({} if flat else {"depthshade": False})}
        alpha = None if flat else _nearness(axes, scene.at)
        axes.scatter(*scene.at.T, s=size, color="black", zorder=3, alpha=alpha, **style)
        axes.scatter(*scene.at[chosen.chosen].T, s=2.5 * size, color=CHOSEN, zorder=4, **style)
        for x, y, text in scene.marks:
            axes.text(x, y, text, ha="center", va="center", fontsize=7, color="0.35", bbox=BOX, zorder=2.8)
        edges = ScalarMappable(Normalize(0, 1), EDGES) if len(chosen.sources) else None
        finish(figure, embedding, edges, axes, scene.notes)
        _draw_names(axes, _on_paper(axes, scene.at), embedding, chosen)
    return figure


def _set_axes(axes: Axes, scene: Scene) -> None:
    (left, right), (bottom, top) = scene.limits
    axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.set_aspect("equal")
    if scene.labels is None:
        axes.set_axis_off()
    else:
        axes.set(xlabel=scene.labels[0], ylabel=scene.labels[1])


def _set_axes_3d(axes: Any, scene: Scene) -> None:
    axes.set(xlim=scene.limits[0], ylim=scene.limits[1], zlim=scene.limits[2])
    size = np.ptp(scene.limits, axis=1)
    axes.set_box_aspect(size, zoom=1.3 if size[2] < size[0] else 1.15)
    axes.set_axis_off()
    middle = scene.at[:, :2].mean(axis=0)  # view the nodes from their own side, at a slight angle
    azimuth = np.degrees(np.arctan2(middle[1], middle[0])) if np.linalg.norm(middle) > 0.1 * size[0] else -30
    axes.view_init(elev=22, azim=azimuth - 20)


def _draw_edges(axes: Any, scene: Scene, chosen: Selection) -> None:
    """Draw all paths coloured by probability, likely ones on top; a small graph gets arrow heads."""
    flat = scene.at.shape[1] == 2
    prob = chosen.prob[scene.edge_of]
    order = np.argsort(prob, kind="stable")
    count = max(len(chosen.sources), 1)
    style = {
        "array": prob[order], "cmap": EDGES, "clim": (0, 1), "zorder": 1,
        "linewidths": float(np.clip(8 / np.sqrt(count), 0.25, 0.9)),
        "alpha": float(np.clip(20 / np.sqrt(count), 0.35, 1)),
    }  # fmt: skip
    paths = scene.paths[order]
    if flat:
        from matplotlib.collections import LineCollection

        axes.add_collection(LineCollection(list(paths), **style), autolim=False)
    else:
        from mpl_toolkits.mplot3d.art3d import Line3DCollection

        style["alpha"] = style["alpha"] * _nearness(axes, paths.mean(axis=1))
        axes.add_collection3d(Line3DCollection(list(paths), **style), autolim=False)
    if 0 < len(paths) <= ARROWS:
        _draw_heads(axes, paths, prob[order])


def _nearness(axes: Any, at: np.ndarray) -> np.ndarray:
    """Opacity by depth in three dimensions: 1 for the nearest point, ¼ for the farthest."""
    azimuth, height = np.radians([axes.azim, axes.elev])
    viewer = [np.cos(height) * np.cos(azimuth), np.cos(height) * np.sin(azimuth), np.sin(height)]
    depth = (at - at.mean(axis=0)) @ viewer
    return 0.25 + 0.75 * (depth - depth.min()) / max(np.ptp(depth), 1e-9)


def _draw_heads(axes: Any, paths: np.ndarray, prob: np.ndarray) -> None:
    """Draw a small arrow head just past the middle of each path."""
    from matplotlib import colormaps

    step = paths.shape[1] // 2
    tails, tips = (_on_paper(axes, paths[:, i]) for i in (step - 1, step))
    tips = tails + 0.65 * (tips - tails)
    style: dict[str, Any] = {"arrowstyle": "-|>,head_length=0.5,head_width=0.19", "shrinkA": 0, "shrinkB": 0}
    for tail, tip, colour in zip(tails, tips, colormaps[EDGES](prob), strict=True):
        head = {**style, "color": colour, "linewidth": 0, "mutation_scale": 9}
        axes.annotate("", tuple(tip), tuple(tail), arrowprops=head, zorder=2).set_in_layout(False)


def _draw_cones(axes: Any, scene: Scene) -> None:
    """Draw light cones: triangles filled, rays as lines."""
    for outlines, colour in ((scene.future, FUTURE), (scene.past, PAST)):
        for outline in outlines:
            if len(outline) == 3:
                axes.fill(*outline.T, facecolor=colour, alpha=0.16, linewidth=0, zorder=0)
                axes.plot(*outline[[1, 0, 2]].T, color=colour, linewidth=0.8, zorder=0.5)
            else:
                axes.plot(*outline.T, color=colour, linewidth=1.1, zorder=2.5)


def _on_paper(axes: Any, at: np.ndarray) -> np.ndarray:
    """Positions projected onto the plane of the axes."""
    if at.shape[1] == 2:
        return at
    from mpl_toolkits.mplot3d import proj3d

    axes.figure.draw_without_rendering()
    return np.stack(proj3d.proj_transform(*at.T, axes.get_proj())[:2], axis=1)


def _draw_names(axes: Any, at: np.ndarray, embedding: Embedding, chosen: Selection) -> None:
    """Write names beside nodes so that each covers no other name and as few nodes as possible.

    All nodes of a small graph are named, otherwise the chosen ones and hubs. Names that do not fit are
    omitted.
    """
    axes.figure.draw_without_rendering()  # fixes the position of the axes
    dots = axes.transData.transform(at)
    frame = axes.get_window_extent()
    taken: list[Any] = []
    sides = [(4, 3), (-4, 3), (4, -3), (-4, -3), (0, 5), (0, -5), (9, 8), (-9, 8), (9, -8), (-9, -8)]
    hubs = chosen.by_degree if len(chosen.nodes) <= NAMES else chosen.by_degree[: NAMES // 2]
    for node in dict.fromkeys([*chosen.chosen.tolist(), *hubs.tolist()]):
        text = short(embedding.name(chosen.nodes[node]))
        best: tuple[int, tuple[float, float], Any] | None = None
        for side in sides:
            note = _name_at(axes, at[node], text, *side)
            box = note.get_window_extent()
            note.remove()
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
            covers = int(box.count_contains(dots))
            if inside and not any(box.overlaps(other) for other in taken) and (not best or covers < best[0]):
                best = covers, side, box
                if covers == 0:
                    break
        if best is not None:
            colour = CHOSEN if node in chosen.chosen else "black"
            _name_at(axes, at[node], text, *best[1]).set_color(colour)
            taken.append(best[2].padded(2))


def _name_at(axes: Axes, at: np.ndarray, text: str, dx: float, dy: float) -> Any:
    style: dict[str, Any] = {
        "ha": "left" if dx > 0 else "right" if dx < 0 else "center",
        "va": "bottom" if dy > 0 else "top",
        "bbox": BOX, "annotation_clip": False, "fontsize": 7, "zorder": 5, "parse_math": False,
    }  # fmt: skip
    if abs(dx) > 5:  # far enough away to need a leader line
        line = {"arrowstyle": "-", "linewidth": 0.4, "color": "0.35", "shrinkA": 0, "shrinkB": 1}
        style["arrowprops"] = line
    return axes.annotate(text, tuple(at), (dx, dy), textcoords="offset points", **style)
