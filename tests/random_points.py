"""Random points of any manifold and random edges between them, so that tests need no training."""

import numpy as np

from timelike import DiGraph
from timelike.manifolds import Manifold, Quadric


def random_points(manifold: Manifold, nodes: int, scale: float = 1.0, seed: int = 0) -> np.ndarray:
    """Points within a distance of about `scale` from the origin."""
    x = scale * np.random.default_rng(seed).uniform(-1, 1, (nodes, manifold.ambient_dim))
    if isinstance(manifold, Quadric):  # rescale the block of coordinates that cannot vanish
        x[:, -1 if manifold.kappa > 0 else 0] += 1.5
        negative, positive = np.split(x, [manifold.negatives], axis=1)
        block, other = (positive, negative) if manifold.kappa > 0 else (negative, positive)
        block *= np.sqrt((1 + np.sum(other**2, axis=1)) / np.sum(block**2, axis=1))[:, None]
    return x.astype(np.float32)


def random_graph(nodes: int = 20, edges: int = 40, names=None, seed: int = 0) -> DiGraph:
    """Random edges, drawn with possible repetitions and self-loops."""
    ends = np.random.default_rng(seed).integers(0, nodes, (2, edges))
    return DiGraph.from_arrays(*ends, nodes, names)
