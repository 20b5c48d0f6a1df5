"""The likeliest targets of many sources: exact, without a table of all pairs or a sort of every row.

A source with d known targets needs the k + d + 1 nodes with the highest scores (`block_ranking`); sources
that need about as many share a program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from timelike._util.progress import bar
from timelike.core.model import Ranker
from timelike.embedding import exact_ranking
from timelike.embedding.block_ranking import (
    MOST_BLOCKS,
    TOGETHER,
    best_of_products,
    best_of_rows,
    in_blocks,
)
from timelike.embedding.inner_products import InnerProducts
from timelike.graphs.digraph import DiGraph

#: Sources of a piece of the answer.
PIECE = 1 << 12


class Ranked(NamedTuple):
    """Pairs and their log-probabilities, source after source, the best first."""

    sources: np.ndarray
    targets: np.ndarray
    scores: np.ndarray


def best_targets(
    model: Ranker,
    columns: Float[Array, "ambient nodes"],
    sources: np.ndarray,
    count: int,
    known: DiGraph | None,
    never: np.ndarray | None = None,
) -> Iterator[Ranked]:
    """The `count` likeliest targets of each source, without itself, known edges and the nodes in `never`.

    The sources keep their order; equal scores rank by node number, as in `exact_ranking.best_of_node`.
    """
    blocks = in_blocks(columns)
    most = int(MOST_BLOCKS * blocks.blocks)
    open_to = _open(columns.shape[1], never)

    def ranked(few: np.ndarray, size: int) -> Ranked:
        if size > most:
            one_by_one = [_alone(model, columns, int(s), count, known, open_to) for s in few]
            return Ranked(*(np.concatenate(column) for column in zip(*one_by_one, strict=True)))
        return _kept(few, *best_of_rows(model, blocks, few, size), count, known, open_to)

    return _of_each(ranked, sources, count, known, open_to)


def best_by_products(
    products: InnerProducts,
    sources: np.ndarray,
    count: int,
    known: DiGraph | None,
    never: np.ndarray | None = None,
) -> Iterator[Ranked]:
    """Candidates: about `count` targets of each source with the largest inner products, which are the scores.

    A product of matrices takes a fraction of the time of as many likelihoods. A node with several rows of
    keys may occur as often.
    """
    blocks = in_blocks(jnp.asarray(products.keys.T))
    most = int(MOST_BLOCKS * blocks.blocks)
    nodes = len(products.points)
    open_to = _open(nodes, never)

    def ranked(few: np.ndarray, size: int) -> Ranked:
        queries = products.queries(few)
        if size > most:
            table = queries @ products.keys.T
            at = np.argsort(-table, axis=1, kind="stable")[:, :size]
            scores = np.take_along_axis(table, at, axis=1)
        else:
            at, scores = best_of_products(queries, blocks, size)
        at = np.where(at < len(products.nodes), products.nodes.take(at, mode="clip"), nodes)
        return _kept(few, at, scores, count, known, open_to)

    return _of_each(ranked, sources, count, known, open_to)


def _open(nodes: int, never: np.ndarray | None) -> np.ndarray:
    open_to = np.ones(nodes, bool)
    open_to[[] if never is None else never] = False
    return open_to


def _of_each(
    ranked: Callable[[np.ndarray, int], Ranked],
    sources: np.ndarray,
    count: int,
    known: DiGraph | None,
    open_to: np.ndarray,
) -> Iterator[Ranked]:
    """The sources in pieces; `ranked` answers a few sources of which each needs about as many nodes."""
    degrees = np.zeros(len(open_to), np.int64) if known is None else np.diff(known.row_starts)
    wanted = count + 1 + degrees + int((~open_to).sum())
    wanted = 1 << np.ceil(np.log2(wanted)).astype(int)
    shown = bar(None, "sources", total=len(sources), unit="node")
    for start in range(0, len(sources), PIECE):
        here = sources[start : start + PIECE]
        found: list[Ranked] = []
        for size in np.unique(wanted[here]):
            same = here[wanted[here] == size]
            found += [ranked(same[i : i + TOGETHER], int(size)) for i in range(0, len(same), TOGETHER)]
        shown.update(len(here))
        yield _in_order(here, found, len(open_to))
    shown.close()


def _kept(
    sources: np.ndarray,
    at: np.ndarray,
    scores: np.ndarray,
    count: int,
    known: DiGraph | None,
    open_to: np.ndarray,
) -> Ranked:
    """The first `count` of each row that may be answered."""
    s = np.broadcast_to(sources[:, None], at.shape)
    good = (at < len(open_to)) & (at != s)
    inside = np.minimum(at, len(open_to) - 1)
    good &= open_to[inside]
    if known is not None:
        good &= ~known.has_edges(s, inside)
    good &= np.cumsum(good, axis=1) <= count
    return Ranked(s[good], at[good], scores[good])


def _alone(
    model: Ranker, columns: Array, source: int, count: int, known: DiGraph | None, open_to: np.ndarray
) -> Ranked:
    without = [np.array([source]), np.flatnonzero(~open_to)]
    if known is not None:
        without.append(known.targets[known.row_starts[source] : known.row_starts[source + 1]])
    best, scores = exact_ranking.best_of_node(model, columns, source, count, np.concatenate(without))
    return Ranked(np.full(len(best), source), best, scores)


def _in_order(sources: np.ndarray, found: list[Ranked], nodes: int) -> Ranked:
    """All rows, in the order of the sources."""
    s, t, scores = (np.concatenate(column) for column in zip(*found, strict=True))
    place = np.empty(nodes, np.int64)
    place[sources] = np.arange(len(sources))
    order = np.argsort(place[s], kind="stable")
    return Ranked(s[order].astype(np.int64), t[order].astype(np.int64), scores[order])
