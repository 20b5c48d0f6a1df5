"""How nodes look: colours by role or by a column, areas by degree, and the key that explains them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from timelike._util.checks import show
from timelike.embedding.embedding import Embedding
from timelike.graphs.digraph import node_numbers
from timelike.plot.drawn_nodes import Selection
from timelike.plot.style import LINES, Theme, short
from timelike.plot.views import view_of

#: Roles of nodes in a graph, with their markers.
ROLES = {"source only": "^", "both": "o", "target only": "o"}

#: Names of colourings that need no values of the user.
COLOURINGS = ("role", "time", "degree", "none")

#: Most ink of nodes, as a share of the square of the width.
INK = 0.05

#: Most categories with a colour of their own; rarer ones share grey.
CATEGORIES = 7


class Group(NamedTuple):
    """Nodes that look alike: an entry of the key (None: no entry), positions, marker and colour."""

    label: str | None
    nodes: np.ndarray
    marker: str
    colour: Any


class NodeInks(NamedTuple):
    """Groups of nodes; for numbers, one group, its values, their name, and whether
    colours go by their logarithm.
    """

    groups: list[Group]
    values: np.ndarray | None = None
    label: str = ""
    log: bool = False


def node_inks(embedding: Embedding, chosen: Selection, color: Any, theme: Theme) -> NodeInks:
    """The look of the shown nodes; `color` is as in `draw`, None for roles if the graph has several."""
    everyone = np.arange(len(chosen.nodes))
    if color is None or (isinstance(color, str) and color == "role"):
        return _by_role(chosen, theme, color is None)
    if isinstance(color, str) and color == "none":
        return NodeInks([Group(None, everyone, "o", theme.ink)])
    if isinstance(color, str) and color == "degree":
        return _by_number(everyone, np.maximum(chosen.degrees.sum(axis=0), 1), "degree")._replace(log=True)
    if isinstance(color, str) and color == "time":
        time = view_of(embedding.model.manifold, embedding.points).time[chosen.nodes]
        return _by_number(everyone, time, "time")
    values, label = _column(embedding, color)
    shown = values[chosen.nodes]
    if shown.dtype.kind == "f":
        return _by_number(everyone, shown, label)
    return _by_category(everyone, shown, theme)


def areas(chosen: Selection, width: float) -> np.ndarray:
    """Areas of the nodes in square points, growing with the degree, in a picture `width` inches wide.

    Together they cover at most the share `INK` of the picture.
    """
    degree = chosen.degrees.sum(axis=0).astype(float)
    most = float(np.clip(9 * width, 10, 55))
    least = float(np.clip(600 / max(len(degree), 1), 0.7, 0.3 * most))
    area = least + (most - least) * (degree / max(degree.max(initial=0), 4)) ** 0.75
    return np.maximum(area * min(1.0, INK * (72 * width) ** 2 / max(area.sum(), 1e-9)), 0.25)


def _by_role(chosen: Selection, theme: Theme, only_several: bool) -> NodeInks:
    out, into = chosen.degrees > 0
    if not chosen.known:
        return NodeInks([Group(None, np.arange(len(chosen.nodes)), "o", theme.ink)])
    masks = (out & ~into, out & into, into & ~out)
    groups = [
        Group(role, np.flatnonzero(mask), marker, colour)
        for (role, marker), mask, colour in zip(ROLES.items(), masks, theme.roles, strict=True)
        if mask.any()
    ]
    if alone := np.flatnonzero(~out & ~into).tolist():
        groups.append(Group("no edge", np.array(alone), ".", theme.faint))
    if only_several and len(groups) == 1:
        return NodeInks([groups[0]._replace(label=None, colour=theme.ink)])
    return NodeInks(groups)


def _by_number(everyone: np.ndarray, values: np.ndarray, label: str) -> NodeInks:
    return NodeInks([Group(None, everyone, "o", None)], np.asarray(values, float), label)


def _by_category(everyone: np.ndarray, texts: np.ndarray, theme: Theme) -> NodeInks:
    """The most frequent texts in colours of their own, the others and the missing ones in grey."""
    known = [text for text in texts.tolist() if text]
    counted = sorted(set(known), key=lambda text: (-known.count(text), text))
    groups = [
        Group(short(text, 18), everyone[texts == text], "o", colour)
        for text, colour in zip(counted[:CATEGORIES], LINES, strict=False)
    ]
    if len(rest := everyone[~np.isin(texts, counted[:CATEGORIES])]):
        groups.append(Group("other", rest, "o", theme.faint))
    return NodeInks(groups)


def _column(embedding: Embedding, color: Any) -> tuple[np.ndarray, str]:
    """A value per node, as numbers (NaN: unknown) or texts ("": unknown), and its name."""
    total, label = len(embedding.points), str(getattr(color, "name", "") or "value")
    if isinstance(color, Mapping):
        numbers = node_numbers(list(color), total, embedding.names, "color")
        given: list[Any] = [None] * total
        for number, value in zip(numbers.tolist(), color.values(), strict=True):
            given[number] = value
    elif isinstance(color, str) or not hasattr(color, "__len__"):
        allowed = ", ".join(COLOURINGS)
        raise ValueError(f"color is {show(color)}; it must be {allowed}, or a value for each node")
    else:
        given = list(color)
        if len(given) != total:
            raise ValueError(f"color has {len(given)} values; it must have one for each of {total} nodes")
    try:
        return np.array([np.nan if x is None else float(x) for x in given]), label
    except (TypeError, ValueError):
        return np.array(["" if x is None or x != x else str(x) for x in given]), label
