"""The estimator: inputs of every kind, scikit-learn's conventions, the choice of a geometry, predictions."""

import dataclasses

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import average_precision_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from timelike import (
    Config,
    DiGraph,
    DivergedError,
    LabelledPairs,
    Model,
    Negatives,
    Settings,
    SpacetimeEmbedding,
    evaluate,
    sweep,
    train,
)
from timelike.auto import Task, candidates, choose, explain, with_members
from timelike.datasets import cycle, duplication_divergence
from timelike.given import read_graph
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import MANIFOLDS
from timelike.recipes import recipe, variations
from timelike.splits import split_edges
from timelike.trained_on import TrainedOn

GENES = [
    ("lexA", "recA"),
    ("lexA", "umuD"),
    ("recA", "lexA"),
    ("fis", "crp"),
    ("crp", "fis"),
    ("crp", "lexA"),
]


#: A learning rate and a likelihood, so that nothing else is tried, and it is not trained again: one run,
#: quickly compiled.
PLAIN = {
    "dim": 3,
    "epochs": 20,
    "learning_rate": 0.03,
    "likelihood": TripleFermiDirac(),
    "refit": False,
    "progress": False,
}


def small(geometry="minkowski", **settings) -> SpacetimeEmbedding:
    """An estimator that trains in no time."""
    return SpacetimeEmbedding(geometry, **{**PLAIN, **settings})


@pytest.fixture(scope="module")
def graph() -> DiGraph:
    return duplication_divergence(seed=17, nodes=40)


@pytest.fixture(scope="module")
def fitted(graph) -> SpacetimeEmbedding:
    return small().fit(graph)


@pytest.fixture(scope="module")
def genes() -> SpacetimeEmbedding:
    given = {"epochs": 3, "batch_size": 2, "learning_rate": 0.5, "negatives": Negatives(target=1, uniform=2)}
    return small(**given).fit(GENES)


# Inputs


def test_every_kind_of_input_is_the_same_graph(graph, fitted):
    dense = np.zeros((graph.num_nodes, graph.num_nodes))
    dense[graph.sources, graph.targets] = 1
    pairs = list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    labelled = nx.DiGraph()
    labelled.add_nodes_from(range(graph.num_nodes))
    labelled.add_edges_from(pairs)
    for given in (
        dense,
        dense.tolist(),
        csr_array(dense),
        labelled,
        pairs,
        np.array(pairs),
        np.array(pairs) / 1,
    ):
        found = read_graph(given, small())
        ends = [found.numbers(list(end)) for end in zip(*pairs, strict=True)]
        assert (found.num_nodes, found.num_edges) == (graph.num_nodes, graph.num_edges)
        assert found.has_edges(*ends).all()
    again = small().fit(dense)
    np.testing.assert_array_equal(again.embedding_.points, fitted.embedding_.points)


def test_names_are_kept(genes):
    assert genes.predict_proba([("lexA", "recA")]).shape == (1, 2)
    assert genes.to_frame()["node"].to_list() == list(genes.graph_.names)
    with pytest.raises(ValueError, match="no node 'lexa'; the nearest names are lexA"):
        genes.predict_proba([("lexa", "recA")])


def test_validation_edges_may_be_given(graph):
    split = split_edges(graph, 0.1, 0)
    by_pairs = small().fit(split.train, valid=split.valid)
    assert by_pairs.graph_ is split.train
    assert by_pairs.valid_ is split.valid
    by_edges = small().fit(split.train, valid=split.valid_edges)
    assert np.sum(by_edges.valid_.labels) == len(split.valid_edges)
    assert by_edges.known_.num_edges == graph.num_edges  # so none of them is predicted as missing
    unknown = by_edges.valid_
    assert not graph.has_edges(unknown.sources[~unknown.labels], unknown.targets[~unknown.labels]).any()
    with pytest.raises(ValueError, match="valid has node 40"):
        small().fit(split.train, valid=[(3, 40)])


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        (
            {"geometry": "minkowsky"},
            GENES,
            "geometry is 'minkowsky'; it must be one of auto, euclidean, mink",
        ),
        ({"likelihood": "tfd"}, GENES, "likelihood is 'tfd'; it must be one of fermi-dirac, triple"),
        ({"seeds": 0}, GENES, "seeds is 0; it must be a whole number ≥ 1"),
        ({"members": 0}, GENES, "members is 0; it must be a whole number ≥ 1"),
        ({"dim": 0}, GENES, "dim is 0"),
        ({"valid_fraction": 1.5}, GENES, "valid_fraction is 1.5; it must be a share in"),
        ({}, np.zeros((4, 4)), "no edges between different nodes"),
        ({}, np.ones((1, 1)), "minimum of 2 is required"),
        ({}, np.ones((5, 4)), r"shape \(5, 4\); an adjacency matrix must be square"),
        ({}, np.ones((2, 2)), "edges or an adjacency matrix"),
        ({}, 7, "source is 7"),
    ],
)
def test_mistakes_are_one_line_that_says_what_is_wrong(settings, given, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        small(**settings).fit(given)
    assert "\n" not in str(caught.value)


# Conventions


def test_the_same_seed_gives_the_same_embedding(graph, fitted):
    again = clone(fitted).fit(graph)
    np.testing.assert_array_equal(again.embedding_.points, fitted.embedding_.points)
    other = clone(fitted).set_params(seed=1).fit(fitted.graph_, valid=fitted.valid_)
    assert not np.array_equal(other.embedding_.points, fitted.embedding_.points)
    assert other.get_params()["seed"] == 1


def test_nothing_works_before_fit():
    calls = {
        "predict_proba": ([(0, 1)],),
        "decision_function": ([(0, 1)],),
        "predict_spread": ([(0, 1)],),
        "score": ([(0, 1)], [1]),
        "top_targets": (0,),
        "top_sources": (0,),
        "top_edges": (),
        "most_similar": (0,),
        "add_nodes": ([(0, 5)],),
        "to_frame": (),
        "save": ("model",),
    }
    for name, arguments in calls.items():
        with pytest.raises(NotFittedError):
            getattr(SpacetimeEmbedding(), name)(*arguments)


PAIRS = "predictions are about pairs of nodes, not about rows of a matrix"
BY_PAIRS = dict.fromkeys(
    [
        "check_dict_unchanged",
        "check_estimators_dtypes",
        "check_estimators_pickle",
        "check_fit_idempotent",
        "check_fit_score_takes_y",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_n_features_in_after_fitting",
        "check_pipeline_consistency",
    ],
    PAIRS,
)


@pytest.mark.long
@parametrize_with_checks(
    [SpacetimeEmbedding("minkowski", dim=2, epochs=1, progress=False)],
    expected_failed_checks=lambda _: BY_PAIRS,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# The choice of a geometry


@pytest.mark.long
def test_the_best_of_a_few_is_kept(fitted):
    config = Config(epochs=20, learning_rate=0.03, burn_in=2)

    def plain(name: str):
        return Model(MANIFOLDS[name](3), TripleFermiDirac()), config

    task = Task(fitted.graph_, fitted.valid_, lambda name, model, config: [], 1, None, False)
    found = choose(["minkowski", "euclidean"], plain, task)
    scores = {row["geometry"]: row["valid_ap"] for row in found.tried}
    assert found.geometry == max(scores, key=scores.get)
    assert found.embedding.info["valid_ap"] == max(scores.values())
    reason = explain(found.geometry, "no cycles", found.tried)
    assert all(f"{name} {score:.3f}" in reason for name, score in scores.items())


@pytest.mark.slow
def test_auto_validates_its_candidates():
    ends = np.random.default_rng(0).integers(0, 30, (80, 2))
    found = SpacetimeEmbedding(dim=3, progress=False).fit(np.concatenate([ends, ends[:, ::-1]]))
    scores = {row["geometry"]: row["valid_ap"] for row in found.candidates_}
    assert set(scores) == {"euclidean", "hyperboloid"}
    assert found.geometry_ == max(scores, key=scores.get)
    about = found.embedding_.info
    assert (about["geometry"], about["reason"]) == (found.geometry_, found.reason_)


@pytest.mark.slow
def test_auto_finds_a_circle_of_time_in_a_graph_with_many_cycles():
    """A thick ring: 60 nodes, each linked to the next few."""
    ring = [(i, (i + step) % 60) for i in range(60) for step in (1, 2, 3, 4)]
    found = SpacetimeEmbedding(dim=3, progress=False).fit(ring)
    assert {row["geometry"] for row in found.candidates_} >= {"minkowski", "cylindrical-minkowski"}
    assert found.geometry_ in ("cylindrical-minkowski", "anti-de-sitter")


@pytest.mark.slow
def test_the_defaults_learn_duplication_divergence():
    """Without any setting; the paper has 49 to 65 with tuned settings on a graph like it."""
    split = split_edges(duplication_divergence(seed=17), 0.1, 0.15)
    found = SpacetimeEmbedding(progress=False).fit(split.train, valid=split.valid)
    assert found.score(split) > 0.55


def test_auto_goes_by_the_description_where_there_is_nothing_to_validate_on():
    ring = small("auto").fit(cycle(12))
    assert ring.geometry_ in ("cylindrical-minkowski", "anti-de-sitter")
    assert "cycles" in ring.reason_
    assert "too few edges to validate on" in ring.reason_
    assert ring.candidates_ == [{"geometry": ring.geometry_, "valid_ap": None, "status": "finished"}]


def test_candidates_follow_from_the_description():
    line = DiGraph.from_edges([(i, i + 1) for i in range(12)])
    assert candidates(line.describe())[0] == "minkowski"
    both = DiGraph.from_edges([edge for i in range(12) for edge in ((i, i + 1), (i + 1, i))])
    assert set(candidates(both.describe())) == {"euclidean", "hyperboloid"}
    assert set(candidates(cycle(12).describe())) >= {"cylindrical-minkowski", "anti-de-sitter"}


@pytest.mark.slow
def test_a_complete_graph_has_no_non_edges_to_validate_on():
    found = small("auto", likelihood=None).fit(np.ones((12, 12)))
    assert found.valid_ is None
    assert "no non-edges" in found.reason_


@pytest.mark.long
def test_seeds_and_variations_keep_the_best_and_share_a_checkpoint(graph, tmp_path):
    settings = {**PLAIN, "likelihood": None, "seeds": 2, "checkpoint": tmp_path / "run.ckpt"}
    several = SpacetimeEmbedding("minkowski", **settings).fit(graph)
    best = several.embedding_.info
    training = ("learning_rate", "init_scale", "anneal")
    assert best["config"]["learning_rate"] == 0.03  # as given, so only the likelihood varies
    runs = [
        {name: value for name, value in run.items() if name not in training} | {"seed": seed}
        for run in variations("minkowski", *recipe("minkowski", 3), graph)
        for seed in range(2)
    ]
    config = Config(**{**best["config"], "negatives": Negatives(uniform=4), "seed": 0})
    model = recipe("minkowski", 3)[0]
    rows = sweep(several.graph_, model, config, runs, valid=several.valid_, progress=False).rows
    assert best["valid_ap"] == pytest.approx(max(row["valid_ap"] for row in rows))
    assert [path.name for path in tmp_path.iterdir()] == ["run.ckpt"]
    again = SpacetimeEmbedding("minkowski", **settings).fit(graph)  # nothing left to train
    np.testing.assert_array_equal(several.embedding_.points, again.embedding_.points)


@pytest.mark.long
def test_members_differ_by_their_seeds_and_are_trained_again_together(graph, tmp_path):
    split = split_edges(graph, 0.1, 0)
    settings = {"seed": 3, "members": 3, "checkpoint": tmp_path / "run.ckpt"}
    found = small(**settings).fit(split.train, valid=split.valid)
    assert {path.name for path in tmp_path.iterdir()} == {"run.ckpt", "run-members.ckpt"}
    embedding = found.embedding_
    for i, about in enumerate(embedding.info["members"]):
        alone = small(seed=3 + i, calibrate=False).fit(split.train, valid=split.valid).embedding_
        assert about["seed"] == 3 + i
        assert about["best_epoch"] == alone.info["best_epoch"]
        np.testing.assert_allclose(embedding.member(i).points, alone.points, rtol=1e-3, atol=1e-4)
    ends = np.asarray(split.valid.sources), np.asarray(split.valid.targets)
    assert embedding.info["valid_ap"] == pytest.approx(
        average_precision_score(split.valid.labels, embedding.log_odds_by_number(*ends)), abs=0.02
    )
    pairs = np.stack(ends, axis=1)
    np.testing.assert_allclose(found.predict_proba(pairs)[:, 1], embedding.prob(*ends), rtol=1e-5)
    np.testing.assert_array_equal(found.predict_spread(pairs), embedding.spread(*ends))

    again = clone(found).set_params(refit=True).fit(split.train, valid=split.valid)
    epochs = sorted(about["best_epoch"] for about in embedding.info["members"])
    assert again.embedding_.info["refit"]["epochs"] == epochs[1]
    assert again.embedding_.members == 3
    assert again.embedding_.calibration == embedding.calibration
    assert not np.array_equal(again.embedding_.others, embedding.others)
    again.save(tmp_path / "model")
    loaded = SpacetimeEmbedding.load(tmp_path / "model")
    assert loaded.top_edges(9) == again.top_edges(9)
    assert loaded.members == 3
    assert evaluate(loaded.embedding_, split.valid, valid=split.valid).threshold_from.endswith("learned")


@pytest.mark.long
def test_without_other_members_there_is_no_ensemble(graph):
    fitted = small(epochs=2).fit(graph)
    task = Task(fitted.graph_, fitted.valid_, lambda *_: [], 1, None, False)
    wild = dataclasses.replace(
        fitted.embedding_,
        info={
            **fitted.embedding_.info,
            "config": {**fitted.embedding_.info["config"], "init_scale": 1e38},
        },
    )
    with pytest.raises(DivergedError, match="all other members diverged: try a lower learning rate"):
        with_members(wild, 3, task)


def test_what_is_given_overrides_the_recipe(genes):
    used = genes.embedding_.info["config"]
    assert (used["epochs"], used["batch_size"], used["learning_rate"], used["burn_in"]) == (3, 2, 0.5, 0)
    assert used["negatives"] == {
        **dict.fromkeys(used["negatives"], 0),
        "target": 1,
        "uniform": 2,
        "weights": {},
    }


# Predictions


def test_probabilities_are_calibrated_and_agree_with_the_log_odds(graph, fitted):
    assert fitted.embedding_.calibration is not None
    pairs = np.random.default_rng(0).integers(0, 40, (50, 2))
    proba = fitted.predict_proba(pairs)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_allclose(proba[:, 1], fitted.embedding_.prob(*pairs.T), rtol=1e-5)
    np.testing.assert_allclose(proba[:, 1], 1 / (1 + np.exp(-fitted.decision_function(pairs))), rtol=1e-4)
    raw = small(calibrate=False).fit(graph)
    assert raw.embedding_.calibration is None
    assert fitted.embedding_.info["calibration"].endswith("for 4 non-edges to an edge")
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
        found.score([(0, 1), (1, 2)])
    with pytest.raises(ValueError, match="different nodes"):
        found.score(split_edges(duplication_divergence(1, 30)))
    with pytest.raises(ValueError, match=r"pairs\[1\] is .3,.; it must be .source, target"):
        found.score([(0, 1), (3,)], [0, 1])


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
        "negatives": Negatives(target=2, weights={"target": 1.5}),
        "seed": 3,
        "seeds": 2,
        "members": 3,
        "tables": "bfloat16",
        "valid_fraction": 0.2,
        "refit": True,
        "calibrate": False,
        "progress": False,
        "settings": Settings(numbers={"tau1": 0.5}),
    }
    other = clone(genes).fit(GENES).set_params(**given)
    other.save(tmp_path / "model")
    found = SpacetimeEmbedding.load(tmp_path / "model")
    assert found.get_params() == {**given, "checkpoint": None}
    head = tmp_path / "model" / "model.json"
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
    with pytest.raises(ValueError, match=r"without its training edges; load\(path, graph=…\)"):
        alone.top_edges(5)
    backwards = SpacetimeEmbedding.load(tmp_path / "model", GENES[::-1])  # nodes in another order
    assert backwards.top_edges(5) == genes.top_edges(5)


def test_labelled_pairs_go_by_number(genes):
    pairs = LabelledPairs.build(np.array([[0, 1]]), np.array([[1, 2]]))
    assert 0 < genes.score(pairs) <= 1
