"""Exact rankings of pairs by probability, in blocks: never an N×N table, never an approximate index.

All functions take the points coordinate first (`timelike.pairwise`) and node numbers. Equal scores are
ranked by node number.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from timelike import pairwise
from timelike.graph import DiGraph
from timelike.manifolds import Manifold
from timelike.model import Model

#: Listed pairs are scored this many at a time: their rows stay in the cache.
LISTED = 1 << 16
#: All pairs are scored in tiles of this many sources and targets: the targets' coordinates stay in
#: the nearest cache while the sources pass (32 kB at d = 32), and the tile of scores (2 MB) in the next.
SOURCES, TARGETS = 1 << 11, 1 << 8


def listed(model: Model, points: np.ndarray, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """log-probability of each edge sources[i] → targets[i]; `points` has a row per node."""
    found = [np.zeros(0, points.dtype)]
    for start in range(0, sources.size, LISTED):
        ends = [x[start : start + LISTED] for x in (sources, targets)]
        count = ends[0].size
        size = _power_of_two(count)  # few sizes, few compilations
        rows = [points.take(np.pad(end, (0, size - count)), axis=0) for end in ends]
        found.append(np.asarray(_listed(model, *rows))[:count])
    return np.concatenate(found)


@jax.jit
def _listed(model: Model, p: Float[Array, "pairs ambient"], q: Float[Array, "pairs ambient"]) -> Array:
    return pairwise.log_probs(model, p.T, q.T)


@partial(jax.jit, static_argnames="incoming")
def of_node(model: Model, columns: Float[Array, "ambient nodes"], node: int, incoming: bool = False) -> Array:
    """log-probability of the edges from a node to every node, or (`incoming`) from every node to it."""
    one = columns[:, node][:, None]
    return pairwise.log_probs(model, columns, one) if incoming else pairwise.log_probs(model, one, columns)


@jax.jit
def squared_distances(manifold: Manifold, columns: Float[Array, "ambient nodes"], node: int) -> Array:
    """D² = |s²| + 2Δt² from a node to every node, of nearest images; s² in a Riemannian space.

    Small s² alone does not make two events neighbours: on a light cone it is 0 at any distance.
    Adding 2Δt² turns the time direction round (a Wick rotation): for spacelike pairs of Minkowski
    space D is the Euclidean distance Δt² + |Δx|², for timelike ones it lies between that and thrice
    that. D = 0 only for the same event, and nodes near each other in D have nearly the same
    separation, hence probability, to and from any third node.
    """
    pairs = pairwise.separations(manifold, columns[:, node][:, None], columns)
    interval, time = (x[x.shape[0] // 2] for x in pairs)
    return jnp.abs(interval) + (2 * time**2 if manifold.signature[0] else 0)


def best_of(scores: np.ndarray, count: int, without: np.ndarray) -> np.ndarray:
    """The nodes with the highest scores, best first; none of those in `without`."""
    nodes = np.delete(np.arange(scores.size), without)
    return nodes[_largest(np.asarray(scores)[nodes], nodes, count)]


def best_pairs(
    model: Model, columns: Float[Array, "ambient nodes"], count: int, without: DiGraph | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The likeliest edges of all: (sources, targets, log-probabilities), best first.

    Self-pairs and the edges of `without` are left out. A tile is compared with the worst of the best
    so far, and only what passes is ranked.
    """
    nodes = columns.shape[1]
    scores, keys = np.zeros(0, columns.dtype), np.zeros(0, np.int64)
    for source, target, tile in _tiles(model, columns):
        _leave_out(tile, source, target, without)
        full = scores.size == count
        at = np.flatnonzero(tile >= scores[-1] if full else tile > -np.inf)
        a, b = np.divmod(at, tile.shape[1])
        scores = np.concatenate([scores, tile.reshape(-1)[at]])
        keys = np.concatenate([keys, (a + source) * nodes + b + target])
        best = _largest(scores, keys, count)
        scores, keys = scores[best], keys[best]
    return keys // nodes, keys % nodes, scores


def _tiles(model: Model, columns: Float[Array, "ambient nodes"]) -> Iterator[tuple[int, int, np.ndarray]]:
    """log-probabilities of all pairs: (first source, first target, scores of a tile).

    The next tile is on its way while the caller looks at one.
    """
    nodes = columns.shape[1]
    rows, width = (min(most, _power_of_two(nodes)) for most in (SOURCES, TARGETS))
    padded = jnp.pad(columns, ((0, 0), (0, -nodes % max(rows, width))), mode="edge")
    starts = range(0, nodes, rows), range(0, nodes, width)
    found = (_tile(model, padded, *start, rows, width) for start in itertools.product(*starts))
    tile = next(found, None)
    for source, target in itertools.product(*starts):
        ahead = next(found, None)
        yield source, target, np.array(tile)[: nodes - source, : nodes - target]
        tile = ahead


@partial(jax.jit, static_argnames=("rows", "width"))
def _tile(model: Model, columns: Array, source: int, target: int, rows: int, width: int) -> Array:
    p = jax.lax.dynamic_slice_in_dim(columns, source, rows, axis=1)
    q = jax.lax.dynamic_slice_in_dim(columns, target, width, axis=1)
    return pairwise.log_probs(model, p[:, :, None], q[:, None, :])


def _leave_out(tile: np.ndarray, source: int, target: int, without: DiGraph | None) -> None:
    """Set the scores of self-pairs and known edges to −∞."""
    rows, width = tile.shape
    same = np.arange(max(source, target), min(source + rows, target + width))
    tile[same - source, same - target] = -np.inf
    if without is not None:
        first, last = without.row_starts[[source, source + rows]]
        a, b = without.sources[first:last] - source, without.targets[first:last] - target
        inside = (b >= 0) & (b < width)
        tile[a[inside], b[inside]] = -np.inf


def _largest(values: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
    """Positions of the `count` largest values, in descending order; equal values by id."""
    chosen = np.arange(values.size)
    if count < values.size:
        least = np.partition(values, values.size - count)[values.size - count]
        above, equal = np.flatnonzero(values > least), np.flatnonzero(values == least)
        equal = equal[np.argsort(ids[equal], kind="stable")][: count - above.size]
        chosen = np.concatenate([above, equal])
    return chosen[np.lexsort((ids[chosen], -values[chosen]))]


def _power_of_two(count: int) -> int:
    return 1 << max(count - 1, 0).bit_length()


def aligned(graph: DiGraph, nodes: int, names: Sequence[Hashable] | None, argument: str) -> DiGraph:
    """`graph` with its nodes numbered as in `names`; edges of other nodes are dropped."""
    if graph.num_nodes == nodes and (graph.names is names or graph.names == names):
        return graph
    if graph.names is None or names is None:
        raise ValueError(
            f"{argument} has {graph.num_nodes} nodes{'' if graph.names is None else ' with names'}, the "
            f"embedding {nodes}{'' if names is None else ' with names'}; build it from the same nodes"
        )
    number = {name: i for i, name in enumerate(names)}
    numbers = np.array([number.get(name, -1) for name in graph.names], np.int64)
    sources, targets = numbers[graph.sources], numbers[graph.targets]
    known = (sources >= 0) & (targets >= 0)
    return DiGraph.from_arrays(sources[known], targets[known], nodes, names)
