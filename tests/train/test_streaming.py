"""Streamed edges give the same results as edges in memory."""

import dataclasses
import json
import os
import signal

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compilations import compilations
from graphs import random_graph

import timelike as tl
from timelike.engine import filtered_edges
from timelike.engine.filtered_edges import FilteredEdges
from timelike.io.edge_shards import EdgeShards
from timelike.training.stream import Stream, validation_pairs

MODEL = tl.Model(tl.manifolds.Minkowski(3), tl.likelihoods.TripleFermiDirac())
KINDS = tl.Negatives(uniform=2, same_source=1, degree=1)
CONFIG = tl.Config(epochs=2, batch_size=32, optimizer="adam", burn_in=1, negatives=KINDS)


@pytest.fixture(scope="module")
def split():
    return tl.split_edges(tl.datasets.rmat(8, 6), valid=0.1, test=0.0)


@pytest.fixture(scope="module")
def in_parts(split, tmp_path_factory):
    return EdgeShards.write(split.train, tmp_path_factory.mktemp("parts") / "many", per_part=300)


@pytest.fixture(scope="module")
def streamed(split, in_parts):
    return tl.train(in_parts, MODEL, CONFIG, valid=split.valid, progress=False)


def test_runs_side_by_side_are_not_streamed(in_parts):
    with pytest.raises(TypeError, match=r"graph is EdgeShards.*; it must be a DiGraph"):
        tl.sweep(in_parts, MODEL, CONFIG)


def test_another_run_compiles_nothing(split, in_parts, streamed):
    with compilations() as again:
        tl.train(in_parts, MODEL, dataclasses.replace(CONFIG, seed=1), valid=split.valid, progress=False)
    assert not again


@pytest.mark.long
def test_one_part_is_the_same_training(split, tmp_path):
    """Bit for bit: the same order, the same negatives, the same steps."""
    shards = EdgeShards.write(split.train, tmp_path / "one")
    wanted = tl.train(split.train, MODEL, CONFIG, valid=split.valid, progress=False)
    found = tl.train(shards, MODEL, CONFIG, valid=split.valid, progress=False)
    np.testing.assert_array_equal(found.points, wanted.points)
    for name, column in wanted.history.items():
        np.testing.assert_array_equal(found.history[name], column, err_msg=name)


@pytest.mark.long
def test_many_parts_learn_as_much(split, in_parts, streamed):
    assert len(in_parts.counts) == 4
    assert in_parts.num_edges == split.train.num_edges
    wanted = tl.train(split.train, MODEL, CONFIG, valid=split.valid, progress=False)
    loss, reference = streamed.history["loss"], wanted.history["loss"]
    np.testing.assert_allclose(loss, reference, rtol=0.05)
    assert loss[-1] < loss[0]


@pytest.mark.long
def test_a_run_goes_on_from_its_checkpoint(split, in_parts, streamed, tmp_path):
    def stopped(epoch, points):
        if epoch == 1:
            os.kill(os.getpid(), signal.SIGINT)

    kept = {"checkpoint": tmp_path / "run.safetensors", "valid": split.valid, "progress": False}
    with pytest.raises(tl.InterruptedTraining, match="after epoch 1 of 2"):
        tl.train(in_parts, MODEL, CONFIG, on_epoch=stopped, **kept)
    found = tl.train(in_parts, MODEL, CONFIG, **kept)
    np.testing.assert_array_equal(found.points, streamed.points)
    with pytest.raises(ValueError, match="another run"):
        tl.train(in_parts, MODEL, dataclasses.replace(CONFIG, seed=1), **kept)


def test_every_edge_is_seen_once_in_an_epoch(in_parts):
    plan = CONFIG.epoch_plan(False, False)
    stream = Stream(plan, in_parts)
    order = stream._order(0, 0)
    assert sorted(order) == [0, 1, 2, 3]
    assert order != stream._order(0, 1) or order != stream._order(0, 2)
    table = FilteredEdges(*stream._load(order[0]), **stream._fixed)
    own = np.asarray(table.pairs)[: int(table.count)].T
    np.testing.assert_array_equal(own, in_parts.part(order[0]))
    assert table.num_edges == max(in_parts.counts)


@pytest.mark.long
def test_no_edge_is_missed_and_few_others_are_taken_for_one():
    graph = random_graph(3000, 400_000, seed=1)
    words = filtered_edges.no_members(graph.num_edges)
    for half in (slice(0, 150_000), slice(150_000, None)):
        words = filtered_edges.add_members(
            words, jnp.asarray(graph.sources[half]), jnp.asarray(graph.targets[half])
        )
    assert words.nbytes <= max(2.1 * graph.num_edges, 4 * filtered_edges.FEWEST_WORDS)
    assert filtered_edges.has_member(words, graph.sources, graph.targets).all()
    drawn = np.random.default_rng(2).integers(0, 3000, (2, 200_000))
    other = ~graph.has_edges(*drawn)
    assert jax.device_get(filtered_edges.has_member(words, *drawn[:, other])).mean() < 0.01


def test_held_out_edges_are_validated_on(split, tmp_path):
    shards = EdgeShards.write(split.train, tmp_path / "held", per_part=300, hold_out=0.1)
    pairs = validation_pairs(shards)
    labels = np.asarray(pairs.labels)
    s, t = np.asarray(pairs.sources), np.asarray(pairs.targets)
    assert split.train.has_edges(s[labels], t[labels]).all()
    assert not split.train.has_edges(s[~labels], t[~labels]).any()
    assert len(labels) == 5 * labels.sum()
    assert shards.num_edges + labels.sum() == split.train.num_edges
    np.testing.assert_array_equal(shards.has_edges(s, t), labels)


def test_what_is_wrong_is_said(tmp_path, in_parts):
    with pytest.raises(FileNotFoundError, match="shards"):
        EdgeShards(tmp_path)
    (tmp_path / "shards.json").write_text(json.dumps({"nodes": "?"}))
    with pytest.raises(ValueError, match=r"shards\.json"):
        EdgeShards(tmp_path)
    (tmp_path / "shards.json").write_text(json.dumps({"nodes": 2, "edges": [3], "checksum": ""}))
    np.save(tmp_path / "part-00000.npy", np.zeros((2, 2), np.int32))
    with pytest.raises(ValueError, match=r"part-00000\.npy .*shards\.json"):
        EdgeShards(tmp_path).part(0)
    with pytest.raises(TypeError, match="graph is"):
        tl.train([(0, 1)], MODEL)
