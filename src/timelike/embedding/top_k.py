"""The likeliest edges of an embedding and the nearest nodes, by name; `exact_ranking` works by number."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from timelike._util.checks import instance, whole_number
from timelike._util.html_tables import Rows
from timelike.embedding import exact_ranking
from timelike.embedding.targets_of_each import best_targets
from timelike.graphs.digraph import DiGraph, node_numbers

if TYPE_CHECKING:
    from timelike.embedding.embedding import Embedding


class Prediction(NamedTuple):
    """An edge and its probability."""

    source: Hashable
    target: Hashable
    probability: float


class UncertainPrediction(NamedTuple):
    """An edge, its probability, and the spread of that probability over the ensemble members."""

    source: Hashable
    target: Hashable
    probability: float
    spread: float


#: A ranking; its rows have a spread if the model is an ensemble.
Predictions: TypeAlias = Rows[Prediction] | Rows[UncertainPrediction]


class Neighbour(NamedTuple):
    """A node and its distance."""

    node: Hashable
    distance: float


def of_node(
    embedding: Embedding, node: Hashable, k: int, exclude: DiGraph | None, incoming: bool = False
) -> Predictions:
    """The k likeliest edges out of a node, or into it if `incoming`, except those of `exclude`."""
    number, k = int(_numbers(embedding, [node])[0]), whole_number("k", k, 1)
    known, without = _known(embedding, exclude), np.array([number])
    if known is not None:
        ends = (known.targets, known.sources) if incoming else (known.sources, known.targets)
        without = np.append(ends[1][ends[0] == number], number)
        without = np.append(without, embedding.strangers(known, not incoming))
    best, scores = exact_ranking.best_of_node(
        embedding.ranker, embedding.columns, number, k, without, incoming
    )
    here = np.full(best.size, number)
    sources, targets = (best, here) if incoming else (here, best)
    return _predictions(embedding, sources, targets, scores)


def of_each(
    embedding: Embedding, sources: np.ndarray, k: int, exclude: DiGraph | None
) -> Iterator[tuple[np.ndarray, ...]]:
    """The k likeliest targets of many sources by number, except those of `exclude`."""
    known, k = _known(embedding, exclude), whole_number("k", k, 1)
    never = embedding.strangers(known, True)
    for s, t, scores in best_targets(embedding.ranker, embedding.columns, sources, k, known, never):
        if embedding.members == 1:
            yield s, t, np.exp(embedding.calibrate(scores))
        else:
            yield s, t, np.exp(embedding.log_prob_by_number(s, t)), embedding.spread_by_number(s, t)


def of_all(
    embedding: Embedding,
    k: int,
    exclude: DiGraph | None,
    sources: Iterable[Hashable] | None,
    targets: Iterable[Hashable] | None,
) -> Predictions:
    """The k likeliest edges from `sources` to `targets` (None: any nodes), except those of `exclude`."""
    k = whole_number("k", k, 1)
    ends = [None if nodes is None else _numbers(embedding, list(nodes)) for nodes in (sources, targets)]
    known = _known(embedding, exclude)
    for incoming, end in enumerate(ends):
        if end is None and len(strangers := embedding.strangers(known, bool(incoming))):
            ends[incoming] = np.delete(np.arange(len(embedding.points)), strangers)
    return _predictions(
        embedding, *exact_ranking.best_pairs(embedding.ranker, embedding.columns, k, known, *ends)
    )


def nearest(embedding: Embedding, node: Hashable, k: int) -> Rows[Neighbour]:
    """The k nodes nearest to a node, in the first ensemble member."""
    number, k = int(_numbers(embedding, [node])[0]), whole_number("k", k, 1)
    columns = embedding.columns if embedding.members == 1 else embedding.columns[: embedding.points.shape[1]]
    squares = np.asarray(exact_ranking.squared_distances(embedding.model.manifold, columns, number))
    best = exact_ranking.best_of(-squares, k, np.array([number]))
    return Rows(Neighbour(embedding.name(i), float(np.sqrt(squares[i]))) for i in best)


def _numbers(embedding: Embedding, nodes: list[Hashable]) -> np.ndarray:
    return node_numbers(nodes, len(embedding.points), embedding.names, "node")


def _known(embedding: Embedding, exclude: DiGraph | None) -> DiGraph | None:
    """The graph of known edges, in the embedding's node numbers."""
    if exclude is None:
        return None
    instance("exclude", exclude, DiGraph, "the graph of known edges")
    return exact_ranking.aligned(exclude, len(embedding.points), embedding.names, "exclude")


def _predictions(
    embedding: Embedding, sources: np.ndarray, targets: np.ndarray, scores: np.ndarray
) -> Predictions:
    names = [[embedding.name(node) for node in end] for end in (sources, targets)]
    if embedding.members == 1:
        probabilities = np.exp(embedding.calibrate(scores)).tolist()
        return Rows(Prediction(*row) for row in zip(*names, probabilities, strict=True))
    probabilities = np.exp(embedding.log_prob_by_number(sources, targets)).tolist()
    spreads = embedding.spread_by_number(sources, targets).tolist()
    return Rows(UncertainPrediction(*row) for row in zip(*names, probabilities, spreads, strict=True))
