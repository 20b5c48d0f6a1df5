"""Nested light cones: exact for trees, in the precision that their depth needs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timelike.datasets.families import transitive_closure, tree
from timelike.graphs.digraph import DiGraph
from timelike.hierarchy.described import hierarchy_of
from timelike.hierarchy.nested_cones import nested_cones


def random_tree(nodes: int, seed: int, reach: float = 1.0) -> DiGraph:
    """Each node's parent is drawn from the last share `reach` of the nodes before it."""
    rng = np.random.default_rng(seed)
    parent = [i - 1 - int(rng.random() * (reach * (i - 1) + 0.999)) for i in range(1, nodes)]
    new = rng.permutation(nodes)
    return DiGraph.from_arrays(new[parent], new[1:], nodes)


def in_cone(points: np.ndarray) -> np.ndarray:
    """Whether node j lies in the future light cone of node i, computed in the precision of the points."""
    time = points[None, :, 0] - points[:, None, 0]
    space = np.sqrt(np.sum((points[None, :, 1:] - points[:, None, 1:]) ** 2, axis=2))
    return (time > 0) & (time >= space)


def reached(graph: DiGraph) -> np.ndarray:
    """The closure as a dense matrix."""
    return transitive_closure(graph).adjacency().toarray() > 0


@settings(max_examples=25, deadline=None)
@given(
    nodes=st.integers(2, 90),
    seed=st.integers(0, 2**20),
    reach=st.sampled_from([0.02, 0.2, 1.0]),
    dim=st.sampled_from([3, 5]),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_a_tree_is_exact(nodes, seed, reach, dim, dtype):
    graph = random_tree(nodes, seed, reach)
    points = nested_cones(graph, dim, seed=seed, dtype=dtype)
    assert points.dtype == dtype
    np.testing.assert_array_equal(in_cone(points), reached(graph))


@pytest.mark.parametrize("dim", [3, 5])
@pytest.mark.parametrize(("branching", "depth"), [(2, 10), (1, 900), (700, 1), (5, 4)])
def test_deep_and_broad_trees_are_exact(branching, depth, dim):
    graph = tree(branching, depth)
    np.testing.assert_array_equal(in_cone(nested_cones(graph, dim)), reached(graph))


def test_large_radii_need_float64(monkeypatch):
    graph = random_tree(300, 2)
    assert nested_cones(graph).dtype == "float32"
    monkeypatch.setattr("timelike.hierarchy.nested_cones.FLOAT32_REACH", 2.0)
    points = nested_cones(graph)
    assert points.dtype == "float64"
    np.testing.assert_array_equal(in_cone(points), reached(graph))


def test_the_closure_adds_nothing():
    graph = random_tree(200, 3)
    np.testing.assert_array_equal(nested_cones(transitive_closure(graph)), nested_cones(graph))


def test_edges_from_child_to_parent():
    graph = random_tree(120, 5)
    turned = DiGraph.from_arrays(graph.targets, graph.sources, graph.num_nodes)
    assert hierarchy_of(turned).upward
    assert not hierarchy_of(graph).upward
    np.testing.assert_array_equal(in_cone(nested_cones(turned)), reached(graph).T)


def test_nodes_of_a_cycle_share_an_event():
    graph = random_tree(60, 1).with_edges(np.array([[0, 60], [60, 61], [61, 60]]), 62)
    assert hierarchy_of(graph).in_cycles == 2
    points = nested_cones(graph)
    np.testing.assert_array_equal(points[60], points[61])
    both = np.ix_(np.arange(61), np.arange(61))
    np.testing.assert_array_equal(in_cone(points)[both], reached(graph)[both] & ~np.eye(61, dtype=bool))


@pytest.mark.parametrize("nodes", [0, 1, 3])
def test_a_graph_without_edges(nodes):
    points = nested_cones(DiGraph.from_arrays([], [], nodes), 3)
    assert points.shape == (nodes, 3)
    assert not in_cone(points).any()


def test_wrong_arguments_are_named():
    graph = tree(2, 2)
    with pytest.raises(ValueError, match="dim"):
        nested_cones(graph, 2)
    with pytest.raises(ValueError, match="dtype"):
        nested_cones(graph, 3, dtype="float16")
