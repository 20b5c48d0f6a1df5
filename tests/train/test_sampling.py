"""Membership tests and negative samples, against the dense adjacency matrix."""

import dataclasses
import functools

import hypothesis.extra.numpy as hnp
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from graphs import adjacency, complete, from_adjacency, pairs_last, random_graph, star
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from without_jax import in_numpy

from timelike.engine import sampling
from timelike.engine.filtered_edges import FilteredEdges
from timelike.engine.negatives import LEFT_OUT, MAX_DRAWS, Negatives
from timelike.engine.sampling import EdgeTable, draw_examples
from timelike.evaluation.negative_kinds import KIND_ENDS
from timelike.graphs.digraph import DiGraph

KEY = jax.random.key(7)

#: Hard cases: a hub, reciprocal pairs, a sink, an isolated node.
GRAPH = DiGraph.from_arrays(
    [0, 0, 0, 0, 0, 1, 2, 2, 3, 5, 5, 6], [1, 2, 3, 4, 6, 0, 1, 5, 4, 2, 5, 4], num_nodes=8
)
LISTED = np.array([[4, 7], [7, 4], [0, 5], [0, 1], [3, 3]])  # an edge and a self-pair among them
ALLOWED = ~adjacency(GRAPH) & ~np.eye(8, dtype=bool)

#: Five negatives of every kind, and their columns; column 0 is the edge itself.
ALL_KINDS = Negatives(**{**dict.fromkeys(KIND_ENDS, 5), "reversed": 1})
COLUMNS = {
    "uniform": slice(1, 6),
    "same_source": slice(6, 11),
    "same_target": slice(11, 16),
    "degree": slice(16, 21),
    "reversed": slice(21, 22),
    "listed": slice(22, 27),
    "popular_source": slice(27, 32),
    "active_source": slice(32, 37),
    "popular_same_target": slice(37, 42),
    "active_same_target": slice(42, 47),
    "active_target": slice(47, 52),
}

_compiled = jax.jit(draw_examples, static_argnums=2)


def _draw(*arguments):
    return pairs_last(_compiled(*arguments))


def edge_ids(graph, count):
    return np.random.default_rng(0).integers(0, graph.num_edges, count, dtype=np.int32)


def draw(graph, kinds, count, key=KEY, listed=LISTED):
    """Examples for `count` random edges, as NumPy arrays."""
    table = EdgeTable.build(graph, listed, kinds)
    return _draw(key, table, kinds, edge_ids(graph, count))


@functools.cache
def many(seed=7):
    """Five negatives of every kind for 3,000 edges of `GRAPH`."""
    return draw(GRAPH, ALL_KINDS, 3000, jax.random.key(seed))


def used(kind, where=True):
    """The (n, 2) negatives of a kind, for the examples that satisfy a condition."""
    columns = COLUMNS[kind]
    use = many().use[:, columns] & where
    return np.stack([many().sources[:, columns][use], many().targets[:, columns][use]], axis=1)


# Membership


@settings(max_examples=300)
@given(hnp.arrays(bool, st.integers(2, 12).map(lambda n: (n, n))))
def test_contains_is_the_dense_truth(dense):
    dense = dense & ~np.eye(len(dense), dtype=bool)
    assume(dense.any())
    s, t = np.indices(dense.shape)
    with in_numpy():
        found = EdgeTable.build(from_adjacency(dense)).contains(s, t)
    np.testing.assert_array_equal(found, dense)


@pytest.mark.parametrize("hub", [0, 5, 9])
def test_contains_on_the_device(hub):
    dense = adjacency(star(10, hub))
    s, t = np.indices(dense.shape)
    found = EdgeTable.build(from_adjacency(dense)).contains(jnp.asarray(s), jnp.asarray(t))
    np.testing.assert_array_equal(found, dense)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 9, 1000, 1023, 1024, 1025])
def test_contains_in_rows_of_every_length(size):
    graph = DiGraph.from_arrays(np.zeros(size, int), 2 * np.arange(size) + 1, num_nodes=2 * size + 1)
    t = np.arange(graph.num_nodes)
    with in_numpy():
        found = EdgeTable.build(graph).contains(np.zeros_like(t), t)
    np.testing.assert_array_equal(found, t % 2 == 1)


def test_the_last_of_as_many_edges_as_there_may_be():
    """After a row of 2³⁰ edges; reads past the end of this short array return its last number."""
    starts, ends = jnp.asarray([2**31 - 4, 2**31 - 1], jnp.int32), jnp.asarray([1, 5], jnp.int32)
    found = sampling.in_row(starts, ends, 30, jnp.zeros(4, jnp.int32), jnp.asarray([1, 4, 5, 6]))
    np.testing.assert_array_equal(found, [False, False, True, False])


# Negatives


def test_edges_behind_a_filter_are_drawn_like_those_of_a_table():
    weighted = dataclasses.replace(GRAPH, weights=np.linspace(0.5, 2, GRAPH.num_edges, dtype=np.float32))
    table, ids = EdgeTable.build(weighted, LISTED, ALL_KINDS), edge_ids(GRAPH, 300) + 3  # some are padding
    filtered = FilteredEdges.of(table, weighted, rows_at_once=0)
    for found, expected in zip(*(_draw(KEY, x, ALL_KINDS, ids) for x in (filtered, table)), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert filtered.places.size == 0  # no node has many rows of a step
    assert FilteredEdges.of(table, weighted, rows_at_once=1000).places.size > 0


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_used_negative_is_neither_an_edge_nor_a_node_with_itself(kind):
    assert len(used(kind)) > 1000
    assert ALLOWED[tuple(used(kind).T)].all()


def test_the_edge_comes_first_and_every_kind_has_its_columns():
    s, t, use, weights, _ = many()
    assert s.shape == t.shape == use.shape == (3000, 1 + ALL_KINDS.total)
    ids = edge_ids(GRAPH, 3000)
    np.testing.assert_array_equal(s[:, 0], GRAPH.sources[ids])
    np.testing.assert_array_equal(t[:, 0], GRAPH.targets[ids])
    assert use[:, 0].all()
    assert (weights == 1).all()
    nowhere = GRAPH.num_nodes  # the ends of unused pairs
    for found, wanted, columns in (
        (s, s[:, :1], COLUMNS["same_source"]),
        (t, t[:, :1], COLUMNS["same_target"]),
        (t, t[:, :1], slice(37, 47)),
        (s, t[:, :1], slice(21, 22)),
        (t, s[:, :1], slice(21, 22)),
    ):
        np.testing.assert_array_equal(found[:, columns], np.where(use[:, columns], wanted, nowhere))


def assert_distributed(pairs, weight):
    """The pairs occur in proportion to `weight`, an N×N table that is 0 for forbidden pairs."""
    counts = np.zeros(weight.shape)
    np.add.at(counts, tuple(pairs.T), 1)
    assert not counts[weight == 0].any()
    expected = weight[weight > 0] / weight.sum() * len(pairs)
    assert chisquare(counts[weight > 0], expected).pvalue > 1e-3


def test_uniform_negatives_cover_all_non_edges_evenly():
    assert_distributed(used("uniform"), ALLOWED)


@pytest.mark.parametrize("node", range(7))
def test_the_corrupted_end_is_evenly_any_node_that_is_no_neighbour(node):
    for kind, kept, row in (
        ("same_source", many().sources, np.arange(8)[:, None] == node),
        ("same_target", many().targets, np.arange(8) == node),
    ):
        if (kept[:, 0] == node).any():
            assert_distributed(used(kind, kept[:, :1] == node), ALLOWED & row)


def test_degree_negatives_follow_the_degrees():
    dense = adjacency(GRAPH)
    assert_distributed(used("degree"), np.outer(dense.sum(1), dense.sum(0)) * ALLOWED)


@pytest.mark.parametrize("kind", ["popular_source", "active_source"])
def test_sources_of_edges_by_degree_or_evenly(kind):
    leaving = adjacency(GRAPH).sum(1)
    chances = leaving if kind == "popular_source" else leaving > 0
    assert_distributed(used(kind), np.outer(chances, np.ones(8)) * ALLOWED)
    t = many().targets[:, :1] == 2  # the edges to one node, and other sources for them
    assert_distributed(
        used(kind.replace("source", "same_target"), t), np.outer(chances, np.arange(8) == 2) * ALLOWED
    )


def test_targets_of_edges_evenly():
    entering = adjacency(GRAPH).sum(0)
    assert_distributed(used("active_target"), np.outer(np.ones(8), entering > 0) * ALLOWED)


def test_weights_of_kinds():
    kinds = Negatives(same_source=2, same_target=1, weights={"same_source": 2.5})
    np.testing.assert_array_equal(kinds.factors, [1, 2.5, 2.5, 1])
    assert kinds == Negatives(same_source=2, same_target=1, weights=[["same_source", 2.5]])
    with pytest.raises(ValueError, match="weights has 'uniform'"):
        Negatives(same_source=1, weights={"uniform": 2.0})
    with pytest.raises(ValueError, match=r"weights\['same_source'\].*0"):
        Negatives(same_source=1, weights={"same_source": 0})


def test_listed_negatives_come_evenly_from_the_list_alone():
    listed = np.zeros((8, 8), bool)
    listed[tuple(LISTED[:3].T)] = True
    assert_distributed(used("listed"), listed)


def test_a_reversed_edge_is_left_out_where_it_is_an_edge():
    s, t = many().sources[:, 0], many().targets[:, 0]
    np.testing.assert_array_equal(many().use[:, 21], ALLOWED[t, s])


def test_a_complete_graph_has_no_negatives():
    drawn = draw(complete(5), ALL_KINDS, 30, listed=np.array([[0, 1], [2, 2]]))
    assert drawn.use[:, 0].all()
    assert not drawn.use[:, 1:].any()
    assert drawn.rejected == 30 * ((ALL_KINDS.total - 1) * MAX_DRAWS + 1)


def test_two_nodes_have_one_negative():
    drawn = draw(DiGraph.from_arrays([0], [1]), ALL_KINDS, 9, listed=np.array([[1, 0]]))
    pairs = np.stack([drawn.sources, drawn.targets])[:, :, 1:][:, drawn.use[:, 1:]]
    np.testing.assert_array_equal(np.unique(pairs, axis=1), [[1], [0]])
    assert not drawn.use[:, 6:21].any()  # 0 → 1 has no other target or source


def hubs(nodes=60, edges=40):
    """A few hubs, linked to nearly all nodes and to each other, among sparse edges."""
    dense = adjacency(random_graph(nodes, edges))
    dense[0, 1:50] = dense[4:50, 1] = dense[:5, :5] = True
    return from_adjacency(dense & ~np.eye(nodes, dtype=bool))


@pytest.mark.parametrize("graph", [random_graph(60, 40), random_graph(30, 300), hubs()])
def test_few_negatives_are_given_up(graph):
    bad = adjacency(graph) | np.eye(graph.num_nodes, dtype=bool)
    ends = np.ix_(graph.sources, graph.targets)
    chances = {  # that a candidate is drawn again; per edge if an end is kept
        "uniform": bad.mean(),
        "same_source": bad.mean(axis=1)[graph.sources],
        "same_target": bad.mean(axis=0)[graph.targets],
        "degree": bad[ends].mean(),
        "popular_source": bad[graph.sources].mean(),
        "active_source": bad[np.unique(graph.sources)].mean(),
        "popular_same_target": bad[graph.sources].mean(axis=0)[graph.targets],
        "active_same_target": bad[np.unique(graph.sources)].mean(axis=0)[graph.targets],
        "active_target": bad[:, np.unique(graph.targets)].mean(),
    }
    for kind, chance in chances.items():
        draws = EdgeTable.build(graph, kinds=Negatives(**{kind: 4})).draws
        assert draws == MAX_DRAWS or np.mean(chance**draws) <= LEFT_OUT
        assert draws == 1 or np.mean(chance ** (draws - 1)) > LEFT_OUT


def test_rejected_draws_are_all_counted(monkeypatch):
    tries, original = [], sampling._candidates

    def recorded(*arguments):
        candidates = original(*arguments)
        jax.debug.callback(lambda *x: tries.append(np.array(x).swapaxes(1, 2)), *candidates, ordered=True)
        return candidates

    monkeypatch.setattr(sampling, "_candidates", recorded)
    graph = random_graph(6, 24)
    drawn = draw(graph, Negatives(uniform=3), 40)
    jax.effects_barrier()
    bad, count, chosen = np.ones((40, 3), bool), 0, np.zeros((2, 40, 3), int)
    for a, b in tries:
        chosen[:, bad] = a[bad], b[bad]
        bad &= adjacency(graph)[a, b] | (a == b)
        count += bad.sum()
    assert drawn.rejected == count > 0
    np.testing.assert_array_equal(drawn.use[:, 1:], ~bad)
    found = np.stack([drawn.sources, drawn.targets])[:, :, 1:]
    np.testing.assert_array_equal(found, np.where(bad, graph.num_nodes, chosen))


def test_padding_has_no_weight_no_pairs_and_no_nodes():
    graph = random_graph(6, 10, weighted=True)
    ids = np.array([3, 10, 0, 11, 9, 2**31 - 1], np.int32)
    real = ids < 10
    drawn = _draw(KEY, EdgeTable.build(graph), Negatives(uniform=2, reversed=1), ids)
    np.testing.assert_array_equal(drawn.weights, np.where(real, graph.weights[np.minimum(ids, 9)], 0))
    assert not drawn.use[~real].any()
    assert (drawn.sources[~real] == 6).all()
    assert (drawn.targets[~real] == 6).all()
    assert drawn.use[real, 0].all()


def test_a_few_examples_among_much_padding_have_negatives_too():
    ids = np.where(np.arange(4096) < 3, 0, 2**31 - 1).astype(np.int32)
    drawn = _draw(KEY, EdgeTable.build(random_graph(50, 10)), Negatives(uniform=4), ids)
    assert drawn.use[:3].all()
    assert not drawn.use[3:].any()


def test_the_same_key_draws_the_same_and_another_key_does_not():
    again, other = draw(GRAPH, ALL_KINDS, 3000), many(8)
    for one, two in zip(many(), again, strict=True):
        np.testing.assert_array_equal(one, two)
    for column in {*range(1, 27)} - {21}:  # the reverse of an edge is not random
        for different, at in ((other, column), (many(), column - 1)):
            same = [x[:, column] == y[:, at] for x, y in zip(many()[:2], different[:2], strict=True)]
            assert (same[0] & same[1]).mean() < 0.9


def test_candidates_of_a_list_are_drawn_again_as_often_as_they_are_edges():
    edges, free = np.argwhere(adjacency(GRAPH)), np.argwhere(ALLOWED)
    half = np.concatenate([edges, free[: len(edges)]])
    assert EdgeTable.build(GRAPH, half, Negatives(listed=1)).draws == 7  # 2⁻⁷ is below a hundredth
    assert EdgeTable.build(GRAPH, free, Negatives(listed=1)).draws < 7
