"""Interactive pages need no network, and names in them are only text."""

import json
import re

import numpy as np
from events import embed
from random_points import random_graph

from timelike import plot
from timelike.manifolds import AntiDeSitter, CylindricalMinkowski, Minkowski

NAMES = ("<script>alert(1)</script>", "Ωμέγα", "</script><b>", "lexA", "<b>bold</b>", "a&b")


def traces(figure, name):
    return [trace for trace in figure.data if trace.name.startswith(name)]


def test_page_is_whole_and_names_are_escaped():
    graph = random_graph(6, 12, names=NAMES)
    html = plot.page(plot.interactive(embed(Minkowski(2), 6, names=NAMES), graph))
    tags = re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", html)
    assert tags
    assert not any(re.search(r"\b(src|href)=", tag) for tag in tags)
    assert "<script>alert" not in html
    assert "</script><b>" not in html
    shown = " ".join(re.findall(r"Plotly\.newPlot\((.*)\)", html, re.DOTALL))
    assert "lexA" in shown
    assert "Ωμέγα" in shown or json.dumps("Ωμέγα").strip('"') in shown


def test_hovering_shows_name_time_and_degree():
    embedding = embed(Minkowski(3), names=tuple("abcdefghijklmnopqrst"))
    graph = random_graph(names=embedding.names)
    (nodes,) = traces(plot.interactive(embedding, graph), "nodes")
    out, into = (np.bincount(ends, minlength=20) for ends in (graph.sources, graph.targets))
    assert (
        nodes.hovertext[3] == f"<b>d</b><br>time {embedding.points[3, 0]:.3f}<br>{out[3]} out, {into[3]} in"
    )
    np.testing.assert_allclose(nodes.y, embedding.points[:, 0], rtol=1e-4)


def test_edges_carry_their_probability():
    embedding, graph = embed(Minkowski(2)), random_graph()
    figure = plot.interactive(embedding, graph)
    middles = next(trace for trace in figure.data if trace.name == "edges")
    ends = [tuple(map(int, text.split(" → "))) for text in middles.text]
    np.testing.assert_allclose(middles.marker.color, embedding.prob(*np.array(ends).T), rtol=1e-2, atol=1e-6)
    assert set(ends) == {(s, t) for s, t in zip(graph.sources, graph.targets, strict=True) if s != t}
    for trace in traces(figure, "edges up to"):
        assert len(trace.x) % 3 == 0


def test_layouts_of_the_screen_are_those_of_paper():
    cylinder, ads, graph = embed(CylindricalMinkowski(2)), embed(AntiDeSitter(2)), random_graph()
    assert plot.interactive(cylinder, graph, "rolled").data[-1].type == "scatter3d"
    assert plot.interactive(ads, graph).layout.xaxis.visible is False
    flat = plot.interactive(cylinder, graph)
    assert flat.layout.meta["shifts"] == [-10, 0, 10]
    assert flat.layout.yaxis.scaleanchor == "x"
    assert "anti-de Sitter" in plot.interactive(ads, graph, "diagram").layout.title.text
