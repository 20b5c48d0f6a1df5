"""Untrained models for the page: random points and random known edges."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from timelike import DiGraph, Embedding, Model
from timelike.embedding.calibration import Calibration
from timelike.explore.shown_model import Shown
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS
from timelike.training.replay import Replay

CALIBRATION = Calibration(0.7, -1.2, 4.0, 50, 200, -4.0)


def points_of(model: Model, nodes: int, seed: int = 0, scale: float = 0.6) -> np.ndarray:
    """Normal points around the origin."""
    m = model.manifold
    noise = np.random.default_rng(seed).normal(size=(nodes, m.dim)).astype(np.float32) * scale
    place = jax.jit(jax.vmap(lambda x: m.exp(m.origin(), m.from_tangent_coordinates(x))))
    return np.asarray(place(jnp.asarray(noise)))


def made_to_differ(shown: Shown, kind: str = "inner") -> Shown:
    """The same model ranked by the light cone, as if all non-edges came from nodes with edges out (in)."""
    seen = (shown.known.sources if kind == "inner" else shown.known.targets) < 20
    known = DiGraph.from_arrays(shown.known.sources[seen], shown.known.targets[seen], 60, shown.known.names)
    info = {"config": {"negatives": {kind: 4}}}
    embedding = dataclasses.replace(shown.embedding, score="cone 0.1", info=info)
    return shown._replace(embedding=embedding, known=known)


def make(
    manifold: str = "cylindrical-minkowski",
    likelihood: str = "triple-fermi-dirac",
    nodes: int = 60,
    dim: int = 3,
    edges: int = 150,
    frames: int = 0,
    calibration: Calibration | None = CALIBRATION,
    title: str = "model",
    seed: int = 0,
) -> Shown:
    """A model with nodes gene0, gene1, …, and `frames` epochs of a replay that start near the origin."""
    numbers = {"circumference": 5.0} if manifold.startswith("cylindrical") else {}
    model = Model(MANIFOLDS[manifold](dim, **numbers), LIKELIHOODS[likelihood]())
    points, names = points_of(model, nodes, seed), tuple(f"gene{i}" for i in range(nodes))
    pairs = np.random.default_rng(1).integers(0, nodes, (2, edges))
    known = DiGraph.from_arrays(*pairs[:, pairs[0] != pairs[1]], nodes, names)
    replay = None
    if frames:
        shares = np.arange(1, frames + 1, dtype=np.float32) / frames
        replay = Replay(np.arange(1, frames + 1), points * shares[:, None, None])
    embedding = Embedding(model, points, names, {}, {}, calibration)
    return Shown(title, embedding, known, (), replay)
