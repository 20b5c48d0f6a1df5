"""Descent directions that wrap anti-de Sitter, and sentences that say what the numbers say."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import timelike as tl
from paper.reports.beyond_tables import DATA, TABLES, sections
from paper.tasks import Result
from paper.training.descent_directions import DIRECTIONS, Redirected, ambient_gradient, batch, uphill
from timelike.manifolds import AntiDeSitter

ADS = AntiDeSitter(3)


@pytest.fixture(scope="module")
def points():
    return jax.jit(jax.vmap(lambda key: ADS.init(key, 1.0)))(jax.random.split(jax.random.key(0), 8))


@pytest.mark.parametrize("direction", range(len(DIRECTIONS)))
def test_a_step_stays_on_the_surface(direction, points):
    space = Redirected(ADS, direction)
    covectors = jnp.asarray(np.random.default_rng(0).normal(size=points.shape), points.dtype)
    gradients = jax.vmap(space.gradient)(points, covectors)
    moved = jax.vmap(space.step)(points, -0.1 * gradients)
    assert float(jax.vmap(space.residual)(moved).max()) < 1e-5
    assert not np.allclose(moved, points)
    if DIRECTIONS[direction] is not ambient_gradient:
        np.testing.assert_allclose(jax.vmap(ADS.to_tangent)(points, gradients), gradients, atol=1e-4)


def test_only_the_double_projection_never_starts_uphill(points):
    graph = tl.datasets.random_dag(8, 12, seed=0)
    pairs = batch(graph, False, 4, 2, np.random.default_rng(0))
    labels = np.arange(pairs.shape[1]) < 4
    spaces = {"double": ADS, "pseudo": Redirected(ADS, 1)}
    shares = {
        name: uphill(tl.Model(space, tl.likelihoods.TripleFermiDirac()), points, pairs, labels, 1e-3)
        for name, space in spaces.items()
    }
    assert shares["double"][0] == 0
    assert not shares["double"][1]
    assert shares["pseudo"][0] > 0


def result(kind, title, data, split, test):
    runs = [{"learning_rate": rate} for rate in (0.01, 0.1)]
    about = {"kind": kind, "title": title, "dataset": data, "split": split, "runs": runs}
    shares = {"uphill": 1.0, "raised": 2.0}
    found = {"valid": [test], "test": [test], "settings": {"learning_rate": 0.01}}
    return Result(about, {**found, "first": shares, "later": shares}, {})


def test_sentences_count_wins():
    results = []
    for data in DATA:
        simple = {"degree product": 10.0, "L3 normalised": 20.0, "SVD": 55.0}
        about = {"title": "simple methods", "dataset": data, "split": 1}
        results.append(Result(about, {"valid": simple, "test": simple}, {}))
    for kind, titles in TABLES.values():
        for place, title in enumerate(titles):
            results += [result(kind, title, data, 1, 60.0 - 10 * place) for data in DATA]
    text = "\n\n".join(sections(results))
    for heading in TABLES:
        assert f"## {heading}" in text
    assert "best simple method | 55.0 | 55.0 ± 0.0" in text
    assert "**60.0 ± 0.0**" in text
    assert "0 times with angle $\\theta$ (−10.0 on average" in text
    assert "1 of 1, 1 of 1 and 1 of 1 to arc length $r\\theta$; 0 of 1, 0 of 1 and 0 of 1 to angle" in text
    assert (
        "Of 12 searches over 2 learning rates from 0.01 to 0.1, 12 chose the smallest rate and 0 the" in text
    )
    inner = [
        r._replace(about={**r.about, "runs": [{"learning_rate": x} for x in (0.001, 0.01, 0.1)]})
        for r in results
        if "kind" in r.about
    ]
    simple = [r for r in results if "kind" not in r.about]
    assert "None of 12 searches over 3 learning rates" in "\n\n".join(sections(simple + inner))


def test_the_double_projection_stretches_one_direction_by_the_fourth_power_of_p(points):
    for p in points:
        matrix = jax.vmap(lambda df, p=p: ADS.gradient(p, df))(jnp.eye(4))
        largest = np.linalg.norm(np.asarray(matrix, float), 2)
        assert largest == pytest.approx(float(p @ p) ** 2, rel=1e-3)
