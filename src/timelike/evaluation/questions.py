"""The four questions that one can ask of a directed graph, as kinds of negatives for the same edges.

An edge s → t is compared with any two nodes, with s → another target, with another source → t, and with
t → s. A model that answers one of them well can fail another: degrees alone answer the first on many graphs,
and only a sense of direction answers the last.
"""

from __future__ import annotations

import numpy as np

from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.negative_kinds import draw_negatives
from timelike.graphs.digraph import DiGraph

#: Kind of negatives → negatives per edge.
QUESTIONS: dict[str, int] = {"uniform": 4, "same_source": 4, "same_target": 4, "reversed": 1}

#: What each question asks, for people.
ASKED = {
    "uniform": "any two nodes",
    "same_source": "same source, other target",
    "same_target": "same target, other source",
    "reversed": "the edge turned round",
}


def draw_questions(
    graph: DiGraph, positives: np.ndarray, seed: int = 0
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The negatives of each question, and of each question that the graph cannot be asked, the reason.

    `graph` has the positives and every other known edge.
    """
    drawn, missing = {}, {}
    for number, (kind, ratio) in enumerate(QUESTIONS.items()):
        try:
            drawn[kind] = draw_negatives(kind, graph, positives, ratio, [seed, number])
        except ValueError as error:
            missing[kind] = str(error)
    return drawn, missing


def question_pairs(graph: DiGraph, positives: np.ndarray, seed: int = 0) -> dict[str, LabelledPairs]:
    """The pairs of each question that the graph can be asked. Edges whose reverse is an edge have no
    direction, so the question `reversed` leaves them out.
    """
    drawn, _ = draw_questions(graph, positives, seed)
    one_way = ~graph.has_edges(positives[:, 1], positives[:, 0])
    return {
        kind: LabelledPairs.build(positives[one_way] if kind == "reversed" else positives, negatives)
        for kind, negatives in drawn.items()
    }
