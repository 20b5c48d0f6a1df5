"""Ensembles: the mean log-odds by naive loops, the spread, files, and errors."""

import dataclasses
import json

import jax.numpy as jnp
import numpy as np
import pytest
from embeddings import make, make_model, probabilities, ranked
from random_points import random_graph
from safetensors.numpy import load_file, save_file

import timelike as tl
from timelike import Embedding, ensemble
from timelike.embedding.calibration import Calibration, fit_calibration
from timelike.embedding.top_k import UncertainPrediction
from timelike.evaluation import LabelledPairs
from timelike.evaluation.target_ranks import rank_targets

NODES, MEMBERS = 30, 3
BENT = Calibration(0.8, -0.5, 4.0, 20, 80, -2.0)


def logit(p):
    return np.log(p) - np.log1p(-p)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.fixture(
    scope="module", params=["minkowski", pytest.param("cylindrical-euclidean", marks=pytest.mark.long)]
)
def members(request) -> list[Embedding]:
    model = make_model(request.param, "fermi-dirac" if request.param == "minkowski" else "triple-fermi-dirac")
    return [make(model, NODES, seed=seed) for seed in range(MEMBERS)]


def said_by_each(members, calibration) -> np.ndarray:
    """Pₘ of every pair, (members, nodes, nodes); ½ on the diagonal."""
    odds = logit(np.stack([np.abs(probabilities(one)).astype(float) for one in members]) * (1 - 1e-12))
    if calibration is not None:
        low = calibration.knee - np.log1p(np.maximum(calibration.knee - odds, 0))
        odds = calibration.slope * np.where(odds < calibration.knee, low, odds) + calibration.intercept
    found = sigmoid(odds)
    found[:, np.arange(NODES), np.arange(NODES)] = 0.5
    return found


@pytest.mark.parametrize("calibration", [None, BENT], ids=["raw", "calibrated"])
def test_probability_is_the_mean_of_log_odds_and_spread_the_deviation(members, calibration):
    each = said_by_each(members, calibration)
    table, spread = sigmoid(logit(each).mean(axis=0)), each.std(axis=0, ddof=1)
    found = dataclasses.replace(ensemble(members), calibration=calibration)
    s, t = np.nonzero(~np.eye(NODES, dtype=bool))
    np.testing.assert_allclose(found.prob(s, t), table[s, t], rtol=1e-4)
    np.testing.assert_allclose(found.log_odds(s, t), logit(table[s, t]), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.spread(s, t), spread[s, t], rtol=1e-3, atol=1e-6)
    assert (found.prob(s, t) <= each.max(axis=0)[s, t] * (1 + 1e-5)).all()
    assert found.spread(3, 4) == pytest.approx(spread[3, 4], rel=1e-3)

    np.fill_diagonal(table, -1)
    graph = random_graph(NODES, 60)
    table[graph.sources, graph.targets] = -1
    best = found.top_edges(25, exclude=graph)
    np.testing.assert_allclose([row.probability for row in best], table.flat[ranked(table, 25)], rtol=1e-4)
    assert all(isinstance(row, UncertainPrediction) for row in best)
    np.testing.assert_allclose([row.spread for row in best], [spread[row[:2]] for row in best], rtol=1e-3)
    assert [row.target for row in found.top_targets(7, 5, exclude=graph)] == ranked(table[7], 5)
    assert [row.source for row in found.top_sources(7, 5, exclude=graph)] == ranked(table[:, 7], 5)


def test_ranks_are_those_of_the_mean(members):
    found = dataclasses.replace(ensemble(members), calibration=BENT)
    graph = random_graph(NODES, 20)
    table = sigmoid(logit(said_by_each(members, BENT)).mean(axis=0))
    expected = []
    for s, t in graph.pairs:
        rivals = [x for x in range(NODES) if x not in (s, t) and not graph.has_edges([s], [x])[0]]
        expected.append(1 + sum(table[s, x] > table[s, t] for x in rivals))
    np.testing.assert_array_equal(rank_targets(found, graph.pairs, graph), expected)


def test_calibration_is_fitted_to_the_mean(members):
    s, t = np.nonzero(~np.eye(NODES, dtype=bool))
    odds = logit(said_by_each(members, None)).mean(axis=0)[s, t]
    labels = np.random.default_rng(0).random(s.size) < sigmoid(2 * (odds - odds.mean()) / odds.std() - 1)
    pairs = np.stack([s, t], axis=1)
    found = ensemble(members).calibrated(LabelledPairs.build(pairs[labels], pairs[~labels]))
    assert found.calibration.edges == labels.sum()
    p = found.prob(s, t)
    assert p.mean() == pytest.approx(labels.mean(), abs=0.01)
    for calibration in (dataclasses.replace(found.calibration, slope=x) for x in (0.5, 2.0)):
        other = dataclasses.replace(found, calibration=calibration).prob(s, t)
        assert nll(p, labels) < nll(other, labels)


def nll(p, labels):
    return -np.mean(np.where(labels, np.log(p), np.log1p(-p)))


def test_equal_members_are_one_without_a_spread(members):
    one = members[0]
    same = ensemble([one, one, one])
    s, t = np.nonzero(~np.eye(NODES, dtype=bool))
    labels = np.arange(s.size) % 4 == 0
    raw = one.log_prob_by_number(s, t)
    fits = (fit_calibration(x, labels) for x in (raw, raw[None], np.stack([raw] * 3)))
    first, second, third = (dataclasses.astuple(fit) for fit in fits)
    assert first == second
    np.testing.assert_allclose(third, first, rtol=1e-9)
    np.testing.assert_allclose(same.prob(s, t), one.prob(s, t), rtol=1e-4)
    assert (same.spread(s, t) < 1e-6).all()
    assert [row[:2] for row in same.top_edges(20)] == [row[:2] for row in one.top_edges(20)]


def test_points_shown_are_those_of_the_first(members):
    found = ensemble(members)
    assert found.points is members[0].points
    assert found.most_similar(3) == members[0].most_similar(3)
    for i, one in enumerate(members):
        np.testing.assert_array_equal(found.member(i).points, one.points)
        assert found.member(i).members == 1
    assert repr(found).endswith("3 members)")
    with pytest.raises(ValueError, match="number is 3"):
        found.member(3)


def test_folders_keep_members_and_leave_others_as_they_were(members, tmp_path):
    about = {"config": {"seed": 4}, "best_epoch": 2}
    found = ensemble([dataclasses.replace(one, info=about) for one in members])
    found = dataclasses.replace(found, calibration=BENT)
    found.save(tmp_path / "model")
    again = Embedding.load(tmp_path / "model")
    assert again.others.tobytes() == found.others.tobytes()
    assert again.info["members"] == [{"seed": 4, "best_epoch": 2, "valid_ap": None}] * MEMBERS
    assert again.top_edges(10) == found.top_edges(10)
    assert json.loads((tmp_path / "model" / "model.json").read_text())["schema"] == 2
    members[0].save(tmp_path / "one")
    assert json.loads((tmp_path / "one" / "model.json").read_text())["schema"] == 1
    assert list(load_file(tmp_path / "one" / "points.safetensors")) == ["points"]
    assert Embedding.load(tmp_path / "one").others is None


@pytest.mark.parametrize("others", [np.zeros((0, 30, 3)), np.zeros((2, 29, 3)), np.full((2, 30, 3), np.nan)])
def test_members_that_are_none_are_refused(others, tmp_path):
    make(nodes=30).save(tmp_path / "model")
    file = tmp_path / "model" / "points.safetensors"
    save_file({**load_file(file), "others": others.astype(np.float32)}, file)
    (tmp_path / "model" / "SHA256SUMS").unlink()
    with pytest.raises(ValueError, match=r"points.safetensors: others.* must"):
        Embedding.load(tmp_path / "model")


def test_what_is_no_ensemble_says_so():
    one = make()
    for given, match in (
        ([], "embeddings has length 0"),
        ([one], "embeddings has length 1"),
        ([one, make(nodes=29)], r"embeddings\[1\] has other nodes"),
        ([one, make(make_model("euclidean"))], r"embeddings\[1\] has another space or score"),
        ([one, ensemble([one, one])], r"embeddings\[1\] .* 2"),
    ):
        with pytest.raises(ValueError, match=match):
            ensemble(given)
    with pytest.raises(TypeError, match=r"embeddings is Embedding\(.*; it must be a Sequence: a list of"):
        ensemble(one)
    with pytest.raises(TypeError, match=r"embeddings\[0\] is 3; it must be an Embedding"):
        ensemble([3, one])
    with pytest.raises(ValueError, match=r"1 member.*members=5"):
        one.spread(0, 1)
    with pytest.raises(ValueError, match="targets has node 30"):
        ensemble([one, one]).spread(0, 30)


@pytest.mark.long
def test_another_score_of_all_members():
    members = [make(seed=seed) for seed in range(MEMBERS)]
    found = ensemble(members)
    s, t = np.nonzero(~np.eye(NODES, dtype=bool))
    cone = [dataclasses.replace(one, score="cone 0.1") for one in members]
    expected = ensemble(cone).log_odds(s, t)
    truth = (expected > 0.3) & (np.arange(s.size) % 9 > 0)
    pairs = np.stack([s, t], axis=1)
    best = found.rescored(LabelledPairs.build(pairs[truth], pairs[~truth]))
    assert best.score.startswith("cone")
    np.testing.assert_allclose(
        dataclasses.replace(best, score="cone 0.1").log_odds(s, t), expected, rtol=1e-6
    )


def test_members_that_learned_by_different_likelihoods_are_ranked_by_one_score():
    kinds = ["triple-fermi-dirac", "cone"]
    members = [make(make_model(likelihood=kind), seed=seed) for seed, kind in enumerate(kinds)]
    s, t = np.nonzero(~np.eye(NODES, dtype=bool))
    cones = [dataclasses.replace(one, score="cone 0.1") for one in members]
    found = dataclasses.replace(ensemble(members), score="cone 0.1")
    np.testing.assert_allclose(
        found.log_odds(s, t), np.mean([one.log_odds(s, t) for one in cones], axis=0), rtol=1e-4, atol=1e-6
    )


@pytest.mark.long
def test_new_nodes_join_every_member(members):
    found = ensemble(members)
    grown = found.add_nodes(iter([(NODES, 3), (8, NODES)]), tl.Config(epochs=2))
    assert grown.others.shape == (MEMBERS - 1, NODES + 1, found.points.shape[1])
    np.testing.assert_array_equal(grown.others[:, :NODES], found.others)
    assert jnp.isfinite(grown.spread(NODES, 3))
