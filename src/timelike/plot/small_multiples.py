"""Several views in one figure, as panels with letters; several models, as small multiples."""

from __future__ import annotations

import math
import string
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from timelike._util.checks import one_of
from timelike.core.model import Model
from timelike.graphs.digraph import DiGraph
from timelike.plot.drawable import drawable
from timelike.plot.look import Look
from timelike.plot.one_picture import KINDS, draw_one
from timelike.plot.pictures import Picture
from timelike.plot.scenes import layout_of
from timelike.plot.style import NOTES, finish, short, styled, theme_of

#: Least width of a panel in inches.
NARROW = 2.1

#: Height of a panel with its keys and labels, relative to its width.
TALL = 1.15


def draw_panels(
    models: Any, graph: DiGraph | None, kinds: str | Sequence[str], nodes: Any, look: Look
) -> Figure:
    """A panel for each model and kind, `look.width` inches in all."""
    named = dict(models) if isinstance(models, Mapping) else {"": models}
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    for kind in kinds:
        one_of("kind", kind, ("auto", *(k for k in KINDS if k != "training")), " in a panel")
    if not named or not kinds:
        raise ValueError("there is nothing to draw; pass at least one model and one kind")
    panels = [(name, model, kind) for name, model in named.items() for kind in kinds]
    columns = max(1, min(len(kinds) if len(kinds) > 1 else len(panels), int(look.width / NARROW)))
    rows = math.ceil(len(panels) / columns)
    with styled(look.theme):
        figure = Picture((look.width, TALL * rows * look.width / columns), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.05, h_pad=0.05)  # type: ignore[union-attr,call-arg]
        letters: list[str] = []
        for i, (name, model, kind) in enumerate(panels):
            solid = {"projection": "3d", "computed_zorder": False} if _is_solid(model, kind) else {}
            axes = figure.add_subplot(rows, columns, i + 1, **solid)
            draw_one(model, graph, kind, nodes, look._replace(width=look.width / columns), axes)
            letter = string.ascii_lowercase[i] if len(panels) <= 26 else str(i + 1)
            letters.append(letter if len(panels) > 1 else "")
            _write_letter(axes, letters[-1], short(name) if kind == kinds[0] else "")
        finish(figure, _gathered(figure.axes, letters), theme_of(look.theme).faint)
    return figure


def _gathered(axes: Sequence[Any], letters: Sequence[str]) -> list[str]:
    """The footnotes of all panels, moved out of them; each once, after the letters of its panels."""
    of: dict[str, list[str]] = {}
    pictures = [one for one in axes if one.get_label() != "<colorbar>"]
    for panel, letter in zip(pictures, letters, strict=True):
        for text in [text for text in panel.texts if text.get_gid() == NOTES]:
            for note in text.get_text().replace("\n", " ").split("; "):
                of.setdefault(note, []).append(letter)
            text.remove()
    everywhere = len(letters)
    return [note if len(who) == everywhere else f"{', '.join(who)}: {note}" for note, who in of.items()]


def _write_letter(axes: Any, letter: str, title: str) -> None:
    """A bold letter at the upper left of a panel, above its keys, and the name of the model beside it."""
    style: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
    axes.annotate(letter, (0, 1), (-18, 22), fontweight="bold", fontsize=8, ha="left", **style)
    axes.annotate(title, (0, 1), (-8, 22), fontsize=7, ha="left", parse_math=False, **style)


def _is_solid(model: Any, kind: str) -> bool:
    """Whether a picture has three dimensions."""
    if isinstance(model, Model) or kind in ("landscape", "adjacency", "balls"):
        return False
    return layout_of(drawable(model).embedding.model.manifold, kind).__name__ == "rolled"
