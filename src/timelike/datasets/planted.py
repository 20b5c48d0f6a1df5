"""Graphs with a geometry in them: points in Minkowski space, and edges drawn by a likelihood.

Since the likelihood that drew a graph is known, so is the best that any model can make of it.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timelike.checks import positive_number, whole_number
from timelike.graph import DiGraph

if TYPE_CHECKING:
    from timelike.model import Model

#: Sources and targets whose pairs are looked at together.
SOURCES, TARGETS = 1 << 8, 1 << 16
#: Pairs that are less likely than this are not looked at.
LEAST = 1e-3
#: Steps of the integral over time and over space.
STEPS = 400


class Planted(NamedTuple):
    """A graph, and the points and the model that it was drawn from."""

    graph: DiGraph
    points: np.ndarray
    model: Model


def planted(nodes: int = 1000, degree: float = 10.0, dim: int = 3, seed: int = 0) -> Planted:
    """Points all over a cube of Minkowski space; p → q is an edge with the probability of a likelihood.

    It is `TripleFermiDirac(0.02, 0.05, 0.5)`, cut off below 10⁻³. The cube is of such a size that about
    `degree` edges leave a node far from its walls.
    """
    from timelike.likelihoods import TripleFermiDirac
    from timelike.manifolds import Minkowski
    from timelike.model import Model

    nodes, dim = whole_number("nodes", nodes, 2, 2**31 - 1), whole_number("dim", dim, 2)
    model = Model(Minkowski(dim), TripleFermiDirac(0.02, 0.05, 0.5))
    past, future, volume = _reach(model)
    side = (nodes * volume / positive_number("degree", degree)) ** (1 / dim)
    points = np.random.default_rng(seed).random((nodes, dim), np.float32) * np.float32(side)
    order = np.argsort(points[:, 0])
    s, t = _draw(model, points[order], past, future, seed)
    return Planted(DiGraph.from_arrays(order[s], order[t], nodes), points, model)


def _reach(model: Any) -> tuple[float, float, float]:
    """How far edges reach into past and future, and ∫F: over all Δt and, by shells, over all distances."""
    import jax.numpy as jnp

    from timelike.pairwise import log_probs

    likelihood, shell = model.likelihood, model.manifold.dim - 2
    decay = -3 * math.log(LEAST)
    past, future = decay * likelihood.tau2, decay * likelihood.tau2 / likelihood.alpha
    widest = math.sqrt(future**2 + decay * likelihood.tau1)
    time, distance = np.linspace(-past, future, STEPS), np.linspace(0, widest, STEPS)
    t, r = (x.astype(np.float32) for x in np.meshgrid(time, distance, indexing="ij"))
    q = jnp.stack([t, r, *(jnp.zeros_like(t) for _ in range(shell))])
    prob = np.exp(np.asarray(log_probs(model, jnp.zeros_like(q), q), np.float64))
    area = 2 * math.pi ** ((shell + 1) / 2) / math.gamma((shell + 1) / 2) * r.astype(float) ** shell
    cell = (time[1] - time[0]) * (distance[1] - distance[0])
    return past, future, float(np.sum(np.where(prob >= LEAST, prob * area, 0.0)) * cell)


def _draw(
    model: Any, points: np.ndarray, past: float, future: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The edges between points that are sorted by time: (sources, targets)."""
    import jax.numpy as jnp

    count, width = len(points), min(TARGETS, 1 << (len(points) - 1).bit_length())
    columns = jnp.asarray(np.pad(points, ((0, max(width, SOURCES)), (0, 0)), constant_values=1e9).T)
    sources, targets, tile = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], _compiled(width)
    for i in range(0, count, SOURCES):
        times = points[[i, min(i + SOURCES, count) - 1], 0] + np.array([-past, future])
        first, last = np.searchsorted(points[:, 0], times)
        for j in range(first, last, width):
            hit = np.flatnonzero(np.asarray(tile(model, columns, i, j, np.uint32(seed))))
            a, b = i + hit // width, j + hit % width
            inside = (a < count) & (b < min(last, count))
            sources.append(a[inside])
            targets.append(b[inside])
    return np.concatenate(sources), np.concatenate(targets)


@functools.cache
def _compiled(width: int) -> Any:
    """Which pairs of a block of sources and one of targets are edges: drawn by a hash of the pair."""
    import jax
    import jax.numpy as jnp

    from timelike.pairwise import log_probs
    from timelike.shuffle import scramble

    @jax.jit
    def tile(model: Any, columns: Any, i: Any, j: Any, seed: Any) -> Any:
        p = jax.lax.dynamic_slice_in_dim(columns, i, SOURCES, axis=1)
        q = jax.lax.dynamic_slice_in_dim(columns, j, width, axis=1)
        a, b = i + jnp.arange(SOURCES)[:, None], j + jnp.arange(width)[None, :]
        prob = jnp.exp(log_probs(model, p[:, :, None], q[:, None, :]))
        luck = scramble(a.astype(jnp.uint32) + scramble(b.astype(jnp.uint32) + scramble(seed)))
        return (luck.astype(jnp.float32) * 2.0**-32 < prob) & (prob >= LEAST) & (a != b)

    return tile
