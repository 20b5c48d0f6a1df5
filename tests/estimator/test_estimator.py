"""The estimator: inputs of every kind and scikit-learn's conventions."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_fits import GENES, PLAIN, small

from timelike import SpacetimeEmbedding
from timelike.estimator.inputs import read_graph
from timelike.evaluation.splits import split_edges

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
        ({"valid_fraction": 1.5}, GENES, "valid_fraction is 1.5"),
        ({"valid_fraction": "a tenth"}, GENES, "valid_fraction is 'a tenth'"),
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
        "ancestors": (0,),
        "descendants": (0,),
        "common_ancestors": (0, 1),
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
        "check_dtype_object",
        "check_estimators_nan_inf",
        "check_f_contiguous_array_estimator",
        "check_fit2d_predict1d",
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
) | {"check_transformer_preserve_dtypes": "points are in single precision"}


class OfMatrices(SpacetimeEmbedding):
    """Declares that rows and columns are samples, so that the checks make square matrices."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = True
        return tags


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.* edges (have|are known)")
@pytest.mark.filterwarnings("ignore:.* has all possible edges")  # they draw full matrices
@parametrize_with_checks(
    [
        OfMatrices("euclidean", **{**PLAIN, "likelihood": "fermi-dirac", "dim": 2, "epochs": 1})
    ],  # quickly compiled for every shape
    expected_failed_checks=lambda _: BY_PAIRS,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
