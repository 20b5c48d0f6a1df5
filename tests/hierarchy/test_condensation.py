"""Cycles, levels, closures and transitive reductions, against networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timelike.graphs.digraph import DiGraph
from timelike.hierarchy import condensation
from timelike.hierarchy.condensation import closure, condensed, depths, reduced


def random_graph(nodes: int, edges: int, seed: int, acyclic: bool) -> DiGraph:
    pairs = np.random.default_rng(seed).integers(0, nodes, (edges, 2))
    pairs = np.sort(pairs, axis=1) if acyclic else pairs
    return DiGraph.from_arrays(pairs[:, 0], pairs[:, 1], nodes)


@settings(max_examples=30, deadline=None)
@given(nodes=st.integers(2, 30), edges=st.integers(0, 90), seed=st.integers(0, 2**20))
def test_reduction_and_closure(nodes, edges, seed):
    graph = condensed(random_graph(nodes, edges, seed, acyclic=True))
    small = reduced(graph)
    other = nx.DiGraph(zip(graph.parents.tolist(), graph.children.tolist(), strict=True))
    assert {*zip(small.parents.tolist(), small.children.tolist(), strict=True)} == {
        *nx.transitive_reduction(other).edges
    }
    reach = closure(graph.parents, graph.children, graph.count)
    assert {*zip(*(x.tolist() for x in reach.nonzero()), strict=True)} == {
        *nx.transitive_closure(other).edges
    }


@settings(max_examples=30, deadline=None)
@given(nodes=st.integers(2, 30), edges=st.integers(0, 60), seed=st.integers(0, 2**20))
def test_components(nodes, edges, seed):
    graph = random_graph(nodes, edges, seed, acyclic=False)
    found = condensed(graph)
    other = nx.DiGraph(graph.pairs.tolist())
    other.add_nodes_from(range(nodes))
    for component in nx.strongly_connected_components(other):
        assert np.unique(found.component[list(component)]).size == 1
    assert found.count == nx.number_strongly_connected_components(other)


def test_depth_is_the_longest_path():
    np.testing.assert_array_equal(depths(np.array([0, 0, 1]), np.array([1, 2, 2]), 3), [0, 1, 2])


def test_a_cycle_is_named():
    with pytest.raises(ValueError, match="cycle"):
        depths(np.array([0, 1]), np.array([1, 0]), 2)


def test_a_large_closure_is_not_held(monkeypatch):
    chain = np.arange(50)
    assert closure(chain[:-1], chain[1:], 50, most=100) is None
    monkeypatch.setattr(condensation.closure, "__defaults__", (100,))
    graph = DiGraph.from_arrays(np.r_[chain[:-1], 0], np.r_[chain[1:], 2], 50)
    assert reduced(condensed(graph)).parents.size == 49
