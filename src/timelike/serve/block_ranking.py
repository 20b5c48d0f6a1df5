"""The likeliest targets or sources of several nodes at once: exact, without sorting all scores.

Scores are divided into blocks of `BLOCK` nodes. The k best nodes lie in blocks whose maxima are at least the
k-th largest maximum, so only these few blocks are sorted.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from timelike.core.model import Ranker
from timelike.manifolds import pairwise

#: Nodes per block.
BLOCK = 128
#: Most requests ranked together.
TOGETHER = 32


@partial(jax.jit, static_argnames="incoming")
def _scored(model: Ranker, columns: Any, nodes: Any, incoming: bool) -> tuple[Any, Any]:
    """The scores of all nodes for each of `nodes`, and the maximum of each block."""

    def one(node: Any) -> tuple[Any, Any]:
        own = columns[:, node][:, None]
        ends = (columns, own) if incoming else (own, columns)
        scores = pairwise.log_probs(model, *ends)
        scores = jnp.where(jnp.isnan(scores), -jnp.inf, scores)
        return scores, scores.reshape(-1, BLOCK).max(axis=1)

    return jax.lax.map(one, nodes)


def padded(columns: np.ndarray) -> Any:
    """The columns on the device, with copies of the last node at the end for whole blocks."""
    return jnp.asarray(np.pad(columns, ((0, 0), (0, -columns.shape[1] % BLOCK)), mode="edge"))


def best(
    model: Ranker,
    columns: Any,
    count: int,
    nodes: list[int],
    wanted: list[int],
    without: list[np.ndarray],
    incoming: bool,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each node, the `wanted` likeliest others with their log-probabilities, best first.

    `columns` are `padded`, `count` is the number of nodes, and `without` lists the nodes to leave out.
    """
    size = 1 << max(len(nodes) - 1, 0).bit_length()  # few sizes, so few compilations
    asked = np.pad(np.asarray(nodes, np.int32), (0, size - len(nodes)), mode="edge")
    scores, highest = (np.asarray(x) for x in _scored(model, columns, asked, incoming))
    rows = zip(scores, highest, wanted, without, strict=False)
    return [_best_of(row[:count], tops, k, left) for row, tops, k, left in rows]


def _best_of(
    scores: np.ndarray, highest: np.ndarray, wanted: int, without: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The best nodes of a row; of equal scores, the first node."""
    most = wanted + len(without)
    blocks = np.arange(len(highest))
    if most < len(highest):
        blocks = np.flatnonzero(highest >= np.partition(highest, len(highest) - most)[-most])
    at = (blocks[:, None] * BLOCK + np.arange(BLOCK)).reshape(-1)
    at = at[at < len(scores)]
    if len(without):
        at = at[~np.isin(at, without)]
    values = scores[at]
    if wanted < len(at):
        kept = values >= np.partition(values, len(at) - wanted)[-wanted]
        at, values = at[kept], values[kept]
    order = np.lexsort((at, -values))[:wanted]
    return at[order], values[order]
