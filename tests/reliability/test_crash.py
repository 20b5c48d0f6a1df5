"""Killed at any moment, whatever writes leaves the old or the new, and goes on to the same bits.

`pytest -m slow tests/reliability/test_crash.py` kills 200 processes at random moments.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import operations
import pytest

import timelike as tl
from timelike.embedding import model_folder
from timelike.estimator.settings import Settings
from timelike.training import checkpoint

#: How often each is killed at random moments by the slow test: 200 times in all.
KILLS = {"save": 40, "export": 30, "checkpoint": 20, "split": 20, "fit": 40, "sweep": 30, "tune": 20}


class Forks:
    """Processes of `operations.py` in a folder, one after the other."""

    def __init__(self, home: Path, cache: Path):
        self.folder = home / "work"
        self.folder.mkdir()
        rows = (f"{i}\t{(i * 7 + 3) % 40}\n" for i in range(40))
        (home / "edges.tsv").write_text("".join(rows), encoding="utf-8")
        environment = os.environ | {
            "JAX_COMPILATION_CACHE_DIR": str(cache),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }
        self.errors = open(home / "errors", "w+b")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, operations.__file__, self.folder],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate()
        self.errors.close()

    def start(self, operation, point=0, times=0):
        """The number of a new process, once it has begun."""
        self.process.stdin.write(f"{operation} {point} {int(times)}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def end(self):
        """The exit code of the process, once it has ended."""
        return int(self.process.stdout.readline())

    def finish(self, operation):
        """Run an operation once, undisturbed."""
        self.start(operation, times=1)
        assert self.end() == 0, self.said()

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode()

    def hidden(self):
        """Files left over in the folder."""
        return sorted(p.name for p in self.folder.rglob(".*"))


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """The process that all others are forked from: it has imported everything."""
    with Forks(tmp_path_factory.mktemp("forks"), tmp_path_factory.mktemp("compiled")) as made:
        yield made


@pytest.fixture
def forks(started):
    clear(started.folder)
    return started


def whole_model(folder):
    """Which of the two models is there, if any: all its parts are its own."""
    if not any((folder / name).exists() for name in ("model", ".model.old")):
        return None
    found = tl.Embedding.load(folder / "model")
    number = found.info["number"]
    assert len(found.points) == 2000 + number
    assert (found.points == number).all()
    assert found.names[-1] == f"{number}-{1999 + number}"
    assert model_folder.load_trained_on(folder / "model", found).graph.num_nodes == 2000 + number
    return number


def whole_exports(folder):
    import polars as pl

    for path in folder.glob("points.*"):
        if path.suffix == ".npz":
            points = np.load(path)["points"]
        elif path.suffix == ".word2vec":
            points = np.loadtxt(path, skiprows=1, usecols=(1, 2, 3))
        elif path.suffix == ".graphml":
            points = np.full((path.read_text().count("</node>"), 3), 0)
            points += len(points) - 2000
        else:
            read = pl.read_parquet if path.suffix == ".parquet" else lambda p: pl.read_csv(p, separator="\t")
            points = read(path).select("t0", "x0", "x1").to_numpy()
        assert len(points) == 2000 + points[0, 0]
        assert (points == points[0, 0]).all()


def whole_checkpoint(folder):
    if not (folder / "run.safetensors").exists():
        return
    like = {"a": np.zeros(5000, int), "b": np.zeros(7, int)}
    state, history = checkpoint.read(folder / "run.safetensors", like, {"run": 1})
    turn = state["b"][0]
    assert (state["a"] == turn).all()
    assert len(history["loss"]) == turn % 9


def whole_split(folder):
    if (folder / "parts").exists():
        split = tl.Split.load(folder / "parts" / "split.safetensors")
        assert len((folder / "parts" / "nodes.txt").read_text().splitlines()) == 40
        lines = (folder / "parts" / "train.tsv").read_text().splitlines()
        assert len(lines) == split.train.num_edges + 1


def trained(folder):
    """Points of the model of `fit` and `sweep`."""
    if (folder / "model").exists():
        return tl.Embedding.load(folder / "model").points.tobytes()
    return None


def tuned(folder):
    return Settings.load(folder / "best.toml") if (folder / "best.toml").exists() else None


CHECKS = {
    "save": whole_model,
    "export": whole_exports,
    "checkpoint": whole_checkpoint,
    "split": whole_split,
    "fit": trained,
    "sweep": trained,
    "tune": tuned,
}


def clear(folder):
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def kill_often(forks, operation, kills, seed):
    """Kill repeatedly, check after each, then let it finish; return the number of kills."""
    chance, done, once = random.Random(seed), 0, operation in ("fit", "sweep", "tune")
    forks.finish(operation)  # which compiles
    clear(forks.folder)
    start = time.monotonic()
    forks.finish(operation)
    longest, expected = time.monotonic() - start, CHECKS[operation](forks.folder)
    if once:
        clear(forks.folder)
    while done < kills:
        number, begun = forks.start(operation, times=once), time.monotonic()
        if done % 2:  # half of them while something is being written
            while not forks.hidden() and time.monotonic() - begun < longest:
                time.sleep(0.0005)
            time.sleep(chance.uniform(0, 0.003))
        else:
            time.sleep(chance.uniform(0, longest))
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
        code = forks.end()
        assert code in (0, -signal.SIGKILL), forks.said()
        done += code != 0
        found = CHECKS[operation](forks.folder)
        assert not once or found in (None, expected)
        if code == 0:  # it had finished: start over
            clear(forks.folder)
    forks.finish(operation)
    assert not once or CHECKS[operation](forks.folder) == expected
    assert not forks.hidden()
    return done


def test_every_step_of_replacing_may_be_the_last(tmp_path):
    script = Path(__file__).with_name("crash_points.py")
    run = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    file, folder = map(int, run.stdout.split())
    assert file > 5
    assert folder > 10


@pytest.mark.long
@pytest.mark.parametrize("operation", ["save", "checkpoint"])
def test_every_step_of_writing_may_be_the_last(forks, operation):
    """Killed before its first file operation, before the second, and so on to the end."""
    forks.finish(operation)
    point, code = 0, -signal.SIGKILL
    while code:
        point += 1
        forks.start(operation, point, times=1)
        code = forks.end()
        assert code in (0, -signal.SIGKILL), forks.said()
        found = CHECKS[operation](forks.folder)
        assert found is not None or operation != "save"  # there was a model before
    forks.finish(operation)
    assert not forks.hidden()
    assert point > 10 or operation != "save"


@pytest.mark.long
@pytest.mark.parametrize("operation", KILLS)
def test_a_kill_of_each_kind(forks, operation):
    assert kill_often(forks, operation, 2, seed=7) == 2


@pytest.mark.slow
@pytest.mark.parametrize("operation", KILLS)
def test_many_kills(forks, operation):
    kills = KILLS[operation]
    assert kill_often(forks, operation, kills, seed=11) == kills
    print(f"\n{operation}: {kills}/{kills} kills")
