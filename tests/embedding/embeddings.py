"""Small embeddings with random points, and naive NumPy references for what is asked of them."""

import jax
import jax.numpy as jnp
import numpy as np

from timelike import DiGraph, Embedding, Model
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS, Quadric

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
    m = model.manifold
    points = np.random.default_rng(seed).uniform(-1, 1, (nodes, m.ambient_dim))
    if isinstance(m, Quadric):
        points = _on_quadric(points, m)
    return Embedding(model, points.astype(np.float32), names, {}, {}, **fields)


def _on_quadric(x: np.ndarray, m: Quadric) -> np.ndarray:
    """x with the block of coordinates that cannot vanish made as long as it must be, near the origin."""
    x[:, -1 if m.kappa > 0 else 0] += 1.5
    negative, positive = np.split(x, [m.negatives], axis=1)
    block, other = (positive, negative) if m.kappa > 0 else (negative, positive)
    block *= np.sqrt((1 + np.sum(other**2, axis=1)) / np.sum(block**2, axis=1))[:, None]
    return x


def probabilities(embedding: Embedding) -> np.ndarray:
    """The full table, one pair at a time by the model's own formula; −1 on the diagonal."""
    points = jnp.asarray(embedding.points)
    table = np.array(_table(embedding.model, points))
    np.fill_diagonal(table, -1)
    return table


@jax.jit
def _table(model, points):
    return jax.vmap(jax.vmap(model.prob, (None, 0)), (0, None))(points, points)


def random_graph(nodes: int, edges: int, names=None, seed: int = 0) -> DiGraph:
    pairs = np.random.default_rng(seed).integers(0, nodes, (2, edges))
    return DiGraph.from_arrays(*pairs, num_nodes=nodes, names=names)


def ranked(scores: np.ndarray, k: int) -> list[int]:
    """Positions of the k highest scores ≥ 0, ties by position: the slow and obvious way."""
    order = sorted(range(scores.size), key=lambda i: (-scores.flat[i], i))
    return [i for i in order if scores.flat[i] >= 0][:k]
