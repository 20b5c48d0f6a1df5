"""What the zoo asks about a graph: 15 % of its edges are hidden, and four questions are asked about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from timelike.evaluation import metrics
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.negative_kinds import draw_negatives
from timelike.evaluation.splits import split_edges
from timelike.graphs.digraph import DiGraph

#: The share of edges that is hidden, and non-edges per hidden edge (1 for turned edges).
HIDDEN, RATIO = 0.15, 4

#: The four questions, kinds of negative samples: any two nodes; same source, other target; same target, other
#: source; the edge turned round.
QUESTIONS = ("uniform", "same_source", "same_target", "reversed")

Score = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Hidden(NamedTuple):
    """A graph with hidden edges, the pairs of each question, and why a question cannot be asked."""

    graph: DiGraph
    train: DiGraph
    edges: np.ndarray
    asked: dict[str, LabelledPairs]
    not_asked: dict[str, str]


def hide(graph: DiGraph, seed: int) -> Hidden:
    """Hide edges of a graph; non-edges are drawn against the whole graph.

    Of the turned edges, those that are edges themselves are left out together with their positives.
    """
    split = split_edges(graph, valid=0.0, test=HIDDEN, seed=seed)
    edges = split.test_edges
    asked, not_asked = {}, {}
    for number, kind in enumerate(QUESTIONS):
        one_way = edges[~graph.has_edges(edges[:, 1], edges[:, 0])]
        positives = one_way if kind == "reversed" else edges
        if not len(positives):
            not_asked[kind] = "the reverse of every hidden edge is an edge"
            continue
        try:
            asked[kind] = LabelledPairs.build(
                positives, draw_negatives(kind, graph, positives, RATIO, [seed, number])
            )
        except ValueError as error:
            not_asked[kind] = str(error)
    return Hidden(graph, split.train, edges, asked, not_asked)


def answer(score: Score, hidden: Hidden) -> dict[str, float]:
    """AP on each question, and `direction`: the share of one-way edges that score above their reverses."""
    found = {}
    for kind, pairs in hidden.asked.items():
        scores = score(np.asarray(pairs.sources), np.asarray(pairs.targets))
        found[kind] = metrics.average_precision(scores, np.asarray(pairs.labels))
        if kind == "reversed":
            forward, back = scores[: len(scores) // 2], scores[len(scores) // 2 :]
            found["direction"] = metrics.direction_accuracy(forward, back)
    return found
