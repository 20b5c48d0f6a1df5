"""A fitted model learns new edges and nodes, and forgets removed ones, while old points stay near."""

import copy
import os
import signal

import numpy as np
import pytest

import timelike as tl
from timelike.estimator import updating
from timelike.training import warm_update
from timelike.training.warm_update import Change, spread_of

QUICK = {"dim": 3, "epochs": 15, "baselines": "none", "progress": False, "evidence": "none"}


@pytest.fixture(scope="module")
def named() -> list[tuple[str, str]]:
    graph = tl.datasets.duplication_divergence(seed=3, nodes=60)
    return [(f"g{s}", f"g{t}") for s, t in np.random.default_rng(0).permutation(graph.pairs)]


@pytest.fixture(scope="module")
def fitted(named) -> tl.SpacetimeEmbedding:
    return tl.SpacetimeEmbedding("minkowski", learning_rate=0.05, **QUICK).fit(named[:-30])


@pytest.fixture
def model(fitted) -> tl.SpacetimeEmbedding:
    return copy.copy(fitted)


def record(model) -> dict:
    return model.embedding_.info["updates"][-1]


def test_new_edges_are_known_and_likelier(model, fitted, named):
    new = [*named[-10:], ("fresh", "g5"), ("g7", "fresh"), ("other", "fresh"), named[0]]
    before = np.mean(fitted.predict_proba(named[-10:])[:, 1])
    model.update(new)
    assert record(model)["edges"] == 13
    assert record(model)["known_already"] == 1
    assert record(model)["nodes"] == 2 + len(
        {x for pair in named[-10:] for x in pair} - {*fitted.graph_.names}
    )
    assert np.mean(model.predict_proba(named[-10:])[:, 1]) > before
    assert model.known_.num_edges == fitted.known_.num_edges + 13
    assert ("fresh", "g5") not in {edge[:2] for edge in model.top_targets("fresh", 60)}
    assert model.embedding_.names[-2:] == ("fresh", "other")


def test_old_points_stay_within_their_reach(model, fitted):
    model.update([("g1", "g30"), ("fresh", "g2")], drift=0.2)
    old, new = fitted.embedding_.points, model.embedding_.points
    moved = np.linalg.norm(new[: len(old)] - old, axis=1)
    assert {fitted.embedding_.names[i] for i in np.flatnonzero(moved)} <= {"g1", "g30", "g2"}
    assert moved.max() <= 0.2 * spread_of(old) / 2  # every end has at least one old edge
    assert record(model)["largest_drift"] == pytest.approx(moved.max() / spread_of(old), rel=1e-4)
    assert record(model)["moved_nodes"] == (moved > 0).sum()


def test_a_hub_with_one_new_edge_moves_less_than_a_leaf():
    graph = tl.DiGraph.from_edges([("hub", f"leaf{i}") for i in range(50)] + [("leaf0", "leaf1")])
    points = np.random.default_rng(0).normal(size=(graph.num_nodes, 3)).astype(np.float32)
    change = Change(graph, graph.sources != 0, np.zeros((0, 2), np.int32), graph.num_nodes)
    far = change.reach(points, 1.0)
    assert far[graph.names.index("hub")] == 0
    assert far[graph.names.index("leaf0")] == pytest.approx(spread_of(points) / 2)
    change = Change(graph, graph.targets == 1, np.zeros((0, 2), np.int32), graph.num_nodes)
    far = change.reach(points, 1.0)
    assert far[0] == pytest.approx(spread_of(points) / 50, rel=1e-5)


def test_removed_edges_are_forgotten(model, fitted, named):
    gone = [*named[:5], ("g1", "g1x")][:5]
    before = np.mean(fitted.decision_function(gone))
    model.update(removed=gone, epochs=40, drift=2.0)
    assert record(model)["removed"] == 5
    assert not model.known_.has_edges(
        *np.transpose([model.graph_.numbers(list(pair)) for pair in gone])
    ).any()
    assert np.mean(model.decision_function(gone)) < before
    with pytest.raises(ValueError, match="stranger"):
        model.update(removed=[("stranger", "g1")])


def test_what_changes_nothing_is_an_error(model, named):
    for edges, removed in (([named[0]], None), (None, None), (None, [("g0", "g0x")])):
        with pytest.raises(ValueError, match=r"nothing|every new edge|does not know"):
            model.update(edges, removed=removed)
    with pytest.raises(ValueError, match="drift is -1"):
        model.update([("a", "g1")], drift=-1)


def test_the_joint_model_counts_new_edges(named, tmp_path):
    model = tl.SpacetimeEmbedding("minkowski", **{**QUICK, "evidence": "structure"}).fit(named[:-10])
    model.update(named[-10:])
    assert model.joint_.known.num_edges == model.known_.num_edges
    assert (
        model.joint_.embedding is model.embedding_ or model.joint_.embedding.points is model.embedding_.points
    )
    fresh = model.joint_.columns[1].graph
    assert fresh.num_edges == model.known_.num_edges
    model.save(tmp_path / "model")
    again = tl.SpacetimeEmbedding.load(tmp_path / "model")
    pairs = named[:20]
    np.testing.assert_array_equal(again.decision_function(pairs), model.decision_function(pairs))
    assert again.embedding_.info["updates"] == model.embedding_.info["updates"]
    again.update([("fresh", named[0][0])])
    assert len(again.embedding_.info["updates"]) == 2


def test_same_seed_same_bits_and_the_next_update_has_another_seed(fitted, named):
    first, again = (copy.copy(fitted).update(named[-10:]) for _ in range(2))
    np.testing.assert_array_equal(first.embedding_.points, again.embedding_.points)


@pytest.mark.long
def test_an_ensemble_updates_every_member(named):
    model = tl.SpacetimeEmbedding("minkowski", members=2, **QUICK).fit(named[:-10])
    before = model.embedding_.others
    model.update([*named[-10:], ("fresh", "g1")])
    assert model.embedding_.others.shape[1] == len(model.embedding_.points)
    assert (model.embedding_.others[:, : before.shape[1]] != before).any()


@pytest.mark.long
def test_nodes_without_names():
    graph = tl.datasets.duplication_divergence(seed=3, nodes=60)
    model = tl.SpacetimeEmbedding("minkowski", **QUICK).fit(graph)
    assert copy.copy(model).update([(60, 3), (2, 60)]).embedding_.names is None
    assert copy.copy(model).update([(100, 3)]).embedding_.names[-1] == 100
    with pytest.raises(ValueError, match="'x'"):
        model.update([("x", "y")])


@pytest.mark.long
def test_times_go_on():
    pairs = tl.datasets.duplication_divergence(seed=3, nodes=60).pairs
    graph = tl.DiGraph.from_arrays(pairs[:-5, 0], pairs[:-5, 1], 60, times=np.arange(len(pairs) - 5.0))
    model = tl.SpacetimeEmbedding("minkowski", **QUICK).fit(graph)
    later = tl.DiGraph.from_arrays(pairs[-5:, 0], pairs[-5:, 1], 60, times=np.full(5, 1e4))
    model.update(later)
    assert (model.graph_.times == 1e4).sum() == 5
    with pytest.raises(ValueError, match="time"):
        model.update([(1, 59), (3, 58), (58, 2)])


def test_an_interrupted_update_continues_with_the_same_bits(fitted, named, tmp_path, monkeypatch):
    whole = copy.copy(fitted).update(named[-10:])
    held, calls = warm_update._held, []

    def stop_at_5(*arguments):
        calls.append(1)
        if len(calls) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return held(*arguments)

    monkeypatch.setattr(warm_update, "_held", stop_at_5)
    model = copy.copy(fitted)
    model.checkpoint = tmp_path / "update.safetensors"
    with pytest.raises(tl.InterruptedTraining, match="5 of 12"):
        model.update(named[-10:])
    np.testing.assert_array_equal(model.embedding_.points, fitted.embedding_.points)
    model.update(named[-10:])
    assert len(calls) == 12
    np.testing.assert_array_equal(model.embedding_.points, whole.embedding_.points)


def test_held_out_pairs_stay_honest(fitted, named):
    known = fitted.trained_on_
    now_edges = known.valid.negatives[:2]
    names = fitted.embedding_.names
    found = updating.update(fitted.embedding_, known, None, [(names[s], names[t]) for s, t in now_edges])
    assert len(found.trained_on.valid.negatives) == len(known.valid.negatives) - 2
    assert found.embedding.info["refit"]["valid"] == found.trained_on.valid.digest
    gone = known.valid.positives[:1]
    found = updating.update(fitted.embedding_, known, None, removed=gone)
    assert len(found.trained_on.valid.positives) == len(known.valid.positives) - 1


@pytest.mark.long
def test_nested_cones_are_placed_again():
    tree = tl.DiGraph.from_edges([(i, (i - 1) // 3) for i in range(1, 60)])
    model = tl.SpacetimeEmbedding("nested-cones", baselines="none", evidence="none", progress=False).fit(tree)
    count = model.graph_.num_nodes
    model.update([(count, 1)])
    assert len(model.embedding_.points) == count + 1
