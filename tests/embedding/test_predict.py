"""Every ranking equals that of a full table and a plain sort."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from embeddings import SOME_MODELS, make, make_model, probabilities, ranked
from hypothesis import given, settings
from hypothesis import strategies as st
from random_points import random_graph

from timelike import DiGraph, Embedding
from timelike.core.model import Model
from timelike.embedding import exact_ranking
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import AntiDeSitter, Cylinder, Flat, Minkowski, PseudoHyperboloid, Sphere, pairwise


def assert_same_ranking(found, expected, table):
    """The same order, up to pairs whose scores differ by rounding."""
    assert len(found) == len(expected)
    got = [table[x.source, x.target] for x in found]
    np.testing.assert_allclose(got, table.flat[expected], rtol=2e-5)
    np.testing.assert_allclose([x.probability for x in found], got, rtol=2e-5)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("names", [None, tuple("abcdefghij")])
def test_of_two_nodes_a_number(names):
    embedding = make(nodes=10, names=names)
    a, b = (embedding.name(i) for i in (3, 7))
    whole = embedding.prob([a], [b])
    assert whole.shape == (1,)
    assert type(embedding.prob(a, b)) is type(embedding.log_prob(a, b)) is float
    assert embedding.prob(a, b) == pytest.approx(whole[0], rel=1e-6)
    by_number = embedding.log_prob_by_number(np.array([3]), np.array([7]))
    assert embedding.log_prob(a, b) == by_number[0]
    with pytest.raises(ValueError, match="targets has node 10"):
        embedding.log_prob_by_number(np.array([3]), np.array([10]))


@pytest.mark.parametrize(("manifold", "likelihood"), SOME_MODELS)
def test_tops_equal_a_full_sort(manifold, likelihood):
    embedding = make(make_model(manifold, likelihood), nodes=40)
    table, graph = probabilities(embedding), random_graph(40, 200)
    known = table.copy()
    known[graph.sources, graph.targets] = -1
    for exclude, scores in ((None, table), (graph, known)):
        assert_same_ranking(embedding.top_edges(25, exclude=exclude), ranked(scores, 25), table)
        row = [7 * 40 + i for i in ranked(scores[7], 12)]
        assert_same_ranking(embedding.top_targets(7, 12, exclude=exclude), row, table)
        column = [i * 40 + 7 for i in ranked(scores[:, 7], 12)]
        assert_same_ranking(embedding.top_sources(7, 12, exclude=exclude), column, table)


def test_nodes_that_training_never_saw_as_sources_are_not_proposed():
    graph = DiGraph.from_arrays(np.repeat(np.arange(6), 5), np.arange(6, 36), 40)
    drawn = {"same_source": 2, "active_source": 4, "uniform": 0}
    plain = make(nodes=40)
    found = dataclasses.replace(plain, info={"config": {"negatives": drawn}})
    assert found.strangers(graph).tolist() == list(range(6, 40))
    assert {x.source for x in found.top_sources(30, 10, exclude=graph)} == {0, 1, 2, 3, 5}
    assert {x.source for x in found.top_edges(60, exclude=graph)} <= set(range(6))
    assert {x.source for x in found.top_edges(60, exclude=graph, sources=[7])} == {7}  # as asked for
    with pytest.raises(TypeError, match=r"node has 'a'.*39"):
        found.top_targets("a")
    assert found.top_sources(30, 10) == plain.top_sources(30, 10)
    drawn["uniform"] = 1
    assert not len(found.strangers(graph))
    assert found.top_edges(60, exclude=graph) == plain.top_edges(60, exclude=graph)


def test_nodes_that_training_never_saw_as_targets_are_not_proposed():
    graph = DiGraph.from_arrays(np.arange(6, 36), np.repeat(np.arange(6), 5), 40)
    found = dataclasses.replace(
        make(nodes=40), info={"config": {"negatives": {"active_target": 4, "reversed": 1}}}
    )
    assert not len(found.strangers(graph))
    assert found.strangers(graph, incoming=True).tolist() == list(range(6, 40))
    assert {x.target for x in found.top_targets(30, 10, exclude=graph)} == {0, 1, 2, 3, 5}
    assert {x.target for x in found.top_edges(60, exclude=graph)} <= set(range(6))
    assert {x.target for x in found.top_edges(60, exclude=graph, targets=[7])} == {7}  # as asked for


@pytest.mark.parametrize(
    "manifold",
    [
        *(Flat(2, 3), Minkowski(1), Cylinder(Flat(0, 1), 2.0, 0)),
        *(PseudoHyperboloid(3, 2, 0.7), AntiDeSitter(3, arc=0), Sphere(2)),
    ],
    ids=str,
)
def test_block_formulas_equal_those_of_one_pair_in_float64(manifold, x64):
    noise = np.random.default_rng(0).uniform(-1, 1, (2, 50, manifold.dim))
    start = jax.vmap(lambda c: manifold.exp(manifold.origin(), manifold.from_tangent_coordinates(c)))
    p, q = (jax.jit(start)(jnp.asarray(x)).T for x in noise)
    found = jax.jit(pairwise.separations)(manifold, p, q)
    one_by_one = jax.jit(pairwise.separations.dispatch(object))  # what a new manifold gets
    for a, b in zip(found, one_by_one(manifold, p, q), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_many_tiles_and_chunks(monkeypatch):
    monkeypatch.setattr(exact_ranking, "SOURCES", 8)
    monkeypatch.setattr(exact_ranking, "TARGETS", 16)
    monkeypatch.setattr(exact_ranking, "LISTED", 64)
    embedding, graph = make(nodes=83), random_graph(83, 400)
    table = probabilities(embedding)
    known = table.copy()
    known[graph.sources, graph.targets] = -1
    assert_same_ranking(embedding.top_edges(300, exclude=graph), ranked(known, 300), table)
    some = np.isin(np.arange(83), [3, 4, 17, 60, 82])
    known[~some] = known[:, ::7] = -1
    found = embedding.top_edges(
        300, exclude=graph, sources=[82, 3, 4, 17, 60, 3], targets=np.delete(np.arange(83), np.s_[::7])
    )
    assert_same_ranking(found, ranked(known, 300), table)
    sources, targets = np.divmod(np.arange(83 * 83 - 5), 83)
    off = sources != targets
    np.testing.assert_allclose(embedding.prob(sources, targets)[off], table.flat[: off.size][off], rtol=2e-5)


@pytest.mark.parametrize("nodes", [2, 40])
def test_ties_go_by_node_number(nodes, monkeypatch):
    monkeypatch.setattr(exact_ranking, "SOURCES", 8)
    monkeypatch.setattr(exact_ranking, "TARGETS", 16)
    embedding = make(nodes=nodes)
    embedding = dataclasses.replace(embedding, points=np.repeat(embedding.points[:1], nodes, axis=0))
    pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
    assert [x[:2] for x in embedding.top_edges(50)] == pairs[:50]
    assert [x.target for x in embedding.top_targets(1, 5)] == [i for i in range(nodes) if i != 1][:5]
    assert [x.node for x in embedding.most_similar(1, 5)] == [i for i in range(nodes) if i != 1][:5]


@given(
    st.lists(st.sampled_from([-np.inf, -2.0, -1.0, 0.0, 3.0]), max_size=40),
    st.integers(1, 50),
    st.randoms(use_true_random=False),
)
@settings(max_examples=200)
def test_largest_is_a_sort(values, count, random):
    values, ids = np.array(values), list(range(len(values)))
    random.shuffle(ids)
    expected = sorted(range(len(values)), key=lambda i: (-values[i], ids[i]))[:count]
    assert exact_ranking._largest(values, np.array(ids, int), count).tolist() == expected


def test_more_than_there_are():
    embedding = make(nodes=3)
    assert len(embedding.top_edges(100)) == 6
    assert len(embedding.top_targets(0, 100)) == len(embedding.most_similar(0, 100)) == 2
    full = DiGraph.from_edges([(a, b) for a in range(3) for b in range(3)], range(3))
    full = DiGraph(full.sources, full.targets, 3)
    assert embedding.top_edges(5, exclude=full) == embedding.top_targets(1, 5, exclude=full) == []


def test_one_node_has_no_edges():
    assert make(nodes=1).top_edges() == make(nodes=1).top_targets(0) == []


def test_names_go_in_and_come_out():
    names = tuple(f"gene {i}" for i in range(30))
    embedding, plain = make(names=names), make()
    for method, arguments in (("top_targets", (4,)), ("top_sources", (4,)), ("most_similar", (4,))):
        by_name = getattr(embedding, method)(names[4], 5)
        expected = [
            type(x)(*(names[v] if type(v) is int else v for v in x))
            for x in getattr(plain, method)(*arguments, 5)
        ]
        assert by_name == expected
    assert embedding.top_edges(3)[0].source in names
    with pytest.raises(ValueError, match=r"node: .*'gene 99'.* gene"):
        embedding.top_targets("gene 99")


def test_names_are_looked_up_once(tmp_path):
    make(names=np.array([f"gene {i}" for i in range(30)])).save(tmp_path / "model")
    embedding = Embedding.load(tmp_path / "model")
    assert embedding.top_targets("gene 4", 1)[0].source == "gene 4"
    table = embedding.names._numbers
    embedding.top_edges(1, sources=["gene 3", "gene 5"])
    assert embedding.names._numbers is table


def test_a_known_graph_is_matched_by_name():
    names = tuple("abcdefgh")
    embedding = make(nodes=8, names=names)
    known = DiGraph.from_edges([("h", "b"), ("stranger", "b"), ("a", "h"), ("b", "h")])
    found = embedding.top_edges(100, exclude=known)
    assert {x[:2] for x in found} == {(a, b) for a in names for b in names if a != b} - {
        ("h", "b"),
        ("a", "h"),
        ("b", "h"),
    }
    assert {x.source for x in embedding.top_sources("h", 9, exclude=known)} == set("cdefg")


@pytest.mark.parametrize("likelihood", ["triple-fermi-dirac", "fermi-dirac"])
def test_similar_nodes_in_minkowski_are_near_in_time_and_space(likelihood):
    embedding = make(make_model("minkowski", likelihood, 4), nodes=60)
    delta = embedding.points.astype(np.float64) - embedding.points[5]
    interval = np.sum(delta[:, 1:] ** 2, axis=1) - delta[:, 0] ** 2
    distance = np.sqrt(np.abs(interval) + 2 * delta[:, 0] ** 2)
    order = [i for i in np.argsort(distance) if i != 5][:8]
    found = embedding.most_similar(5, 8)
    assert [x.node for x in found] == order
    np.testing.assert_allclose([x.distance for x in found], distance[order], rtol=1e-5)


def test_similar_nodes_on_a_cylinder_are_near_across_the_seam():
    points = np.array([[0.05, 0], [9.95, 0], [1.0, 0], [5.0, 0]], np.float32)
    model = Model(Cylinder(Minkowski(2), 10.0), TripleFermiDirac())
    embedding = Embedding(model, points, None, {}, {})
    assert [x.node for x in embedding.most_similar(0)] == [1, 2, 3]


def test_similarity_is_the_distance_in_a_riemannian_space():
    embedding = make(make_model("hyperboloid", dim=3), nodes=20)
    distance = jax.jit(jax.vmap(embedding.model.manifold.distance, (None, 0)))
    expected = np.asarray(distance(embedding.points[3], embedding.points))
    for node, found in embedding.most_similar(3, 19):
        np.testing.assert_allclose(found, expected[node], rtol=1e-4)


@pytest.mark.parametrize("k", [0, -1, 1.5, "3", True])
def test_k_is_a_whole_number(k):
    for ask in (make().top_edges, lambda k: make().top_targets(0, k), lambda k: make().most_similar(0, k)):
        with pytest.raises(ValueError, match=rf"k is {k!r};"):
            ask(k)


def test_wrong_graphs_to_exclude():
    embedding = make(nodes=5)
    with pytest.raises(ValueError, match=r"exclude has 6 nodes.* 5"):
        embedding.top_edges(3, exclude=random_graph(6, 4))
    with pytest.raises(TypeError, match=r"exclude is \[\(0, 1\)\].*DiGraph"):
        embedding.top_targets(0, 3, exclude=[(0, 1)])


@pytest.mark.parametrize("incoming", [False, True])
def test_a_gpu_ranks_in_blocks_as_a_full_sort_does(monkeypatch, incoming):
    model = Model(Minkowski(3), TripleFermiDirac())
    points = np.random.default_rng(0).normal(size=(70, 3)).astype(np.float32)
    columns = jnp.asarray(np.tile(points, (4, 1)).T)  # every score four times, in different blocks
    without = np.array([5, 75, 11])
    wanted = exact_ranking.best_of_node(model, columns, 5, 9, without, incoming)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(exact_ranking, "RANKED", 64)
    found = exact_ranking.best_of_node(model, columns, 5, 9, without, incoming)
    np.testing.assert_array_equal(found[0], wanted[0])
    np.testing.assert_array_equal(found[1], wanted[1])
