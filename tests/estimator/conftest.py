"""Estimators that are fitted once for all files of this folder."""

import pytest
from small_fits import GENES, small

from timelike import DiGraph, Negatives, SpacetimeEmbedding
from timelike.datasets import duplication_divergence


@pytest.fixture(scope="session")
def graph() -> DiGraph:
    return duplication_divergence(seed=17, nodes=40)


@pytest.fixture(scope="session")
def fitted(graph) -> SpacetimeEmbedding:
    return small().fit(graph)


@pytest.fixture(scope="session")
def genes() -> SpacetimeEmbedding:
    given = {
        "epochs": 3,
        "batch_size": 2,
        "learning_rate": 0.5,
        "negatives": Negatives(same_source=1, uniform=2),
    }
    return small(**given).fit(GENES)
