"""Settings to begin with: recipes, what is tried around them, and negatives like those of validation."""

import numpy as np
import pytest

from timelike import DiGraph, Negatives
from timelike.core.struct import numbers_of, with_numbers
from timelike.datasets import cycle
from timelike.estimator.recipes import negatives_like, negatives_of, recipe, variations
from timelike.estimator.settings import Settings
from timelike.evaluation.splits import split_edges
from timelike.likelihoods import LIKELIHOODS, LawLucas
from timelike.manifolds import MANIFOLDS


@pytest.mark.parametrize("geometry", MANIFOLDS)
def test_a_portfolio_changes_what_there_is(geometry):
    model, config = recipe(geometry, 4)
    runs = variations(geometry, model, config, cycle(10))
    known = {*numbers_of(model), "learning_rate", "init_scale", "anneal"}
    assert len(runs) == 7
    assert all(run.keys() == runs[0].keys() <= known for run in runs)
    assert all(with_numbers(model, {k: v for k, v in run.items() if k in numbers_of(model)}) for run in runs)


@pytest.mark.parametrize(
    "kind", ["uniform", "active_source", "active_target", "same_source", "same_target", "degree"]
)
def test_training_draws_negatives_like_those_of_validation(kind):
    rng = np.random.default_rng(1)
    hubs = rng.integers(0, 20, 600) * rng.integers(1, 3, 600)  # some of the first nodes point to some of all
    edges = np.unique(np.stack([hubs, (300 * rng.random(600) ** 2).astype(int)], axis=1), axis=0)
    split = split_edges(DiGraph.from_arrays(*edges.T, 300), 0.2, 0, negatives=kind)
    assert negatives_like(split.valid, split.train).counts == {kind: 4}
    assert negatives_of(kind).counts.items() >= {kind: 4}.items()


def test_what_suits_few_sources_is_what_the_preset_for_them_draws():
    settings = Settings.load("regulatory")
    assert negatives_of(settings.valid_negatives) == Negatives(**settings.negatives)


@pytest.mark.parametrize("geometry", MANIFOLDS)
def test_there_is_a_recipe_for_every_geometry(geometry):
    assert recipe(geometry, 4)[0].manifold.dim == 4
    assert recipe(geometry, 4, LawLucas())[0].likelihood == LawLucas()
    for name, kind in LIKELIHOODS.items():
        assert type(recipe(geometry, 4, name)[0].likelihood) is type(kind())


def test_large_graphs_get_large_batches_and_few_epochs():
    nodes = np.arange(2 * 10**6)
    large = DiGraph.from_arrays(nodes, nodes[::-1])
    model, config = recipe("minkowski", 4, graph=large)
    assert (config.batch_size, config.optimizer) == (4096, "adam")
    assert config.burn_in < config.epochs <= 20
    assert variations("minkowski", model, config, large) == []
    _, config = recipe("minkowski", 4, graph=cycle(10))
    assert (config.batch_size, config.epochs, config.optimizer) == (32, 150, "sgd")
