"""Exact rankings of pairs, in blocks, without an N×N table or an approximate index.

The score is the trained likelihood, or the light cone alone. A likelihood that fades with time trains well,
because it keeps neighbours close, but edges into the far future are no less real: points may be ranked by
another score if validation pairs prefer it.

Points are stored coordinate first (`manifolds.pairwise`), and nodes are numbers. Equal scores rank by node
number.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from timelike._util.checks import one_of, show
from timelike._util.progress import bar
from timelike.core.manifold import Manifold
from timelike.core.model import MeanModel, Model, Ranker
from timelike.embedding.calibration import KNEES
from timelike.evaluation import metrics
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.graphs.digraph import DiGraph
from timelike.likelihoods import Cone
from timelike.manifolds import Flat, pairwise

#: The score that every model has.
LIKELIHOOD = "likelihood"
#: How soft the tip of the cone is, in units of the points. The first ranks by Δt/|Δx|.
SOFTNESS = (1e-6, 0.03, 0.1, 0.3, 1.0)
#: The metrics, on validation pairs, that can choose a score.
CHOSEN_BY = ("average_precision", "f1")

#: Listed pairs scored at a time; their rows stay in the cache.
LISTED = 1 << 16
#: All pairs are scored in tiles of this many sources and targets. The targets' coordinates (32 kB at d = 32)
#: stay in the L1 cache, and the tile of scores (2 MB) in the L2 cache.
SOURCES, TARGETS = 1 << 11, 1 << 8

#: Scores that a GPU ranks in one block.
RANKED = 1 << 16


def scores_of(model: Model) -> dict[str, Model]:
    """Every score that ranks pairs of this model's points: name → the model whose log F is the score.

    "likelihood" is the model itself. A flat spacetime with one time dimension that is not a circle also has
    "cone s" for every s in `SOFTNESS`: F = σ((Δt − ρ)/(s + |Δt| + ρ)), a `Cone` with τ₁ = s, β = 1, α = 0.
    """
    scores = {LIKELIHOOD: model}
    space = model.manifold
    if isinstance(space, Flat) and space.times == 1 and space.dim > 1:
        for soft in SOFTNESS:
            scores[f"cone {soft:g}"] = Model(space, Cone(tau1=soft, beta=1.0, alpha=0.0))
    return scores


def ranker(model: Model, score: str, members: int = 1, knee: float = KNEES[0]) -> Ranker:
    """The model that ranks by this score; for several members, by the mean of their log-odds."""
    known = scores_of(model)
    if score not in known:
        raise ValueError(f"score is {show(score)}; this model has {', '.join(known)}")
    return known[score] if members == 1 else MeanModel(known[score], members, knee)


def choose_score(
    model: Model, points: np.ndarray, valid: LabelledPairs, by: str = "average_precision", members: int = 1
) -> str:
    """The score that separates these pairs best; the likelihood if no other is better."""
    one_of("by", by, CHOSEN_BY)
    s, t, labels = (np.asarray(x) for x in valid)
    reached = {}
    for name in scores_of(model):
        scores = listed(ranker(model, name, members), points, s, t)
        if by == "f1":
            reached[name] = metrics.f1(scores, labels, metrics.best_f1_threshold(scores, labels))
        else:
            reached[name] = metrics.average_precision(scores, labels)
    return max(reached, key=lambda name: reached[name])


def listed(model: Ranker, points: np.ndarray, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The log-probability of each edge sources[i] → targets[i]; `points` has a row per node.

    Points in double precision are scored in it.
    """
    scores = [np.zeros(0, points.dtype)]
    for start in range(0, sources.size, LISTED):
        ends = [x[start : start + LISTED] for x in (sources, targets)]
        count = ends[0].size
        size = _power_of_two(count)  # few sizes, so few compilations
        rows = [points.take(np.pad(end, (0, size - count)), axis=0) for end in ends]
        with jax.enable_x64(jax.config.read("jax_enable_x64") or points.dtype == np.float64):
            scores.append(np.asarray(_listed(model, *rows))[:count])
    return np.concatenate(scores)


@jax.jit
def _listed(model: Ranker, p: Float[Array, "pairs ambient"], q: Float[Array, "pairs ambient"]) -> Array:
    return pairwise.log_probs(model, p.T, q.T)


@partial(jax.jit, static_argnames="incoming")
def of_node(
    model: Ranker, columns: Float[Array, "ambient nodes"], node: int, incoming: bool = False
) -> Array:
    """The log-probability of the edges from a node to every node, or from every node to it if `incoming`."""
    one = columns[:, node][:, None]
    return pairwise.log_probs(model, columns, one) if incoming else pairwise.log_probs(model, one, columns)


@jax.jit
def squared_distances(manifold: Manifold, columns: Float[Array, "ambient nodes"], node: int) -> Array:
    """D² = |s²| + 2Δt² from a node to the nearest image of every node; D² = s² in a Riemannian space.

    A small s² alone does not make two events neighbours: on a light cone it is 0 at any distance. Adding 2Δt²
    reverses the sign of time (a Wick rotation): for spacelike pairs in Minkowski space D² is the squared
    Euclidean distance Δt² + |Δx|², and for timelike pairs it lies between that and three times that. D = 0
    only for the same event. Nodes close in D have nearly the same separation, and so probability, to and from
    any third node.
    """
    pairs = pairwise.separations(manifold, columns[:, node][:, None], columns)
    interval, time = (x[x.shape[0] // 2] for x in pairs)
    return jnp.abs(interval) + (2 * time**2 if manifold.signature[0] else 0)


def best_of_node(
    model: Ranker,
    columns: Float[Array, "ambient nodes"],
    node: int,
    count: int,
    without: np.ndarray,
    incoming: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """The likeliest targets (sources if `incoming`) of a node, best first, and their log-probabilities.

    A GPU ranks in blocks and returns only about as many scores as the answer has.
    """
    wanted = _power_of_two(count + without.size)
    if jax.default_backend() == "cpu" or wanted > min(RANKED, columns.shape[1]):
        scores = np.asarray(of_node(model, columns, node, incoming=incoming))
        best = best_of(scores, count, without)
        return best, scores[best]
    scores, nodes = (np.asarray(x) for x in _top_of_node(model, columns, node, wanted, incoming))
    kept = np.flatnonzero(~np.isin(nodes, without))[:count]
    return nodes[kept].astype(np.int64), scores[kept]


@partial(jax.jit, static_argnames=("count", "incoming"))
def _top_of_node(
    model: Ranker, columns: Float[Array, "ambient nodes"], node: int, count: int, incoming: bool
) -> tuple[Array, Array]:
    """The highest scores and their nodes, of each block and then of all; of equal scores, the first node."""
    scores = of_node(model, columns, node, incoming=incoming)
    blocks = jnp.pad(scores, (0, -len(scores) % RANKED), constant_values=-jnp.inf).reshape(-1, RANKED)
    best, at = jax.lax.top_k(blocks, count)
    top, which = jax.lax.top_k(best.reshape(-1), count)
    return top, (at + RANKED * jnp.arange(len(blocks))[:, None]).reshape(-1)[which]


def best_of(scores: np.ndarray, count: int, without: np.ndarray) -> np.ndarray:
    """The nodes with the highest scores, best first, except those in `without`."""
    nodes = np.delete(np.arange(scores.size), without)
    return nodes[_largest(np.asarray(scores)[nodes], nodes, count)]


def best_pairs(
    model: Ranker,
    columns: Float[Array, "ambient nodes"],
    count: int,
    without: DiGraph | None,
    sources: np.ndarray | None = None,
    targets: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The likeliest edges from `sources` to `targets` (None: all nodes), best first.

    Returns (sources, targets, log-probabilities), without self-pairs and the edges of `without`. Only the
    scores of a tile that reach the current best `count` are ranked.
    """
    nodes = columns.shape[1]
    s, t = (np.arange(nodes) if ends is None else np.unique(ends) for ends in (sources, targets))
    known = _places_of(s, t, nodes, without)
    scores, keys = np.zeros(0, columns.dtype), np.zeros(0, np.int64)
    for i, j, tile in _tiles(model, columns[:, s], columns[:, t]):
        _leave_out(tile, i, j, *known)
        full = scores.size == count
        at = np.flatnonzero(tile >= scores[-1] if full else tile > -np.inf)
        a, b = np.divmod(at, tile.shape[1])
        scores = np.concatenate([scores, tile.reshape(-1)[at]])
        keys = np.concatenate([keys, s[a + i].astype(np.int64) * nodes + t[b + j]])
        best = _largest(scores, keys, count)
        scores, keys = scores[best], keys[best]
    return keys // nodes, keys % nodes, scores


def _places_of(
    s: np.ndarray, t: np.ndarray, nodes: int, without: DiGraph | None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of self-pairs and known edges in the matrix s × t, sorted by row."""
    row, column = (np.full(nodes, -1, np.int32) for _ in range(2))
    row[s], column[t] = np.arange(s.size), np.arange(t.size)
    parts = [(row, column)]
    if without is not None:
        parts.append((row[without.sources], column[without.targets]))
    a, b = (np.concatenate(ends) for ends in zip(*parts, strict=True))
    inside = (a >= 0) & (b >= 0)
    a, b = a[inside], b[inside]
    order = np.argsort(a, kind="stable")
    return a[order], b[order]


def _tiles(
    model: Ranker, p: Float[Array, "ambient sources"], q: Float[Array, "ambient targets"]
) -> Iterator[tuple[int, int, np.ndarray]]:
    """Log-probabilities of all pairs, as (first source, first target, scores of a tile).

    The device computes the next tile while the caller uses this one.
    """
    sizes = p.shape[1], q.shape[1]
    rows, width = (min(most, _power_of_two(n)) for most, n in zip((SOURCES, TARGETS), sizes, strict=True))
    p, q = (jnp.pad(x, ((0, 0), (0, -x.shape[1] % n)), mode="edge") for x, n in ((p, rows), (q, width)))
    starts = list(itertools.product(range(0, sizes[0], rows), range(0, sizes[1], width)))
    computed = (_tile(model, p, q, *start, rows, width) for start in starts)
    tile = next(computed, None)
    for i, j in bar(starts, "pairs", unit="pair", unit_scale=rows * width):
        ahead = next(computed, None)
        yield i, j, np.array(tile)[: sizes[0] - i, : sizes[1] - j]
        tile = ahead


@partial(jax.jit, static_argnames=("rows", "width"))
def _tile(model: Ranker, p: Array, q: Array, i: int, j: int, rows: int, width: int) -> Array:
    p = jax.lax.dynamic_slice_in_dim(p, i, rows, axis=1)
    q = jax.lax.dynamic_slice_in_dim(q, j, width, axis=1)
    return pairwise.log_probs(model, p[:, :, None], q[:, None, :])


def _leave_out(tile: np.ndarray, i: int, j: int, a: np.ndarray, b: np.ndarray) -> None:
    """Set the scores of the pairs at rows a and columns b, sorted by a, to −∞."""
    first, last = np.searchsorted(a, [i, i + tile.shape[0]])
    a, b = a[first:last] - i, b[first:last] - j
    inside = (b >= 0) & (b < tile.shape[1])
    tile[a[inside], b[inside]] = -np.inf


def _largest(values: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
    """Positions of the `count` largest values, in descending order; equal values rank by id."""
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
    """`graph` with its nodes numbered as in `names`, without the edges of other nodes."""
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
