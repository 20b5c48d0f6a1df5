"""Trackers of experiments receive every epoch: their own libraries read back what was written, offline."""

import pytest

import timelike as tl

pytestmark = pytest.mark.long


@pytest.fixture
def fit():
    graph = tl.datasets.duplication_divergence(seed=1, nodes=40)

    def run(log):
        return tl.SpacetimeEmbedding("minkowski", dim=2, epochs=4, evidence="none", log=log).fit(graph)

    return run


def test_tensorboard(fit, tmp_path):
    pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    fitted = fit(f"tensorboard:{tmp_path}")
    from tensorboardX.proto.event_pb2 import Event

    found = {}
    data = next(tmp_path.glob("events*")).read_bytes()
    while data:  # length, its checksum, an event, its checksum
        size = int.from_bytes(data[:8], "little")
        event = Event.FromString(data[12 : 12 + size])
        data = data[16 + size :]
        for value in event.summary.value:
            found[value.tag, event.step] = value.simple_value
    reached = [found["minkowski/valid_ap", epoch] for epoch in (1, 2, 3, 4)]
    assert max(reached) == pytest.approx(fitted.embedding_.info["valid_ap"])


@pytest.mark.filterwarnings("ignore")  # of the tracker, about itself
def test_mlflow(fit, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="mlflow-skinny is not installed")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(tmp_path.as_uri())
    mlflow.set_experiment("first")
    with mlflow.start_run() as run:
        fitted = fit("mlflow")
    client = mlflow.tracking.MlflowClient()
    history = client.get_metric_history(run.info.run_id, "minkowski/valid_ap")
    assert [one.step for one in history] == [1, 2, 3, 4]
    assert max(one.value for one in history) == pytest.approx(fitted.embedding_.info["valid_ap"])
    fit("mlflow:second")  # a run of its own
    assert mlflow.active_run() is None
    assert len(client.search_runs([client.get_experiment_by_name("second").experiment_id])) == 1


@pytest.mark.filterwarnings("ignore")
def test_wandb(fit, tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb", reason="wandb is not installed")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_SILENT", "true")
    with wandb.init(mode="offline", project="test") as run:
        fitted = fit("wandb")
        reached = run.summary["result/valid_ap"]
        assert run.summary["minkowski/epoch"] == 4
    assert reached == pytest.approx(fitted.embedding_.info["valid_ap"])
    assert list(tmp_path.glob("wandb/offline-run-*/*.wandb"))
