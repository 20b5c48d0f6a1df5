"""Embeddings made by hand, so that no test has to train."""

import jax
import jax.numpy as jnp
import numpy as np
from random_points import random_points

from timelike import Embedding, Model
from timelike.likelihoods import FermiDirac, TripleFermiDirac
from timelike.manifolds import MANIFOLDS


def embed(manifold, nodes=20, scale=0.7, names=None, seed=0, likelihood=None):
    """Random points around the origin; `manifold` may be a pair of name and dimension."""
    manifold = manifold if not isinstance(manifold, tuple) else MANIFOLDS[manifold[0]](manifold[1])
    if likelihood is None:
        likelihood = TripleFermiDirac() if manifold.signature[0] else FermiDirac()
    points = random_points(manifold, nodes, scale, seed)
    return Embedding(Model(manifold, likelihood), points, names, {}, {})


def intervals(embedding):
    """s² from every node to every node."""
    points = jnp.asarray(embedding.points)

    def interval(p, q):
        return embedding.model.manifold.separation(p, q).nearest.interval[0]

    return np.asarray(jax.jit(jax.vmap(jax.vmap(interval, (None, 0)), (0, None)))(points, points))
