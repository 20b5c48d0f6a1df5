"""Generated graphs, compared with networkx, plain loops and dense matrices."""

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from timelike import DiGraph
from timelike.datasets import (
    chain,
    cycle,
    duplication_divergence,
    grid,
    planted,
    random_dag,
    rmat,
    rmat_to_parquet,
    three_node_chain,
    transitive_chain,
    transitive_closure,
    tree,
    tripartite,
)
from timelike.embedding.exact_ranking import listed

numbers = st.integers(0, 2**32)


def edges(graph: DiGraph) -> list[tuple[int, int]]:
    return list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))


def to_networkx(graph: DiGraph) -> nx.DiGraph:
    made = nx.DiGraph(edges(graph))
    made.add_nodes_from(range(graph.num_nodes))
    return made


def test_toys():
    assert edges(cycle(3)) == [(0, 1), (1, 2), (2, 0)]
    assert edges(three_node_chain()) == [(0, 1), (1, 2)]
    assert edges(transitive_chain(4)) == edges(transitive_closure(chain(4)))
    assert edges(tripartite(1, 2, 1)) == [(0, 2), (0, 3), (1, 0)]
    assert chain(1).num_nodes == 1


@given(st.integers(1, 4), st.integers(0, 4))
def test_trees(branching, depth):
    reference = nx.full_rary_tree(branching, 1 + sum(branching**i for i in range(1, depth + 1)), nx.DiGraph)
    graph = tree(branching, depth)
    assert (graph.num_nodes, edges(graph)) == (len(reference), sorted(reference.edges))


@given(st.integers(1, 7), st.integers(1, 7))
def test_grids(rows, columns):
    graph = grid(rows, columns)
    right = {(r * columns + c, r * columns + c + 1) for r in range(rows) for c in range(columns - 1)}
    down = {(r * columns + c, (r + 1) * columns + c) for r in range(rows - 1) for c in range(columns)}
    assert set(edges(graph)) == right | down
    assert graph.num_nodes == rows * columns


@given(st.integers(1, 30), st.data(), numbers)
def test_random_dags(nodes, data, seed):
    count = data.draw(st.integers(0, nodes * (nodes - 1) // 2))
    graph = random_dag(nodes, count, seed)
    assert (graph.num_nodes, graph.num_edges) == (nodes, count)
    assert (graph.sources < graph.targets).all()
    assert edges(graph) == edges(random_dag(nodes, count, seed))


def test_random_dags_of_all_sizes():
    assert edges(random_dag(50, 1225)) == edges(transitive_chain(50))
    huge = random_dag(2**31 - 1, 1000)
    assert (huge.sources < huge.targets).all()
    assert huge.targets.max() > 2**30
    ends = np.concatenate([random_dag(3, 1, seed).targets for seed in range(600)])
    assert abs((ends == 2).mean() - 2 / 3) < 0.08


@settings(max_examples=50)
@given(st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=25))
def test_closure(pairs):
    graph = DiGraph.from_arrays([s for s, _ in pairs], [t for _, t in pairs], 9)
    closure = nx.transitive_closure(to_networkx(graph))
    assert edges(transitive_closure(graph)) == sorted((s, t) for s, t in closure.edges if s != t)


def dense_duplication_divergence(seed, nodes, p1, p2, first, size) -> list[tuple[int, int]]:
    rng = np.random.default_rng(seed)
    adjacency = np.zeros((nodes, nodes), bool)
    adjacency[tuple(np.array(first).T)] = True
    for new in range(size, nodes):
        old = rng.integers(new)
        adjacency[new, :new] = adjacency[old, :new] & (rng.random(new) < p1)
        adjacency[:new, new] = adjacency[:new, old] & (rng.random(new) < p1)
        adjacency[new, old] |= rng.random() < p2
    return [tuple(pair) for pair in np.argwhere(adjacency).tolist()]


@settings(max_examples=30)
@given(numbers, st.integers(5, 40), st.floats(0, 1), st.floats(0, 1))
def test_duplication_divergence_equals_a_dense_model(seed, nodes, p1, p2):
    first = [(0, 1), (1, 2), (3, 0)]
    reference = dense_duplication_divergence(seed, nodes, p1, p2, first, 4)
    for start in (first, DiGraph.from_arrays(*np.array(first).T)):
        assert edges(duplication_divergence(seed, nodes, p1, p2, start)) == reference


def test_duplication_divergence_keeps_what_its_start_promises():
    assert nx.is_directed_acyclic_graph(to_networkx(duplication_divergence(3, 60, start="dag")))
    cyclic, complete = (duplication_divergence(3, start=start) for start in ("cycle", "complete"))
    assert not cyclic.has_edges(cyclic.targets, cyclic.sources).any()
    assert complete.has_edges(complete.targets, complete.sources).any()
    assert duplication_divergence(nodes=4, p1=1, p2=0).num_edges == 5
    assert duplication_divergence(nodes=4, p1=0, p2=1).num_edges == 4


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: duplication_divergence(p1=1.5), r"p1 is 1.5"),
        (lambda: duplication_divergence(nodes=2), "nodes is 2; .* 3 nodes"),
        (lambda: duplication_divergence(start="star"), "start is 'star'; .*cycle, complete"),
        (lambda: duplication_divergence(start=[]), "start has no"),
        (lambda: duplication_divergence(start=[(0, -1)]), "start has node -1"),
        (lambda: duplication_divergence(seed=-1), "seed is -1"),
        (lambda: cycle(1), "nodes is 1; .*≥ 2"),
        (lambda: transitive_chain(10**6), "nodes is 1000000; .* ≤ 65536"),
        (lambda: tree(10, 900), "the number of nodes is 1111"),
        (lambda: grid(0), "rows is 0"),
        (lambda: grid(2**20, 2**20), "rows · columns is"),
        (lambda: random_dag(4, 7), "edges is 7; .*≤ 6.* 6 pairs"),
        (lambda: rmat(31), "scale is 31"),
        (lambda: rmat(30, 2), "edge_factor .* is 2147483648; .*parquet"),
        (lambda: rmat(a=0.9), r"a \+ b \+ c is 1.28"),
        (lambda: rmat(b=float("nan")), "b is nan"),
    ],
)
def test_errors(make, says):
    with pytest.raises(ValueError, match=says) as caught:
        make()
    assert "\n" not in str(caught.value)


def read(path) -> tuple[np.ndarray, np.ndarray]:
    frame = pl.read_parquet(path)
    return frame["source"].to_numpy(), frame["target"].to_numpy()


def test_rmat_file_is_the_graph(tmp_path):
    """More than one chunk, written in pieces and held in memory."""
    path = tmp_path / "edges.parquet"
    count = rmat_to_parquet(path, 12, 300, seed=7)
    s, t = read(path)
    assert 2**12 * 300 * 0.99 < count == len(s) < 2**12 * 300
    assert parquet.ParquetFile(path).num_row_groups == 2
    streamed, whole = DiGraph.from_arrays(s, t, 2**12), rmat(12, 300, seed=7)
    assert np.array_equal(streamed.sources, whole.sources)
    assert np.array_equal(streamed.targets, whole.targets)
    assert list(tmp_path.iterdir()) == [path]


def test_rmat_chooses_quarters_with_their_probabilities(tmp_path):
    path = tmp_path / "edges.parquet"
    probabilities = {"a": 0.4, "b": 0.3, "c": 0.2}
    count = rmat_to_parquet(path, 16, 8, **probabilities, seed=1)
    for bit in (0, 7, 15):
        s, t = (ends >> bit & 1 for ends in read(path))
        share = np.bincount(2 * s + t, minlength=4) / count
        assert np.abs(share - [0.4, 0.3, 0.2, 0.1]).max() < 0.005


@pytest.mark.parametrize(("quarter", "expected"), [("a", []), ("b", [(0, 31)]), ("c", [(31, 0)])])
def test_rmat_at_the_corners(quarter, expected):
    graph = rmat(5, 2, **{**{"a": 0.0, "b": 0.0, "c": 0.0}, quarter: 1.0})
    assert (graph.num_nodes, edges(graph)) == (32, expected)


def test_a_failed_stream_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="seed is -1"):
        rmat_to_parquet(tmp_path / "edges.parquet", 5, seed=-1)
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_planted_edges_are_those_of_the_model():
    """No pair of probability 0 is an edge, and the number of edges is as expected."""
    graph, points, model = planted(150, 6.0, seed=2)
    s, t = (x.reshape(-1) for x in np.meshgrid(np.arange(150), np.arange(150), indexing="ij"))
    prob = np.exp(listed(model, points, s, t))
    prob[(s == t) | (prob < 1e-3)] = 0
    edge = graph.has_edges(s, t)
    assert not edge[prob == 0].any()
    assert abs(edge.sum() - prob.sum()) < 5 * np.sqrt((prob * (1 - prob)).sum())
    assert abs(np.mean(prob[edge]) - (prob**2).sum() / prob.sum()) < 0.05
    assert edges(planted(150, 6.0, seed=2).graph) == edges(graph) != edges(planted(150, 6.0, seed=3).graph)
