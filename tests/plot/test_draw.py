"""Pictures show the numbers of the embedding, for every family of manifolds."""

import dataclasses
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from events import embed, intervals
from random_points import random_graph

from timelike import DiGraph, plot
from timelike.embedding.calibration import Calibration
from timelike.manifolds import MANIFOLDS, AntiDeSitter, CylindricalMinkowski, DeSitter, Hyperboloid, Minkowski
from timelike.plot.drawn_nodes import select
from timelike.plot.scenes import LAYOUTS, diagram, disk, polar, rolled
from timelike.plot.style import THEMES, wrapped
from timelike.plot.views import view_of

GRAPH = random_graph()


def collection(figure, kind):
    return next(c for c in figure.axes[0].collections if type(c).__name__ == kind)


def offsets(figure):
    """Where the nodes are: groups of nodes, then the rings around the chosen ones."""
    groups = [c for c in figure.axes[0].collections if type(c).__name__ == "PathCollection"]
    return np.concatenate([c.get_offsets() for c in groups[:-1]])


#: Geometries laid out in further dimensions too; the slow suite covers all combinations.
SOME = ("cylindrical-minkowski", "anti-de-sitter", "hyperboloid")


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "dim"), [*((name, 3) for name in MANIFOLDS), *((name, dim) for name in SOME for dim in (2, 10))]
)
def test_every_layout_draws_every_family(name, dim):
    embedding = embed((name, dim))
    fitting = [kind for kind, (_, fits) in LAYOUTS.items() if fits(embedding.model.manifold)]
    assert "diagram" in fitting
    chosen = select(embedding, GRAPH)
    for kind in fitting:
        scene = LAYOUTS[kind][0](embedding, chosen)
        assert all(np.isfinite(x).all() for x in (scene.at, scene.paths, *scene.future, *scene.guides))
        assert set(scene.edge_of) == set(range(len(chosen.sources)))
        if dim == 10 and kind != "polar":
            assert any("variance" in note for note in scene.notes)
        if dim == 3:  # the slow suite draws the other dimensions
            figure = plot.draw(embedding, GRAPH, kind)
            assert len(figure.axes) == 1
            said = figure._supxlabel.get_text().replace("\n", " ")
            assert said.startswith(wrapped(scene.notes, 1000))


def test_few_nodes_far_off_do_not_make_the_rest_small():
    points = np.random.default_rng(0).normal(size=(400, 2)).astype(np.float32)
    points[:3] += [[30, 0], [40, 5], [0, 50]]
    embedding = dataclasses.replace(embed(Minkowski(2)), points=points, names=None)
    scene = diagram(embedding, select(embedding, None))
    assert np.ptp(scene.limits, axis=1).max() < 10
    outside = np.sum(((scene.at < scene.limits[:, 0]) | (scene.at > scene.limits[:, 1])).any(axis=1))
    assert 3 <= outside <= 12
    assert any(note.startswith(f"{outside} of 400 nodes") for note in scene.notes)
    asked = diagram(embedding, select(embedding, None, nodes=[0, 1, 2]))  # chosen nodes are kept inside
    assert (asked.limits[:, 0] <= scene.at[:3].min(axis=0)).all()
    assert (asked.limits[:, 1] >= scene.at[:3].max(axis=0)).all()
    near = dataclasses.replace(embedding, points=points[3:])
    assert not any("outside" in note for note in diagram(near, select(near, None)).notes)


@pytest.mark.parametrize("nodes", [3, 40, 90])
def test_of_fewer_than_a_hundred_nodes_none_is_left_outside(nodes):
    """A single node exceeds the fraction of nodes that may be left out."""
    points = np.random.default_rng(0).normal(size=(nodes, 2)).astype(np.float32)
    points[0] = [1000, 0]
    embedding = dataclasses.replace(embed(Minkowski(2)), points=points, names=None)
    scene = diagram(embedding, select(embedding, None))
    assert ((scene.at > scene.limits[:, 0]) & (scene.at < scene.limits[:, 1])).all()
    assert not any("outside" in note for note in scene.notes)


def test_matrices_and_pictures_without_a_graph_draw():
    embedding = embed(CylindricalMinkowski(3))
    assert plot.draw(embedding, GRAPH, "adjacency").axes
    assert plot.draw(embedding).axes


@pytest.mark.slow
@pytest.mark.parametrize("name", MANIFOLDS)
@pytest.mark.parametrize("dim", [1, 2, 3, 10])
def test_every_kind_draws_everything(name, dim, tmp_path):
    if dim == 1 and name in ("de-sitter", "two-time-hyperboloid"):
        pytest.skip("has no such dimension")
    embedding = embed((name, dim))
    for kind in plot.KINDS:
        if kind != "training" and (kind not in LAYOUTS or LAYOUTS[kind][1](embedding.model.manifold)):
            for graph in (GRAPH,) if kind == "balls" else (GRAPH, None):
                plot.draw(embedding, graph, kind).savefig(tmp_path / "picture.png")


def test_times_are_the_embeddings_own():
    embedding = embed(Minkowski(10))
    at = offsets(plot.draw(embedding, GRAPH))
    np.testing.assert_allclose(np.sort(at[:, 1]), np.sort(embedding.points[:, 0]), rtol=1e-6)
    space = embedding.points[:, 1:]
    variance = np.linalg.eigvalsh(np.cov(space.T))
    np.testing.assert_allclose(np.var(at[:, 0], ddof=1), variance[-1], rtol=1e-5)
    lost = view_of(embedding.model.manifold, embedding.points).lost
    np.testing.assert_allclose(lost, 1 - variance[-1] / variance.sum(), rtol=1e-5)


def test_a_plane_is_shown_as_it_is():
    embedding = embed(Minkowski(2))
    view = view_of(embedding.model.manifold, embedding.points)
    np.testing.assert_array_equal(np.stack([view.time, view.space], 1), embedding.points.astype(float))
    assert view.lost == 0


def test_time_on_a_circle_is_cut_once():
    embedding = embed(CylindricalMinkowski(3, 2.0), scale=3.0)
    view = view_of(embedding.model.manifold, embedding.points)
    assert (np.abs(view.time) <= 1).all()
    np.testing.assert_allclose(np.mod(view.time - embedding.points[:, 0] + 1, 2), 1, atol=1e-5)


@pytest.mark.parametrize("manifold", [Minkowski(2), AntiDeSitter(2), DeSitter(2)])
def test_light_has_slope_one(manifold):
    embedding = embed(manifold, nodes=40, scale=1.2)
    view = view_of(manifold, embedding.points)
    dt, dx = (np.abs(x[:, None] - x) for x in (view.time, view.space))
    if view.period:
        dt = np.minimum(dt, view.period - dt)
    clear = np.abs(dt - dx) > 1e-3
    np.testing.assert_array_equal(intervals(embedding)[clear] < 0, (dt > dx)[clear])
    assert 100 < (dt > dx)[clear].sum() < clear.sum() - 100


@pytest.mark.parametrize("manifold", [Minkowski(4), AntiDeSitter(4)])
def test_all_that_is_in_a_cone_is_drawn_in_it(manifold):
    embedding = embed(manifold, nodes=40, scale=1.2)
    view = view_of(manifold, embedding.points)
    dt, dx = (np.abs(x[:, None] - x) for x in (view.time, view.space))
    timelike = intervals(embedding) < -1e-3
    assert timelike.sum() > 50
    assert (dt > dx)[timelike].all()


def test_cones_start_at_the_chosen_nodes_and_axes_are_isotropic():
    embedding = embed(Minkowski(3), names=tuple("abcdefghijklmnopqrst"))
    graph = random_graph(names=embedding.names)
    scene = diagram(embedding, select(embedding, graph, ["c", "f"]))
    for future, past, node in zip(scene.future, scene.past, (2, 5), strict=True):
        np.testing.assert_array_equal(future[0], scene.at[node])
        for outline, way in ((future, 1), (past, -1)):
            sides = outline[1:] - outline[0]
            np.testing.assert_allclose(sides[:, 1] / np.abs(sides[:, 0]), way)
    assert plot.draw(embedding, graph, nodes=["c"]).axes[0].get_aspect() == 1


#: Ranked and calibrated by the light cone; the likelihood would give other numbers.
BY_CONE = {"score": "cone 0.03", "calibration": Calibration(1.7, -2.0, 4.0, 20, 80)}


@pytest.mark.parametrize(
    "embedding",
    [embed(CylindricalMinkowski(3, 4.0)), dataclasses.replace(embed(Minkowski(3)), **BY_CONE)],
    ids=["likelihood", "cone"],
)
def test_colours_of_edges_are_their_probabilities(embedding):
    lines = collection(plot.draw(embedding, GRAPH), "LineCollection")
    chosen = select(embedding, GRAPH)
    scene = diagram(embedding, chosen)
    prob = embedding.prob(chosen.nodes[chosen.sources], chosen.nodes[chosen.targets])
    np.testing.assert_allclose(lines.get_array(), np.sort(prob[scene.edge_of]), rtol=1e-5)
    assert lines.get_clim() == (0, 1)


def test_matrices_landscapes_and_likeliest_edges_are_by_the_score_too():
    embedding = dataclasses.replace(embed(Minkowski(3)), **BY_CONE)
    prob = np.stack([embedding.prob(np.full(20, i), np.arange(20)) for i in range(20)])
    order = np.argsort(embedding.points[:, 0], kind="stable")
    shown = plot.draw(embedding, kind="adjacency").axes[0].images[0].get_array()
    np.testing.assert_allclose(shown, np.where(np.eye(20), np.nan, prob[np.ix_(order, order)]), rtol=1e-4)
    dots = collection(plot.node_landscape(embedding, 4, resolution=5), "PathCollection")
    np.testing.assert_allclose(dots.get_array(), np.delete(prob[4], 4), rtol=1e-4)
    np.fill_diagonal(prob, -1)
    np.testing.assert_array_equal(select(embedding).targets, prob.argmax(axis=1))


def test_edges_lead_to_the_image_that_makes_them_likely():
    # The target lies in the near future only on the next turn of the time circle.
    manifold = CylindricalMinkowski(2, 6.0)
    embedding = embed(manifold, nodes=2)
    embedding.points[:] = [[2.5, 0.0], [-2.5, 0.0]]
    scene = diagram(embedding, select(embedding, DiGraph.from_arrays([0], [1], 2)))
    np.testing.assert_allclose(scene.paths[:, 1, 1] - scene.paths[:, 0, 1], 1.0, rtol=1e-6)
    assert sorted(scene.paths[:, 0, 1]) == [-3.5, 2.5]  # out at the top, in at the bottom
    assert scene.edge_of.tolist() == [0, 0]


def test_rolled_points_lie_on_the_surface():
    embedding = embed(CylindricalMinkowski(3, 5.0))
    scene = rolled(embedding, select(embedding, GRAPH))
    np.testing.assert_allclose(np.hypot(*scene.at[:, :2].T), 5 / (2 * np.pi))
    np.testing.assert_allclose(np.hypot(*np.moveaxis(scene.paths[..., :2], -1, 0)), 5 / (2 * np.pi))
    ads = embed(AntiDeSitter(2))
    x, y, z = rolled(ads, select(ads, GRAPH)).at.T
    np.testing.assert_allclose(x**2 + y**2 - z**2, 1, rtol=1e-5)
    np.testing.assert_allclose(np.stack([x, -y, z], 1), ads.points, atol=1e-5)


def test_polar_picture_has_time_as_angle_and_depth_as_radius():
    ads = embed(AntiDeSitter(10), scale=1.5)
    scene = polar(ads, select(ads, GRAPH))
    theta = np.arctan2(-ads.points[:, 1], ads.points[:, 0])
    np.testing.assert_allclose(np.arctan2(*scene.at.T[::-1]), theta, atol=1e-5)
    depth = np.arcsinh(np.linalg.norm(ads.points[:, 2:], axis=1))
    np.testing.assert_allclose(np.ptp(np.linalg.norm(scene.at, axis=1)), np.ptp(depth), rtol=1e-3)


def test_light_in_the_polar_picture_is_null():
    ads = embed(AntiDeSitter(2))
    chosen = select(ads, GRAPH, [0])
    scene = polar(ads, chosen)
    start, x = ads.points[0], ads.points[0, 2]
    radius = np.linalg.norm(scene.at, axis=1)
    hole = np.mean(radius - np.arcsinh(np.abs(ads.points[:, 2])))
    for ray in scene.future:
        r = np.cosh(np.linalg.norm(ray, axis=1) - hole)
        theta = np.unwrap(np.arctan2(*ray.T[::-1]))
        size = np.sqrt(np.maximum(r**2 - 1, 0))
        null = [  # −⟨p, q⟩ = 1, on one side of the centre or on the other
            np.hypot(*start[:2]) * r * np.cos(theta - theta[0]) - side * x * size for side in (1, -1)
        ]
        assert np.min(np.abs(np.array(null) - 1), axis=0).max() < 1e-3


def test_disk_is_poincares_and_keeps_time():
    flat, high = embed(Hyperboloid(2)), embed(Hyperboloid(10))
    at = disk(flat, select(flat, GRAPH)).at
    np.testing.assert_allclose(at[:, ::-1], flat.points[:, 1:] / (1 + flat.points[:, :1]), rtol=1e-5)
    scene = disk(high, select(high, GRAPH))
    up = 2 * scene.at[:, 1] / (1 - np.sum(scene.at**2, axis=1))  # back on the hyperboloid: x₁
    np.testing.assert_allclose(up, high.points[:, 1], rtol=1e-4)
    assert (np.sum(scene.paths**2, axis=-1) < 1).all()


def test_names_do_not_overlap_and_are_not_maths():
    names = tuple(f"$gene_{i}$ été" for i in range(12))
    figure = plot.draw(embed(Minkowski(2), nodes=12, scale=0.3, names=names), random_graph(12, names=names))
    texts = [t for t in figure.axes[0].texts if t.get_text() and t.get_gid() != "halo"]
    boxes = [t.get_window_extent() for t in texts]
    assert len(texts) >= 4
    assert {t.get_text() for t in texts} <= set(names)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    coloured = [t for t in texts if t.get_color() != THEMES["light"].ink]
    assert len(coloured) == 1  # whose light cone it is


def test_there_is_no_empty_band_above_or_below_a_flat_picture():
    embedding = embed(Minkowski(3))
    points = embedding.points * np.array([0.3, 2.0, 1.0], np.float32)  # wide, and not high
    figure = plot.draw(dataclasses.replace(embedding, points=points), GRAPH)
    figure.draw_without_rendering()
    axes, whole = figure.axes[0].get_tightbbox(), figure.bbox
    words = figure._supxlabel.get_window_extent()
    assert whole.height - axes.y1 < 0.1 * whole.height
    assert axes.y0 - words.y1 < 0.1 * whole.height


def test_large_graphs_are_sampled_and_say_so():
    count = 100_000
    embedding = embed(Minkowski(2), nodes=count)
    graph = random_graph(count, 1_000_000)
    chosen, again = select(embedding, graph, [77]), select(embedding, graph, [77])
    assert len(chosen.nodes) == 4000
    assert len(chosen.sources) <= 4000
    assert 77 in chosen.nodes
    np.testing.assert_array_equal(chosen.nodes, again.nodes)
    np.testing.assert_array_equal(chosen.sources, again.sources)
    assert graph.has_edges(chosen.nodes[chosen.sources], chosen.nodes[chosen.targets]).all()
    said = plot.draw(embedding, graph)._supxlabel.get_text().replace("\n", " ")
    assert "4,000 of 100,000 nodes shown" in said
    assert f"of {graph.num_edges:,} edges shown" in said


def test_without_a_graph_each_node_has_its_likeliest_edge():
    embedding = embed(Minkowski(3))
    chosen = select(embedding)
    prob = np.stack([embedding.prob(np.full(20, i), np.arange(20)) for i in range(20)])
    np.fill_diagonal(prob, -1)
    np.testing.assert_array_equal(chosen.targets, prob.argmax(axis=1))


def test_another_graph_is_matched_by_name():
    embedding = embed(Minkowski(2), nodes=3, names=("a", "b", "c"))
    chosen = select(embedding, DiGraph.from_edges([("c", "a")]))
    assert (chosen.sources.tolist(), chosen.targets.tolist()) == ([2], [0])
    with pytest.raises(ValueError, match=r"graph.*'d'"):
        plot.draw(embedding, DiGraph.from_edges([("c", "d")]))


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "html"])
def test_save_writes_the_same_file_twice(ending, tmp_path):
    embedding, files = embed(Minkowski(2)), []
    for name in ("a", "b"):
        plot.save(embedding, tmp_path / f"{name}.{ending}", GRAPH)
        files.append((tmp_path / f"{name}.{ending}").read_bytes())
    assert files[0] == files[1]
    if ending == "svg":
        words = {node.text for node in ET.fromstring(files[0]).iter("{http://www.w3.org/2000/svg}text")}
        assert {"space", "time"} <= words  # text, not outlines


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (
            lambda e: plot.draw(e, kind="circle"),
            ValueError,
            "kind.*'circle'.* auto, diagram",
        ),
        (
            lambda e: plot.draw(e, kind="polar"),
            ValueError,
            "kind.*'polar'.* diagram for Minkowski spacetime",
        ),
        (
            lambda e: plot.interactive(e, kind="training"),
            ValueError,
            "kind.*'training'.* auto, diagram",
        ),
        (lambda e: plot.draw(e, kind="training"), ValueError, "no training history"),
        (lambda e: plot.draw(e, random_graph(21)), ValueError, "graph.* 21 .*embedding.* 20"),
        (lambda e: plot.draw(e, [(0, 1)]), TypeError, "graph.*DiGraph"),
        (lambda e: plot.draw(e.points), TypeError, "embedding.*Embedding"),
        (lambda e: plot.draw(e, nodes=[20]), ValueError, "nodes.* 20.* 19"),
        (lambda e: plot.save(e, "a.gif"), ValueError, r"path.*a\.gif.*\.png, \.svg, \.pdf, \.html"),
        (lambda e: plot.save(e, "no/such/a.png"), FileNotFoundError, "path.*no/such"),
    ],
)
def test_mistakes(call, error, says):
    with pytest.raises(error, match=says):
        call(embed(Minkowski(2)))


@pytest.mark.parametrize(("library", "ending"), [("matplotlib", "png"), ("plotly.graph_objects", "html")])
def test_missing_libraries_name_the_extra(library, ending, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=r"timelike\[plot\]"):
        plot.save(embed(Minkowski(2)), tmp_path / f"a.{ending}")
