"""Ancestors, descendants and common ancestors from light cones, against the tree that they embed."""

import dataclasses

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import timelike as tl
from timelike.datasets.families import tree
from timelike.embedding.cone_relatives import upward
from timelike.embedding.embedding import Embedding
from timelike.hierarchy import embed_hierarchy
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import AntiDeSitter, CylindricalMinkowski, Euclidean, Flat, Minkowski


def drawn_tree(nodes: int, seed: int) -> nx.DiGraph:
    rng = np.random.default_rng(seed)
    return nx.DiGraph([(int(rng.integers(0, i)), i) for i in range(1, nodes)])


def embedded(graph: nx.DiGraph, turned: bool = False, dim: int = 3) -> Embedding:
    edges = [edge[::-1] if turned else edge for edge in graph.edges]
    return embed_hierarchy(tl.DiGraph.from_edges(edges, nodes=sorted(graph)), dim)


@given(st.integers(3, 40), st.integers(0, 10**6), st.booleans())
@settings(max_examples=15, deadline=None)
def test_relatives_are_those_of_the_tree(nodes, seed, turned):
    """In whatever direction the edges point, steps are those of the tree, and time grows along each path."""
    graph = drawn_tree(nodes, seed)
    embedding = embedded(graph, turned)
    embedding = dataclasses.replace(embedding, info={"upward": turned})  # a path has two directions
    rng = np.random.default_rng(seed)
    for node in rng.integers(0, nodes, 5).tolist():
        up, down = embedding.ancestors(node), embedding.descendants(node)
        assert {x.node for x in up} == nx.ancestors(graph, node)
        assert [x.steps for x in up] == list(range(1, len(up) + 1))
        assert all(np.diff([0, *(x.time for x in up)]) > 0)
        lengths = nx.single_source_shortest_path_length(graph, node)
        assert {x.node: x.steps for x in down} == {key: value for key, value in lengths.items() if value}
        assert [x.steps for x in down] == sorted(x.steps for x in down)
        nearest = embedding.descendants(node, 3)
        assert [(x.node, x.steps, x.time) for x in nearest] == [(x.node, x.steps, x.time) for x in down[:3]]
        # Batches of other sizes may round probabilities in another way.
        assert [x.probability for x in nearest] == pytest.approx([x.probability for x in down[:3]], rel=1e-5)
        other = int(rng.integers(0, nodes))
        lowest = nx.lowest_common_ancestor(graph, node, other)
        assert [x.node for x in embedding.common_ancestors(node, other)] == [lowest]


def test_several_parents_have_several_lowest_common_ancestors():
    """a and b both have the parents p and q, whose parent is r."""
    graph = nx.DiGraph([("r", "p"), ("r", "q"), *((x, y) for x in "pq" for y in "ab")])
    points = np.array([[0, 0, 0], [1, -1, 0], [1, 1, 0], [3, 0, 1], [3, 0, -1]], float)
    model = tl.Model(Minkowski(3), TripleFermiDirac())
    embedding = Embedding(model, points, list("rpqab"), {}, {"upward": False})
    assert {x.node for x in embedding.common_ancestors("a", "b")} == {"p", "q"}
    assert len(embedding.common_ancestors("a", "b", 1)) == 1
    assert [x.node for x in embedding.ancestors("a")][-1] == "r"
    assert {x.node for x in embedding.descendants("r")} == nx.descendants(graph, "r")
    shared = embedding.common_ancestors("a", "b")[0]
    assert shared.probability == pytest.approx(
        min(embedding.prob(shared.node, "a"), embedding.prob(shared.node, "b"))
    )
    assert embedding.common_ancestors("p", "b")[0][:2] == ("p", pytest.approx(embedding.prob("p", "b")))


def test_a_threshold_replaces_the_cone():
    embedding = embedded(drawn_tree(30, 0))
    chances = embedding.prob(np.arange(29), np.full(29, 29))
    found = embedding.ancestors(29, threshold=0.01)
    assert {x.node for x in found} == set(np.flatnonzero(chances >= 0.01).tolist())
    assert {x.node for x in embedding.ancestors(29, threshold=1e-9)} > {
        x.node for x in embedding.ancestors(29)
    }
    for wrong in (0, 1.1):
        with pytest.raises(ValueError, match=f"threshold is {wrong}"):
            embedding.ancestors(29, threshold=wrong)


@pytest.mark.parametrize("turned", [False, True])
def test_the_direction_is_found_from_the_record_the_graph_or_the_cones(turned):
    graph = tree(3, 4)
    if turned:
        graph = tl.DiGraph.from_arrays(graph.targets, graph.sources, graph.num_nodes)
    embedding = embed_hierarchy(graph, 3)
    assert embedding.info["upward"] == turned
    unrecorded = dataclasses.replace(embedding, info={})
    assert upward(unrecorded) == upward(unrecorded, graph) == turned
    assert unrecorded.ancestors(80) == unrecorded.ancestors(80, graph=graph) == embedding.ancestors(80)
    assert {x.node for x in embedding.ancestors(80)} == {26, 8, 2, 0}


@pytest.mark.parametrize("space", [AntiDeSitter(3), CylindricalMinkowski(3)], ids=["quadric", "cylinder"])
def test_other_spacetimes_have_cones_too(space):
    """The answers are the pairs with s² ≤ 0 and Δt ≥ 0, of the nearest image."""
    import jax

    points = np.asarray(jax.vmap(lambda key: space.init(key, 0.5))(jax.random.split(jax.random.key(0), 12)))
    embedding = Embedding(tl.Model(space, TripleFermiDirac()), points, None, {}, {"upward": False})
    for node in range(12):
        image = [space.separation(points[node], q).nearest for q in points]
        inside = {i for i, x in enumerate(image) if i != node and x.interval[0] <= 0 <= x.time[0]}
        found = embedding.descendants(node)
        assert {x.node for x in found} == inside
        np.testing.assert_allclose([x.time for x in found], [image[x.node].time[0] for x in found], rtol=1e-5)


@pytest.mark.parametrize("space", [Euclidean(3), Flat(2, 2)], ids=str)
def test_a_space_without_a_cone_says_so(space):
    embedding = Embedding(tl.Model(space, TripleFermiDirac()), np.zeros((3, space.dim)), None, {}, {})
    for ask in (embedding.ancestors, embedding.descendants):
        with pytest.raises(ValueError, match="no light cone"):
            ask(1)
    with pytest.raises(ValueError, match="no light cone"):
        embedding.common_ancestors(0, 1)


def test_wrong_nodes_and_numbers():
    embedding = embedded(drawn_tree(5, 0))
    with pytest.raises(ValueError, match="'x'"):
        embedding.ancestors("x")
    with pytest.raises(ValueError, match="k is 0"):
        embedding.descendants(1, 0)
