"""Where an edge stands among all that its source could point to: full, filtered ranking in blocks.

Blocks of sources against blocks of targets, counted on the device: memory for `SCORES` numbers, or
for one row of all nodes, never for all pairs.
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

#: Scores held at once, and targets scored at once for each source.
SCORES, TARGETS = 1 << 23, 1 << 12


def rank_targets(scorer: Any, edges: np.ndarray, known: DiGraph, ties: str = "realistic") -> np.ndarray:
    """The rank, from 1, of each edge s → t, (n, 2), among s → x for all nodes x.

    Left out are s itself and the other edges of s in `known`: it is no mistake to rank an edge
    high. Ties are resolved as in `metrics.ranks`; `scorer` is an `Embedding` or what `evaluate` takes.
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
        mine = order[starts[i] : ends[min(i + size, len(sources)) - 1]]
        rows = np.searchsorted(block, pairs[mine, 0])
        scores = _score_rows(scorer, block, size, known.num_nodes)
        hidden = _hidden(known, block, scores.shape)
        better[mine], equal[mine] = _count(scores, hidden, rows, pairs[mine, 1])
    return resolve_ties(better, equal, ties)


def _score_rows(scorer: Any, sources: np.ndarray, size: int, num_nodes: int) -> Float[Array, "sources nodes"]:
    """Scores of all targets of these sources, filled up to `size` rows so that one program does for all."""
    if hasattr(scorer, "points") and hasattr(scorer, "model"):
        return _all_targets(
            getattr(scorer, "ranker", scorer.model),
            jnp.asarray(getattr(scorer, "table", scorer.points)),
            _filled(sources, size),
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
    """Which targets of each source do not count: known edges, and the source itself."""
    hidden = np.zeros(shape, bool)
    for row, source in enumerate(sources):
        hidden[row, known.targets[known.row_starts[source] : known.row_starts[source + 1]]] = True
        hidden[row, source] = True
    return hidden


def _count(
    scores: Float[Array, "sources nodes"], hidden: np.ndarray, rows: np.ndarray, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How many targets that count are better than each (row, target), and how many are as good."""
    size = 1 << max(4, (len(rows) - 1).bit_length())
    better, equal = _count_filled(scores, hidden, _filled(rows, size), _filled(targets, size))
    return np.asarray(better)[: len(rows)], np.asarray(equal)[: len(rows)]


@jax.jit
def _count_filled(
    scores: Float[Array, "sources nodes"], hidden: Bool[Array, "sources nodes"], rows: Array, targets: Array
) -> tuple[Int[Array, "queries"], Int[Array, "queries"]]:
    own = scores[rows, targets]
    rivals = jnp.where(hidden, jnp.nan, scores)  # neither better than a number nor equal to it

    def one_query(query: tuple[Array, Array]) -> tuple[Array, Array]:
        row, score = query
        return jnp.sum(rivals[row] > score), jnp.sum(rivals[row] == score)

    return jax.lax.map(one_query, (rows, own))


def _filled(numbers: np.ndarray, size: int) -> np.ndarray:
    """The numbers, then the first one again and again."""
    return np.append(numbers, np.full(size - len(numbers), numbers[0])).astype(np.int32)
