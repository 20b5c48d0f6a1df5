"""Small embeddings with random points, and naive NumPy references for their predictions."""

import jax
import jax.numpy as jnp
import numpy as np
from random_points import random_points

from timelike import Embedding, Model
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS

MODELS = [(manifold, likelihood) for manifold in MANIFOLDS for likelihood in LIKELIHOODS]
#: Every class of manifolds and every likelihood, not all combinations.
SOME_MODELS = [
    *((manifold, "triple-fermi-dirac") for manifold in ("minkowski", "anti-de-sitter", "de-sitter")),
    *(("cylindrical-euclidean", likelihood) for likelihood in LIKELIHOODS),
]


def make_model(manifold: str = "minkowski", likelihood: str = "triple-fermi-dirac", dim: int = 3) -> Model:
    return Model(MANIFOLDS[manifold](dim), LIKELIHOODS[likelihood]())


def make(model: Model | None = None, nodes: int = 30, names=None, seed: int = 0, **fields) -> Embedding:
    """Points up to a distance of order 1 around the origin."""
    model = model or make_model()
    return Embedding(model, random_points(model.manifold, nodes, seed=seed), names, {}, {}, **fields)


def probabilities(embedding: Embedding) -> np.ndarray:
    """The full table, one pair at a time by the model's own formula; −1 on the diagonal."""
    points = jnp.asarray(embedding.points)
    table = np.array(_table(embedding.model, points))
    np.fill_diagonal(table, -1)
    return table


@jax.jit
def _table(model, points):
    return jax.vmap(jax.vmap(model.prob, (None, 0)), (0, None))(points, points)


def ranked(scores: np.ndarray, k: int) -> list[int]:
    """Positions of the k highest scores ≥ 0, ties by position: the slow and obvious way."""
    order = sorted(range(scores.size), key=lambda i: (-scores.flat[i], i))
    return [i for i in order if scores.flat[i] >= 0][:k]
