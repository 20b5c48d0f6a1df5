"""The estimator: inputs of every kind, scikit-learn's conventions, the choice of a geometry, predictions."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import average_precision_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from timelike import DiGraph, Embedding, LabelledPairs, Negatives, SpacetimeEmbedding
from timelike.datasets import cycle, duplication_divergence
from timelike.likelihoods import LIKELIHOODS, LawLucas
from timelike.manifolds import MANIFOLDS
from timelike.recipes import recipe
from timelike.split import split_edges

GENES = [
    ("lexA", "recA"),
    ("lexA", "umuD"),
    ("recA", "lexA"),
    ("fis", "crp"),
    ("crp", "fis"),
    ("crp", "lexA"),
]


def small(geometry="minkowski", **settings) -> SpacetimeEmbedding:
    """An estimator that trains in no time."""
    return SpacetimeEmbedding(geometry, **{"dim": 3, "epochs": 3, "progress": False, **settings})


@pytest.fixture(scope="module")
def graph() -> DiGraph:
    return duplication_divergence(seed=17, nodes=40)


@pytest.fixture(scope="module")
def fitted(graph) -> SpacetimeEmbedding:
    return small(epochs=20).fit(graph)


@pytest.fixture(scope="module")
def genes() -> SpacetimeEmbedding:
    return small().fit(GENES)


# Inputs


def test_every_kind_of_input_gives_the_same_embedding(graph, fitted):
    dense = np.zeros((graph.num_nodes, graph.num_nodes))
    dense[graph.sources, graph.targets] = 1
    labelled = nx.DiGraph()
    labelled.add_nodes_from(range(graph.num_nodes))
    labelled.add_edges_from(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    for given in (dense, dense.tolist(), csr_array(dense), labelled):
        found = small(epochs=20).fit(given)
        np.testing.assert_array_equal(found.embedding_.points, fitted.embedding_.points)


def test_two_columns_are_an_edge_list(graph):
    pairs = np.stack([graph.sources, graph.targets], axis=1)
    for given in (pairs, [tuple(pair) for pair in pairs.tolist()], pairs.astype(float)):
        found = small().fit(given)
        assert found.known_.num_edges == graph.num_edges
        assert set(map(int, found.known_.names or range(40))) == set(pairs.ravel().tolist())


def test_names_are_kept(genes):
    assert genes.predict_proba([("lexA", "recA")]).shape == (1, 2)
    assert genes.to_frame()["node"].to_list() == list(genes.graph_.names)
    with pytest.raises(ValueError, match="no node 'lexa'; the nearest names are lexA"):
        genes.predict_proba([("lexa", "recA")])


def test_validation_edges_may_be_given(graph):
    split = split_edges(graph, 0.2, 0, seed=1)
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
        ({"dim": 0}, GENES, "dim is 0"),
        ({"valid_fraction": 1.5}, GENES * 40, "valid_fraction is 1.5; it must be a share in"),
        ({}, np.zeros((4, 4)), r"DiGraph\(4 nodes, 0 edges\); an embedding needs two nodes and an edge"),
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
    other = clone(fitted).set_params(seed=1).fit(graph)
    assert not np.array_equal(other.embedding_.points, fitted.embedding_.points)
    assert other.get_params()["seed"] == 1


def test_nothing_works_before_fit():
    calls = {
        "predict_proba": ([(0, 1)],),
        "decision_function": ([(0, 1)],),
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


@pytest.mark.slow
@parametrize_with_checks(
    [SpacetimeEmbedding("minkowski", dim=2, epochs=1, progress=False)],
    expected_failed_checks=lambda _: BY_PAIRS,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# The choice of a geometry


def test_auto_takes_the_best_of_a_few(graph):
    found = small("auto", epochs=8).fit(graph)
    scores = {row["geometry"]: row["valid_ap"] for row in found.candidates_}
    assert len(scores) >= 2
    assert found.geometry_ == max(scores, key=scores.get)
    for name, score in scores.items():
        assert f"{name} {score:.3f}" in found.reason_
    assert found.embedding_.info["geometry"] == found.geometry_
    assert found.embedding_.info["reason"] == found.reason_


def test_auto_goes_by_the_description_where_there_is_nothing_to_validate_on():
    ring = small("auto").fit(cycle(12))
    assert ring.geometry_ in ("cylindrical-minkowski", "anti-de-sitter")
    assert "cycles" in ring.reason_
    assert "too few edges to validate on" in ring.reason_
    line = small("auto").fit([(i, i + 1) for i in range(12)])
    assert line.geometry_ == "minkowski"
    both = small("auto").fit([edge for i in range(12) for edge in ((i, i + 1), (i + 1, i))])
    assert both.geometry_ in ("euclidean", "hyperboloid")


def test_a_complete_graph_has_no_non_edges_to_validate_on():
    found = small("auto").fit(np.ones((12, 12)))
    assert found.valid_ is None
    assert "no non-edges" in found.reason_


def test_several_seeds_keep_the_best(graph):
    one = [small(seed=s).fit(graph, valid=split_edges(graph, 0.2, 0).valid) for s in (0, 1, 2)]
    best = small(seeds=3).fit(graph, valid=split_edges(graph, 0.2, 0).valid)
    scores = [e.embedding_.info["valid_ap"] for e in one]
    assert best.embedding_.info["valid_ap"] == pytest.approx(max(scores), abs=1e-5)


def test_seeds_share_a_checkpoint(graph, tmp_path):
    first = small(seeds=2, checkpoint=tmp_path / "run.ckpt").fit(graph)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.ckpt"]
    again = small(seeds=2, checkpoint=tmp_path / "run.ckpt").fit(graph)  # nothing left to train
    np.testing.assert_array_equal(first.embedding_.points, again.embedding_.points)


# Recipes


@pytest.mark.parametrize("geometry", MANIFOLDS)
def test_there_is_a_recipe_for_every_geometry(geometry):
    model, config = recipe(geometry, 4)
    assert model.manifold.dim == 4
    assert recipe(geometry, 4, LawLucas())[0].likelihood == LawLucas()
    for name, kind in LIKELIHOODS.items():
        assert type(recipe(geometry, 4, name)[0].likelihood) is type(kind())
    small_graph, large = cycle(10), DiGraph.from_arrays(np.arange(10**6), np.arange(10**6)[::-1])
    assert (
        recipe(geometry, 4, graph=large)[1].batch_size > recipe(geometry, 4, graph=small_graph)[1].batch_size
    )
    assert recipe(geometry, 4, graph=large)[1].epochs < recipe(geometry, 4, graph=small_graph)[1].epochs


def test_what_is_given_overrides_the_recipe(graph):
    found = small(batch_size=7, learning_rate=0.5, negatives=Negatives(target=1)).fit(graph)
    used = found.embedding_.info["config"]
    assert (used["epochs"], used["batch_size"], used["learning_rate"]) == (3, 7, 0.5)
    assert used["negatives"]["target"] == 1
    assert small(negatives=2).fit(graph).embedding_.info["config"]["negatives"]["uniform"] == 2


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
    odds = raw.decision_function(pairs)
    assert np.all(np.diff(odds[np.argsort(raw.predict_proba(pairs)[:, 1])]) >= 0)


def test_score_is_the_average_precision(graph):
    split = split_edges(graph, 0.1, 0.2, seed=2)
    found = small(epochs=20).fit(split.train, valid=split.valid)
    test = split.test
    pairs, labels = np.stack([test.sources, test.targets], axis=1), np.asarray(test.labels)
    expected = average_precision_score(labels, found.decision_function(pairs))
    for score in (found.score(split), found.score(test), found.score(pairs, labels.astype(int))):
        assert score == pytest.approx(expected)
    with pytest.raises(ValueError, match="1 .an edge. or 0 for each of the 2 pairs"):
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


def test_new_nodes_are_folded_in_and_their_edges_known(genes):
    grown = clone(genes).fit(GENES)
    points = grown.embedding_.points
    assert grown.add_nodes([("crp", "sodA"), ("sodA", "recA")]) is grown
    np.testing.assert_array_equal(grown.embedding_.points[: len(points)], points)
    assert {p.source for p in grown.top_sources("sodA")} == {"lexA", "recA", "umuD", "fis"}
    numbered = small().fit(cycle(10)).add_nodes([(10, 0)])
    assert 0 not in {p.target for p in numbered.top_targets(10)}


def test_a_saved_model_comes_back(genes, tmp_path):
    genes.save(tmp_path / "model")
    found = SpacetimeEmbedding.load(tmp_path / "model", GENES)
    assert (found.geometry_, found.reason_) == (genes.geometry_, genes.reason_)
    assert found.top_edges(5) == genes.top_edges(5)
    assert clone(found).fit(GENES).geometry_ == "minkowski"
    alone = SpacetimeEmbedding.load(tmp_path / "model")
    np.testing.assert_array_equal(alone.predict_proba(GENES), genes.predict_proba(GENES))
    with pytest.raises(ValueError, match=r"load\(path, graph=…\)"):
        alone.top_edges(5)
    Embedding.load(tmp_path / "model")


def test_labelled_pairs_go_by_number(genes):
    pairs = LabelledPairs.build(np.array([[0, 1]]), np.array([[1, 2]]))
    assert 0 < genes.score(pairs) <= 1
