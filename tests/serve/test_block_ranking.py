"""Ranking several nodes at once gives the exact best, whatever is left out, equal scores or not."""

import numpy as np
import pytest

import timelike as tl
from timelike.embedding import exact_ranking
from timelike.serve import block_ranking


@pytest.mark.parametrize("nodes", [1, 2, 127, 128, 129, 1000])
@pytest.mark.parametrize("incoming", [False, True])
def test_the_best_are_exact(nodes, incoming):
    rng = np.random.default_rng(nodes)
    points = rng.normal(size=(nodes, 3)).round(1).astype(np.float32)  # many are equal
    model = tl.Model(tl.manifolds.Minkowski(3), tl.likelihoods.TripleFermiDirac())
    columns = np.ascontiguousarray(points.T)
    asked = rng.integers(0, nodes, 5).tolist()
    wanted = [1, 3, 10, 200, 5000]
    without = [rng.choice(nodes, rng.integers(0, nodes + 1), replace=False) for _ in asked]
    found = block_ranking.best(model, block_ranking.padded(columns), nodes, asked, wanted, without, incoming)
    for node, count, left, (best, scores) in zip(asked, wanted, without, found, strict=True):
        exact = np.asarray(exact_ranking.of_node(model, columns, node, incoming=incoming))
        assert best.tolist() == exact_ranking.best_of(exact, count, left).tolist()
        np.testing.assert_allclose(scores, exact[best], rtol=1e-4, atol=1e-6)
