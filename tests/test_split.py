"""Properties of splits, for any graph."""

import dataclasses
import re

import networkx as nx
import numpy as np
import pytest
from any_graphs import as_set, check_parts, graphs
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from timelike import DiGraph
from timelike.datasets import chain, cycle, duplication_divergence, transitive_chain
from timelike.evaluation.splits import PAIRS, SCHEMA, Split, folds, in_edge_order, split_edges

SHARES = st.sampled_from([0.0, 0.01, 0.1, 0.25, 0.4])
SEEDS = st.integers(0, 2**32)
GRAPH = duplication_divergence(seed=17)
quick = settings(max_examples=40)


def wanted(share: float, total: int) -> int:
    return max(1, round(share * total)) if share else 0


def attempt(graph, *arguments, **options) -> Split:
    """A split; discards examples that are too small to split."""
    try:
        return split_edges(graph, *arguments, **options)
    except ValueError as error:
        assume(not re.search("valid and test|no non-edges|no edge to train|too few|too small", str(error)))
        raise


@quick
@given(graphs(), SHARES, SHARES, SEEDS)
def test_parts_are_disjoint_and_make_up_the_graph(graph, valid, test, seed):
    split = attempt(graph, valid, test, seed, ratio=2)
    check_parts(graph, split)
    for part, share in (("valid", valid), ("test", test)):
        count = wanted(share, graph.num_edges)
        assert len(getattr(split, f"{part}_edges")) == count
        assert len(getattr(split, f"{part}_negatives")) == 2 * count
        pairs = getattr(split, part)
        assert np.asarray(pairs.labels).tolist() == [True] * count + [False] * 2 * count
    assert split.summary["train_edges"] == graph.num_edges - len(split.valid_edges) - len(split.test_edges)


@quick
@given(graphs(sparse=True), SEEDS)
def test_the_same_seed_gives_the_same_split(graph, seed):
    one, two = (attempt(graph, 0.2, 0.3, seed) for _ in range(2))
    for name in ("valid_edges", "valid_negatives", "test_edges", "test_negatives"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


def test_different_seeds_give_different_splits():
    drawn = {
        (s.test_edges.tobytes(), s.test_negatives.tobytes(), s.valid_negatives.tobytes())
        for s in (split_edges(GRAPH, seed=seed) for seed in range(20))
    }
    for column in zip(*drawn, strict=True):
        assert len(set(column)) == 20


def test_every_edge_is_as_likely_to_be_held_out():
    counts = np.zeros(GRAPH.num_edges)
    for seed in range(400):
        split = split_edges(GRAPH, valid=0, test=0.25, seed=seed, ratio=1)
        counts += ~split.train.has_edges(GRAPH.sources, GRAPH.targets)
    # 400 draws with p = ¼: the standard deviation is 8.7, and 5 of them are not seen in 1,000 edges.
    assert np.abs(counts - 100).max() < 5 * 8.7


def components(graph: DiGraph) -> set[frozenset]:
    net = nx.Graph(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    net.add_nodes_from(range(graph.num_nodes))
    return set(map(frozenset, nx.connected_components(net)))


@quick
@given(graphs(least=6, most=10, least_edges=12), SEEDS, st.booleans())
def test_connected_keeps_every_component_whole(graph, seed, together):
    split = attempt(graph, 0.1, 0.2, seed, connected=True, together=together)
    check_parts(graph, split)
    assert components(split.train) == components(graph)


def test_connected_spares_all_it_can_and_no_more():
    graph = transitive_chain(6)  # 15 edges, 5 of them in any spanning tree
    split = split_edges(graph, valid=0, test=10 / 15, connected=True, negatives="reversed")
    assert split.train.num_edges == 5
    with pytest.raises(ValueError, match=r"valid and test.* 11 .* 10 .*disconnect"):
        split_edges(graph, valid=0, test=11 / 15, connected=True)
    with pytest.raises(ValueError, match=r"valid and test.* 0 .*disconnect"):
        split_edges(chain(10), connected=True)


@quick
@given(graphs(least=6, most=10, least_edges=12), SEEDS, st.booleans())
def test_reciprocal_pairs_stay_together(graph, seed, connected):
    split = attempt(graph, 0.2, 0.2, seed, together=True, connected=connected)
    check_parts(graph, split)
    for part in (split.train, split.valid_edges, split.test_edges):
        here = as_set(part)
        assert {(t, s) for s, t in here} & as_set(graph) <= here
    count = wanted(0.2, graph.num_edges)
    assert count <= len(split.test_edges) <= count + 1
    assert len(split.valid_edges) <= count + 1


@quick
@given(graphs(least=4), SEEDS)
def test_all_edges_of_held_out_nodes_leave_training(graph, seed):
    split = attempt(graph, 0.2, 0.2, seed, by="nodes")
    check_parts(graph, split)
    active = np.union1d(graph.sources, graph.targets)
    seen = np.union1d(split.train.sources, split.train.targets)
    watched = np.union1d(seen, split.valid_edges)
    # Every held-out edge has an end that training (and validation) has never seen.
    assert all(s not in seen or t not in seen for s, t in split.valid_edges)
    assert all(s not in watched or t not in watched for s, t in split.test_edges)
    held = 2 * wanted(0.2, len(active))
    assert len(np.setdiff1d(active, seen)) >= held


@quick
@given(graphs(least=3), st.data())
def test_later_edges_are_held_out(graph, data):
    times = data.draw(
        st.lists(st.integers(0, 9), min_size=graph.num_edges, max_size=graph.num_edges).map(np.array)
    )
    split = attempt(graph, 0.2, 0.2, times=times)
    check_parts(graph, split)
    when = {
        pair: time for pair, time in zip(zip(graph.sources, graph.targets, strict=True), times, strict=True)
    }
    ages = [[when[pair] for pair in as_set(p)] for p in (split.train, split.valid_edges, split.test_edges)]
    assert max(ages[0]) < min(ages[1])
    assert max(ages[1]) < min(ages[2])


def test_the_time_cut_is_the_nearest_between_equal_times():
    times = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3, 3])
    sizes = [
        (s.train.num_edges, len(s.valid_edges), len(s.test_edges))
        for s in (split_edges(cycle(10), v, t, times=times) for v, t in [(0.1, 0.1), (0.3, 0.2), (0, 0.4)])
    ]
    assert sizes == [(5, 3, 2), (5, 3, 2), (5, 0, 5)]
    dates = np.datetime64("2020-01-01") + times.astype("timedelta64[D]")
    assert len(split_edges(cycle(10), 0.3, 0.2, times=dates).test_edges) == 2


@pytest.mark.parametrize("dates", [False, True])
def test_times_of_the_graph(dates, tmp_path):
    """They split the edges like an array of times, and stay with the training edges on disk."""
    when = np.random.default_rng(0).integers(0, 30, GRAPH.num_edges)
    when = np.datetime64("2020-01-01") + when.astype("timedelta64[us]") if dates else when
    order = np.random.default_rng(1).permutation(GRAPH.num_edges)
    graph = DiGraph.from_arrays(GRAPH.sources[order], GRAPH.targets[order], 100, times=when[order])
    assert np.array_equal(graph.times, when)
    split, expected = split_edges(graph, by="time"), split_edges(GRAPH, times=when)
    assert np.array_equal(split.test_edges, expected.test_edges)
    assert split.how == expected.how == "time"
    known = {*zip(graph.sources.tolist(), graph.targets.tolist(), when.tolist(), strict=True)}
    train = split.train
    assert {*zip(train.sources.tolist(), train.targets.tolist(), train.times.tolist(), strict=True)} <= known
    split.save(tmp_path / "split.safetensors")
    again = Split.load(tmp_path / "split.safetensors").train.times
    assert again.dtype == train.times.dtype
    assert np.array_equal(again, train.times)


def test_times_in_the_order_of_a_file():
    s, t = [2, 0, 1, 0, 2, 2], [0, 1, 2, 1, 1, 2]  # 0 → 1 comes twice, and 2 has a self-loop
    graph = DiGraph.from_arrays(s, t, 3)
    times = in_edge_order(graph, s, t, [30, 10, 20, 99, 5, 7])
    assert times.tolist() == [10, 20, 30, 5]
    with pytest.raises(ValueError, match=r"2 listed edges.*DiGraph"):
        in_edge_order(graph, [2, 0], [0, 1], [1, 2])
    with pytest.raises(ValueError, match=r"sources.*5, 5 and 4"):
        in_edge_order(graph, [2, 0, 1, 0, 2], [0, 1, 2, 1, 1], [1, 2, 3, 4])


@quick
@given(graphs(least=6, sparse=True, least_edges=9), st.integers(2, 4), SEEDS, st.booleans())
def test_folds_partition_the_edges(graph, k, seed, together):
    made = list(folds(graph, k, 0.1, seed, together=together, ratio=1))
    assert len(made) == k
    tested = [as_set(split.test_edges) for split in made]
    assert sum(map(len, tested)) == graph.num_edges
    assert set.union(*tested) == as_set(graph)
    for split in made:
        check_parts(graph, split)
        assert len(split.valid_edges) >= 1
        if together:
            here = as_set(split.test_edges)
            assert {(t, s) for s, t in here} & as_set(graph) <= here
        else:
            assert len(split.test_edges) in (graph.num_edges // k, -(-graph.num_edges // k))
    assert made[0].how == f"fold 1 of {k}"


def test_folds_have_different_negatives():
    one, two = folds(GRAPH, 2)
    assert not np.array_equal(one.test_negatives, two.test_negatives)


# Bidirectional edges


def test_bidirectional_pairs():
    i = np.arange(20)
    graph = DiGraph.from_arrays(  # a ring both ways, and chords one way
        np.concatenate([i, (i + 1) % 20, i]), np.concatenate([(i + 1) % 20, i, (i + 7) % 20])
    )
    split = split_edges(graph, valid=0, test=0.2)
    pairs = split.bidirectional(ratio=2)
    labels = np.asarray(pairs.labels)
    found = np.stack([pairs.sources, pairs.targets], axis=1)
    back = {(t, s) for s, t in as_set(split.train)}
    assert as_set(found[labels]) == as_set(split.test_edges) & back
    assert as_set(found[~labels]) <= back - as_set(graph)
    assert labels.sum() >= 3
    assert (~labels).sum() == min(2 * labels.sum(), len(back - as_set(graph)))
    with pytest.raises(ValueError, match="reverse"):
        split_edges(chain(20)).bidirectional()


# Files


@pytest.mark.parametrize("names", [None, "text", "numbers"])
def test_saved_and_loaded(tmp_path, names):
    n = GRAPH.num_nodes
    called = {None: None, "text": [f"ge\u00f1e {i}" for i in range(n)], "numbers": list(np.arange(n) * 7)}[
        names
    ]
    weights = None if names is None else np.linspace(1, 2, GRAPH.num_edges)
    graph = DiGraph.from_arrays(GRAPH.sources, GRAPH.targets, n, called, weights)
    listed = np.argwhere(~graph.has_edges(*np.indices((n, n)))) if names == "text" else None
    kind = "uniform" if listed is None else "listed"
    split = split_edges(graph, seed=3, connected=True, negatives=kind, listed=listed)
    split.save(tmp_path / "split.safetensors")
    found = Split.load(tmp_path / "split.safetensors")
    assert found.summary == split.summary
    assert found.train.names == split.train.names
    for field in dataclasses.fields(Split):
        if field.name in PAIRS:
            assert np.array_equal(getattr(found, field.name), getattr(split, field.name))
    for name in ("sources", "targets", "weights"):
        assert np.array_equal(getattr(found.train, name), getattr(split.train, name))
    assert [path.name for path in tmp_path.iterdir()] == ["split.safetensors"]


def test_files_that_are_no_splits(tmp_path):
    from timelike._util.atomic_files import write_tensors

    path = tmp_path / "split.safetensors"
    path.write_bytes(b"\x08junk")
    with pytest.raises(ValueError, match=r"split.safetensors .*split_edges"):
        Split.load(path)
    for about in ({}, {"split": 3}, {"split": {"schema": 99}}):
        write_tensors(path, {"x": np.zeros(3)}, about)
        with pytest.raises(ValueError, match=r"split.safetensors .*version"):
            Split.load(path)
    write_tensors(path, {"x": np.zeros(3)}, {"split": {"schema": SCHEMA}})
    with pytest.raises(ValueError, match=r"split.safetensors .*incomplete"):
        Split.load(path)
    with pytest.raises(FileNotFoundError):
        Split.load(tmp_path / "missing.safetensors")
    named = DiGraph.from_edges([((1, 2), "b"), ("b", "c"), ("c", "d"), ("d", (1, 2))])
    with pytest.raises(TypeError, match=r"node \(1, 2\).*tuple"):
        split_edges(named, 0.25, 0.25).save(path)


# Errors

COMPLETE = DiGraph.from_arrays([0, 1], [1, 0])


@pytest.mark.parametrize(
    ("graph", "options", "says"),
    [
        (COMPLETE, {"valid": 0, "test": 0.4}, r"uniform: DiGraph\(2 nodes, 2 edges\)"),
        (COMPLETE, {"valid": 0.4, "test": 0.4}, r"DiGraph\(2 nodes, 2 edges\).* no .*train"),
        (COMPLETE, {"valid": 0.9, "test": 0.9}, r"valid and test.* 4 .*DiGraph\(2 nodes, 2 edges\).* 2"),
        (COMPLETE, {"valid": 0, "test": 0.4, "negatives": "reversed"}, "reversed: .*1"),
        (COMPLETE, {"valid": 0, "test": 0.4, "negatives": "same_source"}, "same_source: node [01] points to"),
        (COMPLETE, {"valid": 0, "test": 0.4, "negatives": "same_target"}, "same_target: .*points to.* [01]"),
        (COMPLETE, {"valid": 0, "test": 0.4, "negatives": "degree"}, r"degree: DiGraph\(2 nodes, 2 edges\)"),
        (COMPLETE, {"by": "nodes"}, r"DiGraph\(2 nodes, 2 edges\).*too small"),
        (DiGraph.from_arrays([], [], 3), {}, r"valid and test.* 2 .*DiGraph\(3 nodes, 0 edges\).* 0"),
        (GRAPH, {"valid": 1.0}, "valid is 1.0"),
        (GRAPH, {"test": -0.1}, "test is -0.1"),
        (GRAPH, {"test": float("nan")}, "test is nan"),
        (GRAPH, {"test": "0.1"}, "test is '0.1'"),
        (GRAPH, {"seed": -1}, "seed is -1"),
        (GRAPH, {"ratio": 0}, "ratio is 0"),
        (GRAPH, {"by": "times"}, "by is 'times'.*edges, nodes, time"),
        (GRAPH, {"by": "nodes", "connected": True}, 'by="nodes".*connected'),
        (GRAPH, {"by": "time"}, r'by is "time".*DiGraph\(100 nodes, 1,052 edges\).*times'),
        (GRAPH, {"times": np.zeros(1052), "together": True}, 'by="time".*together'),
        (GRAPH, {"times": np.zeros(5)}, r"times has shape \(5,\).*\(1052,\)"),
        (GRAPH, {"times": np.zeros(1052)}, r"times has 1 .*test"),
        (GRAPH, {"times": np.full(1052, np.nan)}, r"times\[0\] is nan"),
        (GRAPH, {"negatives": "unifrom"}, "negatives is 'unifrom'.*uniform, listed,"),
        (GRAPH, {"negatives": "listed"}, "listed is None.*negatives"),
        (GRAPH, {"listed": np.array([[0, 1]])}, "listed.*negatives is 'uniform'"),
    ],
)
def test_mistakes(graph, options, says):
    with pytest.raises((ValueError, TypeError), match=says) as caught:
        split_edges(graph, **options)
    assert "\n" not in str(caught.value)


def test_mistakes_of_folds_are_reported_at_once():
    for k in (1, 1053, 2.5):
        with pytest.raises(ValueError, match=f"k is {k}"):
            folds(GRAPH, k)


def test_a_published_split_is_checked():
    pairs = np.array([[0, 1]])
    with pytest.raises(ValueError, match=r"Split: test_edges has node 100"):
        Split(GRAPH, pairs, pairs, np.array([[100, 0]]), pairs, "listed")


def test_shares_may_be_numbers_of_numpy():
    found, expected = (split_edges(GRAPH, valid=share) for share in (np.float32(0.25), 0.25))
    np.testing.assert_array_equal(found.valid_edges, expected.valid_edges)
