"""Points from paths: the mixture, its singular vectors, the twisted time, and the candidate of a fit."""

import functools
import itertools

import jax
import numpy as np
import pytest

from timelike import DiGraph, Embedding, SpacetimeEmbedding, resolve
from timelike.baselines import MODELS, TwistedTime
from timelike.baselines.twisted_time import points_of, turned, twisted_time
from timelike.datasets import duplication_divergence, random_dag
from timelike.estimator import FitOptions, FromPaths
from timelike.evaluation.metrics import average_precision
from timelike.evaluation.path_counts import Paths
from timelike.evaluation.questions import QUESTIONS, question_pairs
from timelike.evaluation.splits import split_edges
from timelike.spectral import embed_paths, path_mixture
from timelike.spectral.mixture_weights import folds_of, learn_weights
from timelike.spectral.path_mixture import PATTERNS, PathMixture
from timelike.spectral.spectral_embedding import learned_weights

GRAPH = duplication_divergence(seed=17, nodes=60)
NODES = GRAPH.num_nodes
PAIRS = np.array([*itertools.product(range(NODES), range(NODES))], np.int32)


def ring(nodes: int = 200, near: int = 4) -> DiGraph:
    sources = np.repeat(np.arange(nodes), near)
    targets = (sources + np.tile(np.arange(1, near + 1), nodes)) % nodes
    order = np.random.default_rng(0).permutation(nodes)
    return DiGraph.from_arrays(order[sources], order[targets], nodes)


def answers(graph: DiGraph, seed: int = 0) -> dict[str, float]:
    """AP on each question about hidden edges."""
    split = split_edges(graph, valid=0.0, test=0.15, seed=seed)
    found = embed_paths(split.train)
    asked = question_pairs(graph, split.test_edges, seed)
    return {
        kind: average_precision(
            found.log_odds_by_number(pairs.sources, pairs.targets), np.asarray(pairs.labels)
        )
        for kind, pairs in asked.items()
    }


@pytest.mark.parametrize("dense", [0, 10**6])
def test_columns_count_normalised_paths(dense, monkeypatch):
    monkeypatch.setattr(path_mixture, "DENSE", dense)
    counts = PathMixture(GRAPH).columns(*PAIRS.T)
    for pattern, column in zip(PATTERNS, counts.T, strict=True):
        np.testing.assert_allclose(column, Paths(GRAPH, pattern, True).score(*PAIRS.T), atol=1e-5)


def test_singular_vectors_of_full_rank_are_the_mixture():
    mixture, weights = PathMixture(GRAPH), np.random.default_rng(1).normal(size=len(PATTERNS))
    x, y = mixture.singular(weights, NODES, 0)
    wanted = (mixture.columns(*PAIRS.T) @ weights).reshape(NODES, NODES)
    np.testing.assert_allclose(x @ y.T, wanted, atol=1e-4)
    left, values, right = np.linalg.svd(wanted)
    x, y = mixture.singular(weights, 5, 0)
    np.testing.assert_allclose(x @ y.T, (left[:, :5] * values[:5]) @ right[:5], atol=1e-2)


def test_log_odds_of_events_are_products_and_popularity():
    x, y = np.random.default_rng(2).normal(size=(2, 7, 3))
    a, b = np.random.default_rng(3).normal(size=(2, 7))
    points = points_of(x, y, a, b)
    model = MODELS["twisted-time"](points.shape[1])
    pairs = np.array([*itertools.product(range(7), range(7))]).T
    yes, no = jax.vmap(model.log_probs)(points[pairs[0]], points[pairs[1]])
    np.testing.assert_allclose(np.asarray(yes - no).reshape(7, 7), x @ y.T + a[:, None] + b, atol=1e-5)


def test_the_interval_is_symmetric_and_time_is_antisymmetric():
    p, q = np.random.default_rng(4).normal(size=(2, 8)).astype(np.float32)
    model = MODELS["twisted-time"](8)
    there, back = model.separation(p, q), model.separation(q, p)
    np.testing.assert_allclose(there.interval, back.interval, rtol=1e-5)
    np.testing.assert_allclose(there.time, -back.time, rtol=1e-5)
    heavy = p.copy()
    heavy[4] += 1  # a heavier event has likelier edges in both directions
    assert model.log_prob(heavy, q) > model.log_prob(p, q)
    assert model.log_prob(q, heavy) > model.log_prob(q, p)
    with pytest.raises(ValueError, match="even"):
        MODELS["twisted-time"](7)
    with pytest.raises(TypeError, match="Flat"):
        type(model)(MODELS["dot-product"](3).manifold, TwistedTime())


def test_the_same_seed_gives_the_same_model_also_from_a_file(tmp_path):
    one, other = embed_paths(GRAPH, seed=3), embed_paths(GRAPH, seed=3)
    np.testing.assert_array_equal(one.points, other.points)
    one.save(tmp_path / "model")
    again = Embedding.load(tmp_path / "model")
    np.testing.assert_array_equal(again.points, one.points)
    assert again.model == one.model
    assert again.info["paths"] == one.info["paths"]
    assert len(again.top_edges(5)) == 5


def test_learned_weights_embed_other_edges(tmp_path):
    split = split_edges(GRAPH, valid=0.0, test=0.2, seed=0)
    first = embed_paths(split.train, (5,))
    first.save(tmp_path / "model")
    weights = learned_weights(Embedding.load(tmp_path / "model"))
    again = embed_paths(split.train, (5,), weights=weights)
    np.testing.assert_allclose(again.points, first.points, atol=1e-5)
    other = embed_paths(GRAPH, (5,), weights=weights)
    assert other.info["paths"] == pytest.approx(first.info["paths"])
    assert not np.allclose(other.points, first.points)


def test_a_ring_has_its_direction():
    assert min(answers(ring()).values()) > 0.9


def test_a_random_graph_scores_chance():
    """Means over graphs: chance is 0.2, and 0.5 for turned edges."""
    rng, found = np.random.default_rng(5), []
    for seed in range(4):
        sources, targets = rng.integers(0, 150, (2, 1000))
        found.append(answers(DiGraph.from_arrays(sources, targets, 150), seed))
    for kind, ratio in QUESTIONS.items():
        assert np.mean([one[kind] for one in found]) == pytest.approx(1 / (1 + ratio), abs=0.05)


def test_weights_find_what_the_graph_is_made_of():
    """In a graph whose edges are mostly returned, the reverse edge counts most."""
    rng = np.random.default_rng(6)
    s, t = rng.integers(0, 200, (2, 600))
    both = DiGraph.from_arrays(np.append(s, t[:500]), np.append(t, s[:500]), 200)
    weights = learn_weights(folds_of(both, 0)).paths
    assert weights[PATTERNS.index("<")] > 2


def test_a_fit_compares_paths_with_trained_geometries_unless_training_is_asked_for():
    plan = resolve(GRAPH)
    assert sum(isinstance(one, FromPaths) for one in plan.candidates) == 1
    assert plan.asks_all
    for options in (
        {"epochs": 3},
        {"geometry": "minkowski"},
        {"negatives": 4},
        {"dim": 3},
        {"tables": "float16"},
    ):
        assert not any(isinstance(one, FromPaths) for one in resolve(GRAPH, FitOptions(**options)).candidates)
    paths = next(one for one in resolve(GRAPH, FitOptions(dim=12)).candidates if isinstance(one, FromPaths))
    assert paths.ranks == (5,)


def test_a_fit_by_name_refits_saves_and_loads(tmp_path):
    fit = SpacetimeEmbedding("twisted-time", evidence="none", baselines="none", members=2, progress=False)
    found = fit.fit(random_dag(100, 800))
    assert found.embedding_.members == 2
    assert found.embedding_.info["refit"]["edges"] == 800
    found.save(tmp_path / "model")
    again = SpacetimeEmbedding.load(tmp_path / "model")
    np.testing.assert_array_equal(again.embedding_.points, found.embedding_.points)
    with pytest.raises(ValueError, match="epochs"):
        SpacetimeEmbedding("twisted-time", epochs=3).fit(GRAPH)
    with pytest.raises(ValueError, match="dim"):
        SpacetimeEmbedding("twisted-time", dim=3).fit(GRAPH)


def test_an_update_places_points_anew_near_the_old_ones():
    fit = SpacetimeEmbedding("twisted-time", evidence="none", baselines="none", members=2, progress=False)
    graph = random_dag(100, 800)
    found = fit.fit(graph.subgraph(np.arange(graph.num_edges) >= 20))
    before = found.embedding_
    found.update(graph.pairs[:20])
    assert found.embedding_.others.shape == before.others.shape
    record = found.embedding_.info["updates"][-1]
    assert record["edges"] == 20
    assert record["median_drift"] < 0.3
    assert not np.array_equal(found.embedding_.points, before.points)


def test_turning_keeps_all_separations():
    points, other = (np.random.default_rng(i).normal(size=(20, 8)) for i in range(2))
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    spun = points.copy()
    spun[:, 1:4], spun[:, 5:] = points[:, 1:4] @ turn, points[:, 5:] @ turn
    np.testing.assert_allclose(turned(spun, points), points, atol=1e-9)
    model = twisted_time(8)
    s, t = np.divmod(np.arange(400), 20)
    between = jax.vmap(functools.partial(model.likelihood.separation, model.manifold))
    was, now = (between(x[s], x[t]) for x in (points, turned(points, other[:15])))
    np.testing.assert_allclose(now.interval, was.interval, atol=1e-4)
    np.testing.assert_allclose(now.time, was.time, atol=1e-4)
