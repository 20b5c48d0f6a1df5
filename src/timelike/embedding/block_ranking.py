"""The likeliest targets or sources of several nodes in one program: exact, without sorting all scores.

Nodes lie in blocks of `BLOCK`. The k best nodes lie in the k blocks with the largest maxima (of equal maxima,
the first blocks), so only the scores of these blocks are sorted. Columns are stored with the first node of
every block before all second nodes: the maxima of blocks are then maxima of whole vectors, which a CPU
computes eight at a time. XLA reduces a row block by block one number at a time, which takes as long again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from timelike.core.model import Ranker
from timelike.manifolds import pairwise

#: Nodes per block.
BLOCK = 32
#: Most rows ranked together.
TOGETHER = 32
#: If a row needs a larger share of all blocks than this, all its scores are sorted instead.
MOST_BLOCKS = 0.25


class Blocks(NamedTuple):
    """Columns of all nodes: first the first node of every block, then all second nodes, and so on."""

    columns: Float[Array, "ambient places"]
    nodes: int

    @property
    def blocks(self) -> int:
        """Number of blocks; the last one may hold copies of the last node."""
        return self.columns.shape[1] // BLOCK


def in_blocks(columns: Float[Array, "ambient nodes"]) -> Blocks:
    """The columns in the order of `Blocks`, on the device."""
    ambient, count = columns.shape
    padded = jnp.pad(jnp.asarray(columns), ((0, 0), (0, -count % BLOCK)), mode="edge")
    return Blocks(padded.reshape(ambient, -1, BLOCK).swapaxes(1, 2).reshape(ambient, -1), count)


def best_of_rows(
    model: Ranker, table: Blocks, rows: np.ndarray, wanted: int, incoming: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The nodes with the `wanted` highest scores of each row, best first, and the scores, as two tables.

    A row lists edges from its node, or into it if `incoming`; there are at most `TOGETHER` rows. Equal scores
    rank by node number. `wanted` may be at most the number of blocks.
    """
    filled = jnp.asarray(np.pad(np.asarray(rows, np.int32), (0, TOGETHER - len(rows))))
    at, scores = _best(model, table.columns, table.nodes, filled, len(rows), wanted, incoming)
    return np.asarray(at)[: len(rows)], np.asarray(scores)[: len(rows)]


def best_of_products(
    queries: Float[np.ndarray, "rows terms"], table: Blocks, wanted: int
) -> tuple[np.ndarray, np.ndarray]:
    """The columns with the `wanted` highest inner products with each query, as in `best_of_rows`."""
    filled = jnp.asarray(np.pad(queries, ((0, TOGETHER - len(queries)), (0, 0))))
    at, scores = _best_products(table.columns, table.nodes, filled, len(queries), wanted)
    return np.asarray(at)[: len(queries)], np.asarray(scores)[: len(queries)]


@partial(jax.jit, static_argnames=("wanted", "incoming"))
def _best(
    model: Ranker,
    columns: Array,
    count: int,
    rows: Int[Array, " rows"],
    used: int,
    wanted: int,
    incoming: bool,
) -> tuple[Array, Array]:
    """The answers to the first `used` rows; one program serves any number of them."""
    blocks = columns.shape[1] // BLOCK

    def scores_of(i: Array) -> Array:
        own = columns[:, rows[i] % BLOCK * blocks + rows[i] // BLOCK][:, None]
        return pairwise.log_probs(model, *((columns, own) if incoming else (own, columns)))

    return _row_by_row(scores_of, blocks, count, len(rows), used, wanted)


@partial(jax.jit, static_argnames="wanted")
def _best_products(
    columns: Array, count: int, queries: Float[Array, "rows terms"], used: int, wanted: int
) -> tuple[Array, Array]:
    scores = queries @ columns
    return _row_by_row(lambda i: scores[i], columns.shape[1] // BLOCK, count, len(queries), used, wanted)


def _row_by_row(
    scores_of: Callable[[Array], Array], blocks: int, count: int, rows: int, used: int, wanted: int
) -> tuple[Array, Array]:
    """The places of the `wanted` best of the first `used` rows, and their scores; the other rows are 0."""

    def one(i: Array) -> tuple[Array, Array]:
        scores = scores_of(i)
        scores = jax.lax.optimization_barrier(jnp.where(jnp.isnan(scores), -jnp.inf, scores))
        of_block = [scores[i * blocks : (i + 1) * blocks] for i in range(BLOCK)]
        highest = reduce(jnp.maximum, of_block)
        chosen = jnp.sort(jax.lax.top_k(highest, wanted)[1])  # equal scores keep the order of the nodes
        at = chosen[:, None] * BLOCK + jnp.arange(BLOCK)
        few = jnp.where(at < count, scores[chosen[:, None] + blocks * jnp.arange(BLOCK)], -jnp.inf)
        best, place = jax.lax.top_k(few.reshape(-1), wanted)
        return at.reshape(-1)[place], best

    def step(i: Array, found: tuple[Array, Array]) -> tuple[Array, Array]:
        return jax.tree.map(lambda kept, row: kept.at[i].set(row), found, one(i))

    types = jax.eval_shape(one, 0)
    empty = jax.tree.map(lambda row: jnp.zeros((rows, *row.shape), row.dtype), types)
    return jax.lax.fori_loop(0, used, step, empty)
