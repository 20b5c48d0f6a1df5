"""DiGraph: sorted unique edges, membership, names of every kind, and its description against NetworkX."""

import json
import re
import warnings

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from timelike import DiGraph, datasets, read, split_edges
from timelike.evaluation import folds
from timelike.graphs.node_names import NameColumn, NameTuple, NumberColumn, as_names, nearest
from timelike.manifolds import MANIFOLDS

pairs = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=40)


@given(pairs, st.booleans())
def test_edges_are_sorted_unique_and_the_first_weight_stays(edges, weighted):
    s, t = np.array(edges, int).reshape(-1, 2).T
    weights = np.arange(1, len(edges) + 1) if weighted else None
    graph = DiGraph.from_arrays(s, t, 9, weights=weights)
    first = {edge: i + 1 for i, edge in reversed(list(enumerate(edges))) if edge[0] != edge[1]}
    assert list(zip(graph.sources, graph.targets, strict=True)) == sorted(first)
    if weighted:
        assert graph.weights.tolist() == [first[edge] for edge in sorted(first)]
    everything = np.indices((9, 9)).reshape(2, -1)
    assert graph.has_edges(*everything).tolist() == [tuple(p) in first for p in everything.T.tolist()]


def test_self_loops_are_left_out_and_counted():
    """For every constructor; the node stays, and the other edges keep their weights and times."""
    edges = [("a", "b", 2.0), ("c", "c", 3.0), ("b", "a", 4.0), ("a", "b", 5.0)]
    graphs = [DiGraph.from_edges(edges), read(edges)]
    graphs.append(DiGraph.from_arrays([0, 2, 1, 0], [1, 2, 0, 1], weights=[2, 3, 4, 5], times=[9, 1, 2, 3]))
    for graph in graphs:
        assert (graph.num_nodes, graph.pairs.tolist()) == (3, [[0, 1], [1, 0]])
        assert (graph.notes.rows, graph.notes.self_loops, graph.notes.duplicates) == (4, 1, 1)
        assert "1 self-loop" in str(graph.notes)
    assert [graph.weights.tolist() for graph in graphs] == [[2, 4], [2, 4], [5, 4]]
    assert graphs[2].times.tolist() == [3, 2]
    assert graphs[0].with_edges(np.array([[2, 2]])).num_edges == 2
    assert DiGraph.from_edges(edges[:1]).notes is None


@pytest.mark.parametrize(
    ("edges", "seen", "allowed"),
    [
        (None, "edges is None", "Iterable"),
        (["ab"], "edges[0] is 'ab'", "(source, target)"),
        ([("a", "b"), 7], "edges[1] is 7", "(source, target)"),
        ([("a", "b"), ("a", "b", 2)], "edges[1] is ('a', 'b', 2)", "(source, target)"),
        ([(["a"], "b")], "edges[0] is (['a'], 'b')", "hashable"),
        ([("a", "b", "high")], "weights is ['high']", "number"),
        ([("a", "b", 1), ("b", "a", -1)], "weights[1] is -1.0", "> 0"),
    ],
)
def test_errors_name_the_invalid_edge(edges, seen, allowed):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(seen)}.*{re.escape(allowed)}"):
        DiGraph.from_edges(edges)


@pytest.mark.parametrize("weighted", [False, True])
def test_large_graphs_are_sorted_like_small_ones(weighted):
    rng = np.random.default_rng(0)
    s, t = rng.integers(0, 2000, (2, 2**20 + 2000))  # large enough for polars
    s, t = (x[s != t] for x in (s, t))
    weights = rng.random(s.size) + 0.5 if weighted else None
    graph = DiGraph.from_arrays(s, t, weights=weights)
    keys, at = np.unique(s * 2000 + t, return_index=True)
    assert np.array_equal(graph.sources * 2000 + graph.targets, keys)
    if weighted:
        assert np.array_equal(graph.weights, weights.astype(np.float32)[at])
    assert np.array_equal(graph.row_starts, np.searchsorted(keys, 2000 * np.arange(2001)))


@pytest.mark.parametrize("nodes", [50, 2**31 - 1])
@pytest.mark.parametrize("many", [2, 2**20])
def test_the_earliest_of_repeated_edges_stays(nodes, many, monkeypatch):
    monkeypatch.setattr("timelike.graphs.edge_sorting.MANY", many)
    monkeypatch.setattr("timelike.graphs.edge_sorting.PIECE", 7)
    rng = np.random.default_rng(0)
    s, t = nodes - 1 - rng.integers(0, 9, (2, 400))
    times, weights = rng.integers(-3, 3, 400), np.arange(1, 401)
    graph = DiGraph.from_arrays(s, t, nodes, weights=weights, times=times)
    order = sorted(np.flatnonzero(s != t), key=lambda i: (s[i], t[i], times[i], i))
    first = list({(s[i], t[i]): i for i in reversed(order)}.values())[::-1]
    assert graph.pairs.tolist() == np.stack([s, t], axis=1)[first].tolist()
    assert graph.weights.tolist() == weights[first].tolist()
    assert graph.times.tolist() == times[first].tolist()


def test_the_largest_node_number():
    most = 2**31 - 2
    assert DiGraph.from_arrays([0, most], [most, 0]).pairs.tolist() == [[0, most], [most, 0]]
    with pytest.raises(ValueError, match=f"{most + 1}.* 0 to {most}$"):
        DiGraph.from_arrays([0], [most + 1])


TEXTS = ["a", "b", "ß", "node 7", "7", ""]


@pytest.mark.parametrize(
    ("names", "values"),
    [
        (NameTuple(TEXTS), TEXTS),
        (NameColumn(pl.Series(TEXTS)), TEXTS),
        (NumberColumn(np.array([-3, 0, 5, 10**12])), [-3, 0, 5, 10**12]),
    ],
)
def test_names_of_every_kind_behave_alike(names, values):
    graph = DiGraph(np.array([0]), np.array([1]), len(values), names)
    assert graph.names is names
    assert names == tuple(values)
    assert names == NameTuple(values)
    assert names != tuple(values[:-1])
    assert list(names) == values
    assert names[1:3] == tuple(values[1:3])
    assert names[-1] == values[-1]
    assert [graph.name(i) for i in range(len(values))] == values
    assert all(type(graph.name(i)) is type(v) for i, v in enumerate(values))
    assert graph.numbers(values[::-1]).tolist() == list(range(len(values)))[::-1]
    assert values[2] in names
    with pytest.raises(ValueError, match=r"^nodes: .*'nodE 7'; .*nearest names are \S+"):
        graph.numbers("nodE 7")
    assert DiGraph.from_arrays([0], [1], names=names).names is names


def test_columns_of_names_compare_and_find():
    column = NameColumn(pl.Series(TEXTS))
    assert column == NameColumn(pl.Series(TEXTS))
    assert column != NameColumn(pl.Series(TEXTS[::-1]))
    assert "6 names" in repr(column)
    numbers = NumberColumn(np.array([2, 4]))
    assert numbers.find(["2", 4, 5, None, 2**70, True]) == [None, 1, None, None, None, None]


def test_near_names_in_a_large_graph_share_a_prefix():
    names = as_names([f"gene{i:06}" for i in range(50_000)])
    assert nearest(names, "gene00123x") == ["gene001239", "gene001238", "gene001237"]
    assert len(nearest(names, "zzz")) == 3


def test_near_names_are_found_in_few_passes():
    """Each pass scans all names, so one pass per letter was slow with millions of names."""
    passes = []

    class Watched(NameTuple):
        def begin_with(self, start):
            passes.append(start)
            return super().begin_with(start)

    assert nearest(Watched(f"gene{i:06}" for i in range(21_000)), "gene00123" + 50 * "x")[0] == "gene001239"
    assert len(passes) < 8


def test_names_are_looked_up_once():
    names = as_names([f"n{i}" for i in range(100_000)])
    graph = DiGraph(np.array([0]), np.array([1]), len(names), names)
    assert graph.numbers("n7").tolist() == [7]
    assert names._numbers is graph.names._numbers


def test_too_many_edges_are_rejected():
    many = np.broadcast_to(np.int8(0), (2**31,))
    with pytest.raises(ValueError, match=r"2,147,483,648 edges.* 2,147,483,647"):
        DiGraph.from_arrays(many, many)


@given(pairs, st.integers(0, 3))
def test_description_agrees_with_networkx(edges, lonely):
    s, t = np.array(edges, int).reshape(-1, 2).T
    graph = DiGraph.from_arrays(s, t, 9 + lonely)
    other = nx.DiGraph([(a, b) for a, b in edges if a != b])
    other.add_nodes_from(range(9 + lonely))
    np.testing.assert_array_equal(graph.adjacency().toarray(), nx.to_numpy_array(other, range(9 + lonely)))
    found = graph.describe()
    assert (found.nodes, found.edges) == (other.number_of_nodes(), other.number_of_edges())
    assert found.is_dag == nx.is_directed_acyclic_graph(other)
    assert found.components == nx.number_weakly_connected_components(other)
    assert found.largest_component == max(map(len, nx.weakly_connected_components(other)))
    assert found.strong_components == nx.number_strongly_connected_components(other)
    assert found.largest_strong_component == max(map(len, nx.strongly_connected_components(other)))
    if other.edges:
        assert found.reciprocity == pytest.approx(nx.overall_reciprocity(other))
    assert found.density == pytest.approx(nx.density(other))
    shortest = [shortest_cycle(other, node) for node in other]
    assert found.longest_shortest_cycle == max(shortest)
    assert found.nodes_on_cycles == found.cycle_searches == np.count_nonzero(shortest)
    assert found.out_degrees["0.5"] == np.median([d for _, d in other.out_degree])
    assert found.in_degrees["1"] == max(d for _, d in other.in_degree)
    triples = [(a, c) for a, b in other.edges for c in other[b] if len({a, b, c}) == 3]
    assert found.transitive_paths == len(triples)
    if triples:
        assert found.transitive_share == pytest.approx(np.mean([other.has_edge(*x) for x in triples]))
    assert found.geometry in MANIFOLDS
    assert json.loads(json.dumps(found.to_dict()))["is_dag"] is found.is_dag


def shortest_cycle(graph: nx.DiGraph, node: int) -> int:
    """Length of the shortest cycle through a node, 0 if there is none."""
    back = [nx.shortest_path_length(graph, x, node) for x in graph[node] if nx.has_path(graph, x, node)]
    return 1 + min(back) if back else 0


@pytest.mark.parametrize(
    ("graph", "geometry", "why"),
    [
        (datasets.chain(10), "minkowski", "no cycles"),
        (datasets.transitive_chain(10), "minkowski", "as in an order"),
        (datasets.cycle(5), "cylindrical-minkowski", "circle of time"),
        (datasets.duplication_divergence(3), "anti-de-sitter", "cycles"),
        (DiGraph.from_edges(nx.balanced_tree(2, 4).to_directed().edges), "hyperboloid", "both ways"),
        (DiGraph.from_edges(nx.complete_graph(6).to_directed().edges), "euclidean", "both ways"),
    ],
)
def test_the_geometry_fits_the_graph(graph, geometry, why):
    found = graph.describe()
    assert found.geometry == geometry
    assert why in found.reason
    text = str(found)
    assert f"nodes              {graph.num_nodes}\n" in text
    assert "geometry           " + geometry in text


def test_sampled_statistics_are_close_to_exact_ones(monkeypatch):
    graph = datasets.duplication_divergence(5, 200)
    exact = graph.describe()
    monkeypatch.setattr("timelike.graphs.description.PATHS", 2000)
    monkeypatch.setattr("timelike.graphs.description.STARTS", 10)
    sampled = graph.describe(seed=1)
    assert sampled == graph.describe(seed=1)
    assert sampled.cycle_searches == 10
    assert sampled.transitive_paths <= 2000
    assert abs(sampled.transitive_share - exact.transitive_share) < 0.04
    assert sampled.longest_shortest_cycle <= exact.longest_shortest_cycle


def test_the_search_for_cycles_keeps_its_budget(monkeypatch):
    monkeypatch.setattr("timelike.graphs.description.FOLLOWED", 10_000)
    found = datasets.cycle(1000).describe()
    assert (found.longest_shortest_cycle, found.cycle_searches) == (0, 0)


def test_graphs_without_edges_can_be_described():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for nodes in (0, 1, 3):
            found = DiGraph.from_arrays([], [], nodes).describe()
            assert (found.nodes, found.edges, found.components) == (nodes, 0, nodes)
            assert found.transitive_share is None
            assert str(found)


def test_type_errors_say_how_to_make_an_array_or_a_graph():
    with pytest.raises(TypeError, match=r"sources is \[0, 1\].*ndarray.*DiGraph\.from_arrays"):
        DiGraph([0, 1], [1, 2], 3)
    for hold_out in (split_edges, folds):
        with pytest.raises(TypeError, match=r"graph is \[\(0, 1\)\].*DiGraph.*timelike\.read"):
            hold_out([(0, 1)])
