"""Any settings at all: training ends in finite points, or in a diagnosis with the last good state.

Runs that differ in numbers only are lanes of one program: `pytest -m slow tests/reliability/test_numbers.py`
trains 500 of them in 50 programs, and each of them alone, which takes other ones. What a lone run says and
keeps is tested in `train/test_train.py`.
"""

import random

import jax
import numpy as np
import pytest

import timelike as tl
from timelike.core.struct import numbers_of
from timelike.engine.optimizers import OPTIMIZERS
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS
from timelike.training.grid import one_run

LANES = 10
DIMS = (2, 3, 5, 10, 50, 200)
GRAPH = tl.datasets.random_dag(12, 30, seed=0)


def program(number: int) -> dict:
    """Settings that need their own program; every manifold in turn."""
    rng = random.Random(number)
    return {
        "manifold": list(MANIFOLDS)[number % len(MANIFOLDS)],
        "optimizer": rng.choice(list(OPTIMIZERS)),
        "likelihood": rng.choice(list(LIKELIHOODS)),
        "dim": rng.choice(DIMS),
        "double": rng.random() < 0.5,
        "clip": rng.choice([1.0, float("inf")]),
    }


def lane(number: int, model: tl.Model) -> dict:
    """Numbers of a run: learning rates over five decades, and temperatures and sizes over three."""
    rng = random.Random(number)
    wide = {"learning_rate": 10 ** rng.uniform(-3, 2), "init_scale": 10 ** rng.uniform(-3, 0.5)}
    cold = {k: 10 ** rng.uniform(-3, 0.5) for k in numbers_of(model) if k.startswith("tau")}
    return {**wide, **cold, "seed": rng.randrange(2**31)}


def settings(number: int) -> tuple[tl.Model, tl.Config, list[dict]]:
    """The common settings of the runs of a program, and those that vary."""
    chosen = program(number)
    model = tl.Model(MANIFOLDS[chosen["manifold"]](chosen["dim"]), LIKELIHOODS[chosen["likelihood"]]())
    config = tl.Config(epochs=4, batch_size=8, burn_in=1, optimizer=chosen["optimizer"], clip=chosen["clip"])
    return model, config, [lane(LANES * number + i, model) for i in range(LANES)]


def train_lanes(number: int, folder) -> dict[str, int]:
    """How the runs of a program ended."""
    chosen = program(number)
    with jax.enable_x64(chosen["double"]):
        model, config, runs = settings(number)
        found = tl.sweep(GRAPH, model, config, runs, progress=False)
        ends = {"finished": 0, "diverged": 0}
        for row in found.rows:
            assert row["status"] == "finished" or row["status"].startswith("diverged in epoch"), row
            assert row["status"] != "finished" or np.isfinite(row["loss"]), row
            ends[row["status"].split()[0]] += 1
        assert np.isfinite(found.best.points).all()
        found.best.save(folder / f"model-{number}")
        again = tl.Embedding.load(folder / f"model-{number}")
        assert again.points.dtype == (np.float64 if chosen["double"] else np.float32)
        assert np.isfinite(again.points).all()
    return ends


def train_alone(number: int) -> dict[str, int]:
    """The same for runs trained one after the other."""
    ends = {"finished": 0, "diverged": 0}
    with jax.enable_x64(program(number)["double"]):
        model, config, runs = settings(number)
        for run in runs:
            try:
                found, end = tl.train(GRAPH, *one_run(model, config, run), progress=False), "finished"
            except tl.DivergedError as error:
                found, end = error.embedding, "diverged"
            assert np.isfinite(found.points).all()
            ends[end] += 1
    return ends


@pytest.mark.long
def test_some_settings(tmp_path):
    assert sum(train_lanes(3, tmp_path).values()) == LANES
    assert sum(train_alone(3).values()) == LANES


@pytest.mark.slow
@pytest.mark.parametrize("alone", [False, True])
def test_500_settings(alone, tmp_path):
    ends = [train_alone(number) if alone else train_lanes(number, tmp_path) for number in range(50)]
    total = {key: sum(end[key] for end in ends) for key in ends[0]}
    print(f"\n{total}")
    assert sum(total.values()) == 500
