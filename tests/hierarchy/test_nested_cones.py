"""Nested light cones: exact for trees, in the precision that their depth needs."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timelike.datasets.families import transitive_closure, tree
from timelike.datasets.rmat import rmat
from timelike.graphs.digraph import DiGraph
from timelike.hierarchy.ball_packing import pack_tree
from timelike.hierarchy.cone_points import FLOAT32_REACH, nested_cones
from timelike.hierarchy.contradicted_edges import contradicted
from timelike.hierarchy.described import hierarchy_of
from timelike.hierarchy.first_look import may_be_hierarchy


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
    monkeypatch.setattr("timelike.hierarchy.cone_points.FLOAT32_REACH", 2.0)
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


def test_random_second_parents_are_left_out():
    """A tenth of the edges are wrong; nearly all of those that can be told from the others are found."""
    rng = np.random.default_rng(4)
    graph = tree(4, 6)
    wrong = np.stack([rng.integers(0, graph.num_nodes, 500), rng.integers(1, graph.num_nodes, 500)], axis=1)
    wrong = wrong[(wrong[:, 0] > wrong[:, 1] * 4 + 4) | (wrong[:, 0] < wrong[:, 1] // 16)]
    noisy = hierarchy_of(graph.with_edges(wrong))
    kept = DiGraph.from_arrays(noisy.order.parents, noisy.order.children, graph.num_nodes)
    assert noisy.doubted > 0.5 * len(wrong)
    assert graph.has_edges(kept.sources, kept.targets).mean() > 0.95
    assert hierarchy_of(graph).doubted == 0


def random_dag(nodes: int, second: float, seed: int) -> DiGraph:
    """A random recursive tree where some nodes have a second parent; each parent is among the last 30."""
    rng = np.random.default_rng(seed)
    child = np.arange(1, nodes)
    draw = [np.maximum(0, child - 1 - rng.integers(0, 30, child.size)) for _ in range(2)]
    more = rng.random(child.size) < second
    return DiGraph.from_arrays(np.r_[draw[0], draw[1][more]], np.r_[child, child[more]], nodes)


@pytest.mark.parametrize(("dim", "least"), [(3, 0.9), (5, 0.97), (10, 0.995)])
def test_several_parents(dim, least):
    """Recall and precision over all pairs of a graph in which a tenth of the nodes have two parents."""
    graph = random_dag(300, 0.1, seed=2)
    inside, wanted = in_cone(nested_cones(graph, dim)), reached(graph)
    assert (inside & wanted).sum() / wanted.sum() > least
    assert (inside & wanted).sum() / inside.sum() > least


def test_movement_never_does_worse_than_first_parents():
    graph = random_dag(120, 0.5, seed=1)
    wanted = reached(graph)
    wrong = [(in_cone(nested_cones(graph, 3, steps=steps)) != wanted).sum() for steps in (0, 300)]
    assert wrong[1] <= wrong[0]


def test_trees_apart_from_the_core():
    """One part has shared descendants, another is a tree, a third a single node."""
    graph = DiGraph.from_arrays([0, 0, 1, 2, 4, 4, 6], [1, 2, 3, 3, 5, 6, 7], 9)
    np.testing.assert_array_equal(in_cone(nested_cones(graph)), reached(graph))


@pytest.mark.parametrize("kind", ["added", "replaced", "reversed"])
def test_edges_that_others_contradict_are_left_out(kind):
    """One edge in twenty is wrong; half of the closure tells which."""
    rng = np.random.default_rng(0)
    whole = transitive_closure(random_tree(400, 3))
    graph = whole.subgraph(rng.random(whole.num_edges) < 0.6)
    wrong = rng.permutation(graph.num_edges)[: graph.num_edges // 20]
    new = graph.pairs[wrong][:, ::-1] if kind == "reversed" else rng.integers(0, 400, (wrong.size, 2))
    kept = graph if kind == "added" else graph.subgraph(np.delete(np.arange(graph.num_edges), wrong))
    noisy = kept.with_edges(new[(new[:, 0] != new[:, 1]) & ~whole.has_edges(*new.T)])
    assert not contradicted(graph).any()
    found = contradicted(noisy)
    right = whole.has_edges(*noisy.pairs.T)
    assert right[~found].mean() > 0.96
    assert found[right].mean() < 0.02
    reach = [reached(noisy.subgraph(keep)) for keep in (~found, np.ones(found.size, bool))]
    errors = [(inside != reached(whole)).sum() for inside in reach]
    assert errors[0] < 0.5 * errors[1]
    assert hierarchy_of(noisy).looks_like_one
    assert may_be_hierarchy(noisy)


def balanced_depth(children: int, dim: int, reach: float) -> int:
    """The depth of a balanced tree whose largest ball is at most `reach`, level by level."""
    depth, radius = 0, 0.0
    while radius <= reach and depth < 100:
        parent = np.append(-1, np.zeros(children, int))
        radius = pack_tree(parent, dim - 1, 0, np.append(0.0, np.full(children, radius))).radii[0]
        depth += radius <= reach
    return depth


@pytest.mark.parametrize("children", [2, 10, 100])
def test_the_documented_depths(children):
    text = (Path(__file__).parents[2] / "docs" / "hierarchies.md").read_text("utf-8")
    rows = [[x.strip() for x in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    column = [cell.split()[0] for cell in rows[0]].index(str(children))
    for dim in (3, 5):
        cell = next(row for row in rows if row[0] == str(dim))[column]
        assert cell == " / ".join(str(balanced_depth(children, dim, x)) for x in (FLOAT32_REACH, 1e14))


def test_cyclic_graphs_are_no_hierarchies_though_paths_lie_beside_most_of_their_edges():
    graph = rmat(9, 8, seed=1)
    beside = (graph.adjacency() @ graph.adjacency())[graph.sources, graph.targets]
    assert np.mean(beside > 0) > 0.5
    assert not may_be_hierarchy(graph)
