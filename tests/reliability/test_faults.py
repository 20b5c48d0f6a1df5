"""Full or read-only disks, vanishing files, two writers: the old file stays, and the error says why."""

import contextlib
import gc
import json
import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import timelike as tl
from timelike._util.atomic_files import locked, replacing, replacing_folder
from timelike.cli.main import main
from timelike.cli.split_command import Split
from timelike.estimator.journal import Journal
from timelike.estimator.settings import Settings
from timelike.training import checkpoint

NODES = 300
GRAPH = "random-dag:nodes=300,edges=900"


def embedding(number=0.0):
    points = np.random.default_rng(0).normal(size=(NODES, 3)).astype(np.float32)
    points[:, 0] = number
    model = tl.Model(tl.manifolds.Minkowski(3), tl.likelihoods.FermiDirac())
    return tl.Embedding(model, points, None, {}, {"number": number})


def split(path):
    tl.split_edges(tl.datasets.random_dag(NODES, 900, seed=0), negatives="uniform").save(path)


WRITERS = {
    "model": lambda path: embedding(1.0).save(path),
    "points.npz": lambda path: embedding(1.0).export(path, "npz"),
    "points.tsv": lambda path: embedding(1.0).export(path, "tsv"),
    "points.parquet": lambda path: embedding(1.0).export(path, "parquet"),
    "points.vec": lambda path: embedding(1.0).export(path, "word2vec"),
    "points.graphml": lambda path: embedding(1.0).export(path, "graphml", edges=0),
    "vectors": lambda path: embedding(1.0).export(path, "tensorboard"),
    "picture.png": lambda path: tl.plot.save(embedding(1.0), path),
    "picture.html": lambda path: tl.plot.save(embedding(1.0), path),
    "edges.csv.gz": lambda path: tl.datasets.export(GRAPH, path),
    "parts": lambda path: Split((GRAPH,), path).run(),
    "run.safetensors": lambda path: checkpoint.write(path, {"x": np.zeros(2000)}, {}, {}),
    "split.safetensors": split,
    "best.toml": lambda path: Settings(about="x" * 3000).save(path),
    "journal.json": lambda path: Journal(path, {"x": "y" * 3000}).step("one", lambda: [1.0]),
}

#: The writers; pictures need a library that is slow to load.
EACH = [pytest.param(x, marks=[pytest.mark.long] if x.startswith("picture") else []) for x in WRITERS]


@contextlib.contextmanager
def small_files(size=1000):
    """Limit the file size of this process; the system's error is like that of a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def contents(folder: Path):
    return {str(p.relative_to(folder)): p.is_file() and p.read_bytes() for p in folder.rglob("*")}


@contextlib.contextmanager
def mounted(folder: Path, options: str):
    """A small file system, if mounting is allowed."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if os.geteuid() or not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("mounting a tmpfs is not allowed here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def refuse(folder: Path, name: str, reason: str):
    """The writer fails, says what and why, and leaves everything as it was."""
    before = contents(folder)
    with pytest.raises(OSError, match=reason) as caught:
        WRITERS[name](folder / name)
    assert str(folder / name) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).count("nothing was written") < 2
    del caught
    gc.collect(1)  # a half-written file that was left open says so now, and not in a later test
    assert contents(folder) == before


@pytest.mark.parametrize("name", EACH)
def test_a_file_that_may_not_grow(name, tmp_path):
    if name == "model":
        embedding().save(tmp_path / name)
    elif name not in ("journal.json", "vectors", "parts"):
        (tmp_path / name).write_text("old")
    with small_files():
        refuse(tmp_path, name, "File too large.*; nothing was written there")
    if name == "model":
        assert tl.Embedding.load(tmp_path / name).info["number"] == 0


@pytest.mark.parametrize("name", EACH)
def test_a_full_disk(name, tmp_path):
    with mounted(tmp_path / "disk", "size=40k"):
        (tmp_path / "disk" / "full").write_bytes(bytes(38_000))
        refuse(tmp_path / "disk", name, "No space left on device.*; nothing was written there")


@pytest.mark.parametrize("name", EACH)
def test_a_disk_that_is_read_only(name, tmp_path):
    with mounted(tmp_path / "disk", "ro,size=40k"):
        refuse(tmp_path / "disk", name, "you may not write to the folder|Read-only file system")


def test_a_folder_that_vanishes(tmp_path):
    (tmp_path / "x").mkdir()

    def write(place, name):
        with place(tmp_path / "x" / name) as part:
            shutil.rmtree(tmp_path / "x")
            part.write_text("new")

    with pytest.raises(FileNotFoundError, match=r"No such file or directory.*x/a.txt"):
        write(replacing, "a.txt")
    with pytest.raises(FileNotFoundError, match=r"No such file or directory.*x"):
        write(replacing_folder, "model")


@pytest.mark.long
def test_a_run_goes_on_when_its_checkpoint_cannot_be_written(tmp_path):
    graph, model = tl.datasets.cycle(20), tl.Model(tl.manifolds.Minkowski(3), tl.likelihoods.FermiDirac())
    config = tl.Config(epochs=3, batch_size=8)
    expected = tl.train(graph, model, config)
    keep = tl.Checkpointing(tmp_path / "run.safetensors", every_epochs=1)
    with (
        small_files(),
        pytest.warns(UserWarning, match=r"could not be written \(.*too large.*training continues"),
    ):
        found = tl.train(graph, model, config, checkpoint=keep)
    assert found.points.tobytes() == expected.points.tobytes()
    assert not contents(tmp_path)


def save_often(path: Path, number: float) -> None:
    for _ in range(15):
        embedding(number).save(path)


@pytest.mark.long
def test_two_processes_write_one_model(tmp_path):
    """They take turns, and a reader sees one or the other."""
    embedding(0.0).save(tmp_path / "model")
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=save_often, args=(tmp_path / "model", float(i))) for i in (1, 2)]
    for writer in writers:
        writer.start()
    seen, reads = set(), 0
    while any(writer.is_alive() for writer in writers):
        found = tl.Embedding.load(tmp_path / "model")
        assert (found.points[:, 0] == found.info["number"]).all()
        seen.add(found.info["number"])
        reads += 1
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert tl.Embedding.load(tmp_path / "model").info["number"] in (1.0, 2.0)
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    assert len(seen) > 1


def test_a_second_fit_of_the_same_model_is_refused(tmp_path, capsys):
    (tmp_path / "edges.tsv").write_text("a\tb\nb\tc\nc\td\n")
    (tmp_path / "model.checkpoint").mkdir()
    (tmp_path / "model.checkpoint" / "run.safetensors").write_text("of another run")
    with locked(tmp_path / "model.checkpoint"), pytest.raises(SystemExit, match="2"):
        main(["fit", str(tmp_path / "edges.tsv"), "--out", str(tmp_path / "model")])
    said = capsys.readouterr().err
    assert said.startswith("timelike: ")
    assert "model.checkpoint is in use" in said
    assert (tmp_path / "model.checkpoint" / "run.safetensors").read_text() == "of another run"


def test_files_of_dead_writers_are_removed_and_those_of_others_are_not(tmp_path):
    dead, alive = tmp_path / ".x.json.0000.part", tmp_path / ".x.json.1111.part"
    for left in (dead, alive):
        left.mkdir()
        (left / "x.json").write_text("half")
    with locked(alive), replacing(tmp_path / "x.json") as part:
        part.write_text(json.dumps("whole"))
    assert {p.name for p in tmp_path.iterdir()} == {"x.json", alive.name}


def test_a_warning_of_the_command_is_one_line():
    program = "import sys, timelike.__main__ as m, warnings; sys.argv = ['timelike', '--version']; m.main()"
    program += "; warnings.warn('training continues', stacklevel=1)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr == "note: training continues\n"
