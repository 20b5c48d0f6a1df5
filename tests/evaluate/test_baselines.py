"""Baselines against dense matrices and networkx."""

import functools

import networkx as nx
import numpy as np
import pytest
from any_graphs import random_graph

from timelike import DiGraph
from timelike.baselines import MODELS
from timelike.datasets import chain, duplication_divergence
from timelike.estimator import TRAINED, UNTRAINED, baseline_scores, recipes
from timelike.estimator.baseline_names import baseline_names, beaten
from timelike.estimator.baseline_scores import BASELINES, evaluate_baselines
from timelike.evaluation import (
    DegreeProduct,
    Katz,
    Paths,
    Reachability,
    Svd,
    TimesOutDegree,
    common_neighbours,
    l3,
    path_counts,
    reciprocity,
)
from timelike.evaluation.pair_evaluation import evaluate
from timelike.evaluation.splits import split_edges

GRAPH = random_graph(40, 200)
ALL = [x.reshape(-1) for x in np.indices((40, 40))]


def dense(graph=GRAPH, normalised=False):
    matrix = np.zeros((graph.num_nodes, graph.num_nodes))
    matrix[graph.sources, graph.targets] = 1
    if not normalised:
        return matrix
    leaving, entering = (np.maximum(matrix.sum(axis), 1) for axis in (1, 0))
    return matrix / np.sqrt(leaving)[:, None] / np.sqrt(entering)


def test_degree_product():
    net = nx.DiGraph(zip(GRAPH.sources.tolist(), GRAPH.targets.tolist(), strict=True))
    net.add_nodes_from(range(40))
    expected = [
        (net.out_degree(s) + 1) * (net.in_degree(t) + 1) for s, t in zip(*map(list, ALL), strict=True)
    ]
    assert DegreeProduct(GRAPH).score(*ALL).tolist() == expected


def test_common_neighbours_follow_the_arrows():
    expected = np.linalg.matrix_power(dense(), 2).reshape(-1)
    assert np.array_equal(common_neighbours(GRAPH).score(*ALL), expected)
    assert common_neighbours(chain(3)).score([0, 2, 0], [2, 0, 1]).tolist() == [1, 0, 0]


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("pattern", [">", "<", ">>", "><", "<>", "><>", "<><", ">>>", "<>>><"])
def test_paths_are_products_of_matrices(pattern, normalised):
    matrix = dense(normalised=normalised)
    steps = ({">": matrix, "<": matrix.T}[arrow] for arrow in pattern)
    expected = functools.reduce(np.matmul, steps).reshape(-1)
    found = Paths(GRAPH, pattern, normalised).score(*ALL)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-14)
    order = np.random.default_rng(0).permutation(len(found))
    mixed = Paths(GRAPH, pattern, normalised).score(ALL[0][order], ALL[1][order])
    np.testing.assert_allclose(mixed, found[order], rtol=1e-12)


def test_sampled_paths_have_the_expected_counts(monkeypatch):
    """With little work allowed, neighbours are sampled; counts stay right on average, and repeat."""
    star = DiGraph.from_arrays([0] * 300 + list(range(1, 301)), [*range(1, 301)] + [301] * 300)
    exact, sampled = Paths(star, ">>"), Paths(star, ">>", work=1000)
    assert exact.score([0], [301]).tolist() == [300]
    assert exact.sample[0] is None
    assert sampled.sample[0] is not None
    assert sampled.score([0], [301]).tolist() == sampled.score([0], [301]).tolist()
    monkeypatch.setattr(path_counts, "ENTRIES", 50)  # several blocks
    many = Paths(random_graph(200, 8000), "><>")
    s, t = np.random.default_rng(1).integers(0, 200, (2, 400))
    few = Paths(many.graph, "><>", work=200_000)
    assert few.sample[0] is not None
    assert few.score(s, t).mean() == pytest.approx(many.score(s, t).mean(), rel=0.1)


def test_l3_times_degree_and_reciprocity():
    leaving = dense().sum(1) + 1
    scaled = TimesOutDegree(GRAPH, l3(GRAPH)).score(*ALL)
    np.testing.assert_allclose(scaled, l3(GRAPH).score(*ALL) * leaving[ALL[0]])
    assert np.array_equal(reciprocity(GRAPH).score(*ALL), dense().T.reshape(-1))


def test_normalised_l3_is_counted_once_for_both_baselines_that_use_it(monkeypatch):
    counted, count = [], Paths.score

    def counting(self, sources, targets):
        counted.append((self.pattern, self.normalised, len(sources)))
        return count(self, sources, targets)

    monkeypatch.setattr(Paths, "score", counting)
    split = split_edges(GRAPH, 0.1, 0.1)
    found = evaluate_baselines(split.train, split, names="L3 normalised, L3 x out-degree")
    assert len(found) == 2
    assert {one[:2] for one in counted} == {("><>", True)}
    assert len(counted) <= 3  # the pairs of validation and of the test, and the test edges turned round
    scaled = evaluate(TimesOutDegree(split.train, l3(split.train)), split)
    assert found["L3 × out-degree"] == scaled
    assert baseline_scores._l3.cache_info().currsize == 0


@pytest.mark.parametrize("back", [False, True])
def test_reachability_is_the_inverse_length_of_a_shortest_path(back):
    """Against networkx, with few descendants and with few ancestors."""
    rng = np.random.default_rng(3)
    net = nx.DiGraph((int(rng.integers(0, node)), node) for node in range(1, 30))
    net.add_edges_from([(3, 20), (5, 28)])  # several parents
    net = net.reverse() if back else net
    graph = DiGraph.from_arrays(*zip(*net.edges, strict=True), 30)
    s, t = (x.reshape(-1) for x in np.indices((30, 30)))
    lengths = dict(nx.all_pairs_shortest_path_length(net))
    expected = [1 / lengths[a][b] if a != b and b in lengths[a] else 0 for a, b in zip(s, t, strict=True)]
    assert Reachability(graph).score(s, t).tolist() == expected


def test_walks_are_bounds_on_the_nodes_reached():
    graph = DiGraph.from_arrays(
        [0, 0, 1, 2, 4, 5, 6], [1, 2, 3, 3, 5, 4, 4]
    )  # a diamond, and a cycle behind 6
    nodes = np.arange(7)
    visits, forward = Reachability(graph).visits(nodes[:4], nodes[:4])
    assert forward
    assert visits[:4].tolist() == [5, 2, 2, 1]  # node 3 is reached by two walks from 0
    assert visits[4:].tolist() == [7, 7, 7]
    deep = chain(20_000)
    assert Reachability(deep).visits(np.array([5]), np.array([7]))[0][7] == 8  # 7 and its ancestors
    assert Reachability(deep).score([0, 7], [5, 3]).tolist() == [1 / 5, 0]


@pytest.mark.parametrize("normalised", [False, True])
def test_svd(normalised):
    matrix = dense(normalised=normalised)
    left, values, right = np.linalg.svd(matrix)
    whole = Svd(GRAPH, 40, normalised)
    np.testing.assert_allclose(whole.score(*ALL), matrix.reshape(-1), atol=1e-8)
    expected = (left[:, :5] * values[:5]) @ right[:5]
    np.testing.assert_allclose(whole.cut(5).score(*ALL), expected.reshape(-1), atol=1e-8)


def test_a_dot_product_is_that_of_source_and_target_vectors():
    model = MODELS["dot-product"](3)
    p, q = np.random.default_rng(0).normal(size=(2, 8)).astype(np.float32)
    x = p[0] + q[1] + p[2:5] @ q[5:8]
    assert model.log_prob(p, q) == pytest.approx(-np.log1p(np.exp(-x)), rel=1e-6)
    assert model.log_prob_not(p, q) == pytest.approx(-np.log1p(np.exp(x)), rel=1e-6)


@pytest.mark.parametrize("entries", [1 << 23, 20_000, 500])
def test_katz(monkeypatch, entries):
    monkeypatch.setattr(path_counts, "ENTRIES", entries)
    for lengths in [(1, 2, 3, 4), (3,), (1, 5)]:
        expected = sum(0.1**k * np.linalg.matrix_power(dense(), k) for k in lengths)
        found = Katz(GRAPH, 0.1, lengths).score(*ALL)
        np.testing.assert_allclose(found, expected.reshape(-1), rtol=1e-12)


def test_truncated_katz_nears_the_whole_sum():
    beta = 0.2 / np.abs(np.linalg.eigvals(dense())).max()
    whole = np.linalg.inv(np.eye(40) - beta * dense()) - np.eye(40)
    found = Katz(GRAPH, beta, tuple(range(1, 25))).score(*ALL)
    np.testing.assert_allclose(found, whole.reshape(-1), rtol=1e-9, atol=1e-16)


def test_empty():
    graph = DiGraph.from_arrays([0], [1], 3)
    assert DegreeProduct(graph).score([0, 0, 1], [1, 2, 2]).tolist() == [4, 2, 1]
    for make in (DegreeProduct, Katz, common_neighbours, l3, reciprocity, Reachability):
        assert make(graph).score([0, 0, 1], [1, 2, 2]).argmax() == 0
        assert make(graph).score([], []).shape == (0,)


def test_all_go_through_the_same_evaluation():
    split = split_edges(duplication_divergence(seed=17))
    found = evaluate_baselines(split.train, split)
    assert list(found) == [name for name in UNTRAINED if name != "reachability"]  # there are cycles
    assert found["degree product"] == evaluate(DegreeProduct(split.train), split)
    by_hand = evaluate_baselines(split.train, split.test, valid=split.valid, known=split.graph)
    assert by_hand == found
    # Against uniform non-edges degrees alone do well; against degree-matched ones they cannot.
    assert found["degree product"].average_precision > 0.4
    matched = split_edges(duplication_divergence(seed=17), negatives="degree")
    assert evaluate(DegreeProduct(matched.train), matched).roc_auc == pytest.approx(0.5, abs=0.1)
    assert list(evaluate_baselines(split.train, split, names=["katz"])) == ["Katz"]
    with pytest.raises(ValueError, match=r"baselines has 'l4'"):
        evaluate_baselines(split.train, split, names=["l4"])
    other = split_edges(duplication_divergence(seed=17, nodes=50))
    with pytest.raises(ValueError, match=r"pairs is Split.*of other nodes"):
        evaluate_baselines(split.train, other)


def test_a_large_graph_is_cut_short(monkeypatch):
    """Fewer epochs, then fewer edges; it is said, and is the same every time."""
    graph, said = duplication_divergence(seed=17, nodes=40), []
    config = recipes.recipe("euclidean", graph=graph)[1]
    for visits in (10**6, 3 * graph.num_edges, 20):
        monkeypatch.setattr(baseline_scores, "VISITS", visits)
        part, short = baseline_scores._cut_short("euclidean", graph, config, said.append)
        assert part.num_edges * short.epochs <= visits
        assert part.num_edges == min(graph.num_edges, visits)
        again, _ = baseline_scores._cut_short("euclidean", graph, config, lambda text: None)
        assert np.array_equal(again.targets, part.targets)
    edges = graph.num_edges
    assert len(said) == 2
    assert f"{edges} edges" in said[0]
    assert "3 of 150" in said[0]
    assert f"20 of {edges}" in said[1]
    assert "1 of 150" in said[1]


def test_names_of_baselines():
    assert baseline_names("all") == tuple(BASELINES) == (*UNTRAINED, *TRAINED)
    assert baseline_names("None") == baseline_names([]) == ()
    with pytest.raises(TypeError, match="baselines is None"):
        baseline_names(None)
    assert baseline_names("L3-normalised, svd,DOT_PRODUCT") == ("L3 normalised", "SVD", "dot product")
    with pytest.raises(ValueError, match=r"baselines has 'l4'.*L3-x-out-degree"):
        baseline_names("l3,l4")


def test_a_beaten_model_is_named():
    assert beaten(0.5, {"L3": 0.4}, "here") is None
    assert beaten(None, {"L3": 0.4}, "here") is None
    said = beaten(0.5, {"L3": 0.6, "SVD": 0.7}, "here")
    assert "SVD ranks here better" in said
    assert "0.700 against 0.500" in said


@pytest.mark.parametrize(
    ("options", "says"), [({"beta": 0}, "Katz: beta is 0"), ({"lengths": (0, 1)}, "Katz: lengths is 0")]
)
def test_mistakes(options, says):
    with pytest.raises(ValueError, match=says):
        Katz(GRAPH, **options)
    with pytest.raises(ValueError, match="pattern is '>-'"):
        Paths(GRAPH, ">-")
    with pytest.raises(ValueError, match="rank is 0"):
        Svd(GRAPH, 0)
