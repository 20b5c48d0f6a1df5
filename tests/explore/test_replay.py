"""Snapshots of training: the last one equals the model."""

import numpy as np
import pytest

import timelike as tl
from timelike.embedding.trained_on import TrainedOn
from timelike.training.replay import Replay, record

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def run():
    graph = tl.datasets.cycle(5)
    model = tl.Model(tl.manifolds.CylindricalMinkowski(2, circumference=5), tl.likelihoods.TripleFermiDirac())
    return tl.train(graph, model, tl.Config(epochs=12, batch_size=2, burn_in=2), progress=False), TrainedOn(
        graph
    )


def test_a_replay_runs_from_the_start_to_the_model(run, tmp_path):
    embedding, data = run
    replay = record(embedding, data, 5)
    assert replay.epochs.tolist() == [0, 3, 6, 9, 12]
    np.testing.assert_array_equal(replay.points[-1], embedding.points)
    assert replay.ends_at(embedding)
    assert np.abs(replay.points[0]).max() <= 0.01  # the initial points
    embedding.save(tmp_path / "model", data)
    assert Replay.load(tmp_path / "model", embedding) is None
    replay.save(tmp_path / "model")
    again = Replay.load(tmp_path / "model", tl.Embedding.load(tmp_path / "model"))
    np.testing.assert_array_equal(again.points, replay.points)
    embedding.save(tmp_path / "model")  # replacing a model removes its replay
    assert Replay.load(tmp_path / "model", embedding) is None


def test_what_is_wrong_with_a_replay_is_said(run, tmp_path):
    embedding, data = run
    embedding.save(tmp_path / "model")
    (tmp_path / "model" / "replay.safetensors").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"replay\.safetensors"):
        Replay.load(tmp_path / "model", embedding)
    Replay(np.arange(2), np.zeros((2, 7, 2), np.float32)).save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"replay\.safetensors.* model"):
        Replay.load(tmp_path / "model", embedding)
    with pytest.raises(ValueError, match=r"snapshots.* 1.* 2"):
        record(embedding, data, 1)
