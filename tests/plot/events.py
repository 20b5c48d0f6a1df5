"""Embeddings made by hand, so that no test has to train."""

import jax
import jax.numpy as jnp
import numpy as np

from timelike import DiGraph, Embedding, Model
from timelike.likelihoods import FermiDirac, TripleFermiDirac
from timelike.manifolds import MANIFOLDS, Quadric


def embed(manifold, nodes=20, scale=0.7, names=None, seed=0, likelihood=None):
    """Random points around the origin; `manifold` may be a pair of name and dimension."""
    manifold = manifold if not isinstance(manifold, tuple) else MANIFOLDS[manifold[0]](manifold[1])
    points = scale * np.random.default_rng(seed).uniform(-1, 1, (nodes, manifold.ambient_dim))
    if isinstance(manifold, Quadric):
        points = on_quadric(points, manifold)
    points = points.astype(np.float32)
    if likelihood is None:
        likelihood = TripleFermiDirac() if manifold.signature[0] else FermiDirac()
    return Embedding(Model(manifold, likelihood), points, names, {}, {})


def on_quadric(x, manifold):
    """x with the block of coordinates that cannot vanish made as long as it must be, near the origin."""
    x[:, -1 if manifold.kappa > 0 else 0] += 1.5
    negative, positive = np.split(x, [manifold.negatives], axis=1)
    block, other = (positive, negative) if manifold.kappa > 0 else (negative, positive)
    block *= np.sqrt((1 + np.sum(other**2, axis=1)) / np.sum(block**2, axis=1))[:, None]
    return x


def intervals(embedding):
    """s² from every node to every node."""
    points = jnp.asarray(embedding.points)

    def interval(p, q):
        return embedding.model.manifold.separation(p, q).nearest.interval[0]

    return np.asarray(jax.jit(jax.vmap(jax.vmap(interval, (None, 0)), (0, None)))(points, points))


def random_graph(nodes=20, edges=40, names=None, seed=0):
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, nodes, (2, edges))
    return DiGraph.from_arrays(*ends, nodes, names=names)
