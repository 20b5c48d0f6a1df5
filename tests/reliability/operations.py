"""What writes to disk, to be killed: `python operations.py FOLDER` forks a process for each line on stdin.

A line is `OPERATION POINT TIMES`. The new process prints its number and runs the operation so
many times (0: until it is killed). At file event number POINT within the folder it kills itself; 0: never.
The interpreter and its imports are shared by all of them; JAX begins in each anew.
"""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars  # noqa: F401  (imported once, before the forks)
import safetensors.numpy  # noqa: F401
from crash_points import die_at

import timelike as tl
from timelike.cli.split_command import Split
from timelike.embedding import exports, model_folder
from timelike.embedding.embedding import Embedding
from timelike.embedding.trained_on import TrainedOn
from timelike.estimator import tuning
from timelike.estimator.settings import Settings
from timelike.training import checkpoint, sweeps, training_loop

GRAPH = tl.datasets.cycle(30)
MODEL = tl.Model(tl.manifolds.Minkowski(3), tl.likelihoods.TripleFermiDirac())
CONFIG = tl.Config(epochs=60, batch_size=4, optimizer="adam", learning_rate=0.01, burn_in=2)
FORMATS = ("npz", "tsv", "parquet", "word2vec", "graphml")


def embedding(number: int) -> Embedding:
    """A model identified by its points, names and history."""
    rows = 2000 + number
    points = np.full((rows, 3), number, np.float32)
    names = tuple(f"{number}-{i}" for i in range(rows))
    model = tl.Model(tl.manifolds.Minkowski(3), tl.likelihoods.FermiDirac())
    return Embedding(model, points, names, {"loss": np.full(3, number, np.float32)}, {"number": number})


def save(folder: Path, turn: int) -> None:
    number = turn % 2
    trained_on = TrainedOn(tl.datasets.cycle(2000 + number))
    model_folder.save(embedding(number), folder / "model", trained_on)


def export_all(folder: Path, turn: int) -> None:
    for name in FORMATS:
        exports.export(embedding(turn % 2), folder / f"points.{name}", name, None, 0)


def write_checkpoint(folder: Path, turn: int) -> None:
    state = {"a": np.full(5000, turn), "b": np.full(7, turn)}
    checkpoint.write(folder / "run.safetensors", state, {"loss": np.full(turn % 9, turn)}, {"run": 1})


def split(folder: Path, turn: int) -> None:
    old = folder / "old"  # removed under another name: a kill meanwhile is no fault of the split
    shutil.rmtree(old, ignore_errors=True)
    if (folder / "parts").exists():
        (folder / "parts").rename(old)
        shutil.rmtree(old)
    Split((str(folder.parent / "edges.tsv"),), folder / "parts", json=True).run()


def fit(folder: Path, turn: int) -> None:
    keep = checkpoint.Checkpointing(folder / "run.safetensors", every_epochs=1)
    training_loop.train(GRAPH, MODEL, CONFIG, checkpoint=keep, progress=False).save(folder / "model")


def sweep(folder: Path, turn: int) -> None:
    keep = checkpoint.Checkpointing(folder / "run.safetensors", every_epochs=1)
    grid = {"tau1": [0.1, 0.4]}
    found = sweeps.sweep(GRAPH, MODEL, CONFIG, grid, 2, checkpoint=keep, progress=False)
    found.best.save(folder / "model")


def tune(folder: Path, turn: int) -> None:
    start = Settings(geometry="minkowski", dim=3, training={"epochs": 8, "batch_size": 16})
    graph = tl.datasets.random_dag(30, 120, seed=1)
    found = tuning.tune(graph, start, trials=2, seeds=3, journal=folder / "search.json", progress=False)
    found.settings.save(folder / "best.toml")


OPERATIONS: dict[str, Callable[[Path, int], None]] = {
    "save": save,
    "export": export_all,
    "checkpoint": write_checkpoint,
    "split": split,
    "fit": fit,
    "sweep": sweep,
    "tune": tune,
}


def child(folder: Path, operation: str, point: int, times: int) -> None:
    said = os.dup(1)
    os.dup2(2, 1)  # what the operation prints is no message
    os.write(said, b"%d\n" % os.getpid())
    if point:
        die_at(point, folder)
    turn = 0
    while turn < times or not times:
        turn += 1
        OPERATIONS[operation](folder, turn)


def main(folder: Path) -> None:
    for line in sys.stdin:
        operation, point, times = line.split()
        number = os.fork()
        if not number:
            code = 1
            try:
                child(folder, operation, int(point), int(times))
                code = 0
            except Exception as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            finally:
                os._exit(code)
        print(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
