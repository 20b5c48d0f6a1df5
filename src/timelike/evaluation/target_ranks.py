"""Full, filtered ranking: the rank of an edge among all possible targets of its source.

The device counts in blocks of sources and targets. Memory holds `SCORES` numbers or one row of all nodes,
never all pairs.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from timelike.core.model import Ranker
from timelike.evaluation.metrics import resolve_ties
from timelike.evaluation.pair_evaluation import same_nodes, score_pairs
from timelike.graphs.digraph import DiGraph, checked_pairs

#: Scores held at once, and targets scored at once per source.
SCORES, TARGETS = 1 << 23, 1 << 12


def rank_targets(scorer: Any, edges: np.ndarray, known: DiGraph, ties: str = "realistic") -> np.ndarray:
    """The rank, from 1, of each edge s → t, (n, 2), among s → x for all nodes x.

    The ranking leaves out s itself and the other edges of s in `known`, because ranking an edge high is no
    mistake. Ties count as in `metrics.ranks`. `scorer` is anything that `evaluate` accepts.
    """
    same_nodes(scorer, known)
    pairs = checked_pairs(edges, known.num_nodes, "edges")
    order = np.argsort(pairs[:, 0], kind="stable")
    sources, starts = np.unique(pairs[order, 0], return_index=True)
    ends = np.append(starts[1:], len(order))
    size = max(1, min(SCORES // known.num_nodes, len(sources)))
    better, equal = np.zeros((2, len(pairs)), np.int64)
    for i in range(0, len(sources), size):
        block = sources[i : i + size]
        queries = order[starts[i] : ends[min(i + size, len(sources)) - 1]]
        rows = np.searchsorted(block, pairs[queries, 0])
        scores = _score_rows(scorer, block, size, known.num_nodes)
        hidden = _hidden(known, block, scores.shape)
        padded = (_padded(x, 1 << max(4, (len(rows) - 1).bit_length())) for x in (rows, pairs[queries, 1]))
        counts = _count(scores, hidden, *padded)
        better[queries], equal[queries] = (np.asarray(count)[: len(rows)] for count in counts)
    return resolve_ties(better, equal, ties)


def _score_rows(scorer: Any, sources: np.ndarray, size: int, num_nodes: int) -> Float[Array, "sources nodes"]:
    """Scores of all targets of these sources, padded to `size` rows so that one program fits all blocks."""
    if hasattr(scorer, "points") and hasattr(scorer, "model"):
        return _all_targets(
            getattr(scorer, "ranker", scorer.model),
            jnp.asarray(getattr(scorer, "table", scorer.points)),
            _padded(sources, size),
        )
    s, t = np.repeat(sources, num_nodes), np.tile(np.arange(num_nodes, dtype=np.int32), len(sources))
    return jnp.asarray(score_pairs(scorer, s, t).reshape(len(sources), num_nodes))


@jax.jit
def _all_targets(
    model: Ranker, points: Float[Array, "nodes ambient"], sources: Int[Array, "sources"]
) -> Float[Array, "sources nodes"]:
    nodes, width = points.shape[0], min(TARGETS, points.shape[0])

    def one_block(number: Array) -> Array:
        targets = points[jnp.minimum(number * width + jnp.arange(width), nodes - 1)]
        return jax.vmap(lambda source: jax.vmap(model.log_prob, (None, 0))(source, targets))(points[sources])

    blocks = jax.lax.map(one_block, jnp.arange(-(-nodes // width)))
    return jnp.swapaxes(blocks, 0, 1).reshape(len(sources), -1)[:, :nodes]


def _hidden(known: DiGraph, sources: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The targets of each source that do not count: known edges, and the source itself."""
    hidden = np.zeros(shape, bool)
    for row, source in enumerate(sources):
        hidden[row, known.targets[known.row_starts[source] : known.row_starts[source + 1]]] = True
        hidden[row, source] = True
    return hidden


@jax.jit
def _count(
    scores: Float[Array, "sources nodes"], hidden: Bool[Array, "sources nodes"], rows: Array, targets: Array
) -> tuple[Int[Array, "queries"], Int[Array, "queries"]]:
    """The numbers of visible targets that score above each (row, target), and of those that tie."""
    own = scores[rows, targets]
    rivals = jnp.where(hidden, jnp.nan, scores)  # NaN is neither above nor equal to any score

    def one_query(query: tuple[Array, Array]) -> tuple[Array, Array]:
        row, score = query
        return jnp.sum(rivals[row] > score), jnp.sum(rivals[row] == score)

    return jax.lax.map(one_query, (rows, own))


def _padded(numbers: np.ndarray, size: int) -> np.ndarray:
    """The numbers, padded to `size` with the first one."""
    return np.append(numbers, np.full(size - len(numbers), numbers[0])).astype(np.int32)
