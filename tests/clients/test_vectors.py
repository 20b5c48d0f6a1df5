"""Vectors keep their meaning in scikit-learn, UMAP, FAISS and LanceDB."""

import json

import numpy as np
import pytest

import timelike as tl

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def fitted() -> tl.SpacetimeEmbedding:
    graph = tl.datasets.duplication_divergence(seed=3, nodes=600)
    return tl.SpacetimeEmbedding(
        "minkowski", dim=8, epochs=20, learning_rate=0.05, evidence="none", baselines="none"
    ).fit(graph)


@pytest.mark.filterwarnings("ignore")  # of numba and UMAP, about themselves
def test_umap_compiles_the_metric_and_keeps_neighbours(fitted, monkeypatch):
    numba = pytest.importorskip("numba", reason="umap-learn is not installed")
    monkeypatch.setenv("NUMBA_OPT", "0")  # a third of the time: UMAP compiles far longer than it runs
    numba.config.reload_config()
    umap = pytest.importorskip("umap", reason="umap-learn is not installed")
    from sklearn.manifold import trustworthiness
    from sklearn.metrics import pairwise_distances

    embedding = fitted.embedding_
    flat = umap.UMAP(metric=numba.njit(embedding.metric), random_state=0).fit_transform(embedding)
    distances = pairwise_distances(embedding.points, metric=embedding.metric)
    assert flat.shape == (600, 2)
    assert trustworthiness(distances, flat, n_neighbors=10, metric="precomputed") > 0.8


def test_faiss_with_reranking_finds_the_likeliest_targets(fitted):
    faiss = pytest.importorskip("faiss", reason="faiss-cpu is not installed")
    embedding = fitted.embedding_
    products = embedding.inner_products()
    index = faiss.IndexFlatIP(products.keys.shape[1])
    index.add(products.keys)
    sources = np.arange(0, 600, 10)
    _, found = index.search(products.queries(sources), 60)
    hits = 0
    for source, rows in zip(sources, found, strict=True):
        near = np.setdiff1d(products.nodes[rows], [source])
        scores = embedding.log_prob(np.full(len(near), source), near)
        reranked = near[np.argsort(-scores)[:10]]
        hits += len({*reranked} & {row.target for row in embedding.top_targets(int(source), 10)})
    assert hits / (10 * len(sources)) > 0.95


def test_lancedb_keeps_vectors_and_geometry(fitted, tmp_path):
    lancedb = pytest.importorskip("lancedb", reason="lancedb is not installed")
    embedding = fitted.embedding_
    for _ in range(2):  # an export replaces an older one
        embedding.export(tmp_path / "store", "lancedb")
    table = lancedb.connect(tmp_path / "store").open_table("nodes")
    nearest = table.search(embedding.points[7]).limit(1).to_list()[0]
    assert nearest["node"] == 7
    np.testing.assert_array_equal(np.float32(nearest["vector"]), embedding.points[7])
    stored = json.loads(table.schema.metadata[b"timelike"])
    assert stored["manifold"]["class"] == "Flat"
