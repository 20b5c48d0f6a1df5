"""Pairs ranked by a score other than the trained likelihood."""

import numpy as np
import pytest

import timelike as tl
from timelike.embedding import exact_ranking
from timelike.embedding.embedding import Embedding
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import MANIFOLDS

NODES = 40


@pytest.fixture(scope="module")
def cone():
    """Points of a tree of light cones: edges are all pairs in a future cone, near or far."""
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.uniform(0, 4, (NODES, 1)), rng.uniform(-2, 2, (NODES, 2))], axis=1)
    points = points.astype(np.float32)
    model = tl.Model(MANIFOLDS["minkowski"](3), TripleFermiDirac(tau1=0.1, tau2=0.1, alpha=0.9))
    return Embedding(model, points, None, {}, {})


@pytest.fixture(scope="module")
def pairs(cone):
    s, t = np.divmod(np.arange(NODES**2), NODES)
    both = np.stack([s, t], axis=1)[s != t]
    inside = slope(cone.points, both) > 1
    return tl.evaluation.LabelledPairs.build(both[inside], both[~inside])


def slope(points, both):
    step = points[both[:, 1]] - points[both[:, 0]]
    return step[:, 0] / np.linalg.norm(step[:, 1:], axis=1)


def test_the_sharp_cone_ranks_the_future_by_slope(cone):
    rng = np.random.default_rng(1)
    both = rng.integers(0, NODES, (300, 2))
    both = both[cone.points[both[:, 0], 0] < cone.points[both[:, 1], 0]]
    scores = Embedding(cone.model, cone.points, None, {}, {}, score="cone 1e-06").log_prob(*both.T)
    slopes = slope(cone.points, both)
    order = np.argsort(slopes)
    apart = np.diff(slopes[order]) > 1e-3 * slopes[order][1:]
    assert np.all(np.diff(scores[order])[apart] > 0)


@pytest.mark.parametrize("by", ["average_precision", "f1"])
def test_validation_pairs_choose_the_score(cone, pairs, by):
    found = cone.rescored(pairs, by)
    assert found.score.startswith("cone")
    both = np.stack([np.asarray(pairs.sources), np.asarray(pairs.targets)], axis=1)
    ap = [
        tl.evaluation.metrics.average_precision(e.log_prob(*both.T), np.asarray(pairs.labels))
        for e in (cone, found)
    ]
    assert ap[0] < 0.95
    assert ap[1] == pytest.approx(1.0, abs=1e-6)
    assert tl.evaluate(found, pairs, valid=pairs).f1 == pytest.approx(1.0)


def test_all_predictions_go_by_the_score(cone, pairs):
    found = cone.rescored(pairs).calibrated(pairs)
    best = found.top_edges(5)
    scores = [p.probability for p in best]
    assert scores == sorted(scores, reverse=True)
    both = np.array([(p.source, p.target) for p in best])
    np.testing.assert_allclose(found.prob(*both.T), scores, rtol=1e-5)
    assert found.top_targets(best[0].source, 1)[0].target == best[0].target
    edges = np.stack([np.asarray(pairs.sources), np.asarray(pairs.targets)], axis=1)[np.asarray(pairs.labels)]
    known = tl.DiGraph.from_arrays(*edges.T, NODES)
    assert np.all(tl.evaluation.rank_targets(found, edges, known) == 1)


def test_the_score_is_saved(cone, pairs, tmp_path):
    cone.rescored(pairs).calibrated(pairs).save(tmp_path / "model")
    loaded = Embedding.load(tmp_path / "model")
    assert loaded.score == cone.rescored(pairs).score
    assert loaded.model == cone.model


def test_where_the_likelihood_is_the_only_score_nothing_changes(pairs):
    model = tl.Model(MANIFOLDS["cylindrical-minkowski"](3), TripleFermiDirac())
    one = Embedding(model, np.zeros((NODES, 3), np.float32), None, {}, {})
    assert one.rescored(pairs) is one
    assert list(exact_ranking.scores_of(model)) == ["likelihood"]


def test_errors_name_what_there_is(cone, pairs):
    with pytest.raises(ValueError, match=r"score is 'slope'.*likelihood, cone 1e-06"):
        Embedding(cone.model, cone.points, None, {}, {}, score="slope")
    with pytest.raises(ValueError, match=r"by is 'auc'.*average_precision, f1"):
        cone.rescored(pairs, "auc")
