"""Pictures for papers: roles, colours, names, bundles, scales, themes, panels, and text that stays text."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from events import embed
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from random_points import random_graph

from timelike import DiGraph, Model, plot
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import AntiDeSitter, CylindricalMinkowski, Minkowski
from timelike.plot.bundling import bundled
from timelike.plot.drawn_nodes import select
from timelike.plot.node_inks import areas, node_inks
from timelike.plot.spreading import spread
from timelike.plot.style import THEMES

NAMES = tuple("abcdefghijklmnopqrst")
GRAPH = random_graph(names=NAMES)
EMBEDDING = embed(Minkowski(3), names=NAMES)
CHAIN = DiGraph.from_edges([("a", "b"), ("b", "c"), ("d", "c")], nodes=NAMES)


def keys(figure):
    """The words of all keys."""
    legends = [x for x in figure.axes[0].get_children() if type(x).__name__ == "Legend"]
    return [text.get_text() for legend in legends for text in legend.get_texts()]


def names(figure):
    texts = [t for t in figure.axes[0].texts if t.get_gid() is None]
    return {t.get_text() for t in texts if t.get_text()}


def test_nodes_are_coloured_by_role_and_sized_by_degree():
    chosen = select(EMBEDDING, CHAIN)
    inks = node_inks(EMBEDDING, chosen, None, THEMES["light"])
    roles = {group.label: {NAMES[i] for i in group.nodes} for group in inks.groups}
    assert roles["source only"] == {"a", "d"}
    assert (roles["both"], roles["target only"]) == ({"b"}, {"c"})
    assert len(roles["no edge"]) == 16
    area = areas(chosen, plot.COLUMN)
    assert area[1] > area[0] > area[5]  # b has two edges, a has one, f has none
    assert {"source only", "both", "target only", "probability 0", "1"} <= set(
        keys(plot.draw(EMBEDDING, CHAIN))
    )
    alone = plot.draw(EMBEDDING)  # the likeliest edges of nodes are no roles
    assert "source only" not in keys(alone)


def test_many_nodes_do_not_become_one_blot():
    crowd = embed(Minkowski(2), nodes=3000)
    area = areas(select(crowd, random_graph(3000, 9000)), plot.COLUMN)
    assert area.sum() < 0.06 * (72 * plot.COLUMN) ** 2


@pytest.mark.parametrize(
    ("color", "words"),
    [
        ("time", {"time"}),
        ("degree", {"degree"}),
        (dict.fromkeys(NAMES[:5], "early") | dict.fromkeys(NAMES[5:9], "late"), {"early", "late", "other"}),
        (pl.Series("score", np.arange(20.0)), {"score 0", "9.5", "19"}),
        (["x", "y"] * 10, {"x", "y"}),
        ("none", set()),
    ],
)
def test_a_column_colours_nodes(color, words):
    said = keys(plot.draw(EMBEDDING, GRAPH, color=color))
    assert all(any(text.startswith(word) for text in said) for word in words)
    assert "source only" not in said


def test_labels_are_as_asked():
    assert names(plot.draw(EMBEDDING, GRAPH, labels=["b", "q"])) == {"b", "q"}
    assert names(plot.draw(EMBEDDING, GRAPH, labels=0)) == set()
    assert 1 <= len(names(plot.draw(EMBEDDING, GRAPH, labels=3))) <= 3


def test_names_keep_clear_of_hubs():
    big = random_graph(300, 900)
    figure = plot.draw(embed(Minkowski(2), nodes=300), big)
    figure.draw_without_rendering()
    boxes = [t.get_window_extent() for t in figure.axes[0].texts if t.get_gid() is None and t.get_text()]
    chosen = select(embed(Minkowski(2), nodes=300), big)
    hubs = embed(Minkowski(2), nodes=300).points[chosen.by_degree[:5]][:, ::-1]
    at = figure.axes[0].transData.transform(hubs)
    assert boxes
    assert not any(box.contains(*dot) for box in boxes for dot in at)


def test_bundles_keep_their_ends_and_run_together():
    random = np.random.default_rng(0)
    ends = np.stack(
        [[0.1, 0.1] + 0.1 * random.random((200, 2)), [0.8, 0.8] + 0.1 * random.random((200, 2))], 1
    )
    lines = bundled(ends)
    np.testing.assert_allclose(lines[:, [0, -1]], ends)
    half = lines.shape[1] // 2
    assert lines[:, half].std() < 0.8 * ends.mean(axis=1).std()
    np.testing.assert_array_equal(lines, bundled(ends))  # the same every time


def test_a_scale_that_spreads_is_monotone_and_can_be_undone():
    x = np.concatenate([np.random.default_rng(0).normal(size=500) * 0.01, [5.0, -80.0]])
    warp = spread(x, np.array([-90.0, 10.0]))
    at = np.linspace(-120, 40, 1000)
    places = warp.forward(at)
    assert (np.diff(places) > 0).all()
    np.testing.assert_allclose(warp.back(places), at, atol=1e-6)
    middle = warp.forward(np.quantile(x, [0.1, 0.9]))
    assert middle[1] - middle[0] > 0.4  # 80 % of the nodes have nearly half of the picture
    ticks = warp.forward(warp.ticks())
    assert len(ticks) >= 3
    assert np.diff(ticks).min() > 0.09


def test_a_crowded_diagram_spreads_and_says_so():
    crowd = embed(Minkowski(3), nodes=250)
    said = plot.draw(crowd)._supxlabel.get_text().replace("\n", " ")
    assert "axes stretched where nodes are crowded" in said
    true = plot.draw(crowd, scale="true")
    assert true.axes[0].get_aspect() == 1
    assert "stretched" not in true._supxlabel.get_text()


def test_vector_files_keep_text_and_pdf_fonts(tmp_path):
    plot.save(EMBEDDING, tmp_path / "a.svg", GRAPH, labels=["b", "q"])
    texts = ET.parse(tmp_path / "a.svg").iter("{http://www.w3.org/2000/svg}text")
    words = {"".join(text.itertext()) for text in texts}
    assert {"b", "q", "space", "time", "source only", "½"} & words >= {"b", "q", "space", "time"}
    plot.save(EMBEDDING, tmp_path / "a.pdf", GRAPH)
    assert b"/FontFile2" in (tmp_path / "a.pdf").read_bytes()  # TrueType: text can be selected and edited


def test_sizes_are_those_of_columns_and_pages(tmp_path):
    from PIL import Image

    plot.save(EMBEDDING, tmp_path / "a.png", GRAPH, width=plot.PAGE, dpi=100)
    with Image.open(tmp_path / "a.png") as image:
        assert abs(image.width - 170 / 25.4 * 100) <= 1
    sizes = [
        float(t.get_fontsize())
        for t in plot.draw(EMBEDDING, GRAPH).findobj(match=lambda x: hasattr(x, "get_fontsize"))
    ]
    assert 5 <= min(sizes) <= max(sizes) <= 10


@pytest.mark.parametrize("theme", THEMES)
def test_themes(theme):
    figure = plot.draw(EMBEDDING, GRAPH, theme=theme)
    assert to_hex(figure.get_facecolor()) == THEMES[theme].paper.lower()


def test_axes_of_a_users_figure_are_drawn_into():
    figure = Figure((6, 3))
    left, right = figure.subplots(1, 2)
    assert plot.draw(EMBEDDING, GRAPH, ax=left) is figure
    assert plot.draw(EMBEDDING, GRAPH, "adjacency", ax=right) is figure
    assert left.collections
    assert right.images
    assert any("variance" in text.get_text() for text in left.texts)  # the footnote is kept
    with pytest.raises(TypeError, match=r"ax is .*matplotlib axes"):
        plot.draw(EMBEDDING, GRAPH, ax=figure)
    with pytest.raises(ValueError, match="ax must be three-dimensional"):
        plot.draw(embed(CylindricalMinkowski(3)), None, "rolled", ax=left)


def test_several_views_are_panels_with_letters():
    figure = plot.draw(embed(AntiDeSitter(3)), random_graph(), ["polar", "rolled", "adjacency"])
    letters = [t.get_text() for axes in figure.axes for t in axes.texts if t.get_fontweight() == "bold"]
    assert letters == ["a", "b", "c"]
    assert re.search(r"a, b: |b: ", figure._supxlabel.get_text())


def test_several_models_are_small_multiples():
    models = {"flat": embed(Minkowski(3)), "curved": embed(AntiDeSitter(3))}
    figure = plot.draw(models, random_graph())
    titles = {t.get_text() for axes in figure.axes for t in axes.texts}
    assert {"a", "b", "flat", "curved"} <= titles
    with pytest.raises(ValueError, match="leave it out"):
        plot.draw(models, ax=figure.axes[0])


def test_a_model_without_points_is_its_landscape():
    figure = plot.draw(Model(Minkowski(2), TripleFermiDirac()))
    assert figure.axes[0].images


def test_a_notebook_shows_the_picture():
    data, size = plot.draw(EMBEDDING, GRAPH)._repr_png_()
    assert data.startswith(b"\x89PNG")
    assert size["width"] == round(plot.COLUMN * 120)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"color": "blue"}, "color is 'blue'; it must be role, time, degree, none"),
        ({"color": [1, 2]}, "color has 2 values.* 20"),
        ({"color": {"z": 1}}, "color: .*'z'"),
        ({"labels": ["z"]}, "labels: .*'z'"),
        ({"edges": "curly"}, "edges is 'curly'"),
        ({"scale": "log"}, "scale is 'log'"),
        ({"theme": "blue"}, "theme is 'blue'"),
        ({"width": -1}, "width is -1"),
        ({"kind": ["diagram", "training"]}, "kind is 'training'.* in a panel"),
    ],
)
def test_mistakes_are_named(options, says):
    with pytest.raises(ValueError, match=says):
        plot.draw(EMBEDDING, GRAPH, **options)


def test_a_page_has_no_options_of_print(tmp_path):
    with pytest.raises(ValueError, match="no option theme"):
        plot.save(EMBEDDING, tmp_path / "a.html", GRAPH, theme="dark")


def test_levels_that_many_nodes_share_reach_both_ends():
    x = np.array([-2.0] * 500 + [0.0, 0.1, 0.2] * 30 + [2.5] * 300)
    warp = spread(x, np.array([-2.1, 2.6]), even=1.0)
    assert warp.forward(np.array([-2.0]))[0] < 0.04
    assert warp.forward(np.array([2.5]))[0] > 0.96
    assert np.all(np.diff(warp.forward(np.linspace(-2.1, 2.6, 200))) > 0)
