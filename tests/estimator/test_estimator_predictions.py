"""What a fitted estimator predicts, and what is kept of it."""

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.metrics import average_precision_score
from small_fits import GENES, small

from timelike import Config, DiGraph, Negatives, Settings, SpacetimeEmbedding, evaluate, train
from timelike._util.checksums import SUMS
from timelike.datasets import duplication_divergence
from timelike.embedding.trained_on import TrainedOn
from timelike.evaluation import LabelledPairs
from timelike.evaluation.splits import split_edges


def test_probabilities_are_calibrated_and_agree_with_the_log_odds(graph, fitted):
    assert fitted.embedding_.calibration is not None
    pairs = np.random.default_rng(0).integers(0, 40, (50, 2))
    proba = fitted.predict_proba(pairs)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_allclose(proba[:, 1], fitted.embedding_.prob(*pairs.T), rtol=1e-5)
    np.testing.assert_allclose(proba[:, 1], 1 / (1 + np.exp(-fitted.decision_function(pairs))), rtol=1e-4)
    raw = small(calibrate=False).fit(graph)
    assert raw.embedding_.calibration is None
    assert fitted.embedding_.info["calibration"].endswith("for 4 non-edges per edge")
    odds = raw.decision_function(pairs)
    assert np.all(np.diff(odds[np.argsort(raw.predict_proba(pairs)[:, 1])]) >= 0)


def test_score_is_the_average_precision(graph, fitted):
    split, found = split_edges(graph, 0.1, 0.2, seed=2), fitted
    test = split.test
    pairs, labels = np.stack([test.sources, test.targets], axis=1), np.asarray(test.labels)
    expected = average_precision_score(labels, found.decision_function(pairs))
    for score in (found.score(split), found.score(test), found.score(pairs, labels.astype(int))):
        assert score == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"1 \(an edge\) or 0 for each of the 2 pairs"):
        found.score([(0, 1), (1, 2)], [1])
    with pytest.raises(ValueError, match="40 nodes"):
        found.score(split_edges(duplication_divergence(1, 30)))
    with pytest.raises(ValueError, match=r"pairs\[1\] is .3,.; it must be .source, target"):
        found.score([(0, 1), (3,)], [0, 1])


def test_an_estimator_is_evaluated_as_its_embedding(graph, fitted):
    split = split_edges(graph, 0.1, 0.2, seed=2)
    assert evaluate(fitted, split) == evaluate(fitted.embedding_, split)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_pairs_may_be_a_frame(genes, frame):
    sources, targets = zip(*GENES, strict=True)
    asked = frame({"tf": list(sources), "gene": list(targets)})
    np.testing.assert_array_equal(genes.predict_proba(asked), genes.predict_proba(GENES))


def test_predicted_edges_are_not_known(graph, fitted):
    found = fitted.top_edges(30)
    known = graph.has_edges(np.array([p.source for p in found]), np.array([p.target for p in found]))
    assert not known.any()
    assert fitted.graph_.num_edges < fitted.known_.num_edges == graph.num_edges
    node = int(graph.sources[0])
    mine = set(graph.targets[graph.sources == node].tolist())
    assert not mine & {p.target for p in fitted.top_targets(node, 40)}
    entering = set(graph.sources[graph.targets == node].tolist())
    assert not entering & {p.source for p in fitted.top_sources(node, 40)}
    assert len(fitted.most_similar(node, 3)) == 3


def test_validation_edges_are_learned_in_the_end(graph, fitted, tmp_path):
    """With the epoch, the calibration and the threshold that they gave while they were held out."""
    again = small(refit=True).fit(graph)
    info, before = again.embedding_.info, fitted.embedding_
    assert again.graph_.num_edges == again.known_.num_edges == graph.num_edges
    assert again.trained_on_.before.num_edges == fitted.graph_.num_edges
    config = Config(20, 32, 0.03, burn_in=2, until=info["best_epoch"])
    expected = train(graph, before.model, config, progress=False)
    np.testing.assert_array_equal(again.embedding_.points, expected.points)
    assert (info["valid_ap"], again.embedding_.calibration) == (before.info["valid_ap"], before.calibration)
    np.testing.assert_array_equal(again.embedding_.history["valid_ap"], before.history["valid_ap"])
    pairs = fitted.valid_
    found, held = (evaluate(x, pairs, valid=pairs) for x in (again.embedding_, before))
    assert found.threshold == held.threshold
    assert found.threshold_from == "best F1 on validation pairs, before they were learned"
    again.save(tmp_path / "model")
    loaded = SpacetimeEmbedding.load(tmp_path / "model")
    assert loaded.trained_on_.before.num_edges == fitted.graph_.num_edges
    assert loaded.embedding_.info == info
    rare = loaded.embedding_.calibrated(loaded.valid_, ratio=100)
    assert rare.calibration == before.calibration.at_ratio(100)


def test_pairs_that_were_not_learned_calibrate_and_set_the_threshold(graph, fitted):
    found = dataclasses.replace(
        fitted.embedding_,
        info={**fitted.embedding_.info, "refit": {"threshold": -0.1, "valid": fitted.valid_.digest}},
    )
    fresh = split_edges(graph, 0.3, 0, seed=7).valid
    assert evaluate(found, fresh).threshold == pytest.approx(np.exp(-0.1))  # nothing else is known
    assert evaluate(found, fresh, valid=fresh).threshold_from == "best F1 on validation pairs"
    assert found.calibrated(fresh).calibration == fitted.embedding_.calibrated(fresh).calibration
    plain = dataclasses.replace(found, calibration=None).calibrated(fitted.valid_)
    assert plain.info["calibration"] == "not calibrated: the validation edges have been learned"


@pytest.mark.long
def test_given_validation_edges_are_learned_only_if_asked_for(graph):
    split = split_edges(graph, 0.1, 0)
    assert "refit" not in small(refit=None).fit(split.train, valid=split.valid).embedding_.info
    found = small(refit=True).fit(split.train, valid=split.valid)
    assert found.embedding_.info["refit"]["edges"] == found.graph_.num_edges == graph.num_edges


def test_new_nodes_are_folded_in_and_their_edges_known(genes):
    grown = clone(genes).fit(GENES)
    points = grown.embedding_.points
    assert grown.add_nodes([("crp", "sodA"), ("sodA", "recA")]) is grown
    np.testing.assert_array_equal(grown.embedding_.points[: len(points)], points)
    assert {p.source for p in grown.top_sources("sodA")} == {"lexA", "recA", "umuD", "fis"}
    assert not {"recA"} & {p.target for p in grown.top_targets("sodA")}


def test_a_saved_model_comes_back(fitted, tmp_path):
    """With all that needs the training graph."""
    fitted.save(tmp_path / "model")
    found = SpacetimeEmbedding.load(tmp_path / "model")
    assert (found.geometry_, found.reason_) == (fitted.geometry_, fitted.reason_)
    assert found.candidates_ == fitted.candidates_
    for name in ("graph_", "known_"):
        mine, theirs = getattr(found, name), getattr(fitted, name)
        np.testing.assert_array_equal([mine.sources, mine.targets], [theirs.sources, theirs.targets])
    for mine, theirs in zip(found.valid_, fitted.valid_, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert found.top_edges(20) == fitted.top_edges(20)
    assert found.top_targets(3) == fitted.top_targets(3)
    assert found.score(found.valid_) == fitted.score(fitted.valid_)
    assert found.get_params() == fitted.get_params()
    assert found.embedding_.info == fitted.embedding_.info


def test_new_nodes_may_be_added_to_a_saved_model_and_saved_again(genes, tmp_path):
    genes.save(tmp_path / "model")
    found, new = SpacetimeEmbedding.load(tmp_path / "model"), [("crp", "sodA"), ("sodA", "recA")]
    expected = clone(genes).fit(GENES).add_nodes(new)
    found.add_nodes(new).save(tmp_path / "more")
    again = SpacetimeEmbedding.load(tmp_path / "more")
    assert again.known_.num_edges == len(GENES) + 2
    assert again.top_edges(8) == found.top_edges(8) == expected.top_edges(8)


def test_all_parameters_come_back(genes, tmp_path):
    given = {
        "geometry": "auto",
        "likelihood": "cone",
        "dim": 4,
        "epochs": 7,
        "batch_size": 8,
        "learning_rate": 0.25,
        "negatives": Negatives(same_source=2, weights={"same_source": 1.5}),
        "seed": 3,
        "seeds": 2,
        "members": 3,
        "tables": "bfloat16",
        "valid_fraction": 0.2,
        "refit": True,
        "calibrate": False,
        "baselines": "L3,SVD",
        "evidence": "none",
        "progress": False,
        "settings": Settings(numbers={"tau1": 0.5}),
    }
    other = clone(genes).fit(GENES).set_params(**given)
    other.save(tmp_path / "model")
    found = SpacetimeEmbedding.load(tmp_path / "model")
    assert found.get_params() == {**given, "checkpoint": None, "log": None}
    head = tmp_path / "model" / "model.json"
    (tmp_path / "model" / SUMS).unlink()
    head.write_text(head.read_text().replace('"epochs": 7', '"epoch": 7'))
    with pytest.raises(ValueError, match=r"model\.json: .*unexpected keyword argument 'epoch'"):
        SpacetimeEmbedding.load(tmp_path / "model")


def test_weights_of_new_edges_are_kept(genes):
    grown = clone(genes).fit(GENES).add_nodes([("crp", "sodA", 2.5), ("sodA", "recA", 0.5)])
    found = {
        (grown.graph_.name(s), grown.graph_.name(t)): w
        for s, t, w in zip(grown.graph_.sources, grown.graph_.targets, grown.graph_.weights, strict=True)
    }
    assert found == {**dict.fromkeys(GENES, 1.0), ("crp", "sodA"): 2.5, ("sodA", "recA"): 0.5}


def test_weights_come_back(genes, tmp_path):
    graph = DiGraph.from_edges([(*edge, 1.5 + i) for i, edge in enumerate(GENES)])
    held_out = LabelledPairs.build(np.array([[0, 3]]), np.array([[3, 0]]))
    genes.embedding_.save(tmp_path / "model", TrainedOn(graph, held_out))
    found = SpacetimeEmbedding.load(tmp_path / "model")
    np.testing.assert_array_equal(found.graph_.weights, graph.weights)
    assert found.known_.num_edges == len(GENES) + 1


def test_a_model_without_its_edges_wants_them(genes, tmp_path):
    genes.embedding_.save(tmp_path / "model")
    alone = SpacetimeEmbedding.load(tmp_path / "model")
    np.testing.assert_array_equal(alone.predict_proba(GENES), genes.predict_proba(GENES))
    with pytest.raises(ValueError, match=r"training edges.*graph="):
        alone.top_edges(5)
    backwards = SpacetimeEmbedding.load(tmp_path / "model", GENES[::-1])  # nodes in another order
    assert backwards.top_edges(5) == genes.top_edges(5)


def test_labelled_pairs_go_by_number(genes):
    pairs = LabelledPairs.build(np.array([[0, 1]]), np.array([[1, 2]]))
    assert 0 < genes.score(pairs) <= 1
