"""Draws a scene with plotly: a single HTML page that needs no network."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike._util.checks import one_of
from timelike.embedding.embedding import Embedding
from timelike.graphs.digraph import DiGraph
from timelike.plot.drawn_nodes import ARROWS, Selection, select
from timelike.plot.scenes import LAYOUTS, Scene, layout_of
from timelike.plot.style import FUTURE, PAST, load, which_probability
from timelike.plot.views import view_of, words_for

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Number of probability classes of edges, one colour each.
CLASSES = 10

#: Script of the page: a click on a node moves the light cone there.
CLICK = """
const plot = document.getElementById('{plot_id}');
const cones = plot.layout.meta;
plot.on('plotly_click', event => {
  const point = event.points[0];
  if (!cones || point.data.name !== 'nodes') return;
  const x = point.x, t = point.y, h = cones.height;
  for (const [name, way] of [['future', 1], ['past', -1]]) {
    const xs = [], ts = [];
    for (const shift of cones.shifts) {
      xs.push(x, x + h, x - h, x, null);
      ts.push(t + shift, t + way * h + shift, t + way * h + shift, t + shift, null);
    }
    const trace = plot.data.findIndex(d => d.name === name);
    Plotly.restyle(plot, {x: [xs], y: [ts]}, [trace]);
  }
});
"""

PAGE = """\
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title></head>
<body>{plot}</body>
</html>
"""


def interactive(
    embedding: Embedding, graph: DiGraph | None = None, kind: str = "auto", *, nodes: Any = None
) -> Figure:
    """Draw an embedding as a plotly figure to zoom, rotate and hover over; `page` turns it into HTML.

    `kind` is one of `LAYOUTS`, or "auto" to choose by manifold. `nodes` lists the nodes whose light cones
    are drawn at first; on the page of a diagram, a click on a node moves the cone there. Hovering shows
    names, times, degrees and probabilities.
    """
    go = load("plotly.graph_objects")
    one_of("kind", kind, ("auto", *LAYOUTS), " for an interactive picture")
    chosen = select(embedding, graph, nodes)
    scene = layout_of(embedding.model.manifold, kind)(embedding, chosen)
    flat = scene.at.shape[1] == 2
    trace = go.Scatter if flat else go.Scatter3d
    names = [escape(" ".join(str(embedding.name(i)).split())) for i in chosen.nodes]
    traces = [_line(trace, scene.guides, "#d0d0d0", 1, "guides")]
    for outlines, colour, name in ((scene.future, FUTURE, "future"), (scene.past, PAST, "past")):
        look: dict[str, Any] = {"opacity": 0.45, "showlegend": bool(outlines)}
        look |= {"fill": "toself"} if flat and scene.labels else {}
        traces.append(_line(trace, outlines, colour, 2, name, **look))
    traces += _edge_traces(trace, scene, chosen)
    label = which_probability(embedding).replace("\n", "<br>")
    traces.append(_middles(trace, scene, chosen, names, label))
    times = view_of(embedding.model.manifold, embedding.points[chosen.nodes]).time
    traces.append(_nodes(trace, scene, chosen, names, times, graph))
    figure = go.Figure(traces)
    figure.update_layout(**_look(embedding, scene))
    if flat:
        for x, y, text in scene.marks:
            figure.add_annotation(x=x, y=y, text=text, showarrow=False, font={"size": 11, "color": "#707070"})
    return figure


def page(figure: Figure) -> str:
    """A figure as one self-contained HTML page that includes plotly's own code."""
    config = {"displaylogo": False, "responsive": True}
    options: dict[str, Any] = {"full_html": False, "default_height": "95vh", "div_id": "embedding"}
    plot = figure.to_html(config, post_script=CLICK, **options)
    return PAGE.format(title=escape(figure.layout.title.text or "timelike"), plot=plot)


def _joined(lines: Any) -> np.ndarray:
    """Concatenate lines with a NaN row after each, which plotly draws as a gap."""
    parts = [np.concatenate([line, np.full((1, line.shape[1]), np.nan)]) for line in lines]
    return np.concatenate(parts) if parts else np.zeros((0, 2))


def _axes_of(at: np.ndarray) -> dict[str, list[float | None]]:
    """x, y and z as lists for plotly, with None for gaps; five digits suffice for any screen."""
    return {
        axis: [None if np.isnan(v) else float(f"{v:.5g}") for v in column]
        for axis, column in zip("xyz", at.T, strict=False)
    }


def _line(trace: Any, lines: Any, colour: str, width: float, name: str, **more: Any) -> Any:
    closed = [np.concatenate([line, line[:1]]) for line in lines] if "fill" in more else lines
    style = {"mode": "lines", "line": {"color": colour, "width": width}, "hoverinfo": "skip"}
    return trace(**_axes_of(_joined(closed)), name=name, **style, **{"showlegend": False, **more})


def _edge_traces(trace: Any, scene: Scene, chosen: Selection) -> list[Any]:
    """One trace per probability class, because a plotly line has one colour."""
    from plotly.colors import sample_colorscale

    prob = chosen.prob[scene.edge_of]
    place = np.minimum((prob * CLASSES).astype(int), CLASSES - 1)
    colours = sample_colorscale("Viridis_r", [(i + 0.5) / CLASSES for i in range(CLASSES)])
    width = 1.5 if len(chosen.sources) < 500 else 0.8
    return [
        _line(trace, scene.paths[place == i], colours[i], width, f"edges up to {(i + 1) / CLASSES:g}")
        for i in np.unique(place)
    ]


def _middles(trace: Any, scene: Scene, chosen: Selection, names: list[str], label: str) -> Any:
    """Markers at the middle of edges: they show ends and probability on hover and carry the colour bar.

    In the plane they are arrow heads if edges are few, and invisible otherwise.
    """
    half, flat = scene.paths.shape[1] // 2, scene.at.shape[1] == 2
    before, after = scene.paths[:, half - 1], scene.paths[:, half]
    middle = (before + after) / 2
    inside = ((middle >= scene.limits[:, 0]) & (middle <= scene.limits[:, 1])).all(axis=1)
    edges, toward = scene.edge_of[inside], (after - before)[inside]
    ends = zip(chosen.sources[edges], chosen.targets[edges], strict=True)
    text = [f"{names[source]} → {names[target]}" for source, target in ends]
    few = flat and len(edges) <= ARROWS
    marker = {
        "color": [float(f"{p:.3g}") for p in chosen.prob[edges]], "colorscale": "Viridis_r",
        "cmin": 0, "cmax": 1, "showscale": True, "size": 11 if few else 5 if flat else 2,
        "opacity": 1 if few or not flat else 0,
        "colorbar": {"title": {"text": label}, "thickness": 12, "len": 0.6},
    }  # fmt: skip
    if few:
        marker |= {"symbol": "arrow", "angle": np.degrees(np.arctan2(toward[:, 0], toward[:, 1])).tolist()}
    return trace(
        **_axes_of(middle[inside]), mode="markers", marker=marker, text=text, name="edges", showlegend=False,
        hovertemplate="%{text}<br>probability %{marker.color:.3f}<extra></extra>",
    )  # fmt: skip


def _nodes(
    trace: Any, scene: Scene, chosen: Selection, names: list[str], times: np.ndarray, graph: DiGraph | None
) -> Any:
    text = [f"<b>{name}</b><br>time {time:.3f}" for name, time in zip(names, times, strict=True)]
    if graph is not None:
        text = [f"{t}<br>{o} out, {i} in" for t, o, i in zip(text, *chosen.degrees.tolist(), strict=True)]
    flat = scene.at.shape[1] == 2
    size = 7 if len(names) < 500 else 4
    named = {"mode": "markers+text", "textposition": "top right"} if len(names) <= 30 else {"mode": "markers"}
    return trace(
        **_axes_of(scene.at), name="nodes", text=names, hovertext=text, hoverinfo="text", showlegend=False,
        marker={"size": size if flat else 0.6 * size, "color": "black"}, **named,
    )  # fmt: skip


def _look(embedding: Embedding, scene: Scene) -> dict[str, Any]:
    """The layout of the figure: title, notes, axes, and the sizes of cones for the script."""
    notes = "<br>".join(escape(note) for note in scene.notes)
    model = embedding.model
    title = f"{len(embedding.points):,} nodes in {words_for(model.manifold)}, d = {model.manifold.dim}"
    look: dict[str, Any] = {
        "title": {"text": title, "subtitle": {"text": notes}},
        "template": "simple_white", "hovermode": "closest", "margin": {"t": 90, "r": 20, "b": 50, "l": 60},
        "legend": {"orientation": "h", "y": 1.02, "x": 1, "xanchor": "right", "yanchor": "bottom"},
    }  # fmt: skip
    if scene.at.shape[1] == 3:
        hidden = {"visible": False}
        look["scene"] = {"xaxis": hidden, "yaxis": hidden, "zaxis": hidden, "aspectmode": "data"}
        look["scene"]["camera"] = {"eye": {"x": 1.1, "y": -1.3, "z": 0.7}}
        return look
    (left, right), (bottom, top) = scene.limits.tolist()
    x: dict[str, Any] = {"range": [left, right], "constrain": "domain"}
    y: dict[str, Any] = {"range": [bottom, top], "constrain": "domain", "scaleanchor": "x"}
    if scene.labels is None:
        x, y = {**x, "visible": False}, {**y, "visible": False}
    else:
        x["title"], y["title"] = ({"text": label} for label in scene.labels)
    look |= {"xaxis": x, "yaxis": y}
    if scene.light:
        height = scene.half or 2 * max(right - left, top - bottom)
        look["meta"] = {"height": height, "shifts": [-2 * height, 0, 2 * height] if scene.half else [0]}
    return look
