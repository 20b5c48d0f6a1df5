"""Draws a scene with matplotlib: nodes, edges, light cones, names and a key."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.embedding.embedding import Embedding
from timelike.graphs.digraph import node_numbers
from timelike.plot.drawn_nodes import Selection
from timelike.plot.edge_lines import draw_edges, label_colours, nearness, on_paper
from timelike.plot.keys import draw_keys
from timelike.plot.look import Look
from timelike.plot.naming import Name, write_names
from timelike.plot.node_inks import NodeInks, areas, node_inks
from timelike.plot.scenes import Scene
from timelike.plot.spreading import Warp, spread, straight
from timelike.plot.style import COLUMN, SMALL, Theme, finish, say_below, short, styled, theme_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: In graphs of at most this many nodes every node is named; of larger ones, the chosen nodes and hubs.
NAMES = 12

#: Largest height of a picture relative to its width.
TALL = 1.3

#: Height of a picture with a scale that spreads, relative to its width.
SPREAD_TALL = 0.92

#: Graphs with more nodes are drawn on a scale that spreads.
CROWDED = 200

#: Space beyond the outermost nodes, as a share of their range.
MARGIN = 0.03

#: Cells of the density of all nodes, along each side.
CELLS = 120


def draw_scene(embedding: Embedding, chosen: Selection, scene: Scene, look: Look, ax: Any = None) -> Figure:
    """Draw a scene as a new figure, or into `ax`."""
    from timelike.plot.pictures import axes_for

    flat, theme = scene.at.shape[1] == 2, theme_of(look.theme)
    spreads = scene.labels is not None and (
        look.scale == "spread" or (look.scale == "auto" and len(chosen.nodes) > CROWDED)
    )
    with styled(look.theme):
        tall = SPREAD_TALL if spreads else TALL
        figure, axes, new = axes_for(ax, look.width, tall * look.width, **({} if flat else _SOLID))
        for line in scene.guides:
            width = {"linewidth": 0.5 if flat else 0.35, "color": theme.faint, "alpha": 0.5}
            axes.plot(*line.T, zorder=0, **width)
        warps = _set_axes(axes, scene, spreads) if flat else None
        if warps is None:
            _set_axes_3d(axes, scene)
        elif scene.cloud is not None:
            _draw_cloud(axes, scene.cloud, warps, theme)
        edges = draw_edges(axes, scene, chosen, look, warps, theme)
        _draw_cones(axes, scene, theme)
        inks = node_inks(embedding, chosen, look.color, theme)
        area = areas(chosen, look.width)
        points = _draw_nodes(axes, scene, chosen, inks, area, theme)
        for x, y, text in scene.marks:
            box = {"facecolor": theme.paper, "alpha": 0.7, "linewidth": 0, "pad": 0.6}
            style = {"fontsize": SMALL, "color": theme.faint, "bbox": box, "zorder": 2.8}
            axes.text(x, y, text, ha="center", va="center", **style)
        colours = None if chosen.edge_labels is None else label_colours(chosen, theme)
        draw_keys(axes, inks, points, edges, look.width, colours)
        notes = _notes(embedding, scene, spreads, len(chosen.sources) > 0)
        if new:
            finish(figure, notes, theme.faint)
        else:
            say_below(axes, notes, theme.faint)
        write_names(
            axes, _names(embedding, chosen, on_paper(axes, scene.at), look, area), on_paper(axes, scene.at),
            np.sqrt(area / math.pi), SMALL, theme.paper,
        )  # fmt: skip
    return figure


_SOLID = {"projection": "3d", "computed_zorder": False}


def _notes(embedding: Embedding, scene: Scene, spreads: bool, edges: bool) -> list[str]:
    """The footnotes: those of the scene, the scale, and what the probabilities hold for."""
    notes = list(scene.notes)
    if spreads:
        cones = "; curves: light cone" if scene.future else ""
        notes.append(f"axes stretched where nodes are crowded{cones}")
    if edges and embedding.calibration is not None:
        notes.append(f"probabilities for {embedding.calibration.ratio:.3g} non-edges per edge")
    elif edges:
        notes.append("probabilities not calibrated")
    return notes


def _set_axes(axes: Any, scene: Scene, spreads: bool) -> tuple[Warp, Warp]:
    (left, right), (bottom, top) = limits = _used(scene) if spreads else scene.limits
    if not spreads:
        axes.set(xlim=(left, right), ylim=(bottom, top))
        axes.set_aspect("equal")
        warps = straight(limits[0]), straight(limits[1])
    else:
        warps = spread(scene.at[:, 0], limits[0]), spread(scene.at[:, 1], limits[1])
        axes.set_xscale("function", functions=(warps[0].forward, warps[0].back))
        axes.set_yscale("function", functions=(warps[1].forward, warps[1].back))
        axes.set(xlim=(left, right), ylim=(bottom, top))
        for axis, warp in zip((axes.xaxis, axes.yaxis), warps, strict=True):
            ticks = warp.ticks()
            axis.set_ticks(ticks, [f"{tick:g}".replace("-", "−") for tick in np.round(ticks, 9)])
            axis.set_ticks([], minor=True)
    if scene.labels is None:
        axes.set_axis_off()
    else:
        axes.set(xlabel=scene.labels[0], ylabel=scene.labels[1])
        axes.spines[["top", "right"]].set_visible(False)
    return warps


def _used(scene: Scene) -> np.ndarray:
    """The limits without what lies empty beyond all nodes inside: axes that are stretched share no scale."""
    inside = ((scene.at >= scene.limits[:, 0]) & (scene.at <= scene.limits[:, 1])).all(axis=1)
    if not inside.any():
        return scene.limits
    low, high = scene.at[inside].min(axis=0), scene.at[inside].max(axis=0)
    spare = MARGIN * np.maximum(high - low, 1e-3)
    return np.stack(
        [np.maximum(low - spare, scene.limits[:, 0]), np.minimum(high + spare, scene.limits[:, 1])], axis=1
    )


def _set_axes_3d(axes: Any, scene: Scene) -> None:
    axes.set(xlim=scene.limits[0], ylim=scene.limits[1], zlim=scene.limits[2])
    size = np.ptp(scene.limits, axis=1)
    axes.set_box_aspect(size, zoom=1.3 if size[2] < size[0] else 1.15)
    axes.set_axis_off()
    middle = scene.at[:, :2].mean(axis=0)  # view the nodes from their own side, at a slight angle
    azimuth = np.degrees(np.arctan2(middle[1], middle[0])) if np.linalg.norm(middle) > 0.1 * size[0] else -30
    axes.view_init(elev=22, azim=azimuth - 20)


def _draw_cloud(axes: Any, cloud: np.ndarray, warps: tuple[Warp, Warp], theme: Theme) -> None:
    """The density of all nodes, on a logarithmic scale, behind the sample that is drawn."""
    from matplotlib.colors import LinearSegmentedColormap

    places = np.stack([warp.forward(cloud[:, i]) for i, warp in enumerate(warps)], axis=1)
    steps = np.linspace(0, 1, CELLS + 1)
    counts = np.histogram2d(places[:, 0], places[:, 1], bins=[steps, steps])[0].T
    shades = LinearSegmentedColormap.from_list("cloud", [theme.paper, *theme.edges[:1], theme.roles[2]])
    sides = [warp.back(steps) for warp in warps]
    image = np.log1p(np.ma.masked_equal(counts, 0))
    axes.pcolormesh(*sides, image, cmap=shades, alpha=0.45, zorder=0.2, rasterized=True, linewidth=0)


def _draw_cones(axes: Any, scene: Scene, theme: Theme) -> None:
    """Draw light cones: triangles filled, rays as lines."""
    for outlines, colour in ((scene.future, theme.future), (scene.past, theme.past)):
        for outline in outlines:
            if len(outline) == 3:
                ends = zip(outline[[1, 0, 2]], outline[[0, 2, 1]], strict=True)  # ray, ray, far side
                corners = np.concatenate([np.linspace(a, b, 65) for a, b in ends])
                axes.fill(*corners.T, facecolor=colour, alpha=0.1, linewidth=0, zorder=0)
                axes.plot(*corners[:130].T, color=colour, linewidth=0.7, zorder=0.5)
            else:
                axes.plot(*outline.T, color=colour, linewidth=0.9, zorder=2.5)


def _draw_nodes(
    axes: Any, scene: Scene, chosen: Selection, inks: NodeInks, area: np.ndarray, theme: Theme
) -> Any:
    """Draw the nodes group by group, hubs below their neighbours' small dots; rings mark the chosen ones."""
    from matplotlib.colors import LogNorm, Normalize

    flat = scene.at.shape[1] == 2
    style: dict[str, Any] = {} if flat else {"depthshade": False}
    near = None if flat else nearness(axes, scene.at)
    points = None
    for depth, group in enumerate(reversed(inks.groups)):
        order = group.nodes[np.argsort(-area[group.nodes], kind="stable")]
        if inks.values is None:
            colour: dict[str, Any] = {"color": group.colour}
        else:
            scale = (LogNorm if inks.log else Normalize)(*np.nanpercentile(inks.values, (0, 100)))
            colour = {"c": inks.values[order], "cmap": theme.numbers, "norm": scale, "plotnonfinite": True}
        big = area[order] > 6
        points = axes.scatter(
            *scene.at[order].T, s=area[order], marker=group.marker, zorder=3 + 0.1 * depth, label=group.label,
            alpha=None if near is None else near[order], linewidths=np.where(big, 0.35, 0.0),
            edgecolors=theme.paper, **colour, **style,
        )  # fmt: skip
    ring = {"facecolors": "none", "edgecolors": theme.chosen, "linewidths": 0.9, "zorder": 4}
    axes.scatter(*scene.at[chosen.chosen].T, s=2.2 * area[chosen.chosen] + 8, **ring, **style)
    return points


def _names(
    embedding: Embedding, chosen: Selection, at: np.ndarray, look: Look, area: np.ndarray
) -> list[Name]:
    """The names to write, the most important first."""
    theme, asked, few = theme_of(look.theme), chosen.chosen.tolist(), len(chosen.nodes) <= NAMES
    hubs = chosen.by_degree.tolist()
    if look.labels is None:
        wanted = [*asked, *hubs[: NAMES if few else round(NAMES / 2 * look.width / COLUMN)]]
    elif isinstance(look.labels, int):
        wanted = [*asked, *hubs][: int(look.labels) * (len(hubs) if look.labels is True else 1)]
    else:
        numbers = node_numbers(list(look.labels), len(embedding.points), embedding.names, "labels")
        wanted = np.searchsorted(chosen.nodes, numbers).tolist()
    names = []
    for node in dict.fromkeys(wanted):
        known = embedding.name(chosen.nodes[node])
        colour = theme.chosen if node in asked else theme.ink
        text = short(embedding.label(known) or known)
        names.append(Name(at[node], text, math.sqrt(area[node] / math.pi), colour))
    return names
