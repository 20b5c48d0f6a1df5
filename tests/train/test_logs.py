"""What training says while it runs: records for listeners and files, lines without a terminal, tables."""

import json

import numpy as np
import pytest

import timelike as tl
from timelike._util import progress
from timelike._util.trackers import logged, scalars
from timelike.training.training_loop import still_improving

MODEL = tl.Model(tl.manifolds.Minkowski(2), tl.likelihoods.TripleFermiDirac())


@pytest.fixture(scope="module")
def split() -> tl.Split:
    return tl.split_edges(tl.datasets.duplication_divergence(seed=1, nodes=40), valid=0.2, test=0.2)


def test_a_function_receives_the_history_of_a_run(split):
    records = []
    with tl.logged(records.append):
        found = tl.train(split.train, MODEL, tl.Config(epochs=3), valid=split.valid)
    tl.train(split.train, MODEL, tl.Config(epochs=3))  # nobody listens any more
    assert [(one["stage"], one["epoch"], one["epochs"]) for one in records] == [
        ("training", i, 3) for i in (1, 2, 3)
    ]
    for name in ("loss", "gradient_norm", "valid_ap"):
        np.testing.assert_array_equal([one[name] for one in records], found.history[name])
    assert "test_ap" not in records[0]  # it was not measured


def test_runs_side_by_side_are_told_together_and_the_best_is_picked(split, tmp_path):
    with tl.logged(tmp_path / "log.jsonl"):
        runs = tl.sweep(split.train, MODEL, tl.Config(epochs=2), seeds=3, valid=split.valid, keep_all=True)
    began, *records = map(json.loads, (tmp_path / "log.jsonl").read_text().splitlines())
    assert began.keys() == {"began"}
    assert len(records) == 2
    last = [one.history["valid_ap"][-1] for one in runs.runs]
    np.testing.assert_allclose(records[-1]["valid_ap"], last, rtol=1e-6)
    assert scalars(records[-1])["3 runs/valid_ap"] == max(records[-1]["valid_ap"])
    assert scalars({"stage": "x", "epoch": 1, "loss": [3.0, None, 2.0]}) == {"x/loss": 2.0}


def test_an_estimator_logs_stages_and_the_result(split, tmp_path):
    records, file = [], tmp_path / "log.jsonl"
    fitted = tl.SpacetimeEmbedding("minkowski", dim=2, epochs=3, log=[records.append, str(file)])
    fitted.fit(split.train)
    assert {"minkowski", "refit"} <= {one["stage"] for one in records}
    assert records[-1]["stage"] == "result"
    assert records[-1]["geometry_valid_ap"] == fitted.embedding_.info["valid_ap"]
    assert [json.loads(line) for line in file.read_text().splitlines()][1:] == records
    fitted.save(tmp_path / "model")
    assert tl.SpacetimeEmbedding.load(tmp_path / "model").log is None  # a place of this machine


def test_what_cannot_be_logged_to_is_named(tmp_path):
    with pytest.raises(TypeError, match="7"), logged(7):
        pass
    with pytest.raises(OSError, match="nowhere"), logged(tmp_path / "nowhere" / "log.jsonl"):
        pass


def test_lines_appear_without_a_terminal(split, monkeypatch, capsys):
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    with progress.lines_without_terminal():
        progress.announce(None, "a caption")
        tl.train(split.train, MODEL, tl.Config(epochs=3), valid=split.valid)
        tl.train(split.train, MODEL, tl.Config(epochs=3), progress=False)
    caption, *lines = capsys.readouterr().err.splitlines()
    assert caption == "a caption"
    assert lines[-1].startswith("training: 3 of 3 epochs")
    assert all("valid AP" in line for line in lines[1:])
    tl.train(split.train, MODEL, tl.Config(epochs=3))
    assert capsys.readouterr().err == ""


def test_what_a_stage_counts_is_shown_like_the_stage(monkeypatch, capsys):
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    for shown in (None, False):
        with progress.lines_without_terminal(), progress.stages():
            progress.announce(shown, "a stage", "joint")
            assert list(progress.within_stage(range(3), "counting", unit="number")) == [0, 1, 2]
        said = capsys.readouterr().err
        assert ("counting: 3 of 3 numbers" in said) is (shown is None)
    with progress.lines_without_terminal():
        list(progress.within_stage(range(3), "counting", unit="number"))
    assert capsys.readouterr().err == ""


def test_a_run_that_still_improves_says_so():
    assert still_improving(np.array([0.1, 0.2, 0.3]), 3)
    assert not still_improving(np.array([0.1, 0.3, 0.3]), 2)
    assert not still_improving(np.r_[np.linspace(0.2, 0.5, 50), np.full(50, 0.5), 0.5004], 101)
    assert not still_improving(np.array([0.4]), 1)


def test_results_are_tables_in_notebooks(split):
    runs = tl.sweep(split.train, MODEL, tl.Config(epochs=2), seeds=2, valid=split.valid)
    shown = {
        "valid_ap": runs,
        "probability": runs.best.top_edges(3),
        "distance": runs.best.most_similar(0, 3),
        "average_precision": tl.evaluate(runs.best, split),
        "reciprocity": split.train.describe(),
    }
    for word, one in shown.items():
        text = one._repr_html_()
        assert text.startswith("<table>")
        assert word in text
    assert runs.best.top_edges(3)._repr_html_().count("<tr>") == 4
