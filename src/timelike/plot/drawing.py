"""One call for any picture of an embedding, on paper or on the screen, and one to write it to a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from timelike._util.atomic_files import replacing
from timelike._util.checks import output_path
from timelike.embedding.embedding import Embedding
from timelike.graphs.digraph import DiGraph
from timelike.plot.curves import training_curves
from timelike.plot.drawn_nodes import select
from timelike.plot.landscapes import node_landscape
from timelike.plot.matplotlib_canvas import draw_scene
from timelike.plot.matrices import adjacency
from timelike.plot.plotly_pages import interactive, page
from timelike.plot.scenes import LAYOUTS, layout_of
from timelike.plot.style import COLUMN, PAGE, load_matplotlib, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What `draw` and `save` can draw of an embedding, besides "auto".
KINDS = (*LAYOUTS, "landscape", "adjacency", "training")

#: Endings of picture files, and so their formats.
ENDINGS = (".png", ".svg", ".pdf", ".html")


def draw(
    embedding: Embedding,
    graph: DiGraph | None = None,
    kind: str = "auto",
    *,
    nodes: Any = None,
    width: float = COLUMN,
) -> Figure:
    """A picture of an embedding for print, `width` inches wide.

    `kind` is one of `KINDS`; "auto" is the Poincaré disk for hyperbolic space, the polar picture for
    anti-de Sitter and the spacetime diagram for all else. Edges are those of `graph`; without one,
    the likeliest edge of each node. `nodes` are those whose light cones (or landscape) are drawn:
    the one with most edges unless given.
    """
    load_matplotlib()
    if kind not in ("auto", *KINDS):
        raise ValueError(f"kind is {kind!r}; it must be auto or one of {', '.join(KINDS)}")
    if kind == "training":
        return training_curves(embedding, width=max(width, PAGE))
    if kind == "adjacency":
        return adjacency(embedding, graph, width=width)
    chosen = select(embedding, graph, nodes)
    if kind == "landscape":
        return node_landscape(embedding, embedding.name(chosen.nodes[chosen.chosen[0]]), width=width)
    layout = layout_of(embedding.model.manifold, kind)
    return draw_scene(embedding, chosen, layout(embedding, chosen), width)


def save(
    embedding: Embedding,
    path: str | os.PathLike,
    graph: DiGraph | None = None,
    kind: str = "auto",
    *,
    nodes: Any = None,
) -> None:
    """Draw an embedding into a file; its ending is the format: .png, .svg, .pdf, or .html for the screen.

    The same picture is the same file, byte for byte.
    """
    path = output_path("path", path, ENDINGS)
    ending = path.suffix.lower()
    if ending == ".html":
        with replacing(path) as part:
            part.write_text(page(interactive(embedding, graph, kind, nodes=nodes)), encoding="utf-8")
        return
    figure = draw(embedding, graph, kind, nodes=nodes)
    dates = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}  # that would change from day to day
    with styled(), replacing(path) as part:
        figure.savefig(part, metadata={dates[ending]: None})
