"""Whole runs and sweeps: few compilations, the same bits from the same seed, lanes equal to single runs."""

import dataclasses
import itertools
from typing import ClassVar
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compilations import compilations
from graphs import random_graph

from timelike import Config, DiGraph, Model, sweep, train
from timelike.baselines import Disk, Static
from timelike.core import struct
from timelike.core.likelihood import Likelihood
from timelike.core.numerics import log_sigmoid
from timelike.engine.optimizers import DENSE, OPTIMIZERS
from timelike.evaluation import LabelledPairs
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import AntiDeSitter, Euclidean, Flat, Minkowski
from timelike.training import prepare, sweeps, training_loop
from timelike.training.grid import SWEPT

GRAPH = random_graph(12, 40, seed=3)
VALID = LabelledPairs.build(
    np.array([[0, 1], [2, 3], [4, 5]]), np.array([[6, 7], [8, 9], [1, 0], [10, 11], [5, 2]])
)
TEST = LabelledPairs.build(np.array([[1, 2], [3, 4]]), np.array([[7, 6], [9, 8], [2, 0], [11, 10], [5, 1]]))
SHORT = Config(epochs=5, batch_size=7, learning_rate=0.1, burn_in=1, init_scale=0.1)
MODELS = {
    "minkowski": Model(Minkowski(3), TripleFermiDirac()),
    "ads": Model(AntiDeSitter(3), TripleFermiDirac()),
}
KEPT = ("loss", "gradient_norm", "saturated", "off_surface", "rejected", "left_out", "valid_ap", "test_ap")


def learn(model=MODELS["minkowski"], start=None, **changes):
    return train(GRAPH, model, dataclasses.replace(SHORT, **changes), valid=VALID, test=TEST, start=start)


def test_a_run_compiles_a_handful_of_programs_and_another_run_none(x64):
    with compilations() as first:
        learn()
    assert len(first) <= 16  # two large ones, and copies of arguments to the device
    model = Model(Minkowski(3), TripleFermiDirac(tau1=0.3, tau2=0.1, alpha=0.1, k=0.9))
    with compilations() as second:
        learn(model, learning_rate=0.03, seed=9, init_scale=0.2, clip=3.0, epochs=3, burn_in=1, patience=2)
    assert not second
    plan, _ = prepare.prepare(GRAPH, model, SHORT, VALID, TEST, None, alone=True)
    assert training_loop._compiled(plan)._cache_size() == 1


def test_the_old_state_is_given_away(x64):
    plan, data = prepare.prepare(GRAPH, MODELS["minkowski"], SHORT, VALID, TEST, None)
    numbers = prepare.make_numbers(MODELS["minkowski"], SHORT)
    state = training_loop._initial(plan, 12)(numbers)
    new, _ = training_loop._compiled(plan)(numbers, data, state)
    assert state.points.is_deleted()
    assert state.best_points.is_deleted()
    assert new.epoch == 1


def test_history_has_one_entry_per_epoch(x64):
    history = learn().history
    assert set(history) == set(KEPT)
    for name in KEPT:
        assert history[name].shape == (5,)
        assert np.isfinite(history[name]).all()


def test_a_seed_fixes_every_bit(x64):
    one, two, other = learn(), learn(), learn(seed=1)
    np.testing.assert_array_equal(one.points, two.points)
    for name in KEPT:
        np.testing.assert_array_equal(one.history[name], two.history[name])
    assert (one.points != other.points).all(axis=1).any()


def test_two_nodes_and_a_batch_larger_than_the_graph():
    graph = DiGraph.from_arrays([0], [1])
    found = train(graph, MODELS["minkowski"], Config(epochs=3, batch_size=1000, burn_in=0))
    assert found.points.shape == (2, 3)
    assert np.isfinite(found.points).all()
    assert found.info["best_epoch"] == 3


@struct
class Largest(Likelihood):
    """A likelihood whose derivative XLA computes with a scatter."""

    decays_in_time: ClassVar[bool] = False

    def log_probs(self, separation):
        """Depends on the larger of two numbers."""
        x = jnp.sort(jnp.stack([separation.interval, separation.time]))[-1]
        return log_sigmoid(x), log_sigmoid(-x)


def test_a_likelihood_of_ones_own_may_sort():
    model = Model(Minkowski(3), Largest())
    run = train(GRAPH, model, SHORT, progress=False)
    assert np.isfinite(run.points).all()
    lane = sweep(GRAPH, model, SHORT, seeds=[SHORT.seed], progress=False).best
    np.testing.assert_allclose(lane.points, run.points, rtol=0, atol=1e-5)


@struct
class Own(Flat):
    """A space with unknown derivatives."""


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="one kernel is for a CPU")
def test_what_is_put_into_one_kernel():
    def is_put(model, **changes):
        plan, _ = prepare.prepare(GRAPH, model, dataclasses.replace(SHORT, **changes), None, None, None)
        return plan.in_one_kernel

    assert is_put(MODELS["minkowski"])
    assert is_put(MODELS["minkowski"], batch_size=10**6)  # no step has more rows than the graph has edges for
    assert is_put(Model(Static(Euclidean(2)), Disk()))
    assert not is_put(Model(Static(Own(0, 2)), Disk()))


# Sweeps

GRID = {"tau1": [0.15, 0.4], "learning_rate": [0.02, 0.1]}


def swept(name, threads=2, **changes):
    """A sweep in as many parts as there are threads."""
    arguments = {"grid": GRID, "valid": VALID, "test": TEST, "threads": threads} | changes
    return sweep(GRAPH, MODELS[name], SHORT, **arguments)


def assert_same_rows(found, expected):
    for one, two in zip(found, expected, strict=True):
        assert one.keys() == two.keys()
        for name, value in one.items():
            assert two[name] == (value if isinstance(value, str) else pytest.approx(value, rel=1e-10))


@pytest.mark.parametrize("name", ["minkowski", pytest.param("ads", marks=pytest.mark.slow)])
def test_every_lane_of_a_sweep_is_a_run_of_its_own(x64, name):
    result = swept(name)
    top = max(result.rows, key=lambda row: row["valid_ap"])
    assert [(row["tau1"], row["learning_rate"]) for row in result.rows] == [
        *itertools.product(*GRID.values())
    ]
    for row in result.rows:
        model = Model(MODELS[name].manifold, TripleFermiDirac(tau1=row["tau1"]))
        run = learn(model, learning_rate=row["learning_rate"])
        at = run.info["best_epoch"] - 1
        scores = {name: run.history[name][at] for name in ("loss", "valid_ap", "test_ap")}
        expected = {"best_epoch": at + 1, "best_test_ap": run.history["test_ap"].max(), **scores}
        assert_same_rows([{name: row[name] for name in expected}], [expected])
        if row is top:
            np.testing.assert_allclose(result.best.points, run.points, rtol=0, atol=1e-10)
            for quantity in KEPT:
                np.testing.assert_allclose(
                    result.best.history[quantity], run.history[quantity], rtol=1e-9, atol=1e-15
                )


def test_chunks_that_fit_memory_change_nothing(x64, monkeypatch):
    whole = swept("minkowski")
    monkeypatch.setattr(sweeps, "_bytes_per_run", lambda *_: 100)
    chunked = swept("minkowski", threads=1, memory=250)
    assert_same_rows(chunked.rows, whole.rows)
    np.testing.assert_array_equal(chunked.best.points, whole.best.points)
    assert chunked.runs == []


def test_a_lane_has_the_bits_of_its_seed_alone():
    found = swept("minkowski", grid=None, seeds=[3, 8], threads=1, keep_all=True)
    rows = found.rows
    for row, kept in zip(rows, found.runs, strict=True):
        run = learn(seed=row["seed"])
        assert kept.info["config"]["seed"] == row["seed"]
        np.testing.assert_array_equal(kept.points, run.points)
        np.testing.assert_allclose(row["loss"], run.history["loss"][run.info["best_epoch"] - 1], rtol=1e-6)
    assert rows[0]["loss"] != rows[1]["loss"]


@pytest.mark.parametrize("chunks", [1, 2])
def test_a_sweep_passes_on_the_points_of_every_epoch(monkeypatch, chunks):
    monkeypatch.setattr(sweeps, "_bytes_per_run", lambda *_: 100)
    seen, memory = {}, 200 / chunks

    def keep(rows, done, points):
        seen.update({(row, done): one for row, one in zip(rows, points, strict=True)})

    runs = {"grid": None, "seeds": [3, 8], "keep_all": True}
    found = swept("minkowski", threads=1, memory=memory, on_epoch=keep, **runs)
    assert sorted(seen) == list(itertools.product(range(2), range(1, SHORT.epochs + 1)))
    for row, run in enumerate(found.runs):
        np.testing.assert_array_equal(seen[row, run.info["best_epoch"]], run.points)


def test_a_sweep_starts_from_points_that_it_is_given():
    start = np.stack([learn(seed=seed).points for seed in (1, 2)])
    found = swept("minkowski", threads=1, grid=None, seeds=[3, 8], start=start, keep_all=True)
    for run, points, seed in zip(found.runs, start, (3, 8), strict=True):
        alone = learn(seed=seed, start=points)
        np.testing.assert_array_equal(run.points, alone.points)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"start": np.zeros((1, 3, 2))}, r"start.*\(1, 3, 2\).*4 ×"), ({"threads": 0}, "threads is 0")],
)
def test_what_a_sweep_starts_from_is_checked(options, said):
    with pytest.raises(ValueError, match=said):
        swept("minkowski", **options)


def test_a_lane_that_diverges_leaves_the_others_alone(x64):
    healthy, broken = swept("minkowski", grid={"init_scale": [0.1, 1e200]}, threads=1).rows
    assert broken["status"] == "diverged in epoch 1"
    run = learn()
    assert healthy["status"] == "finished"
    np.testing.assert_allclose(healthy["loss"], run.history["loss"][run.info["best_epoch"] - 1], rtol=1e-10)


def test_a_run_that_diverged_is_the_best_only_by_an_epoch_that_was_validated():
    """Its last loss is that of an early epoch, which may be below those of the other runs."""
    went_on = {"status": "finished", "loss": 8.0, "valid_ap": 0.4, "test_ap": np.nan}
    broken = {"status": "diverged in epoch 2", "loss": 1.0, "valid_ap": 0.5, "test_ap": np.nan}
    assert [sweeps.merit("last", row) for row in (went_on, broken)] == [-8.0, -np.inf]
    assert [sweeps.merit("valid", row) for row in (went_on, broken)] == [0.4, 0.5]
    assert sweeps.merit("test", broken) == -np.inf


@pytest.mark.parametrize("pairs", [{"valid": VALID, "test": TEST}, {"valid": None, "test": None}])
def test_a_run_that_diverges_at_once_has_no_scores(x64, pairs):
    found = swept("minkowski", grid={"init_scale": [1e200, 0.1]}, threads=1, **pairs)
    broken, healthy = found.rows
    assert broken["status"] == "diverged in epoch 1"
    assert broken["best_epoch"] == 0
    assert all(np.isnan(broken[name]) for name in ("loss", "valid_ap", "test_ap", "best_test_ap"))
    assert found.best.info["config"]["init_scale"] == healthy["init_scale"] == 0.1


@pytest.mark.parametrize(
    ("memory", "said"),
    [(0, "memory is 0; it must"), ("2GB", "memory is '2GB'"), (np.nan, "memory is nan")],
)
def test_memory_is_checked(memory, said):
    with pytest.raises(ValueError, match=said):
        sweep(GRAPH, MODELS["minkowski"], SHORT, memory=memory)


def test_infinite_memory_is_one_program(x64, monkeypatch):
    made = mock.Mock(wraps=sweeps._run_chunk)
    monkeypatch.setattr(sweeps, "_run_chunk", made)
    swept("minkowski", memory=np.inf)
    assert made.call_count == 1


def test_every_number_of_the_config_can_be_swept():
    numbers = {f.name for f in dataclasses.fields(Config) if f.type == "float"}
    assert numbers == {*SWEPT} - {"seed"}
    found = sweep(GRAPH, MODELS["minkowski"], SHORT, {"final_rate": [0.01, 1.0]}, keep_all=True)
    assert [run.info["config"]["final_rate"] for run in found.runs] == [0.01, 1.0]
    assert found.rows[0]["loss"] != found.rows[1]["loss"]


@pytest.mark.parametrize(
    ("grid", "seeds", "said"),
    [
        ([], 1, "grid is an empty list"),
        ([{"tau1": 0.1}], 2, "seeds is 2"),
        ([{"tau1": 0.1}], range(1), "seeds is range"),
        (
            [{"tau1": 0.1}, {"alpha": 0.1}],
            1,
            "grid: run 1 sets alpha, run 0 sets tau1",
        ),
        ([{}, {"alpha": 0.1}], 1, "grid: run 1 sets alpha, run 0 sets nothing"),
        ([{"tau": 0.1}], 1, "grid: 'tau'"),
    ],
)
def test_a_list_of_runs_is_checked(grid, seeds, said):
    with pytest.raises(ValueError, match=f"^{said}"):
        sweep(GRAPH, MODELS["minkowski"], SHORT, grid, seeds)


@pytest.mark.parametrize("grid", [5, "tau1", ["tau1"]])
def test_a_grid_is_a_dictionary_or_a_list_of_them(grid):
    with pytest.raises(TypeError, match=r"^grid is .*; it must be like .*, or a list of runs$"):
        sweep(GRAPH, MODELS["minkowski"], SHORT, grid)


@pytest.mark.parametrize(
    "optimizer", [pytest.param(name, marks=[] if name in DENSE else pytest.mark.long) for name in OPTIMIZERS]
)
def test_what_a_run_of_a_sweep_is_said_to_need_is_what_xla_takes(optimizer):
    """With many small batches: no step may keep a number per node."""
    graph, lanes = DiGraph.from_arrays(np.arange(6_000), np.arange(6_000) + 1, num_nodes=30_000), 2
    config = dataclasses.replace(SHORT, optimizer=optimizer, batch_size=8)
    plan, data = prepare.prepare(graph, MODELS["minkowski"], config, None, None, None)
    start, epoch_of = sweeps.programs(plan, graph.num_nodes)
    numbers = sweeps.stack([prepare.plain_numbers(MODELS["minkowski"], config)] * lanes)
    found = epoch_of.lower(numbers, data, jax.eval_shape(start, numbers)).compile().memory_analysis()
    taken = (found.temp_size_in_bytes + found.output_size_in_bytes) / lanes
    said = sweeps._bytes_per_run(graph, MODELS["minkowski"], config)
    assert 0.2 * said < taken < said
