"""Ranking several nodes at once gives the exact best, equal scores or not, last node or not."""

import jax.numpy as jnp
import numpy as np
import pytest

import timelike as tl
from timelike.embedding import block_ranking, exact_ranking
from timelike.embedding.targets_of_each import best_by_products


@pytest.mark.parametrize("nodes", [100, 127, 128, 129, 1000])
@pytest.mark.parametrize("incoming", [False, True])
def test_the_best_are_exact(nodes, incoming):
    rng = np.random.default_rng(nodes)
    points = rng.normal(size=(nodes, 3)).round(1).astype(np.float32)  # many are equal
    model = tl.Model(tl.manifolds.Minkowski(3), tl.likelihoods.TripleFermiDirac())
    columns = jnp.asarray(points.T)
    rows = np.array([0, nodes - 1, *rng.integers(0, nodes, 4)])
    for wanted in (1, 3):
        tables = block_ranking.best_of_rows(model, block_ranking.in_blocks(columns), rows, wanted, incoming)
        for node, best, scores in zip(rows, *tables, strict=True):
            exact = np.asarray(exact_ranking.of_node(model, columns, node, incoming=incoming))
            assert best.tolist() == exact_ranking.best_of(exact, wanted, np.array([], int)).tolist()
            np.testing.assert_allclose(scores, exact[best], rtol=1e-4, atol=1e-6)


def test_copies_that_fill_the_last_block_are_no_answers():
    points = np.random.default_rng(0).normal(size=(8 * 32 + 1, 3)).astype(np.float32)
    points[0], points[-1] = 0, [0.3, 0, 0]  # the last node is the likeliest target of the first
    model = tl.Model(tl.manifolds.Minkowski(3), tl.likelihoods.TripleFermiDirac())
    columns = jnp.asarray(points.T)
    ((best, *_),) = zip(
        *block_ranking.best_of_rows(model, block_ranking.in_blocks(columns), np.array([0]), 4), strict=True
    )
    exact = np.asarray(exact_ranking.of_node(model, columns, 0))
    assert best[0] == 8 * 32
    assert best.tolist() == exact_ranking.best_of(exact, 4, np.array([], int)).tolist()


def test_candidates_by_inner_products_are_those_with_the_largest_ones():
    """Without known edges, the source itself and excluded nodes; a hub has as many as the others."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(700, 6)).astype(np.float32)
    likelihood = tl.baselines.twisted_time(6).likelihood
    model = tl.Model(tl.manifolds.Flat(3, 3), likelihood)
    embedding = tl.Embedding(model, points, None, {}, {})
    s, t = rng.integers(0, 700, (2, 2000))
    s, t = np.append(s, np.zeros(200, int)), np.append(t, np.arange(1, 201))
    known = tl.DiGraph.from_arrays(s[s != t], t[s != t], 700)
    left, right = likelihood.products(points)
    table = left @ right.T
    sources = np.append(0, 1 + rng.permutation(699)[:50])
    never = np.array([3, 699])
    (found,) = best_by_products(embedding.inner_products(), sources, 5, known, never)
    for source in sources:
        without = np.concatenate([never, [source], known.targets[known.sources == source]])
        expected = exact_ranking.best_of(table[source], 5, without)
        assert found.targets[found.sources == source].tolist() == expected.tolist()
