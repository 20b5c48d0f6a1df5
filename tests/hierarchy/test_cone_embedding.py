"""Nested cones as an ordinary embedding."""

import numpy as np
import pytest

from timelike.datasets.families import transitive_closure, tree
from timelike.embedding.embedding import Embedding
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.metrics import average_precision
from timelike.graphs.digraph import DiGraph
from timelike.hierarchy.cone_embedding import embed_hierarchy


def all_pairs(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    s, t = (x.ravel() for x in np.meshgrid(np.arange(nodes), np.arange(nodes), indexing="ij"))
    return s[s != t], t[s != t]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_probability_one_half_is_the_cone(dtype):
    graph = tree(3, 4)
    embedding = embed_hierarchy(graph, 3, dtype=dtype)
    s, t = all_pairs(graph.num_nodes)
    wanted = transitive_closure(graph).has_edges(s, t)
    np.testing.assert_array_equal(embedding.prob(s, t) > 0.5, wanted)
    assert embedding.points.dtype == dtype
    assert average_precision(embedding.log_prob(s, t), wanted) == pytest.approx(1)


def test_calibration_and_files(tmp_path):
    graph = tree(3, 4)
    s, t = all_pairs(graph.num_nodes)
    wanted = transitive_closure(graph).has_edges(s, t)
    pairs = np.stack([s, t], axis=1)
    valid = LabelledPairs.build(pairs[wanted], pairs[~wanted][::7])
    embedding = embed_hierarchy(graph, valid=valid)
    assert "calibration" in embedding.info
    embedding.save(tmp_path / "model")
    again = Embedding.load(tmp_path / "model")
    np.testing.assert_array_equal(again.prob(s, t), embedding.prob(s, t))
    assert again.info["method"] == "nested cones"
    assert {one.target for one in embedding.top_targets(1, 4)} <= set(t[wanted & (s == 1)].tolist())


def test_double_precision_is_scored_in_double_precision():
    """Two events whose times differ by less than single precision can tell."""
    embedding = embed_hierarchy(tree(2, 2), 3, dtype="float64")
    points = embedding.points.copy()
    points[:, 0] += 1e9
    moved = Embedding(embedding.model, points, None, {}, {})
    s, t = all_pairs(len(points))
    np.testing.assert_allclose(moved.log_prob(s, t), embedding.log_prob(s, t), atol=1e-4)


@pytest.mark.parametrize("turned", [False, True])
def test_new_children_go_into_their_parents_balls(turned):
    """No old point moves; ancestors are those of the parent, and no other node becomes a descendant."""
    graph = tree(3, 4)
    if turned:
        graph = DiGraph.from_arrays(graph.targets, graph.sources, graph.num_nodes)
    embedding = embed_hierarchy(graph, 3)
    edges = [(13, 121), (4, 122), (121, 123), (100, 124), (0, 125)]
    grown = embedding.add_nodes([edge[::-1] for edge in edges] if turned else edges)
    np.testing.assert_array_equal(grown.points[:121], embedding.points)
    for parent, child in edges:
        expected = {parent, *(one.node for one in grown.ancestors(parent))}
        assert {one.node for one in grown.ancestors(child)} == expected
        assert {one.node for one in grown.descendants(child)} == ({123} if child == 121 else set())
