"""Numbers of the model that are learned with the points."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import pytest
from graphs import random_graph

from timelike import Config, Model, sweep, train
from timelike.core import POSITIVE, number, struct
from timelike.core.likelihood import Likelihood
from timelike.core.numerics import log_sigmoid
from timelike.core.struct import numbers_of
from timelike.datasets import chain
from timelike.engine import epoch as engine
from timelike.engine.optimizers import NUMBERS_RATE
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import AntiDeSitter, Minkowski, Sphere
from timelike.training import prepare

GRAPH = random_graph(12, 40, seed=3)
MODEL = Model(Minkowski(3), TripleFermiDirac())
SHORT = Config(epochs=5, batch_size=7, learning_rate=0.1, burn_in=1, init_scale=0.1)


@pytest.mark.long
def test_numbers_are_learned_with_the_points():
    graph = chain(10)
    model = Model(Minkowski(2), TripleFermiDirac(tau1=0.5, tau2=0.5, alpha=0.5))
    config = Config(epochs=200, batch_size=4, learning_rate=0.05, burn_in=0, seed=1)
    fixed = train(graph, model, config)
    names = ("tau1", "alpha", "r")
    free = train(graph, model, dataclasses.replace(config, learn=names))
    assert fixed.model == model
    assert set(free.info["learned"]) == set(names)
    assert free.info["learned"] == {name: numbers_of(free.model)[name] for name in names}
    assert free.info["learned"]["tau1"] > 0
    assert 0 < free.info["learned"]["alpha"] < 1
    assert numbers_of(free.model)["tau2"] == 0.5
    late = slice(-100, None)
    assert free.history["loss"][late].mean() < 0.85 * fixed.history["loss"][late].mean()


@pytest.mark.long
def test_a_learned_number_moves_against_its_derivative(x64):
    """Adam's first step has the length of its rate."""
    model = Model(AntiDeSitter(3, radius=0.8), TripleFermiDirac(tau1=0.4))
    config = Config(epochs=1, batch_size=10**6, burn_in=0, init_scale=0.5, learn=("radius", "tau1"))
    plan, data = prepare.prepare(GRAPH, model, config, None, None, None)
    numbers = prepare.make_numbers(model, config)
    state = jax.jit(functools.partial(engine.init_state, plan, num_nodes=GRAPH.num_nodes))(numbers)
    epoch = jax.jit(functools.partial(engine.run_epoch, plan))
    after, report = epoch(numbers, data, state)
    for name in config.learn:
        moved = after.learned.reals[name] - state.learned.reals[name]
        assert abs(moved) == pytest.approx(NUMBERS_RATE * config.learning_rate, rel=1e-6)
        there = {**state.learned.reals, name: state.learned.reals[name] + 1e-3 * jnp.sign(moved)}
        farther = state._replace(learned=state.learned._replace(reals=there))
        assert epoch(numbers, data, farther)[1].loss < report.loss  # of the same batch


@struct
class Shell(Likelihood):
    """F = σ(R² − s²), with a number that some manifolds have, too."""

    decays_in_time = False
    radius: float = number(default=1.0, domain=POSITIVE)

    def log_probs(self, separation):
        x = self.radius**2 - separation.interval
        return log_sigmoid(x), log_sigmoid(-x)


def test_numbers_of_one_name_are_learned_as_one_or_not_at_all():
    """Else all but one of them would jump to another value before the first step."""
    config = dataclasses.replace(SHORT, epochs=1, learn=("radius",))
    alike = train(GRAPH, Model(Sphere(2, radius=3.0), Shell(3.0)), config).model
    assert alike.manifold.radius == alike.likelihood.radius != 3
    with pytest.raises(ValueError, match=r"learn has 'radius'.* not all 1.0;"):
        train(GRAPH, Model(Sphere(2, radius=3.0), Shell(1.0)), config)


@pytest.mark.slow
def test_a_sweep_learns_numbers_too():
    config = dataclasses.replace(SHORT, learn=("tau1",))
    both = sweep(GRAPH, MODEL, config, seeds=2).best
    alone = train(GRAPH, MODEL, dataclasses.replace(config, seed=both.info["config"]["seed"]))
    assert both.info["learned"]["tau1"] == pytest.approx(alone.info["learned"]["tau1"], rel=1e-4)
