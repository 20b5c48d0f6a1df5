"""One fit on one graph: its answers, whether its probabilities mean what they say, and its seconds."""

from __future__ import annotations

import ast
import inspect
import time
from typing import Any

import numpy as np

from benchmarks.zoo.questions import RATIO, Hidden, answer
from timelike.estimator.spacetime_embedding import SpacetimeEmbedding
from timelike.evaluation.negative_kinds import draw_negatives

#: Non-edges per hidden edge that stand for all non-edges, bins of the calibration error, and the top list.
NON_EDGES, BINS, TOP = 20, 10, 100


def options_of(arm: str) -> dict[str, Any]:
    """The options of an arm: none for "default", else of key=value pairs such as "evidence=none,dim=32"."""
    if arm == "default":
        return {}
    found = {}
    for part in arm.split(","):
        key, equals, text = part.partition("=")
        if not equals:
            raise ValueError(f'{arm} is no arm; write "default" or options such as evidence=none,dim=32')
        try:
            found[key] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            found[key] = text
    return found


def has_option(name: str) -> bool:
    """Whether this version of the estimator has an option."""
    return name in inspect.signature(SpacetimeEmbedding).parameters


def fitted_answers(arm: str, hidden: Hidden) -> dict[str, Any]:
    """Fit to the training edges, with the options of the arm only, and ask everything."""
    estimator = SpacetimeEmbedding(**options_of(arm))
    began = time.perf_counter()
    estimator.fit(hidden.train)
    seconds = time.perf_counter() - began

    def score(sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        return np.asarray(estimator.decision_function(np.stack([sources, targets], axis=1)), np.float64)

    def alone(sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        return np.asarray(estimator.embedding_.log_odds_by_number(sources, targets), np.float64)

    found = {"answers": answer(score, hidden), "geometry": str(getattr(estimator, "geometry_", ""))}
    found |= {"seconds": seconds, "all_seconds": 0.0, "alone": answer(alone, hidden)}
    found |= _calibration(score, stated_ratio(estimator), hidden)
    found |= _top(estimator, stated_ratio(estimator), hidden)
    found["all_seconds"] = time.perf_counter() - began
    return found


def stated_ratio(estimator: Any) -> float:
    """The non-edges per edge for which a fit states its probabilities; 4 if it does not say."""
    if getattr(estimator, "joint_", None) is not None:
        return float(estimator.joint_.ratio)
    for holder in (estimator, *(getattr(estimator, name, None) for name in ("joint_", "embedding_"))):
        ratio = getattr(getattr(holder, "calibration", None), "ratio", None)
        if ratio is not None:
            return float(ratio)
    return float(RATIO)


def calibration_error(odds: np.ndarray, labels: np.ndarray, weights: np.ndarray, bins: int = BINS) -> float:
    """Σ over bins of probability, equally wide: |mean probability − share of edges| · share of the weight."""
    stated = 1 / (1 + np.exp(-odds))
    place = np.minimum((stated * bins).astype(int), bins - 1)
    gaps = np.bincount(place, weights=weights * (stated - labels), minlength=bins)
    return float(np.abs(gaps).sum() / weights.sum())


def _calibration(score: Any, stated: float, hidden: Hidden) -> dict[str, float]:
    """Calibration errors, at the density of the whole graph and at 4 non-edges an edge.

    Hidden edges stand for edges, a sample of non-edges for all of them. Log-odds are shifted from the ratio
    for which the model states them to the ratio of the pairs.
    """
    graph, edges = hidden.graph, hidden.edges
    try:
        drawn = draw_negatives("uniform", graph, edges, NON_EDGES, [0, 9])
    except ValueError:
        return {}
    pairs = np.concatenate([edges, drawn])
    odds, labels = score(pairs[:, 0], pairs[:, 1]), np.arange(len(pairs)) < len(edges)
    ratio = graph.num_nodes * (graph.num_nodes - 1) / graph.num_edges - 1
    found = {}
    for name, other in (("ece_density", ratio), ("ece_four", float(RATIO))):
        weights = np.where(labels, 1.0, other * len(edges) / len(drawn))
        found[name] = calibration_error(odds + np.log(stated / other), labels, weights)
    return found


def _top(estimator: Any, stated: float, hidden: Hidden) -> dict[str, float]:
    """The likeliest missing edges: their mean probability as stated, and the share that is hidden edges.

    `top_adjusted` restates the probability for the number of edges that is hidden: what a model should say
    that is told this number.
    """
    train = hidden.train
    best = list(estimator.top_edges(TOP))
    if not best:
        return {}
    pairs = np.array([(one[0], one[1]) for one in best])
    prob = np.clip([float(one[2]) for one in best], 1e-12, 1 - 1e-12)
    right = hidden.graph.has_edges(*pairs.T) & ~train.has_edges(*pairs.T)
    unknown = train.num_nodes * (train.num_nodes - 1) - train.num_edges
    shift = np.log(stated * len(hidden.edges) / (unknown - len(hidden.edges)))
    adjusted = 1 / (1 + np.exp(-(np.log(prob / (1 - prob)) + shift)))
    shown = {"top_stated": float(prob.mean()), "top_adjusted": float(adjusted.mean())}
    return {**shown, "top_right": float(right.mean()), "top": len(best)}
