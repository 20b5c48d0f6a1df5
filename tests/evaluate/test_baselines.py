"""Baselines against dense matrices and networkx."""

import networkx as nx
import numpy as np
import pytest
from any_graphs import random_graph

from timelike import DiGraph
from timelike.datasets import chain, duplication_divergence
from timelike.estimator import baseline_scores, recipes
from timelike.estimator.baseline_scores import evaluate_baselines
from timelike.evaluation import DegreeProduct, Katz, common_neighbours, heuristics
from timelike.evaluation.pair_evaluation import evaluate
from timelike.evaluation.splits import split_edges

GRAPH = random_graph(40, 200)
ALL = [x.reshape(-1) for x in np.indices((40, 40))]


def dense(graph=GRAPH):
    matrix = np.zeros((graph.num_nodes, graph.num_nodes))
    matrix[graph.sources, graph.targets] = 1
    return matrix


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


@pytest.mark.parametrize("entries", [1 << 23, 20_000, 500])
def test_katz(monkeypatch, entries):
    monkeypatch.setattr(heuristics, "ENTRIES", entries)
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
    for make in (DegreeProduct, Katz, common_neighbours):
        assert make(graph).score([0, 0, 1], [1, 2, 2]).argmax() == 0
        assert make(graph).score([], []).shape == (0,)


def test_all_go_through_the_same_evaluation():
    split = split_edges(duplication_divergence(seed=17))
    found = evaluate_baselines(split.train, split)
    assert list(found) == ["degree product", "common neighbours", "Katz"]
    assert found["degree product"] == evaluate(DegreeProduct(split.train), split)
    by_hand = evaluate_baselines(split.train, split.test, valid=split.valid, known=split.graph)
    assert by_hand == found
    # Against uniform non-edges degrees alone do well; against degree-matched ones they cannot.
    assert found["degree product"].average_precision > 0.4
    matched = split_edges(duplication_divergence(seed=17), negatives="degree")
    assert evaluate(DegreeProduct(matched.train), matched).roc_auc == pytest.approx(0.5, abs=0.1)
    with pytest.raises(ValueError, match=r"names has 'katz'; baselines are degree product,.*Katz"):
        evaluate_baselines(split.train, split, names=["katz"])


def test_a_large_graph_is_cut_short(monkeypatch):
    """Fewer epochs, then fewer edges; it is said, and is the same every time."""
    graph, said = duplication_divergence(seed=17, nodes=40), []
    config = recipes.recipe("euclidean", graph=graph)[1]
    for visits in (10**6, 3 * graph.num_edges, 20):
        monkeypatch.setattr(baseline_scores, "VISITS", visits)
        part, short = baseline_scores._cut_short(graph, config, said.append)
        assert part.num_edges * short.epochs <= visits
        assert part.num_edges == min(graph.num_edges, visits)
        again, _ = baseline_scores._cut_short(graph, config, said.append)
        assert np.array_equal(again.targets, part.targets)
    edges = graph.num_edges
    assert said[::2] == [
        f"training the Euclidean baseline on {edges} edges, epochs: 150",
        f"training the Euclidean baseline on {edges} edges, epochs: 3 of 150: the graph is large",
        f"training the Euclidean baseline on 20 of {edges} edges, epochs: 1 of 150: the graph is large",
    ]


@pytest.mark.parametrize(
    ("options", "says"), [({"beta": 0}, "Katz: beta is 0"), ({"lengths": (0, 1)}, "Katz: lengths is 0")]
)
def test_mistakes(options, says):
    with pytest.raises(ValueError, match=says):
        Katz(GRAPH, **options)
