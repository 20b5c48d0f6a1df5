"""Calibrated probabilities keep the ranking and hold at the ratio they state."""

import dataclasses

import numpy as np
import pytest
from embeddings import make
from hypothesis import given, settings
from hypothesis import strategies as st
from random_points import random_graph
from sklearn.linear_model import LogisticRegression

from timelike.embedding.calibration import FEWEST, Calibration, fit_calibration
from timelike.evaluation import LabelledPairs


def platt(log_prob, labels):
    """scikit-learn's logistic regression on Platt's smoothed labels, as weighted copies of each pair."""
    logit = log_prob - np.log(-np.expm1(log_prob))
    edges, others = labels.sum(), (~labels).sum()
    target = np.where(labels, (edges + 1) / (edges + 2), 1 / (others + 2))
    model = LogisticRegression(C=1e10, tol=1e-10, max_iter=1000)
    model.fit(
        np.tile(logit, 2)[:, None],
        np.repeat([1, 0], logit.size),
        sample_weight=np.concatenate([target, 1 - target]),
    )
    return model.coef_[0, 0], model.intercept_[0]


@pytest.mark.parametrize("shift", [0.0, -20.0])
def test_fit_equals_scikit_learn(shift):
    rng = np.random.default_rng(1)
    labels = rng.random(500) < 0.2
    log_prob = -np.logaddexp(0, -(rng.normal(size=500) * 3 + 2 * labels - 4 + shift))
    found = fit_calibration(log_prob, labels)
    assert (found.edges, found.non_edges) == (labels.sum(), 500 - labels.sum())
    np.testing.assert_allclose((found.slope, found.intercept), platt(log_prob, labels), rtol=1e-3)


def test_a_few_confident_errors_do_not_flatten_the_rest():
    """One edge in ten has log-odds of about −100; the best pairs are nearly all edges."""
    rng = np.random.default_rng(4)
    labels = rng.random(2000) < 0.2
    odds = rng.normal(size=2000) + np.where(labels, 3.0, -3.0)
    odds[labels & (rng.random(2000) < 0.1)] = -100
    log_prob = -np.logaddexp(0, -odds)
    p = np.exp(fit_calibration(log_prob, labels).log_prob(log_prob))
    best = np.argsort(odds)[-200:]
    assert labels[best].mean() > 0.95
    assert p[best].mean() > 0.9
    assert (np.diff(p[np.argsort(odds)]) >= 0).all()


def test_separable_pairs_stay_finite():
    found = fit_calibration(np.repeat([-0.1, -5.0], 20), np.repeat([True, False], 20))
    assert 0 < found.slope < 100
    assert np.exp(found.log_prob(np.array([-0.1])))[0] == pytest.approx(21 / 22, rel=1e-3)


def test_calibrated_probabilities_come_true():
    rng = np.random.default_rng(2)
    raw = rng.uniform(0.01, 0.75, 40_000)
    labels = rng.random(raw.size) < 1 / (1 + np.exp(-(1.7 * np.log(raw / (1 - raw)) - 1)))
    found = fit_calibration(np.log(raw[::2]), labels[::2])
    p = np.exp(found.log_prob(np.log(raw[1::2])))
    for low in np.arange(0, 0.8, 0.2):
        inside = (p >= low) & (p < low + 0.2)
        assert abs(p[inside].mean() - labels[1::2][inside].mean()) < 0.03


def test_another_ratio():
    """Thinning the non-edges by 10 and calibrating there is the same as asking for that ratio."""
    rng = np.random.default_rng(3)
    labels = rng.random(200_000) < 1 / 41
    log_prob = -np.logaddexp(0, -(rng.normal(size=labels.size) + 2 * labels - 2))
    keep = labels | (rng.random(labels.size) < 0.1)
    many, few = fit_calibration(log_prob, labels), fit_calibration(log_prob[keep], labels[keep])
    assert few.ratio == pytest.approx(4, rel=0.1)
    np.testing.assert_allclose(
        dataclasses.astuple(few.at_ratio(40))[:2], dataclasses.astuple(many.at_ratio(40))[:2], atol=0.1
    )


@given(st.lists(st.floats(-100, 0, width=32), min_size=2, max_size=50), st.floats(0.01, 50), st.floats(-9, 9))
@settings(max_examples=100)
def test_no_ranking_changes(log_prob, slope, intercept):
    x = np.sort(np.array(log_prob, np.float32))
    y = Calibration(slope, intercept, 1.0, 10, 10).log_prob(x)
    assert (np.diff(y) >= 0).all()
    assert (y <= 0).all()
    assert np.isfinite(y).all()
    assert y.dtype == x.dtype


def test_an_embedding_says_how_it_is_calibrated():
    embedding = make(nodes=40)
    table = random_graph(40, 120)
    pairs = np.stack([table.sources, table.targets], axis=1)
    likely = np.argsort(-embedding.prob(*pairs.T))
    valid = LabelledPairs.build(pairs[likely[:30]], pairs[likely[30:]])
    found = embedding.calibrated(valid)
    assert found.info["calibration"].startswith("calibrated on 30 edges and")
    assert found.calibration.ratio == (len(pairs) - 30) / 30
    assert [x[:2] for x in found.top_edges(50)] == [x[:2] for x in embedding.top_edges(50)]
    assert found.top_edges(1)[0].probability != embedding.top_edges(1)[0].probability
    np.testing.assert_allclose(found.prob(1, 2), [dict_of(found.top_targets(1, 99))[2]], rtol=1e-5)
    rare = embedding.calibrated(valid, ratio=1000)
    assert "for 1000 non-edges" in rare.info["calibration"]
    assert (rare.prob(*pairs.T) < found.prob(*pairs.T)).all()


def dict_of(predictions):
    return {x.target: x.probability for x in predictions}


@pytest.mark.parametrize("edges", [0, 3, FEWEST - 1])
def test_few_pairs_leave_probabilities_raw_and_say_so(edges):
    embedding = make()
    pairs = np.stack([np.arange(20), np.arange(1, 21)], axis=1)
    found = embedding.calibrated(LabelledPairs.build(pairs[:edges], pairs[edges:]))
    assert found.calibration is None
    assert found.info["calibration"].startswith(f"not calibrated: {edges} validation edges")
    np.testing.assert_array_equal(found.prob(1, 2), embedding.prob(1, 2))


def test_a_model_that_ranks_backwards_is_not_calibrated():
    embedding = make(nodes=40)
    pairs = np.stack([np.arange(39), np.arange(1, 40)], axis=1)
    order = np.argsort(embedding.prob(*pairs.T))
    found = embedding.calibrated(LabelledPairs.build(pairs[order[:19]], pairs[order[19:]]))
    assert found.calibration is None
    assert "use ranks alone" in found.info["calibration"]


def test_mistakes():
    with pytest.raises(TypeError, match=r"valid is None.*LabelledPairs"):
        make().calibrated(None)
    pairs = np.zeros((20, 2), int)
    with pytest.raises(ValueError, match="valid has node 99"):
        make().calibrated(LabelledPairs.build(pairs + 99, pairs))
    with pytest.raises(ValueError, match="ratio is 0"):
        Calibration(1.0, 0.0, 4.0, 10, 10).at_ratio(0)
