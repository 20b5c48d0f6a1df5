"""How good the embedding of a candidate is: average precision on held-out edges."""

from __future__ import annotations

import dataclasses

import numpy as np

from timelike.embedding.embedding import Embedding
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.metrics import average_precision
from timelike.evaluation.pair_evaluation import score_pairs
from timelike.evaluation.questions import question_pairs
from timelike.graphs.digraph import DiGraph


def with_valid_ap(embedding: Embedding, valid: LabelledPairs) -> Embedding:
    """The embedding with its validation AP in `info`."""
    scores = score_pairs(embedding, valid.sources, valid.targets)
    reached = average_precision(scores, np.asarray(valid.labels))
    return dataclasses.replace(embedding, info={**embedding.info, "valid_ap": reached})


def question_aps(embedding: Embedding, known: DiGraph, edges: np.ndarray, seed: int) -> list[float]:
    """The AP of an embedding on each of the four questions about held-out edges.

    `known` has these edges and all others: none is drawn as a negative.
    """
    asked = question_pairs(known, edges, seed).values()
    scores = [score_pairs(embedding, pairs.sources, pairs.targets) for pairs in asked]
    return [average_precision(a, np.asarray(pairs.labels)) for a, pairs in zip(scores, asked, strict=True)]
