"""Metrics against scikit-learn, and against the definitions of the Open Graph Benchmark written out."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve

from timelike.evaluation import metrics

# Some scores come often, so that there are ties; −∞ is the log-probability of the impossible.
SCORES = st.sampled_from([-3.0, -1.0, -0.5, 0.0]) | st.floats(-20, 0, allow_subnormal=False)
quick = settings(max_examples=50)


@st.composite
def scored(draw, scores=SCORES):
    n = draw(st.integers(2, 40))
    labels = draw(hnp.arrays(bool, n))
    assume(0 < labels.sum() < n)
    return draw(hnp.arrays(float, n, elements=scores)), labels


@quick
@given(scored())
def test_average_precision_and_auc(pairs):
    scores, labels = pairs
    assert metrics.average_precision(scores, labels) == pytest.approx(
        sk.average_precision_score(labels, scores), rel=1e-12
    )
    assert metrics.roc_auc(scores, labels) == pytest.approx(sk.roc_auc_score(labels, scores), rel=1e-12)


@quick
@given(scored())
def test_precision_recall_curve(pairs):
    scores, labels = pairs
    for ours, theirs in zip(
        metrics.precision_recall_curve(scores, labels),
        sk.precision_recall_curve(labels, scores),
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@quick
@given(scored(), st.floats(-5, 0))
def test_f1(pairs, threshold):
    scores, labels = pairs
    expected = sk.f1_score(labels, scores >= threshold, zero_division=0)
    assert metrics.f1(scores, labels, threshold) == pytest.approx(expected, rel=1e-12)


@quick
@given(scored())
def test_no_threshold_has_a_better_f1(pairs):
    scores, labels = pairs
    best = metrics.best_f1_threshold(scores, labels)
    found = {x: 2 * (labels[scores >= x]).sum() / ((scores >= x).sum() + labels.sum()) for x in scores}
    assert found[best] == pytest.approx(max(found.values()), rel=1e-12)


def ogb_hits(k, positives, negatives):
    """The share of positives above the k-th highest negative; 1 with fewer negatives."""
    if len(negatives) < k:
        return 1.0
    bar = sorted(negatives, reverse=True)[k - 1]
    return sum(x > bar for x in positives) / len(positives)


def ogb_reciprocal_rank(positive, negatives):
    """One over the middle of the best and the worst rank that ties allow."""
    optimistic = sum(x > positive for x in negatives)
    pessimistic = sum(x >= positive for x in negatives)
    return 1 / (0.5 * (optimistic + pessimistic) + 1)


@quick
@given(scored(), st.integers(1, 30))
def test_hits_and_reciprocal_ranks(pairs, k):
    scores, labels = pairs
    positives, negatives = scores[labels], scores[~labels]
    assert metrics.hits_at(k, positives, negatives) == ogb_hits(k, positives, negatives)
    expected = np.mean([ogb_reciprocal_rank(x, negatives) for x in positives])
    assert metrics.mean_reciprocal_rank(positives, negatives) == pytest.approx(expected, rel=1e-12)
    own = np.tile(negatives, (len(positives), 1))
    for ties in metrics.TIES:
        shared = metrics.ranks(positives, negatives, ties)
        assert np.array_equal(metrics.ranks(positives, own, ties), shared)
    best, middle, worst = (
        metrics.ranks(positives, negatives, x) for x in ("optimistic", "realistic", "pessimistic")
    )
    assert np.array_equal(best + worst, 2 * middle)
    assert np.array_equal(worst - best, [np.sum(negatives == x) for x in positives])


def test_own_negatives_are_those_of_the_same_row():
    assert metrics.ranks(np.array([1.0, 1.0]), np.array([[2.0, 3.0], [0.0, 1.0]])).tolist() == [3, 1.5]


@quick
@given(scored(st.floats(-15, -1e-4)))
def test_likelihood_and_brier_score(pairs):
    log_p, labels = pairs
    p = np.exp(log_p)
    assert metrics.nll(log_p, labels) == pytest.approx(sk.log_loss(labels, p), rel=1e-9)
    assert metrics.brier(log_p, labels) == pytest.approx(sk.brier_score_loss(labels, p), rel=1e-12)


def test_likelihood_at_the_ends():
    log_p = np.array([0.0, 0.0, -1000.0, -np.inf])
    labels = np.array([True, False, True, False])
    assert metrics.nll(log_p[:2], labels[:2]) == pytest.approx(np.log(2.0**24) / 2)
    assert metrics.nll(log_p[2:], labels[2:]) == 500
    assert metrics.nll(log_p[3:], labels[:1]) == np.inf


@quick
@given(scored(), st.integers(1, 12))
def test_calibration(pairs, bins):
    log_p, labels = pairs
    mean, share, count = metrics.calibration_curve(log_p, labels, bins)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        true, predicted = calibration_curve(labels, np.exp(log_p), n_bins=bins)
    np.testing.assert_allclose(mean, predicted, rtol=1e-12)
    np.testing.assert_allclose(share, true, rtol=1e-12)
    assert count.sum() == len(labels)


def test_direction_counts_ties_and_rounding_as_half():
    a = np.array([-1.0, -2.0, -3.0, -np.inf])
    assert metrics.direction_accuracy(a, np.array([-2.0, -1.0, -3.0, -np.inf])) == 0.5
    assert metrics.direction_accuracy(a[:3], a[:3] * (1 + 1e-6)) == 0.5
    assert metrics.direction_accuracy(a[:3], a[:3] * (1 + 1e-4)) == 1


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: metrics.roc_auc(np.zeros(3), np.ones(3, bool)), "3 of 3 pairs are positive"),
        (lambda: metrics.roc_auc(np.zeros(3), np.zeros(3, bool)), "0 of 3 pairs are positive"),
        (lambda: metrics.average_precision(np.zeros(3), np.ones(2, bool)), "shape (3,) and labels (2,)"),
        (lambda: metrics.roc_auc(np.array([0, np.nan]), np.array([True, False])), "score [1] is NaN (1"),
        (lambda: metrics.ranks(np.array([np.nan]), np.zeros(2)), "score [0] is NaN"),
        (lambda: metrics.hits_at(0, np.zeros(1), np.zeros(1)), "k is 0"),
        (lambda: metrics.ranks(np.zeros(1), np.zeros(1), "average"), "ties is 'average'"),
        (lambda: metrics.calibration_curve(np.zeros(1), np.ones(1), 0), "bins is 0"),
    ],
)  # fmt: skip
def test_mistakes(call, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        call()
