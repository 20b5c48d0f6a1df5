"""Folds in which some nodes lose all their edges, groups of like nodes, and negatives that fit them."""

import numpy as np
import pytest

import timelike as tl
from timelike.evaluation.questions import draw_questions
from timelike.evidence import Profiles
from timelike.evidence.whole_nodes import (
    ALIKE,
    INTO_ONE,
    LARGEST,
    MOST_ALIKE,
    alike,
    as_often_whole,
    split_into_folds,
)

NODES, PARTS = 300, 5


@pytest.fixture(scope="module")
def graph() -> tl.DiGraph:
    """Thirty sources of many targets each; node 0 points to most others."""
    rng = np.random.default_rng(0)
    s, t = np.nonzero(rng.random((30, NODES)) < np.where(np.arange(30) == 0, 0.8, 0.08)[:, None])
    return tl.DiGraph.from_arrays(s[s != t], t[s != t], NODES)


def profiles(groups: np.ndarray, seed: int = 0, noise: float = 0.1) -> Profiles:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(groups.max() + 1, 40))[groups] + noise * rng.normal(size=(len(groups), 40))
    return Profiles.of(rows, np.arange(len(groups)))


def test_whitened_products_are_those_of_the_hat_matrix():
    found = profiles(np.arange(60) // 3)
    z = found.z.astype(float)
    hat = z @ np.linalg.inv(z.T @ z + np.eye(40)) @ z.T
    expected = hat / np.sqrt(np.outer(np.diag(hat), np.diag(hat)))
    np.testing.assert_allclose(found.whitened.z @ found.whitened.z.T, expected, atol=1e-4)


def test_a_node_without_a_profile_stays_without_one():
    rows = np.random.default_rng(0).normal(size=(4, 6))
    found = Profiles.of(rows, np.array([0, 1, -1, 2, 3])).whitened
    assert found.known.tolist() == [True, True, False, True, True]
    assert np.isfinite(found.z).all()
    assert not found.z[2].any()


def test_groups_are_the_planted_ones():
    planted = np.arange(600) // 4
    compared = np.arange(500)
    group = alike(profiles(planted), compared)
    assert len(np.unique(group[:500])) == 125
    assert all(len(np.unique(group[planted == one])) == 1 for one in range(125))
    np.testing.assert_array_equal(group[500:], np.arange(500, 600))
    crowd = alike(profiles(np.zeros(200, int)), np.arange(200))
    assert np.bincount(crowd).max() == MOST_ALIKE
    loose = profiles(planted, noise=2.0)
    close = loose.z @ loose.z.T > ALIKE
    group = alike(loose, compared)
    assert close[np.arange(600), group].all()  # every member is like the first of its group


def test_every_edge_is_held_out_once_and_whole_nodes_have_none(graph):
    group = np.arange(NODES) // 5
    parts = split_into_folds(graph, PARTS, 3, group)
    held = np.concatenate([part.held_out for part in parts])
    assert len(held) == len(np.unique(held, axis=0)) > graph.num_edges - PARTS  # the rest is in every graph
    hubs = np.bincount(graph.sources, minlength=NODES) > LARGEST * graph.num_edges
    assert hubs.any()
    into = np.zeros(NODES)
    for part in parts:
        assert not part.graph.has_edges(*part.held_out.T).any()
        out_of, lost = part.whole
        assert not out_of[part.graph.sources].any()
        assert not lost[part.graph.targets].any()
        assert not out_of[hubs].any()
        assert all(len(np.unique(lost[group == one])) == 1 for one in range(NODES // 5))
        into += lost
    assert set(into) <= {0, 1}
    assert into.mean() == pytest.approx(INTO_ONE, abs=0.15)


def test_without_groups_folds_have_equal_sizes(graph):
    parts = split_into_folds(graph, PARTS, 3)
    assert {len(part.held_out) // (graph.num_edges // PARTS) for part in parts} == {1}
    assert all(part.whole is None for part in parts)


def test_losing_all_edges_does_not_speak_for_an_edge(graph):
    """Edges and negatives have ends without any edge equally often, which plain negatives do not."""
    rng = np.random.default_rng(1)
    differences = {"plain": [], "fair": []}
    for number, part in enumerate(split_into_folds(graph, PARTS, 1, np.arange(NODES))):
        plain, _ = draw_questions(graph, part.held_out, number)
        fair = as_often_whole(plain, part.held_out, part.whole, graph, rng)
        for name, drawn in (("plain", plain), ("fair", fair)):
            for kind in ("uniform", "same_source"):
                share = part.whole[1][drawn[kind][:, 1]].mean() - part.whole[1][part.held_out[:, 1]].mean()
                differences[name].append(abs(share))
        for kind, pairs in fair.items():
            assert not graph.has_edges(*pairs.T).any()
            assert (pairs[:, 0] != pairs[:, 1]).all()
            assert len(pairs) > 0.8 * len(plain[kind])
        np.testing.assert_array_equal(fair["reversed"], plain["reversed"])
        assert {*fair["same_target"][:, 1]} <= {*part.held_out[:, 1]}
    assert min(differences["plain"]) > 0.2
    assert max(differences["fair"]) < 0.1


@pytest.mark.parametrize("seed", range(4))
def test_groups_that_hold_all_targets_leave_even_folds(seed):
    """One fold would hold out all edges otherwise, and the others none."""
    rng = np.random.default_rng(seed)
    graph = tl.DiGraph.from_edges([(int(s), 30 + int(t)) for s, t in rng.integers(0, (30, 27), (150, 2))])
    groups = np.where(np.arange(graph.num_nodes) < 30, np.arange(graph.num_nodes), 30)
    parts = split_into_folds(graph, 5, seed, groups)
    assert all(2 * len(one.held_out) >= graph.num_edges // 5 for one in parts)
    assert all(2 * one.graph.num_edges >= graph.num_edges for one in parts)
