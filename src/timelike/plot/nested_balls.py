"""A hierarchy from above: balls within balls, which are light cones that end at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timelike.embedding.embedding import Embedding
from timelike.graphs.digraph import DiGraph
from timelike.hierarchy import hierarchy_of
from timelike.hierarchy.cores import first_parents
from timelike.plot.circle_packing import RIM, packed
from timelike.plot.style import COLUMN, finish, say_below, short, styled, theme_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The largest and the smallest type of names, in points, and the share of a disk that a name fills.
LARGEST, SMALLEST, WIDE = 11.0, 1.2, 0.9
#: The part of a rim that its name may fill, as an angle.
ARC = 2.4


def balls(
    embedding: Embedding,
    graph: DiGraph | None = None,
    *,
    width: float = COLUMN,
    theme: str = "light",
    ax: Any = None,
) -> Figure:
    """The hierarchy of the edges of `graph`: each node is a disk that holds the disks of its children.

    A disk with centre x and radius ρ is the event (−ρ, x): disks within disks are light cones within light
    cones, in time and two dimensions of space. They are placed from the edges, whatever the dimension of the
    model. A node with several parents lies in the one with the most ancestors. Colour tells the depth.
    """
    if graph is None:
        raise ValueError("kind is 'balls', which needs edges; pass graph, or a model that keeps its edges")
    parent, depth, centres, radii, component, more = disks(graph)
    number = np.unique(component, return_index=True)[1]
    order = np.argsort(depth, kind="stable")
    with styled(theme):
        from matplotlib import colormaps
        from matplotlib.collections import EllipseCollection

        from timelike.plot.pictures import axes_for

        figure, axes, new = axes_for(ax, width, width)
        size = 2 * radii[order]
        shade = depth[order] / max(depth.max(initial=0), 1)
        name, low, high = ("Greys", 0.1, 0.6) if theme == "grey" else ("YlGnBu", 0.1, 0.72)
        place = {"units": "xy", "offsets": centres[order], "offset_transform": axes.transData}
        ink = {"facecolors": colormaps[name](low + (high - low) * shade), "edgecolors": theme_of(theme).paper}
        axes.add_collection(EllipseCollection(size, size, 0 * size, **place, **ink, linewidths=0.2))
        reach = 1.01 * np.max(np.abs(centres) + radii[:, None])
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        axes.set_axis_off()
        _write_names(axes, embedding, centres, radii, ~np.isin(np.arange(parent.size), parent), number, reach)
        notes = ["each disk holds its descendants: light cones that end at one time, seen along time"]
        notes += [f"nodes with several parents, which lie in one of them: {more:,}"] * (more > 0)
        if new:
            finish(figure, notes)
        else:
            say_below(axes, notes)
    return figure


class Disks(NamedTuple):
    """A disk for each node of a hierarchy; nodes on a common cycle share one.

    `parent` (−1: none) and `depth` are those of disks, `component` has the disk of each node of the graph,
    and `more` counts the disks with several parents.
    """

    parent: np.ndarray
    depth: np.ndarray
    centres: np.ndarray
    radii: np.ndarray
    component: np.ndarray
    more: int


def looks_nested(graph: DiGraph) -> bool:
    """Whether the edges look like those of a hierarchy, so that disks show them."""
    return graph.num_edges > 0 and hierarchy_of(graph, doubt=False).looks_like_one


def disks(graph: DiGraph) -> Disks:
    """Disks within disks, from the edges alone."""
    order = hierarchy_of(graph, doubt=False).order
    edges = np.stack([order.parents, order.children], axis=1)
    above = np.zeros(order.count)
    for _ in range(2):  # the depth along first parents
        above = heights_above(first_parents(edges, order.count, above)).astype(float)
    several = int(np.sum(np.bincount(order.children, minlength=order.count) > 1))
    parent = first_parents(edges, order.count, above)
    depth = heights_above(parent)
    return Disks(parent, depth, *packed(parent, depth), order.component, several)


def heights_above(parent: np.ndarray) -> np.ndarray:
    """The number of edges from each node up to its root."""
    depth, at = np.zeros(parent.size, np.int64), parent.copy()
    while (up := at >= 0).any():
        depth[up] += 1
        at[up] = parent[at[up]]
    return depth


def _write_names(
    axes: Axes,
    embedding: Embedding,
    centres: np.ndarray,
    radii: np.ndarray,
    empty: np.ndarray,
    number: np.ndarray,
    reach: float,
) -> None:
    """Names in the rims of disks that hold others, and across the `empty` ones."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    point = axes.get_window_extent().width / figure.dpi * 72 / (2 * reach)  # points for a unit of length
    for i in range(radii.size):
        name = embedding.name(int(number[i]))
        text = short(embedding.label(name) or name)
        room = radii[i] * point
        fits = WIDE * 2 * room if empty[i] else ARC * room
        size = min(LARGEST, fits / max(_width(text), 1e-3), room if empty[i] else 0.95 * RIM * room)
        if size < SMALLEST:
            continue
        ink: dict[str, Any] = {"color": "#10202A", "parse_math": False, "ha": "center", "va": "center"}
        if empty[i]:
            axes.text(float(centres[i, 0]), float(centres[i, 1]), text, fontsize=size, **ink)
            continue
        at = radii[i] * (1 - 0.5 * RIM)
        ends = np.array([_width(text[:end]) for end in range(len(text) + 1)]) * size / (at * point)
        for angle, letter in zip(np.pi / 2 + ends[-1] / 2 - (ends[:-1] + ends[1:]) / 2, text, strict=True):
            x, y = centres[i] + at * np.array([np.cos(angle), np.sin(angle)])
            axes.text(float(x), float(y), letter, fontsize=size, rotation=np.degrees(angle) - 90, **ink)


def _width(text: str) -> float:
    """The width of a text in sizes of type."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    return float(text_to_path.get_text_width_height_descent(text, FontProperties(size=100), False)[0]) / 100
