"""The plan of a fit: pure data, with a reason for every choice, and what every kind of fit carries out."""

import dataclasses
import json

import numpy as np
import pytest
from small_fits import small

import timelike as tl
from timelike import DiGraph, EdgeShards, Negatives, Settings, SpacetimeEmbedding, resolve
from timelike.core import Manifold
from timelike.datasets import duplication_divergence
from timelike.estimator import FitOptions
from timelike.estimator.planned_candidates import assemble
from timelike.evaluation import split_edges
from timelike.likelihoods import LawLucas
from timelike.manifolds import Minkowski

GRAPH = duplication_divergence(seed=17, nodes=60)
#: A graph in which few nodes have outgoing edges.
STARS = DiGraph.from_arrays(np.repeat(np.arange(5), 12), np.arange(60) + 5, 80)


def test_a_plan_is_plain_data_with_reasons():
    plan = resolve(GRAPH)
    again = json.loads(json.dumps(plan.to_dict()))
    assert again["train_edges"] + again["valid_edges"] == GRAPH.num_edges
    assert {"geometry", "validation", "negatives", "refit"} <= again["reasons"].keys()
    assert all(again["reasons"].values())
    assert [one["geometry"] for one in again["candidates"]] == [one.geometry for one in plan.candidates]
    assert again == resolve(GRAPH).to_dict()
    assert all(name in str(plan) for name in ("training edges", "geometry", "negatives", "refit"))


def test_a_fit_carries_out_its_plan_and_the_model_keeps_it(tmp_path):
    estimator = small(epochs=2)
    plan = estimator.plan(GRAPH)
    estimator.fit(GRAPH).save(tmp_path / "model")
    kept = tl.Embedding.load(tmp_path / "model").info["plan"]
    assert kept == json.loads(json.dumps(plan.to_dict()))
    assert estimator.plan_ == plan


@pytest.mark.parametrize(
    ("settings", "options", "expected"),
    [
        ({}, {}, 10),
        ({"dim": 4}, {}, 4),
        ({"dim": 4}, {"dim": 6}, 6),
    ],
)
def test_explicit_options_override_settings_which_override_the_recipe(settings, options, expected):
    plan = resolve(GRAPH, FitOptions("minkowski", settings=Settings(**settings), **options))
    assert plan.candidates[0].model.manifold.dim == expected


def test_layers_of_the_training_config():
    settings = Settings(training={"learning_rate": 0.5, "epochs": 7}, negatives={"same_source": 2})
    _, recipe = assemble(GRAPH, "minkowski")
    _, preset = assemble(GRAPH, "minkowski", settings, negatives=Negatives(degree=1))
    _, both = assemble(GRAPH, "minkowski", settings, FitOptions(epochs=3, negatives=5))
    assert (recipe.epochs, recipe.negatives) == (150, Negatives(uniform=4))
    assert (preset.epochs, preset.learning_rate, preset.negatives) == (7, 0.5, Negatives(same_source=2))
    assert (both.epochs, both.learning_rate, both.negatives) == (3, 0.5, Negatives(uniform=5))


def test_few_sources_are_compared_with_their_own_kind():
    plan = resolve(STARS)
    assert plan.valid_negatives == "active_source"
    assert plan.trained[0].config.negatives.counts == {"reversed": 1, "active_source": 4}
    assert resolve(STARS, FitOptions(settings="general")).valid_negatives == "uniform"
    assert resolve(STARS, FitOptions(negatives=4)).valid_negatives == "uniform"


def test_given_validation_pairs_are_not_learned():
    split = split_edges(GRAPH, 0.2, 0, negatives="same_target")
    plan = resolve(split.train, valid=split.valid)
    assert not plan.refit
    assert plan.valid_negatives is None
    assert "given" in plan.reasons["validation"]
    assert plan.graph is split.train
    assert plan.trained[0].config.negatives.counts == {"same_target": 4}
    assert resolve(split.train, FitOptions(refit=True), valid=split.valid).known.num_edges == GRAPH.num_edges


def test_a_plan_for_streamed_edges_names_the_negatives_that_it_draws(tmp_path):
    shards = EdgeShards.write(STARS, tmp_path / "shards", hold_out=0.2)
    plan = resolve(shards, FitOptions(settings="regulatory"))
    assert plan.valid_negatives == "uniform"
    assert "uniform" in plan.reasons["validation"]
    assert "active_source" not in plan.reasons["validation"]


def test_many_processes_train_one_geometry_once():
    plan = resolve(STARS, spread=True)
    assert len(plan.candidates) == 1
    assert plan.candidates[0].variations == ()
    assert plan.trained[0].config.negatives == Negatives(uniform=4)
    assert not plan.refit


def test_a_manifold_object_is_a_geometry(tmp_path):
    space = Minkowski(4)
    fitted = small(space, dim=None, likelihood=LawLucas(), epochs=2).fit(GRAPH)
    assert isinstance(space, Manifold)
    assert fitted.geometry_ == type(space).__name__
    named = small("minkowski", dim=4, likelihood=LawLucas(), epochs=2).fit(GRAPH)
    np.testing.assert_array_equal(fitted.embedding_.points, named.embedding_.points)
    fitted.save(tmp_path / "model")
    assert SpacetimeEmbedding.load(tmp_path / "model").geometry == space
    with pytest.raises(ValueError, match=r"dim is 3.*own dimensions"):
        small(space, dim=3).fit(GRAPH)


def test_shards_are_streamed_by_the_estimator(tmp_path):
    EdgeShards.write(GRAPH, tmp_path / "shards", hold_out=0.2)
    shards = EdgeShards(tmp_path / "shards")
    estimator = small("auto", epochs=2)
    plan = estimator.plan(shards)
    assert [one.geometry for one in plan.candidates] == ["minkowski"]
    assert not plan.refit
    fitted = estimator.fit(shards)
    assert fitted.embedding_.info["valid_ap"] > 0
    assert len(fitted.embedding_.points) == GRAPH.num_nodes
    with pytest.raises(ValueError, match="training edges"):
        fitted.top_edges(3)
    assert len(fitted.top_edges(3, exclude=GRAPH)) == 3
    with pytest.raises(ValueError, match="EdgeShards"):
        estimator.fit(shards, valid=[(0, 1)])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"geometry": "flat"}, r"geometry is 'flat'"),
        ({"seeds": 0}, r"seeds is 0"),
        ({"members": 0}, r"members is 0"),
        ({"valid_fraction": 1.5}, r"valid_fraction is 1\.5"),
        ({"negatives": 0}, r"negatives is 0"),
        ({"learning_rate": -1.0}, r"learning_rate is -1"),
        ({"settings": "nothing"}, r"nothing.*presets are"),
    ],
)
def test_mistakes(options, said):
    with pytest.raises((ValueError, FileNotFoundError), match=said):
        resolve(GRAPH, FitOptions(**options))


def test_the_options_of_a_fit_are_the_parameters_of_the_estimator():
    options = {field.name for field in dataclasses.fields(FitOptions)}
    assert options | {"checkpoint", "log", "progress"} == {*SpacetimeEmbedding().get_params()}
