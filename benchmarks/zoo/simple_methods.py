"""The simple methods of the registry on one graph: counts, singular vectors and small trained models."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from benchmarks.zoo.questions import Hidden, answer
from timelike.estimator.baseline_names import TRAINED
from timelike.estimator.baseline_scores import BASELINES
from timelike.estimator.carry_out import refit
from timelike.evaluation.heuristics import Svd
from timelike.evaluation.pair_evaluation import score_pairs
from timelike.evaluation.splits import split_edges

#: Share of the training edges with which a method chooses its settings.
VALID = 0.1


def answers(name: str, hidden: Hidden, seed: int) -> dict[str, Any]:
    """The answers of a method and its seconds; empty if it does not apply to the graph.

    Like a fit, a method holds out validation edges of its own, chooses rank, dimensions and negatives with
    them, and then learns all training edges.
    """
    began = time.perf_counter()
    scorer = _built(name, hidden, seed)
    if scorer is None:
        return {}
    found = answer(partial(score_pairs, scorer), hidden)
    return {"answers": found, "seconds": time.perf_counter() - began}


def _built(name: str, hidden: Hidden, seed: int) -> Any:
    if name not in (*TRAINED, "SVD"):
        return BASELINES[name](hidden.train, None, _ignored)
    split = split_edges(hidden.train, valid=VALID, test=0.0, seed=seed)
    chosen = BASELINES[name](split.train, split.valid, _ignored)
    if isinstance(chosen, Svd):
        return Svd(hidden.train, chosen.rank, chosen.normalised)
    return refit(chosen, hidden.train, split.valid, progress=False)


def _ignored(text: str) -> None:
    """Say nothing about samples."""
