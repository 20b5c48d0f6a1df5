"""`train` from the outside: odd graphs, the epoch it keeps, and its error messages."""

import dataclasses
import re
import signal
import threading
import time

import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from timelike import (
    Checkpointing,
    Config,
    DiGraph,
    DivergedError,
    Embedding,
    InterruptedTraining,
    Model,
    Negatives,
    sweep,
    train,
)
from timelike.datasets import chain, duplication_divergence
from timelike.evaluation import LabelledPairs
from timelike.evaluation.splits import split_edges
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import AntiDeSitter, Minkowski
from timelike.training import training_loop

WHOLE = duplication_divergence(seed=1, nodes=25)
SPLIT = split_edges(WHOLE, valid=0.13, test=0.15)
NAMES = tuple(f"gene{i}" for i in range(25))
GRAPH = DiGraph.from_arrays(SPLIT.train.sources, SPLIT.train.targets, names=NAMES)
PAIRS = {"valid": SPLIT.valid, "test": SPLIT.test}
MODEL = Model(Minkowski(3), TripleFermiDirac())
CONFIG = Config(epochs=8, batch_size=8, learning_rate=0.1, burn_in=1)


def learn(model=MODEL, checkpoint=None, progress=None, **changes):
    config = dataclasses.replace(CONFIG, **changes)
    return train(GRAPH, model, config, **PAIRS, checkpoint=checkpoint, progress=progress)


# Odd graphs

ODD = {
    "one edge, isolated nodes": DiGraph.from_arrays([1], [3], num_nodes=6),
    "names, weights": DiGraph.from_arrays(
        [0, 1, 2], [1, 2, 0], names=("a", "b", "c", "alone"), weights=[1, 2, 3]
    ),
}
LARGE_BATCH = Config(epochs=15, batch_size=1000, burn_in=0, learning_rate=0.1)


@pytest.mark.parametrize("graph", ODD.values(), ids=ODD)
def test_small_graphs(graph):
    found = train(graph, MODEL, LARGE_BATCH)
    assert found.points.shape == (graph.num_nodes, 3)
    assert np.isfinite(found.points).all()
    assert found.names == graph.names
    assert found.info["best_epoch"] == 15
    assert found.history["loss"][-1] < found.history["loss"][0]


def test_no_validation_edges_is_no_validation():
    split = split_edges(ODD["one edge, isolated nodes"], valid=0, test=0)
    found = train(split.train, MODEL, LARGE_BATCH, valid=split.valid)
    assert found.info["selected_by"] == "last epoch"
    assert "valid_ap" not in found.info
    assert np.isnan(found.history["valid_ap"]).all()


# The epoch to keep


def ap(embedding, pairs):
    """The score of the returned points, by scikit-learn."""
    of_numbers = dataclasses.replace(embedding, names=None)
    return average_precision_score(pairs.labels, of_numbers.log_prob(pairs.sources, pairs.targets))


@pytest.mark.parametrize(
    ("select", "says"), [("valid", "best validation AP"), ("test", "best test AP (the paper's protocol)")]
)
def test_the_best_epoch_is_returned(select, says):
    found = learn(select=select)
    scores = found.history[f"{select}_ap"]
    assert found.info["selected_by"] == says
    assert found.info["best_epoch"] == np.argmax(scores) + 1
    assert scores.max() > scores[-1] or found.info["best_epoch"] == 8
    for name, pairs in PAIRS.items():
        at_best = found.history[f"{name}_ap"][found.info["best_epoch"] - 1]
        assert ap(found, pairs) == pytest.approx(at_best, abs=1e-5)
        assert found.info[f"{name}_ap"] == at_best


def test_a_run_may_end_before_its_schedule():
    seen = {}
    train(GRAPH, MODEL, CONFIG, on_epoch=lambda epoch, points: seen.update({epoch: np.array(points)}))
    early = train(GRAPH, MODEL, dataclasses.replace(CONFIG, until=5))
    assert len(early.history["loss"]) == early.info["best_epoch"] == 5
    np.testing.assert_array_equal(early.points, seen[5])


def test_patience_ends_a_run_that_no_longer_improves():
    found = learn(epochs=300, patience=4, burn_in=6)
    best = found.info["best_epoch"]
    assert len(found.history["loss"]) == max(best, 6) + 4 < 300
    assert found.info["valid_ap"] == found.history["valid_ap"].max()


# Messages


def lose_numbers(patch, epoch):
    """From this epoch on, the learning rate in the compiled program is NaN."""
    compiled = training_loop._compiled

    def broken(plan):
        def run(numbers, data, state):
            if int(state.epoch) + 1 >= epoch:
                numbers = numbers._replace(learning_rate=numbers.learning_rate * jnp.nan)
            return compiled(plan)(numbers, data, state)

        return run

    patch.setattr(training_loop, "_compiled", broken)


@pytest.mark.parametrize(
    ("model", "cause"),
    [
        (MODEL, "the learning rate 0.1 is probably too high: try 0.025, or set clip (for example 10)"),
        (
            Model(Minkowski(3), TripleFermiDirac(tau2=0.002)),
            "tau2 = 0.002 is very low: raise it, or set clip (for example 10)",
        ),
    ],
)
def test_a_run_that_diverges_says_when_where_and_why(monkeypatch, model, cause):
    lose_numbers(monkeypatch, epoch=3)
    with pytest.raises(DivergedError) as caught:
        learn(model)
    error = caught.value
    said = re.fullmatch(
        r"training diverged in epoch 3: non-finite numbers in the points of (.*); (.*)", str(error)
    )
    assert said[2] == cause
    assert 1 <= len(set(said[1].split(", "))) <= 3
    assert set(said[1].split(", ")) <= set(NAMES)
    assert error.epoch == 3
    assert np.isfinite(error.embedding.points).all()
    assert error.embedding.info["best_epoch"] in (1, 2)
    assert ap(error.embedding, PAIRS["valid"]) == pytest.approx(error.embedding.info["valid_ap"], abs=1e-5)
    assert np.isfinite(error.embedding.history["loss"]).all()
    assert {len(column) for column in error.embedding.history.values()} == {2}


@pytest.mark.parametrize(
    ("changes", "began", "cause"),
    [
        (
            {"init_scale": 50.0},
            False,
            "the initial points are already non-finite: set init_scale below 50",
        ),
        ({"learning_rate": 1e-6}, True, "the learning rate 1e-06 is low"),
        (
            {"learning_rate": 1e30},
            True,
            "the learning rate 1e+30 is probably too high: try 1, or set clip",
        ),
        ({"clip": 5.0}, True, "the learning rate 0.1 is probably too high: try 0.025"),
    ],
)
def test_the_cause_is_looked_for_where_it_may_be(changes, began, cause):
    config = dataclasses.replace(CONFIG, **changes)
    said = training_loop.diagnosis([], MODEL, config, 1, began)
    assert f"; {cause}" in said
    assert ("clip" in said) == ("clip" in cause)


def test_a_learned_number_that_is_lost_is_a_run_that_diverged():
    cold = Model(Minkowski(3), TripleFermiDirac(tau1=1e-20))
    config = Config(epochs=3, burn_in=0, batch_size=10**5, learn=("tau1",))
    with pytest.raises(DivergedError, match="tau1 = 1e-20"):
        train(GRAPH, cold, config, **PAIRS)
    rows = sweep(GRAPH, MODEL, config, {"tau1": [0.15, 1e-20]}, **PAIRS).rows
    assert [row["status"] for row in rows] == ["finished", "diverged in epoch 1"]


def test_on_epoch_hears_of_epochs_that_are_done(monkeypatch):
    heard = []
    lose_numbers(monkeypatch, epoch=3)
    with pytest.raises(DivergedError):
        train(GRAPH, MODEL, CONFIG, **PAIRS, on_epoch=lambda epoch, points: heard.append(epoch))
    assert heard == [0, 1, 2]


def test_a_start_may_be_a_list():
    start = [[0.0, 0.0, 0.1 * i] for i in range(GRAPH.num_nodes)]
    found, same = (train(GRAPH, MODEL, CONFIG, **PAIRS, start=x) for x in (start, np.array(start)))
    np.testing.assert_array_equal(found.points, same.points)


@pytest.mark.parametrize(
    ("negatives", "listed", "said"),
    [
        (Negatives(), None, "Negatives: all counts are 0"),
        (Negatives(uniform=1), [[0, 1]], r"listed.*Negatives\(listed"),
        (Negatives(listed=1), [[3, 3]], "listed: all 1 pairs"),
    ],
)
def test_there_must_be_non_edges_to_learn(negatives, listed, said):
    given = None if listed is None else np.array(listed)
    with pytest.raises(ValueError, match=said):
        train(GRAPH, MODEL, Config(negatives=negatives), listed=given)


def test_a_graph_with_all_edges_has_no_non_edges_to_learn():
    with pytest.warns(UserWarning, match="all possible edges"):
        train(DiGraph.from_edges([(0, 1), (1, 0)]), MODEL, Config(epochs=1))


def test_what_is_left_of_a_run_that_diverges_at_once_is_saved_like_that_of_a_sweep(tmp_path):
    hot, steep = Config(epochs=4, burn_in=0), Model(Minkowski(3), TripleFermiDirac(tau2=1e-30))
    with pytest.raises(DivergedError, match="in epoch 1") as caught:
        train(GRAPH, steep, hot)
    lane = sweep(GRAPH, steep, hot).best
    for found in (caught.value.embedding, lane):
        found.save(tmp_path / "model")
        again = Embedding.load(tmp_path / "model")
        assert again.info["best_epoch"] == 0
        assert {name: len(column) for name, column in again.history.items()} == dict.fromkeys(lane.history, 0)


def test_the_last_good_state_of_a_run_that_diverged_is_in_the_checkpoint(tmp_path, monkeypatch):
    keep = Checkpointing(tmp_path / "run.safetensors", every_epochs=100)
    with monkeypatch.context() as patch:
        lose_numbers(patch, epoch=3)
        for _ in range(2):
            with pytest.raises(DivergedError, match="in epoch 3"):
                learn(checkpoint=keep)
    assert np.array_equal(learn(checkpoint=keep).points, learn().points)


def test_an_interrupted_run_without_a_checkpoint_says_so(monkeypatch):
    handlers = [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)]
    with monkeypatch.context() as patch:
        patch.setattr(training_loop, "advance", lambda *_: signal.raise_signal(signal.SIGINT))
        with pytest.raises(
            InterruptedTraining, match=r"SIGINT: stopped after epoch 1 of 8; nothing was saved"
        ) as caught:
            learn()
    assert np.isfinite(caught.value.embedding.points).all()
    assert [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_a_thread_can_train():
    found = []
    thread = threading.Thread(target=lambda: found.append(learn()))
    thread.start()
    thread.join()
    assert np.array_equal(found[0].points, learn().points)


def test_progress_is_for_terminals(capfd, monkeypatch):
    learn()
    assert capfd.readouterr() == ("", "")
    show = training_loop.advance
    monkeypatch.setattr(training_loop, "advance", lambda *arguments: (time.sleep(0.05), show(*arguments)))
    learn(progress=True)
    shown = capfd.readouterr().err
    for part in ("training", "8/8", r"loss=\d", r"valid AP=0\.\d", r"edges/s=\d", r"epoch/s|s/epoch"):
        assert re.search(part, shown)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"epochs": 0}, "epochs is 0; it must be a whole number ≥ 1"),
        ({"batch_size": 2.5}, "batch_size is 2.5; it must be a whole number ≥ 1"),
        ({"burn_in": True}, "burn_in is True; it must be a whole number ≥ 0"),
        ({"seed": -1}, "seed is -1; it must be a whole number ≥ 0"),
        ({"patience": 0}, "patience is 0; it must be a whole number ≥ 1"),
        ({"learning_rate": -0.1}, "learning_rate is -0.1; it must be a"),
        ({"init_scale": float("nan")}, "init_scale is nan; it must be a"),
        ({"clip": "10"}, "clip is '10'; it must be a number > 0"),
        (
            {"optimizer": "rmsprop"},
            "optimizer is 'rmsprop'; it must be one of sgd, adam, dense-adam, adagrad",
        ),
        ({"select": "best"}, "select is 'best'; it must be one of valid, test, last"),
        ({"negatives": 4}, "negatives is 4; it must be a Negatives"),
    ],
)
def test_settings_that_cannot_be(changes, says):
    with pytest.raises((ValueError, TypeError), match=re.escape(f"Config: {says}")):
        Config(**changes)


@pytest.mark.parametrize(
    ("settings", "arguments", "says"),
    [
        ({"select": "test"}, {}, 'select is "test"'),
        ({"patience": 3}, {}, "patience is 3"),
        ({"negatives": Negatives(listed=1)}, {}, "Negatives: listed is 1"),
        (
            {},
            {"valid": LabelledPairs.build([[0, 1]], np.zeros((0, 2), int))},
            "valid has 1 positive and 0 negative pairs",
        ),
    ],
)
def test_settings_that_do_not_fit_together(settings, arguments, says):
    with pytest.raises(ValueError, match=says):
        train(chain(3), MODEL, Config(**settings), **arguments)


def test_a_graph_without_edges_is_refused():
    with pytest.raises(ValueError, match=r"DiGraph\(4 nodes, 0 edges\)"):
        train(DiGraph.from_arrays([], [], num_nodes=4), MODEL)


@pytest.mark.long
def test_double_precision(x64):
    found = learn(Model(AntiDeSitter(3), TripleFermiDirac()))
    assert found.points.dtype == found.history["loss"].dtype == np.float64
    assert found.history["off_surface"].max() < 1e-14
