"""The metric as a plain function, inner products that are −s², and exports that keep the geometry."""

import json

import numpy as np
import polars as pl
import pytest
from embeddings import make, make_model
from sklearn.neighbors import NearestNeighbors

from timelike import Model
from timelike.baselines import TwistedTime, twisted_time
from timelike.manifolds import MANIFOLDS


@pytest.mark.parametrize("name", MANIFOLDS)
def test_the_metric_is_the_distance_of_most_similar(name):
    embedding = make(make_model(name, dim=3), nodes=12)
    for node, distance in embedding.most_similar(4, 11):
        p, q = (embedding.points[i].astype(np.float64) for i in (4, node))
        assert embedding.metric(p, q) == pytest.approx(distance, rel=2e-3, abs=2e-3)


def test_scikit_learn_takes_the_metric():
    embedding = make(make_model("cylindrical-minkowski", dim=3), nodes=20)
    _, found = NearestNeighbors(metric=embedding.metric).fit(embedding).kneighbors(embedding[[3]], 4)
    assert [int(i) for i in found[0][1:]] == [row.node for row in embedding.most_similar(3, 3)]


@pytest.mark.parametrize("name", MANIFOLDS)
def test_inner_products_without_learning_rank_by_the_interval(name):
    embedding = make(make_model(name, dim=3), nodes=12)
    products = embedding.inner_products(learn=False)
    scores = (products.queries(np.array([5])) @ products.keys.T)[0]
    manifold, points = embedding.model.manifold, embedding.points
    if hasattr(manifold, "base"):
        assert len(scores) == 3 * 12  # the turns of time
        return
    interval = np.array([manifold.separation(points[5], q).nearest.interval[0] for q in points])
    if hasattr(manifold, "times"):
        np.testing.assert_allclose(scores, -interval, atol=2e-4)
    else:  # s² is constant where no geodesic leads
        order = np.argsort(scores)
        assert (np.diff(interval[order]) <= 1e-4).all()


def test_learned_inner_products_come_nearer_to_the_ranking():
    embedding = make(make_model("minkowski", dim=3), nodes=200)
    hits = {}
    for learn in (False, True):
        products = embedding.inner_products(learn)
        scores = products.queries(np.arange(200)) @ products.keys.T
        found = [{*products.nodes[np.argsort(-row)[:21]]} - {i} for i, row in enumerate(scores)]
        best = [{row.target for row in embedding.top_targets(i, 10)} for i in range(200)]
        hits[learn] = np.mean([len(a & b) / 10 for a, b in zip(found, best, strict=True)])
    assert hits[True] > max(hits[False], 0.7)


def test_inner_products_of_twisted_time_are_the_log_odds():
    likelihood = TwistedTime(tau1=0.7, tau2=1.3, r=-0.4)
    embedding = make(Model(twisted_time(6).manifold, likelihood), nodes=12)
    products = embedding.inner_products()
    s, t = np.divmod(np.arange(144), 12)
    odds = np.asarray(embedding.log_odds_by_number(s, t)).reshape(12, 12)
    off = odds - products.queries(np.arange(12)) @ products.keys.T
    np.testing.assert_allclose(off, off[:, :1] * np.ones(12), atol=1e-4)


def test_exports_keep_the_geometry(tmp_path):
    embedding = make(make_model("anti-de-sitter", dim=3), nodes=6, names=tuple("abcdef"))
    for form in ("npy", "csv", "parquet", "npz"):
        embedding.export(tmp_path / f"x.{form}", form)
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), embedding.points)
    assert pl.read_csv(tmp_path / "x.csv")["node"].to_list() == list("abcdef")
    assert pl.read_parquet(tmp_path / "x.parquet").equals(embedding.to_frame())
    kept = json.loads(pl.read_parquet_metadata(tmp_path / "x.parquet")["timelike"])
    assert kept == json.loads(str(np.load(tmp_path / "x.npz")["geometry"]))
    assert kept["manifold"]["class"] == "Quadric"
