"""Runs on real processes, against `timelike.train` in this one."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from small_runs import address, by_one, environment, run_processes, split_of

import timelike as tl

pytest.importorskip("orbax.checkpoint", reason="the extra `scale` is not installed")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture(scope="module")
def one():
    return by_one()


def assert_same(found, one):
    points, history = one
    np.testing.assert_allclose(found["points"], points, atol=1e-5)
    for name in ("loss", "valid_ap", "gradient_norm"):
        np.testing.assert_allclose(found[name], history[name], rtol=1e-5)
    for name in ("rejected", "left_out"):
        np.testing.assert_array_equal(found[name], history[name])


@pytest.mark.long
@pytest.mark.scale
def test_two_processes_learn_what_one_does(tmp_path, cache, one):
    assert len(one[1]["loss"]) * split_of().train.num_edges // 18 > 200  # steps
    assert_same(run_processes(2, tmp_path, cache), one)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 4])
def test_other_numbers_of_processes(tmp_path, cache, one, count):
    assert_same(run_processes(count, tmp_path, cache), one)


@pytest.mark.long
def test_a_checkpoint_of_two_is_continued_by_one(tmp_path, cache, one):
    assert run_processes(2, tmp_path, cache, keep=True, halt=2) is None
    assert_same(run_processes(1, tmp_path, cache, keep=True), one)


def fit(folder, number, where, cache, *more):
    command = [sys.executable, "-m", "timelike", "fit", folder / "edges.tsv", "--out", folder / "model"]
    command += ["--geometry", "minkowski", "--epochs", "20", "--batch-size", "100", "--json", *more]
    command += ["--coordinator", where, "--num-processes", "2", "--process-id", str(number)]
    return subprocess.Popen(
        command, env=environment(cache), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.long
@pytest.mark.skipif(not os.path.exists("/proc"), reason="the child is looked up in /proc")
def test_a_lost_process_stops_the_run_which_goes_on_from_its_checkpoint(tmp_path, cache):
    rows = [f"a{s}\ta{t}" for s, t in tl.datasets.duplication_divergence(17).pairs]
    (tmp_path / "edges.tsv").write_text("\n".join(rows))
    where = address()
    both = [fit(tmp_path, i, where, cache, "--checkpoint-seconds", "0.01") for i in range(2)]
    kept = tmp_path / "model.checkpoint" / "run"
    wait_for(lambda: [*kept.glob("*/commit_success.txt")] or both[0].poll() is not None, 300)
    assert both[0].poll() is None, both[0].communicate()
    with open(f"/proc/{both[1].pid}/task/{both[1].pid}/children") as children:
        os.kill(int(children.read().split()[-1]), signal.SIGKILL)  # the first one tracks resources
    start = time.monotonic()
    said = [process.communicate(timeout=120)[1] for process in both]
    assert time.monotonic() - start < 60
    last = [text.splitlines()[-1] for text in said]
    assert re.fullmatch(r"timelike: process 0 of 2: another process was lost; .* --resume", last[0])
    assert re.fullmatch(r"timelike: process 1 of 2 was killed by SIGKILL; .* --resume", last[1])
    assert [process.returncode for process in both] == [75, 128 + signal.SIGKILL]

    where = address()
    both = [fit(tmp_path, i, where, cache, "--resume") for i in range(2)]
    said = [process.communicate(timeout=400) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    result = json.loads(said[0][0])
    assert result["epochs"] == 20
    assert said[1][0] == ""
    assert not kept.parent.exists()
    model = tl.SpacetimeEmbedding.load(tmp_path / "model")
    assert len(model.embedding_.history["loss"]) == 20
    assert len(model.top_targets("a3", 2)) == 2
