"""`draw` and `save`: one entry point for every picture of a model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from timelike._util.atomic_files import replacing
from timelike._util.checks import instance, one_of, output_path, positive_number
from timelike.graphs.digraph import DiGraph
from timelike.plot.drawable import drawable
from timelike.plot.look import Look
from timelike.plot.one_picture import draw_one
from timelike.plot.plotly_pages import interactive, page
from timelike.plot.style import COLUMN, PAGE, THEMES, load, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Ways to draw edges, and scales of a diagram.
EDGES, SCALES = ("auto", "bundled", "straight", "none"), ("auto", "true", "spread")

#: File endings of the supported formats.
ENDINGS = (".png", ".svg", ".pdf", ".html")

#: Dots per inch of pixel pictures in files.
DPI = 300


def draw(
    model: Any,
    graph: DiGraph | None = None,
    kind: str | Sequence[str] = "auto",
    *,
    nodes: Any = None,
    color: Any = None,
    labels: Any = None,
    edges: str = "auto",
    scale: str = "auto",
    theme: str = "light",
    edge_labels: Any = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw a model for print: an estimator, `Embedding`, `Joint`, model folder, or `Model` without points.

    kind     one of `KINDS`; "auto" draws the Poincaré disk for hyperbolic space, the polar picture for
             anti-de Sitter space and the spacetime diagram for every other manifold. Several kinds become
             panels with letters. A dictionary of models by name becomes small multiples
    graph    the edges to draw; default: the training edges that the estimator or folder keeps, else each
             node's most likely edge
    nodes    the nodes whose light cones (or landscape) to draw; default: the node with the most edges
    color    colour of the nodes: "role" (default: source only, target only or both), "time", "degree",
             "none", or a value for each node: a sequence, a column of a data frame, or a dictionary by name
    labels   how many hubs to name, or the names to show; None: as many as fit, 0 or False: none
    edges    "bundled", "straight" or "none"; "auto": bundled if there are many
    scale    of a diagram: "true" (light has slope 1), or "spread", which stretches the axes where nodes are
             crowded; "auto" spreads from 200 nodes on
    theme    "light", "dark", or "grey" for print without colours
    edge_labels
             a text for each edge of the graph, such as its sign, that colours it; default: the signs or types
             that an estimator has learned (`labels_`)
    width    in inches: `COLUMN` (85 mm, the default) or `PAGE` (170 mm)
    ax       matplotlib axes to draw into, instead of a new figure

    Returns the figure, which a notebook shows.
    """
    load("matplotlib")
    one_of("edges", edges, EDGES)
    one_of("scale", scale, SCALES)
    one_of("theme", theme, THEMES)
    look = Look(COLUMN, color, labels, edges, scale, theme, edge_labels)
    if not isinstance(kind, str) or isinstance(model, Mapping):
        from timelike.plot.small_multiples import draw_panels

        if ax is not None:
            raise ValueError("ax is for one picture; leave it out, or draw each panel into axes of its own")
        size = PAGE if width is None else positive_number("width", width)
        return draw_panels(model, graph, kind, nodes, look._replace(width=size))
    size = COLUMN if width is None else positive_number("width", width)
    return draw_one(model, graph, kind, nodes, look._replace(width=size), ax)


def save(
    model: Any,
    path: str | os.PathLike,
    graph: DiGraph | None = None,
    kind: str | Sequence[str] = "auto",
    *,
    nodes: Any = None,
    dpi: float = DPI,
    **look: Any,
) -> None:
    """Draw a model into a file: .png, .svg, .pdf, or .html for an interactive page.

    Takes the options of `draw`. `dpi` is the resolution of .png files. In .svg and .pdf files text is text.
    Drawing the same picture again writes the same bytes.
    """
    path = output_path("path", path, ENDINGS)
    ending = path.suffix.lower()
    if ending == ".html":
        if look:
            raise ValueError(f"path is {path}; an interactive page has no option {next(iter(look))}")
        instance("kind", kind, str, "an interactive page shows one kind of picture")
        shown = drawable(model, graph)
        with replacing(path) as part:
            text = page(interactive(shown.embedding, shown.graph, str(kind), nodes=nodes))
            part.write_text(text, encoding="utf-8")
        return
    positive_number("dpi", dpi)
    figure = draw(model, graph, kind, nodes=nodes, **look)
    varying = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}  # dropped: bytes must not vary
    with styled(), replacing(path) as part:
        figure.savefig(part, metadata={varying[ending]: None}, dpi=dpi)
