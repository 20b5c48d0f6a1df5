"""Evaluation negatives are non-edges without loops, with the right ends and frequencies."""

import re

import numpy as np
import pytest
from any_graphs import as_set, graphs, random_graph
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import timelike as tl
from timelike import DiGraph
from timelike.datasets import duplication_divergence
from timelike.evaluation import negative_kinds
from timelike.evaluation.negative_kinds import NEGATIVE_KINDS, draw_negatives, suitable_negatives

GRAPH = duplication_divergence(seed=17)
EDGES = np.stack([GRAPH.sources, GRAPH.targets], axis=1)
NON_EDGES = np.argwhere(~GRAPH.has_edges(*np.indices((100, 100))) & ~np.eye(100, dtype=bool))


def draw(kind, positives=EDGES[::5], graph=GRAPH, **options):
    listed = NON_EDGES if kind == "listed" else None
    return draw_negatives(kind, graph, positives, listed=listed, **options)


@pytest.mark.parametrize("kind", NEGATIVE_KINDS)
def test_they_are_non_edges_and_depend_on_the_seed(kind):
    found = draw(kind, ratio=3, seed=1)
    assert found.dtype == np.int32
    assert not as_set(found) & as_set(GRAPH)
    assert (found[:, 0] != found[:, 1]).all()
    assert len(found) == (3 * len(EDGES[::5]) if kind != "reversed" else len(found))
    assert np.array_equal(found, draw(kind, ratio=3, seed=1))
    assert kind == "reversed" or not np.array_equal(found, draw(kind, ratio=3, seed=2))
    assert draw(kind, positives=np.zeros((0, 2), int)).shape == (0, 2)


@settings(max_examples=100)
@given(
    graphs(least=3, most=9), st.sampled_from([x for x in NEGATIVE_KINDS if x != "listed"]), st.integers(0, 99)
)
def test_in_any_graph_they_are_non_edges_or_refused(graph, kind, seed):
    edges = np.stack([graph.sources, graph.targets], axis=1)
    try:
        found = draw_negatives(kind, graph, edges, 2, seed)
    except ValueError as error:
        assume(not re.search("use another kind of negatives|it is complete", str(error)))
        raise
    assert len(found)
    assert not as_set(found) & as_set(graph)
    assert (found[:, 0] != found[:, 1]).all()


def test_each_keeps_the_end_it_should():
    kept = np.repeat(EDGES[::5], 4, axis=0)
    assert np.array_equal(draw("same_source")[:, 0], kept[:, 0])
    assert np.array_equal(draw("same_target")[:, 1], kept[:, 1])
    back = {(t, s) for s, t in as_set(EDGES[::5])}
    assert as_set(draw("reversed")) == back - as_set(GRAPH)
    assert as_set(draw("listed")) <= as_set(NON_EDGES)
    assert len(as_set(draw("listed"))) == 4 * len(EDGES[::5])


def chi_squared(counts, expected):
    used = expected > 0
    assert not counts[~used].any()
    return np.sum((counts - expected)[used] ** 2 / expected[used]) / used.sum()


@pytest.mark.parametrize(
    "use",
    [
        lambda seed: draw_negatives("uniform", GRAPH, GRAPH.pairs[:3], seed=seed),
        lambda seed: GRAPH.describe(seed),
        lambda seed: tl.datasets.planted(50, seed=seed),
    ],
)
def test_a_seed_is_a_whole_number(use):
    with pytest.raises(ValueError, match="seed is -1"):
        use(-1)


def test_frequencies():
    """χ² per degree of freedom against the exact probabilities of all non-edges; 1 ± 0.1 by chance."""
    graph = random_graph(40, 200)
    free = ~graph.has_edges(*np.indices((40, 40))) & ~np.eye(40, dtype=bool)
    leaving, entering = (np.bincount(x, minlength=40) for x in (graph.sources, graph.targets))
    edges = np.stack([graph.sources, graph.targets], axis=1)
    weights = {
        "uniform": free * 1.0,
        "active_source": free * (leaving > 0)[:, None],
        "active_target": free * (entering > 0),
        "degree": free * np.outer(leaving, entering),
        "same_source": free * (leaving / np.maximum(free.sum(axis=1), 1))[:, None],
        "same_target": free * (entering / np.maximum(free.sum(axis=0), 1)),
    }
    for kind, weight in weights.items():
        found = draw_negatives(kind, graph, edges, 400)
        counts = np.zeros((40, 40))
        np.add.at(counts, tuple(found.T), 1)
        assert 0.8 < chi_squared(counts, weight / weight.sum() * len(found)) < 1.2, kind


def test_a_hub_with_one_free_target_is_served():
    n = 5000
    star = DiGraph.from_arrays(np.zeros(n - 2, int), np.arange(2, n), n)  # 0 → 1 is the only one missing
    pairs = np.array([[0, 2]])
    assert as_set(draw_negatives("same_source", star, pairs)) == {(0, 1)}
    turned = DiGraph.from_arrays(star.targets, star.sources, n)
    assert as_set(draw_negatives("same_target", turned, pairs[:, ::-1])) == {(1, 0)}


def test_edges_of_a_root_above_all_have_no_non_edges_of_their_own():
    """A closure with a root, such as wordnet:mammals, can be validated with same_source negatives."""
    tree = tl.datasets.transitive_closure(tl.datasets.load("tree:branching=2,depth=3"))
    pairs = tree.pairs
    others = pairs[pairs[:, 0] != 0]
    found = draw_negatives("same_source", tree, pairs, ratio=2)
    assert found[:, 0].tolist() == np.repeat(others[:, 0], 2).tolist()
    assert not tree.has_edges(found[:, 0], found[:, 1]).any()
    turned = DiGraph.from_arrays(tree.targets, tree.sources, tree.num_nodes)
    back = draw_negatives("same_target", turned, pairs[:, ::-1], ratio=2)
    assert sorted(back[:, 1].tolist()) == sorted(found[:, 0].tolist())
    quick = {"dim": 3, "epochs": 1, "evidence": "none", "baselines": "none", "progress": False}
    model = tl.SpacetimeEmbedding(settings="hierarchy", valid_fraction=0.4, **quick)
    assert "calibrated on" in model.fit(tree).embedding_.info["calibration"]


def test_too_few_to_be_found_is_an_error(monkeypatch):
    monkeypatch.setattr(negative_kinds, "MAX_BATCH", 64)
    n = 600
    s, t = np.nonzero(~np.eye(n, dtype=bool))
    with pytest.raises(ValueError, match=r"uniform: DiGraph.* too few"):
        draw_negatives("uniform", DiGraph.from_arrays(s[1:], t[1:], n), np.array([[0, 2]]))


def test_a_star_has_no_degree_matched_non_edges():
    star = DiGraph.from_arrays(np.zeros(9, int), np.arange(1, 10))
    with pytest.raises(ValueError, match=r"degree: DiGraph.* no non-edges"):
        draw_negatives("degree", star, np.array([[0, 1]]))


def test_names_in_errors():
    named = DiGraph.from_edges([("a", "b"), ("a", "c"), ("b", "c")])
    with pytest.raises(ValueError, match=r"same_source: .*'a'"):
        draw_negatives("same_source", named, np.array([[0, 1]]))
    with pytest.raises(ValueError, match=r"same_target: .*'c'"):
        draw_negatives("same_target", named, np.array([[0, 2]]))


@pytest.mark.parametrize(("turned", "suits"), [(False, "active_source"), (True, "active_target")])
def test_suitable_negatives_can_be_drawn(turned, suits):
    """A few active nodes get negatives of their own, unless they link to most others."""

    def graph(leaves):
        star = np.stack([np.zeros(leaves, int), np.arange(1, leaves + 1)])
        return DiGraph.from_arrays(*(star[::-1] if turned else star), 31)

    assert suitable_negatives(graph(15)) == suits
    assert suitable_negatives(graph(16)) == "uniform"
    assert suitable_negatives(graph(0)) == "uniform"
    for leaves in (15, 30):
        assert len(draw(suitable_negatives(graph(leaves)), [[0, 1]], graph(leaves))) == 4
