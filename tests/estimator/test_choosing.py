"""The choice of a geometry, of settings and of members."""

import dataclasses
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import average_precision_score
from small_fits import PLAIN, small

from timelike import (
    Config,
    DiGraph,
    DivergedError,
    Model,
    Negatives,
    SpacetimeEmbedding,
    evaluate,
    resolve,
    sweep,
)
from timelike.datasets import cycle, duplication_divergence
from timelike.estimator.ahead import ahead
from timelike.estimator.candidates import Trained
from timelike.estimator.carry_out import carry_out, choose, with_members
from timelike.estimator.read_off_candidates import FromPaths
from timelike.estimator.recipes import candidate_geometries, recipe, variations
from timelike.estimator.settings import FitOptions
from timelike.evaluation.splits import split_edges
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import MANIFOLDS


def headings(capsys) -> list[str]:
    """What stands above the bars, each of which has a line of its own above it."""
    lines = re.split(r"[\r\n]+", capsys.readouterr().err)
    bars = [re.match(r"(training|\d+ runs):", line) is not None for line in lines]
    above = [line for line, bar in zip(lines, bars, strict=True) if line and not bar]
    begun = [i for i, bar in enumerate(bars) if bar and not bars[i - 1]]
    assert len(begun) == len(above)
    return above


@pytest.mark.long
def test_the_best_of_a_few_is_kept(fitted, capsys):
    config = Config(epochs=20, learning_rate=0.03, burn_in=2)
    names = ("minkowski", "euclidean")
    models = {name: Model(MANIFOLDS[name](3), TripleFermiDirac()) for name in names}
    candidates = tuple(Trained(name, model, config) for name, model in models.items())
    plan = dataclasses.replace(fitted.plan_, candidates=candidates, refit=False)
    embedding = carry_out(plan, progress=True).embedding
    about = embedding.info
    assert headings(capsys) == ["trying minkowski, geometry 1 of 2", "trying euclidean, geometry 2 of 2"]
    scores = {row["geometry"]: row["valid_ap"] for row in about["candidates"]}
    assert about["geometry"] == max(scores, key=scores.get)
    assert about["valid_ap"] == max(scores.values())
    assert all(f"{name} {score:.3f}" in about["reason"] for name, score in scores.items())


@pytest.fixture(scope="module")
def placed():
    """A plan that starts with points from paths, without evidence, and these points."""
    graph = duplication_divergence(seed=17, nodes=60)
    plan = dataclasses.replace(resolve(graph, FitOptions(evidence="none")), asks_all=False)
    assert isinstance(plan.candidates[0], FromPaths)
    return plan, plan.candidates[0].embed(plan.graph)


@pytest.mark.parametrize(
    ("second", "large", "trained"),
    [(0.865, False, 1), (0.875, False, 2), (0.895, True, 1), (0.905, True, 2), (0.95, True, 3)],
)
def test_what_falls_behind_points_that_are_read_off_is_the_last_to_be_trained(
    placed, second, large, trained, monkeypatch
):
    plan, embedding = placed
    if large:
        monkeypatch.setattr("timelike.estimator.carry_out.SMALL", plan.graph.num_edges - 1)
    paths, first, *_ = plan.candidates
    reached = {paths.geometry: 0.9, first.geometry: second}

    def train(_, candidate, *__):
        return dataclasses.replace(embedding, info={"valid_ap": reached.get(candidate.geometry, 0.5)})

    with ahead(plan) as work:
        best, _, rows = choose(plan, None, False, train, work)
    assert best is (first if second - first.optimism > 0.9 else paths)
    assert [row["status"] for row in rows] == ["finished"] * (1 + trained) + ["not tried"] * (3 - trained)


@pytest.mark.slow
def test_auto_validates_its_candidates():
    ends = np.random.default_rng(0).integers(0, 30, (80, 2))
    found = SpacetimeEmbedding(dim=3, progress=False).fit(np.concatenate([ends, ends[:, ::-1]]))
    scores = {row["geometry"]: row["valid_ap"] for row in found.candidates_}
    assert set(scores) == {"euclidean", "hyperboloid"}
    assert found.geometry_ == max(scores, key=scores.get)
    about = found.embedding_.info
    assert (about["geometry"], about["reason"]) == (found.geometry_, found.reason_)


@pytest.mark.slow
def test_auto_finds_a_circle_of_time_in_a_graph_with_many_cycles():
    """A thick ring: 60 nodes, each linked to the next few."""
    ring = [(i, (i + step) % 60) for i in range(60) for step in (1, 2, 3, 4)]
    found = SpacetimeEmbedding(dim=3, progress=False).fit(ring)
    assert {row["geometry"] for row in found.candidates_} >= {"minkowski", "cylindrical-minkowski"}
    assert found.geometry_ in ("cylindrical-minkowski", "anti-de-sitter")


@pytest.mark.slow
def test_the_defaults_learn_duplication_divergence():
    """Without any setting; the paper has 49 to 65 with tuned settings on a graph like it."""
    split = split_edges(duplication_divergence(seed=17), 0.1, 0.15)
    found = SpacetimeEmbedding(progress=False).fit(split.train, valid=split.valid)
    assert found.score(split) > 0.55


def test_auto_goes_by_the_description_where_there_is_nothing_to_validate_on():
    ring = small("auto").fit(cycle(12))
    assert ring.geometry_ in ("cylindrical-minkowski", "anti-de-sitter")
    assert "cycles" in ring.reason_
    assert "too few edges" in ring.reason_
    assert ring.candidates_ == [{"geometry": ring.geometry_, "valid_ap": None, "status": "finished"}]


def test_candidates_follow_from_the_description():
    line = DiGraph.from_edges([(i, i + 1) for i in range(12)])
    assert candidate_geometries(line.describe())[0] == "minkowski"
    both = DiGraph.from_edges([edge for i in range(12) for edge in ((i, i + 1), (i + 1, i))])
    assert set(candidate_geometries(both.describe())) == {"euclidean", "hyperboloid"}
    assert set(candidate_geometries(cycle(12).describe())) >= {"cylindrical-minkowski", "anti-de-sitter"}


@pytest.mark.slow
def test_a_complete_graph_has_no_non_edges_to_validate_on():
    with pytest.warns(UserWarning, match="all possible edges"):
        found = small("auto", likelihood=None).fit(np.ones((12, 12)))
    assert found.valid_ is None
    assert "complete" in found.reason_


@pytest.mark.long
def test_seeds_and_variations_keep_the_best_and_share_a_checkpoint(graph, tmp_path):
    settings = {**PLAIN, "likelihood": None, "seeds": 2, "checkpoint": tmp_path / "run.ckpt"}
    several = SpacetimeEmbedding("minkowski", **settings).fit(graph)
    best = several.embedding_.info
    training = ("learning_rate", "init_scale", "anneal")
    assert best["config"]["learning_rate"] == 0.03  # as given, so only the likelihood varies
    runs = [
        {name: value for name, value in run.items() if name not in training} | {"seed": seed}
        for run in variations("minkowski", *recipe("minkowski", 3), graph)
        for seed in range(2)
    ]
    config = Config(**{**best["config"], "negatives": Negatives(uniform=4), "seed": 0})
    model = recipe("minkowski", 3)[0]
    rows = sweep(several.graph_, model, config, runs, valid=several.valid_, progress=False).rows
    assert best["valid_ap"] == pytest.approx(max(row["valid_ap"] for row in rows))
    assert [path.name for path in tmp_path.iterdir()] == ["run.ckpt"]
    again = SpacetimeEmbedding("minkowski", **settings).fit(graph)  # nothing left to train
    np.testing.assert_array_equal(several.embedding_.points, again.embedding_.points)


@pytest.mark.long
def test_members_differ_by_their_seeds_and_are_trained_again_together(graph, tmp_path, capsys):
    split = split_edges(graph, 0.1, 0)
    settings = {"seed": 3, "members": 3, "checkpoint": tmp_path / "run.ckpt"}
    found = small(**settings).fit(split.train, valid=split.valid)
    assert {path.name for path in tmp_path.iterdir()} == {"run.ckpt", "run-members.ckpt"}
    embedding = found.embedding_
    for i, about in enumerate(embedding.info["members"]):
        alone = small(seed=3 + i, calibrate=False).fit(split.train, valid=split.valid).embedding_
        assert about["seed"] == 3 + i
        assert about["best_epoch"] == alone.info["best_epoch"]
        np.testing.assert_allclose(embedding.member(i).points, alone.points, rtol=1e-3, atol=1e-4)
    ends = np.asarray(split.valid.sources), np.asarray(split.valid.targets)
    assert embedding.info["valid_ap"] == pytest.approx(
        average_precision_score(split.valid.labels, embedding.log_odds_by_number(*ends)), abs=0.02
    )
    pairs = np.stack(ends, axis=1)
    np.testing.assert_allclose(found.predict_proba(pairs)[:, 1], embedding.prob(*ends), rtol=1e-5)
    np.testing.assert_array_equal(found.predict_spread(pairs), embedding.spread(*ends))

    assert headings(capsys) == []
    again = clone(found).set_params(refit=True, progress=True).fit(split.train, valid=split.valid)
    epochs = sorted(about["best_epoch"] for about in embedding.info["members"])
    assert headings(capsys) == [
        "training in minkowski",
        "training the other members, 2 more with the best settings",
        f"training again, with the validation edges too: {epochs[1]} epochs",
    ]
    assert again.embedding_.info["refit"]["epochs"] == epochs[1]
    assert again.embedding_.members == 3
    assert again.embedding_.calibration == embedding.calibration
    assert not np.array_equal(again.embedding_.others, embedding.others)
    again.save(tmp_path / "model")
    loaded = SpacetimeEmbedding.load(tmp_path / "model")
    assert loaded.top_edges(9) == again.top_edges(9)
    assert loaded.members == 3
    assert evaluate(loaded.embedding_, split.valid, valid=split.valid).threshold_from.endswith("learned")


@pytest.mark.long
def test_without_other_members_there_is_no_ensemble(graph):
    fitted = small(epochs=2).fit(graph)
    plan = dataclasses.replace(fitted.plan_, members=3)
    wild = dataclasses.replace(
        fitted.embedding_,
        info={
            **fitted.embedding_.info,
            "config": {**fitted.embedding_.info["config"], "init_scale": 1e38},
        },
    )
    with pytest.raises(DivergedError, match="all other members diverged: try a lower learning rate"):
        with_members(wild, plan, progress=False)


def test_what_is_given_overrides_the_recipe(genes):
    used = genes.embedding_.info["config"]
    assert (used["epochs"], used["batch_size"], used["learning_rate"], used["burn_in"]) == (3, 2, 0.5, 0)
    assert used["negatives"] == {
        **dict.fromkeys(used["negatives"], 0),
        "same_source": 1,
        "uniform": 2,
        "weights": {},
    }
