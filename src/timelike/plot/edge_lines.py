"""Edges as lines: likely ones darker and denser, bundled if there are many, with heads if there are few."""

from __future__ import annotations

from typing import Any

import numpy as np

from timelike.plot.bundling import bundled
from timelike.plot.drawn_nodes import ARROWS, Selection
from timelike.plot.look import Look
from timelike.plot.scenes import Scene
from timelike.plot.spreading import Warp
from timelike.plot.style import COLUMN, LINES, Theme

#: Graphs with at least this many edges per node are not bundled: all would run through the same place.
SPARSE = 6

#: Opacity of bundled edges, of which many lie on each other, in that of others.
BUNDLED = 0.2

#: With more paths than this, vector files hold the edges as an image; nodes and text stay vectors.
RASTER = 1500


def draw_edges(
    axes: Any, scene: Scene, chosen: Selection, look: Look, warps: tuple[Warp, Warp] | None, theme: Theme
) -> Any:
    """Draw all paths: likely ones darker, denser and on top; bundled if there are many, else with heads."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    shades: Any = LinearSegmentedColormap.from_list("edges", theme.edges)
    prob = chosen.prob[scene.edge_of]
    order = np.argsort(prob, kind="stable")
    paths, prob, count = scene.paths[order], prob[order], max(len(chosen.sources), 1)
    if look.edges == "none" or not len(paths):
        return None
    most = float(np.clip(16 / np.sqrt(count), 0.14, 0.95))
    if warps is not None and (look.edges == "bundled" or (look.edges == "auto" and _is_sparse(chosen))):
        paths, most = _bundled(paths, warps), most * BUNDLED
    style: dict[str, Any] = {
        "array": prob, "cmap": shades, "clim": (0, 1), "zorder": 1, "rasterized": len(paths) > RASTER,
        "linewidths": float(np.clip(8 / np.sqrt(count), 0.25, 0.8)) * np.sqrt(look.width / COLUMN),
        "alpha": most * (0.12 + 0.88 * np.clip(prob, 0, 1) ** 1.5),
    }  # fmt: skip
    colours = shades(prob)
    if chosen.edge_labels is not None:
        by_label = label_colours(chosen, theme)
        colours = np.array([to_rgba(by_label[x]) for x in chosen.edge_labels[scene.edge_of][order]])
        del style["array"]
        style["colors"] = colours
    if warps is not None:
        from matplotlib.collections import LineCollection

        lines: Any = LineCollection(list(paths), **style)
        axes.add_collection(lines, autolim=False)
    else:
        from mpl_toolkits.mplot3d.art3d import Line3DCollection

        style["alpha"] = style["alpha"] * nearness(axes, paths.mean(axis=1))
        lines = Line3DCollection(list(paths), **style)
        axes.add_collection3d(lines, autolim=False)
    if len(paths) <= ARROWS and look.edges != "bundled":
        _draw_heads(axes, paths, colours)
    return lines


def label_colours(chosen: Selection, theme: Theme) -> dict[str, str]:
    """The colour of each label of edges, in the order of the key; edges without one are grey.

    The first two colours are those of roles of nodes.
    """
    texts = sorted({*np.asarray(chosen.edge_labels).tolist()} - {""})
    return {text: LINES[2 + i % (len(LINES) - 2)] for i, text in enumerate(texts)} | {"": theme.faint}


def _is_sparse(chosen: Selection) -> bool:
    """Whether bundles of edges would show structure: many edges, but few for so many nodes."""
    return ARROWS < len(chosen.sources) < SPARSE * len(chosen.nodes)


def _bundled(paths: np.ndarray, warps: tuple[Warp, Warp]) -> np.ndarray:
    """The paths, bundled as they lie on paper."""
    places = np.stack([warp.forward(paths[..., i]) for i, warp in enumerate(warps)], axis=-1)
    places = bundled(places)
    return np.stack([warp.back(places[..., i]) for i, warp in enumerate(warps)], axis=-1)


def nearness(axes: Any, at: np.ndarray) -> np.ndarray:
    """Opacity by depth in three dimensions: 1 for the nearest point, ¼ for the farthest."""
    azimuth, height = np.radians([axes.azim, axes.elev])
    viewer = [np.cos(height) * np.cos(azimuth), np.cos(height) * np.sin(azimuth), np.sin(height)]
    depth = (at - at.mean(axis=0)) @ viewer
    return 0.25 + 0.75 * (depth - depth.min()) / max(np.ptp(depth), 1e-9)


def _draw_heads(axes: Any, paths: np.ndarray, colours: np.ndarray) -> None:
    """Draw a small arrow head just past the middle of each path."""
    step = paths.shape[1] // 2
    tails, tips = (on_paper(axes, paths[:, i]) for i in (step - 1, step))
    tips = tails + 0.65 * (tips - tails)
    style: dict[str, Any] = {"arrowstyle": "-|>,head_length=0.5,head_width=0.19", "shrinkA": 0, "shrinkB": 0}
    for tail, tip, colour in zip(tails, tips, colours, strict=True):
        head = {**style, "color": colour, "linewidth": 0, "mutation_scale": 7}
        axes.annotate("", tuple(tip), tuple(tail), arrowprops=head, zorder=2).set_in_layout(False)


def on_paper(axes: Any, at: np.ndarray) -> np.ndarray:
    """Positions projected onto the plane of the axes."""
    if at.shape[1] == 2:
        return at
    from mpl_toolkits.mplot3d import proj3d

    axes.figure.draw_without_rendering()
    return np.stack(proj3d.proj_transform(*at.T, axes.get_proj())[:2], axis=1)
