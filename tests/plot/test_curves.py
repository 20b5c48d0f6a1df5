"""Curves and tables show the same numbers as independent implementations."""

import dataclasses

import numpy as np
import pytest
from events import embed, intervals
from random_points import random_graph
from sklearn.calibration import calibration_curve
from sklearn.metrics import average_precision_score, precision_recall_curve

from timelike import plot
from timelike.embedding.calibration import Calibration
from timelike.evaluation import LabelledPairs
from timelike.manifolds import CylindricalMinkowski, Minkowski
from timelike.plot.drawn_nodes import select
from timelike.plot.landscapes import frame_at
from timelike.plot.views import view_of
from timelike.training.sweeps import Sweep

EMBEDDING = embed(Minkowski(3), 60)
PAIRS = np.random.default_rng(0).integers(0, 60, (300, 2))
LABELLED = LabelledPairs.build(PAIRS[:60], PAIRS[60:])
PROB = EMBEDDING.prob(PAIRS[:, 0], PAIRS[:, 1])
TRUTH = np.arange(300) < 60


def test_calibration_is_scikit_learns():
    axes = plot.calibration_curve(EMBEDDING, LABELLED, bins=7).axes[0]
    share, mean = calibration_curve(TRUTH, PROB, n_bins=7)
    np.testing.assert_allclose(axes.lines[1].get_xydata(), np.stack([mean, share], 1), rtol=1e-4)
    brier = np.mean((PROB - TRUTH) ** 2)
    assert axes.get_legend().get_texts()[0].get_text() == f"Brier score {brier:.3f}"


def test_precision_and_recall_are_scikit_learns():
    figure = plot.precision_recall_curve(
        {"here": EMBEDDING, "there": embed(Minkowski(3), 60, seed=1)}, LABELLED
    )
    line = next(line for line in figure.axes[0].lines if line.get_label().startswith("here"))
    precision, recall, _ = precision_recall_curve(TRUTH, PROB)
    found = {tuple(row) for row in np.round(line.get_xydata(), 5)}
    assert found >= {tuple(row) for row in np.round(np.stack([recall, precision], 1), 5) if row[0] < 1}
    assert line.get_label() == f"here, AP {average_precision_score(TRUTH, PROB):.3f}"


@pytest.mark.long
def test_pictures_show_the_probabilities_that_are_predicted():
    """Edges, matrix, landscape, curves and page, calibrated or not; the colour bar states which."""
    named = embed(Minkowski(2), 12, names=tuple("abcdefghijkl"))
    mild = dataclasses.replace(named, calibration=Calibration(0.5, -1.0, 4.0, 50, 200))
    graph = random_graph(12, 30, named.names)
    chosen = select(mild, graph)
    ends = ([mild.name(chosen.nodes[i]) for i in end] for end in (chosen.sources, chosen.targets))
    np.testing.assert_allclose(chosen.prob, mild.prob(*ends), rtol=1e-5)
    matrix = plot.draw(mild, graph, "adjacency").axes[0].images[0].get_array()
    order = np.argsort(mild.points[:, 0], kind="stable")
    source, target = (mild.names[i] for i in order[:2])
    assert matrix[0, 1] == pytest.approx(mild.prob(source, target), rel=1e-5)
    figure = plot.node_landscape(mild, "c", resolution=5)
    filled = figure.axes[0].collections[-1].get_array()
    np.testing.assert_allclose(
        np.sort(filled), np.sort(mild.prob(["c"] * 11, list("abdefghijkl"))), rtol=1e-5
    )
    centre = figure.axes[0].images[0].get_array()[2, 2]
    assert centre == pytest.approx(mild.prob("c", "c"), rel=1e-4)
    pairs = LabelledPairs.build(np.array([[0, 1], [2, 3]]), np.array([[4, 5], [6, 7]]))
    curve = plot.calibration_curve(mild, pairs, bins=1).axes[0].lines[1].get_xdata()
    asked = mild.log_prob_by_number(np.arange(0, 8, 2), np.arange(1, 8, 2))
    assert curve[0] == pytest.approx(np.exp(asked).mean(), rel=1e-5)
    for kind in ("adjacency", "landscape"):
        for embedding, ratio in ((mild, "calibrated for\n4 non-edges"), (named, "not calibrated")):
            labels = [axes.get_ylabel() for axes in plot.draw(embedding, graph, kind).axes]
            assert any(ratio in label for label in labels), (kind, labels)
    assert "4 non-edges" in plot.interactive(mild, graph).to_json()


def test_curves_refuse_pairs_of_one_kind():
    with pytest.raises(ValueError, match=r"pairs.* 300 positive.* 0 negative"):
        plot.precision_recall_curve(EMBEDDING, LabelledPairs.build(PAIRS, np.zeros((0, 2), int)))
    with pytest.raises(ValueError, match=r"pairs.* 60.* 59"):
        plot.calibration_curve(EMBEDDING, LabelledPairs.build(PAIRS[:60], np.array([[0, 60]])))


def test_training_curves_mark_the_epoch_kept():
    history = {
        "loss": np.linspace(9, 1, 5), "valid_ap": np.linspace(0, 1, 5), "test_ap": np.full(5, np.nan),
        "gradient_norm": np.ones(5), "saturated": np.zeros(5),
    }  # fmt: skip
    info = {"best_epoch": 4, "selected_by": "best validation AP"}
    figure = plot.draw(dataclasses.replace(EMBEDDING, history=history, info=info), kind="training")
    assert len(figure.axes) == 4
    loss, score = figure.axes[:2]
    np.testing.assert_array_equal(loss.lines[0].get_ydata(), history["loss"])
    assert [line.get_label() for line in score.lines][:1] == ["validation"]
    assert loss.lines[-1].get_xdata() == [4, 4]


def run(tau1, alpha, seed, **scores):
    rest = {"loss": 1.0, "valid_ap": np.nan, "test_ap": np.nan, "best_test_ap": np.nan}
    return {
        "tau1": tau1,
        "alpha": alpha,
        "seed": seed,
        "status": "finished",
        "best_epoch": 1,
        **rest,
        **scores,
    }


def test_sweep_table_has_the_median_over_seeds():
    rows = [
        run(tau, alpha, seed, valid_ap=tau + alpha + 0.1 * seed**2)
        for tau in (0.1, 0.2, 0.3)
        for alpha in (0.01, 0.02)
        for seed in range(3)
    ]
    rows[0]["valid_ap"] = rows[1]["valid_ap"] = rows[2]["valid_ap"] = np.nan
    sweep = Sweep(rows, EMBEDDING)
    axes = plot.sweep_table(sweep).axes[0]
    cells = axes.images[0].get_array()
    expected = np.array([[np.nan, 0.31, 0.41], [0.22, 0.32, 0.42]])
    np.testing.assert_allclose(np.ma.filled(cells, np.nan), expected)
    assert [text.get_text() for text in axes.texts] == ["×", "0.31", "0.41", "0.22", "0.32", "0.42"]
    best = plot.sweep_table(sweep, columns="alpha", rows="seed").axes[0].images[0].get_array()
    np.testing.assert_allclose(best[2], [0.71, 0.72])  # the best τ₁
    with pytest.raises(ValueError, match=r"rows.*'tau2'.* tau1, alpha, seed"):
        plot.sweep_table(sweep, rows="tau2")
    with pytest.raises(ValueError, match=r"value.*'ap'.* valid_ap"):
        plot.sweep_table(sweep, value="ap")
    with pytest.raises(ValueError, match=r"value.*'test_ap'"):
        plot.sweep_table(sweep, value="test_ap")


def test_adjacency_is_ordered_by_time():
    embedding, graph = embed(Minkowski(2), 30), random_graph(30, 50)
    axes = plot.adjacency(embedding, graph).axes[0]
    order = np.argsort(embedding.points[:, 0])
    prob = np.stack([embedding.prob(np.full(30, i), order) for i in order])
    np.fill_diagonal(prob, np.nan)
    np.testing.assert_allclose(np.ma.filled(axes.images[0].get_array(), np.nan), prob, rtol=1e-5)
    dots = {(order[int(y)], order[int(x)]) for x, y in axes.collections[0].get_offsets()}
    assert dots == {(s, t) for s, t in zip(graph.sources, graph.targets, strict=True) if s != t}


@pytest.mark.parametrize("name", ["anti-de-sitter", "hyperboloid"])
def test_frames_are_orthonormal_and_see_the_intervals(name):
    embedding = embed((name, 2))
    manifold, points = embedding.model.manifold, embedding.points
    frame = frame_at(manifold, points[4], points)
    time, space = frame.basis.astype(np.float32)
    sign = -1 if manifold.signature[0] else 1
    gram = [float(manifold.inner(points[4], u, v)) for u, v in ((time, time), (time, space), (space, space))]
    np.testing.assert_allclose(gram, [sign, 0, 1], atol=1e-4)
    # In two dimensions normal coordinates determine the interval.
    t, x = frame.at.T
    np.testing.assert_allclose(sign * t**2 + x**2, intervals(embedding)[4], atol=1e-3)
    times = view_of(manifold, points).time
    assert np.corrcoef(t, times - times[4])[0, 1] > 0.9


def test_landscape_around_a_node_is_the_models():
    embedding = embed(CylindricalMinkowski(2, 4.0), names=tuple("abcdefghijklmnopqrst"))
    figure = plot.node_landscape(embedding, "c", resolution=5)
    image = figure.axes[0].images[0]
    left, right, bottom, top = image.get_extent()
    x, t = np.meshgrid(np.linspace(left, right, 5), np.linspace(bottom, top, 5))
    moved = embedding.points[2] + np.stack([t, x], -1).reshape(-1, 2).astype(np.float32)
    grid = dataclasses.replace(embedding, points=np.concatenate([embedding.points[2:3], moved]), names=None)
    prob = grid.prob(np.zeros(25, int), np.arange(1, 26)).reshape(5, 5)
    np.testing.assert_allclose(image.get_array(), prob, rtol=1e-3, atol=1e-6)
    dots = figure.axes[0].collections[-1]
    others = [name for name in embedding.names if name != "c"]
    np.testing.assert_allclose(dots.get_array(), embedding.prob(["c"] * 19, others), rtol=1e-5)
