"""`draw` and `save`: one entry point for every picture of an embedding."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from timelike._util.atomic_files import replacing
from timelike._util.checks import one_of, output_path
from timelike.embedding.embedding import Embedding
from timelike.graphs.digraph import DiGraph
from timelike.plot.curves import training_curves
from timelike.plot.drawn_nodes import select
from timelike.plot.landscapes import node_landscape
from timelike.plot.matplotlib_canvas import draw_scene
from timelike.plot.matrices import adjacency
from timelike.plot.plotly_pages import interactive, page
from timelike.plot.scenes import LAYOUTS, layout_of
from timelike.plot.style import COLUMN, PAGE, load, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Kinds of pictures that `draw` and `save` accept besides "auto".
KINDS = (*LAYOUTS, "landscape", "adjacency", "training")

#: File endings of the supported formats.
ENDINGS = (".png", ".svg", ".pdf", ".html")


def draw(
    embedding: Embedding,
    graph: DiGraph | None = None,
    kind: str = "auto",
    *,
    nodes: Any = None,
    width: float = COLUMN,
) -> Figure:
    """Draw an embedding for print, `width` inches wide.

    `kind` is one of `KINDS`. "auto" draws the Poincaré disk for hyperbolic space, the polar picture for
    anti-de Sitter space and the spacetime diagram for every other manifold. The edges are those of
    `graph`; without a graph, each node's most likely edge. `nodes` lists the nodes whose light cones (or
    landscape) to draw; default: the node with the most edges.
    """
    load("matplotlib")
    one_of("kind", kind, ("auto", *KINDS))
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
    """Draw an embedding into a file: .png, .svg, .pdf, or .html for an interactive page.

    Drawing the same picture again writes the same bytes.
    """
    path = output_path("path", path, ENDINGS)
    ending = path.suffix.lower()
    if ending == ".html":
        with replacing(path) as part:
            part.write_text(page(interactive(embedding, graph, kind, nodes=nodes)), encoding="utf-8")
        return
    figure = draw(embedding, graph, kind, nodes=nodes)
    varying = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}  # dropped: bytes must not vary
    with styled(), replacing(path) as part:
        figure.savefig(part, metadata={varying[ending]: None})
