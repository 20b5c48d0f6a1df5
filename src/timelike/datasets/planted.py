"""Graphs with a planted geometry: points in Minkowski space, and edges drawn with a known likelihood.

Because the likelihood is known, so is the best score that any model can reach.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timelike._util.checks import positive_number, whole_number
from timelike.graphs.digraph import MOST_NODES, DiGraph

if TYPE_CHECKING:
    from timelike.core.model import Model

#: Sources and targets per tile of pairs.
SOURCES, TARGETS = 1 << 8, 1 << 10
#: Most edges per tile.
MOST = 1 << 13
#: Pairs below this probability are ignored.
LEAST = 1e-3
#: Steps of the integrals over time and space.
STEPS = 400


class Planted(NamedTuple):
    """A graph with the points and the model that it was drawn from."""

    graph: DiGraph
    points: np.ndarray
    model: Model


def planted(nodes: int = 1000, degree: float = 10.0, dim: int = 3, seed: int = 0) -> Planted:
    """Draw uniform points in a cube of Minkowski space, and each edge p → q with its likelihood.

    The likelihood is `TripleFermiDirac(0.02, 0.05, 0.5)`, cut off below 10⁻³. The cube's size gives nodes far
    from its walls about `degree` out-edges.
    """
    from timelike.core.model import Model
    from timelike.likelihoods import TripleFermiDirac
    from timelike.manifolds import Minkowski

    nodes, dim = whole_number("nodes", nodes, 2, MOST_NODES), whole_number("dim", dim, 2)
    model = Model(Minkowski(dim), TripleFermiDirac(0.02, 0.05, 0.5))
    reach, volume = _reach(model)
    side = (nodes * volume / positive_number("degree", degree)) ** (1 / dim)
    rng = np.random.default_rng(whole_number("seed", seed))
    points = rng.random((nodes, dim), np.float32) * np.float32(side)
    s, t = _draw(model, points, reach, seed)
    return Planted(DiGraph.from_arrays(s, t, nodes), points, model)


def _reach(model: Any) -> tuple[tuple[float, float, float], float]:
    """Return how far edges reach into past, future and space, and the integral ∫F over that region.

    The integral runs over Δt and, in shells, over distance.
    """
    import jax.numpy as jnp

    from timelike.manifolds.pairwise import log_probs

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
    volume = float(np.sum(np.where(prob >= LEAST, prob * area, 0.0)) * cell)
    return (past, future, widest), volume


def _draw(
    model: Any, points: np.ndarray, reach: tuple[float, float, float], seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the edges (sources, targets) among pairs in the same or adjacent cells of space."""
    import jax.numpy as jnp

    past, future, space = reach
    order, starts, cells = _cells(points, space)
    ranked, tile = points[order], _compiled()
    columns = jnp.asarray(np.pad(ranked, ((0, TARGETS), (0, 0))).T)
    tiles = []
    for cell in range(cells**2):
        around = (range(max(c - 1, 0), min(c + 2, cells)) for c in divmod(cell, cells))
        near = [a * cells + b for a, b in itertools.product(*around)]
        for i in range(starts[cell], starts[cell + 1], SOURCES):
            stop = min(i + SOURCES, starts[cell + 1])
            window = ranked[[i, stop - 1], 0] + np.array([-past, future])
            for other in near:
                first = starts[other]
                low, high = first + np.searchsorted(ranked[first : starts[other + 1], 0], window)
                for j in range(low, high, TARGETS):  # asynchronous: results are fetched later
                    limits = np.array([i, stop, j, high], np.int32)
                    tiles.append((i, j, *tile(model, columns, limits, np.uint32(seed))))
    s, t = _ends(tiles)
    return order[s], order[t]


def _cells(points: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray, int]:
    """Sort points by cell of the first two axes of space, then by time.

    Returns their order, the start of each cell in it, and the number of cells per axis.
    """
    side = float(points.max())
    cells = max(1, int(side / reach))
    at = np.minimum((points[:, 1:3] * (cells / side)).astype(np.int64), cells - 1)
    cell = at[:, 0] * cells + (at[:, 1] if at.shape[1] > 1 else 0)
    order = np.lexsort((points[:, 0], cell))
    return order, np.searchsorted(cell[order], np.arange(cells**2 + 1)), cells


def _ends(tiles: list[tuple]) -> tuple[np.ndarray, np.ndarray]:
    """Collect sources and targets of the edges of all tiles."""
    sources, targets = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for i, j, number, places in tiles:
        if int(number) > MOST:
            raise ValueError(f"a tile has {int(number):,} edges; the limit is {MOST:,}: lower degree")
        hit = np.asarray(places)[: int(number)]
        sources.append(i + hit // TARGETS)
        targets.append(j + hit % TARGETS)
    return np.concatenate(sources), np.concatenate(targets)


@functools.cache
def _compiled() -> Any:
    """Compile the function that counts and lists the edges of a tile; a hash of the pair decides."""
    import jax
    import jax.numpy as jnp

    from timelike.core.hashed_random import scramble
    from timelike.manifolds.pairwise import log_probs

    @jax.jit
    def tile(model: Any, columns: Any, limits: Any, seed: Any) -> Any:
        i, end, j, stop = limits
        p = jax.lax.dynamic_slice_in_dim(columns, i, SOURCES, axis=1)
        q = jax.lax.dynamic_slice_in_dim(columns, j, TARGETS, axis=1)
        a, b = i + jnp.arange(SOURCES)[:, None], j + jnp.arange(TARGETS)[None, :]
        prob = jnp.exp(log_probs(model, p[:, :, None], q[:, None, :]))
        luck = scramble(a.astype(jnp.uint32) + scramble(b.astype(jnp.uint32) + scramble(seed)))
        edge = (luck.astype(jnp.float32) * 2.0**-32 < prob) & (prob >= LEAST)
        edge &= (a != b) & (a < end) & (b < stop)
        return jnp.sum(edge), jnp.flatnonzero(edge, size=MOST)

    return tile
