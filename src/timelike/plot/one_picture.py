"""One picture of one model: which kinds there are, and what draws each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from timelike._util.checks import one_of
from timelike.core.model import Model
from timelike.graphs.digraph import DiGraph
from timelike.plot.curves import training_curves
from timelike.plot.drawable import drawable
from timelike.plot.drawn_nodes import select
from timelike.plot.landscapes import model_landscape, node_landscape
from timelike.plot.look import Look
from timelike.plot.matplotlib_canvas import draw_scene
from timelike.plot.matrices import adjacency
from timelike.plot.nested_balls import balls
from timelike.plot.scenes import LAYOUTS, layout_of
from timelike.plot.style import PAGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Kinds of pictures that `draw` and `save` accept besides "auto".
KINDS = (*LAYOUTS, "landscape", "adjacency", "training", "balls")


def draw_one(model: Any, graph: DiGraph | None, kind: str, nodes: Any, look: Look, ax: Axes | None) -> Figure:
    """A picture of a kind, as a new figure or in `ax`."""
    one_of("kind", kind, ("auto", *KINDS))
    size: dict[str, Any] = {"width": look.width, "theme": look.theme, "ax": ax}
    if isinstance(model, Model):
        return model_landscape(model, **size)
    if look.edge_labels is None and graph is None and getattr(model, "labels_", None):
        look = look._replace(edge_labels=model.labels_[0].of_pairs(*model.graph_.pairs.T)[0])
    embedding, graph = drawable(model, graph)
    if kind == "training":
        if ax is not None:
            raise ValueError("kind is 'training', which draws several panels; leave out ax")
        return training_curves(embedding, width=max(look.width, PAGE))
    if kind == "adjacency":
        return adjacency(embedding, graph, **size)
    if kind == "balls":
        return balls(embedding, graph, **size)
    listed = None if look.labels is None or isinstance(look.labels, int) else list(look.labels)
    chosen = select(embedding, graph, nodes, also=listed, edge_labels=look.edge_labels)
    if kind == "landscape":
        return node_landscape(embedding, embedding.name(chosen.nodes[chosen.chosen[0]]), **size)
    layout = layout_of(embedding.model.manifold, kind)
    return draw_scene(embedding, chosen, layout(embedding, chosen), look, ax)
