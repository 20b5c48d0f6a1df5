"""Pictures of embeddings and models, for papers and for the screen.

`draw(embedding, graph)` picks the layout that suits the manifold, `save` writes a picture to a file, and
`interactive` returns a plotly figure. Drawing functions return a matplotlib `Figure` or draw into the axes
passed to them; none of them opens a window. Matplotlib and plotly are an optional extra, imported on first
use. May import: _util, core, manifolds, graphs, evaluation, embedding, training,
hierarchy.
"""

from timelike.plot.curves import calibration_curve, precision_recall_curve, training_curves
from timelike.plot.drawing import ENDINGS, draw, save
from timelike.plot.landscapes import (
    Chart,
    Extent,
    Landscape,
    draw_landscape,
    draw_light_cone,
    flat_chart,
    landscape,
    mark_event,
    node_landscape,
    polar_chart,
)
from timelike.plot.matrices import adjacency, sweep_table
from timelike.plot.one_picture import KINDS
from timelike.plot.plotly_pages import interactive, page
from timelike.plot.style import COLOURS, COLUMN, PAGE, STYLE, panels, styled

__all__ = [
    "COLOURS",
    "COLUMN",
    "ENDINGS",
    "KINDS",
    "PAGE",
    "STYLE",
    "Chart",
    "Extent",
    "Landscape",
    "adjacency",
    "calibration_curve",
    "draw",
    "draw_landscape",
    "draw_light_cone",
    "flat_chart",
    "interactive",
    "landscape",
    "mark_event",
    "node_landscape",
    "page",
    "panels",
    "polar_chart",
    "precision_recall_curve",
    "save",
    "styled",
    "sweep_table",
    "training_curves",
]
