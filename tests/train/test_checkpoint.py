"""Stopped, interrupted and killed runs end with the bits of an undisturbed run."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from quick_compiling import XLA_FLAGS
from safetensors.numpy import save_file

import timelike as tl
from timelike.training import checkpoint as checkpoints

GRAPH = tl.datasets.duplication_divergence(seed=3, nodes=30)
MODEL = tl.Model(tl.manifolds.Hyperboloid(3), tl.likelihoods.TripleFermiDirac())
SCRIPT = Path(__file__).with_name("long_run.py")


def run(path=None, **settings):
    config = tl.Config(**{"epochs": 6, "batch_size": 32, "optimizer": "adam"} | settings)
    checkpoint = None if path is None else tl.Checkpointing(path, every_epochs=1)
    return tl.train(GRAPH, MODEL, config, checkpoint=checkpoint)


def stop_after(monkeypatch, epochs):
    """The machine stops when checkpoint number `epochs` has been written."""
    write, left = checkpoints.write, [epochs]

    def write_and_stop(*arguments):
        write(*arguments)
        left[0] -= 1
        if not left[0]:
            raise SystemError("power cut")

    monkeypatch.setattr(checkpoints, "write", write_and_stop)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("epochs", range(1, 6))
def test_a_resumed_run_has_the_same_bits(tmp_path, monkeypatch, optimizer, epochs):
    path = tmp_path / "run.safetensors"
    with monkeypatch.context() as patch:
        stop_after(patch, epochs)
        with pytest.raises(SystemError, match="power cut"):
            run(path, optimizer=optimizer)
    resumed, whole = run(path, optimizer=optimizer), run(optimizer=optimizer)
    assert np.array_equal(resumed.points, whole.points)
    for name, values in whole.history.items():
        np.testing.assert_array_equal(resumed.history[name], values)
    assert resumed.info == whole.info


def test_a_crash_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "run.safetensors"
    checkpoints.write(path, {"x": np.arange(3)}, {}, {"a": 1})
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk gone")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk gone"):
        checkpoints.write(path, {"x": np.arange(4)}, {}, {"a": 1})
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_file_that_is_no_checkpoint_is_named(tmp_path):
    path = tmp_path / "run.safetensors"
    path.write_bytes(b"junk")
    with pytest.raises(ValueError, match=r"run.safetensors is not a readable checkpoint .*delete it"):
        run(path)
    path.unlink()
    run(path)
    for part in (path.read_bytes()[:-7], path.read_bytes()[:3], b""):
        path.write_bytes(part)
        with pytest.raises(ValueError, match=r"^[^\n]* is not a readable checkpoint [^\n]*delete it"):
            run(path)
    save_file({"points": np.zeros((30, 4), np.float32)}, path)
    with pytest.raises(ValueError, match=r"run.safetensors is not a timelike checkpoint; delete it"):
        run(path)


@pytest.mark.parametrize("place", [-1, -100, -1000])
def test_a_flipped_bit_is_seen(tmp_path, place):
    path = tmp_path / "run.safetensors"
    run(path)
    content = bytearray(path.read_bytes())
    content[place] ^= 8
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"not a readable checkpoint \(.* is damaged: .*\); delete it"):
        run(path)


def test_other_settings_are_named(tmp_path):
    path = tmp_path / "run.safetensors"
    run(path)
    with pytest.raises(ValueError, match=r"\(learning_rate was 0.02, is now 0.5\)"):
        run(path, learning_rate=0.5)
    with pytest.raises(ValueError, match=r"\(epochs was 6, is now 7; optimizer was 'adam', is now 'sgd'\)"):
        run(path, epochs=7, optimizer="sgd")
    other = tl.Model(tl.manifolds.Hyperboloid(3, radius=2.0), tl.likelihoods.TripleFermiDirac())
    config, keep = tl.Config(epochs=6, batch_size=32, optimizer="adam"), tl.Checkpointing(path)
    with pytest.raises(ValueError, match=r"\(model was .*radius=1.0.*, is now .*radius=2.0"):
        tl.train(GRAPH, other, config, checkpoint=keep)
    with pytest.raises(ValueError, match=r"\(edges was '\w+', is now"):
        tl.train(GRAPH.subgraph(np.arange(20)), MODEL, config, checkpoint=keep)


def test_long_lists_of_settings_are_not_printed(tmp_path):
    """As for the runs of a sweep: all of them differ if the seed does."""
    before, now = ({"seed": seed, "runs": [{"seed": seed, "tau1": 0.1}] * 20} for seed in (0, 1))
    with pytest.raises(
        ValueError, match=r"run \(runs differs; seed was 0, is now 1\); .*, or delete it to start"
    ):
        checkpoints.check_settings(tmp_path, before, now)


def test_a_finished_run_is_read_back(tmp_path):
    path = tmp_path / "run.safetensors"
    first = run(path)
    assert np.array_equal(run(path).points, first.points)


@pytest.fixture(scope="module")
def cached(tmp_path_factory):
    """An environment with a compilation cache, and the bits of an undisturbed run."""
    folder = tmp_path_factory.mktemp("cache")
    environment = os.environ | {
        "JAX_COMPILATION_CACHE_DIR": str(folder),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "XLA_FLAGS": XLA_FLAGS,
    }
    result = folder / "whole.npy"
    start(environment, folder / "whole.safetensors", result).communicate()
    return environment, np.load(result)


def start(environment, path, result):
    return subprocess.Popen(
        [sys.executable, SCRIPT, path, result],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_progress(path, process):
    """Wait for a new checkpoint or the end of the run."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    while process.poll() is None and not (path.exists() and path.stat().st_mtime_ns > before):
        time.sleep(0.001)


@pytest.mark.long
def test_signals_finish_the_epoch_and_say_how_to_resume(tmp_path, cached):
    environment, whole = cached
    path, result = tmp_path / "run.safetensors", tmp_path / "points.npy"
    for number in (signal.SIGINT, signal.SIGTERM):
        process = start(environment, path, result)
        wait_for_progress(path, process)
        process.send_signal(number)
        _, said = process.communicate()
        assert process.returncode == 130
        assert re.fullmatch(
            r"(note: the run continues in epoch \d+ of \d+\n)?"
            rf"{number.name}: stopped after epoch \d+ of \d+; "
            rf"saved to {re.escape(str(path))}; run it again to resume\n",
            said,
        )
    start(environment, path, result).communicate()
    assert np.array_equal(np.load(result), whole)


def kill_often(environment, path, result, kills, seed):
    """SIGKILL at random moments, one in four before the first epoch; then let the run finish."""
    chance = random.Random(seed)
    for number in range(kills):
        process = start(environment, path, result)
        process.stdout.readline()
        if number % 4 != 3:
            wait_for_progress(path, process)
        time.sleep(chance.uniform(0, 0.02))
        assert process.poll() is None, f"over before kill {number + 1}: the run is too short"
        process.kill()
        process.communicate()
    process = start(environment, path, result)
    process.communicate()
    assert process.returncode == 0
    assert [p.name for p in path.parent.glob("*.safetensors*")] == [path.name]


@pytest.mark.long
def test_two_kills(tmp_path, cached):
    environment, whole = cached
    kill_often(environment, tmp_path / "run.safetensors", tmp_path / "points.npy", 2, seed=0)
    assert np.array_equal(np.load(tmp_path / "points.npy"), whole)


@pytest.mark.slow
def test_twenty_kills(tmp_path, cached):
    environment, whole = cached
    kill_often(environment, tmp_path / "run.safetensors", tmp_path / "points.npy", 20, seed=1)
    assert np.array_equal(np.load(tmp_path / "points.npy"), whole)


@pytest.mark.parametrize(("waited", "due"), [(0, [4, 8]), (31, [*range(1, 9)])])
def test_a_run_is_written_after_so_many_epochs_or_seconds(tmp_path, waited, due):
    saver = checkpoints.Saver(tl.Checkpointing(tmp_path / "run", every_epochs=4, every_seconds=30), {})
    saver.time -= waited
    assert [done for done in range(1, 9) if saver.due(done)] == due


@pytest.mark.long
@pytest.mark.parametrize("threads", [2, 1])
@pytest.mark.parametrize("memory", [2**31, 1])
def test_a_resumed_sweep_has_the_same_bits(tmp_path, monkeypatch, memory, threads):
    """All runs in one program, or a program and a file for each; with as many threads as before or fewer."""

    def sweep(path=None, threads=None):
        checkpoint = None if path is None else tl.Checkpointing(path, every_epochs=1)
        config, grid = tl.Config(epochs=4, batch_size=32), {"tau1": [0.1, 0.2, 0.4]}
        return tl.sweep(GRAPH, MODEL, config, grid, memory=memory, threads=threads, checkpoint=checkpoint)

    expected = sweep()
    with monkeypatch.context() as patch:
        stop_after(patch, 3 if memory > 1 else 7)
        with pytest.raises(SystemError):
            sweep(tmp_path / "sweep.safetensors", threads=2)
    assert len(list(tmp_path.iterdir())) == (1 if memory > 1 else 2)
    found = sweep(tmp_path / "sweep.safetensors", threads)
    np.testing.assert_equal(found.rows, expected.rows)
    assert found.best.points.tobytes() == expected.best.points.tobytes()


@pytest.mark.long
def test_a_sweep_is_not_resumed_with_other_runs(tmp_path):
    tl.sweep(GRAPH, MODEL, tl.Config(epochs=1), seeds=2, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="runs"):
        tl.sweep(GRAPH, MODEL, tl.Config(epochs=1), seeds=[3, 4], checkpoint=tmp_path / "run")
