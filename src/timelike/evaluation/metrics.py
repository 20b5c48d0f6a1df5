"""Link prediction metrics on the host, in double precision, with exact handling of ties.

Scores may be any numbers that are higher for likelier edges; `nll`, `brier` and `calibration_curve` need
log-probabilities. The definitions follow scikit-learn and the Open Graph Benchmark. Compiled epochs use
`timelike.engine.epoch.average_precision_on_device` instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from timelike._util.checks import one_of, whole_number

TIES = ("realistic", "optimistic", "pessimistic")

#: `nll` limits p to 1 − `LEAST_DOUBT`, the largest float32 below 1, so that a certain mistake in single
#: precision costs log(2²⁴) ≈ 16.6, not infinity.
LEAST_DOUBT = 2.0**-24

#: Relative error of a log-probability in single precision: about 16 roundings.
ROUNDING = 2e-6


class Curve(NamedTuple):
    """The number of positives and of negatives at or above each distinct score, highest score first."""

    thresholds: np.ndarray
    positives: np.ndarray
    negatives: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, labels: np.ndarray) -> Curve:
        """Count. Needs at least one positive and one negative, and no NaN among the scores."""
        scores, labels = np.asarray(scores), np.asarray(labels, bool)
        if scores.shape != labels.shape or scores.ndim != 1:
            raise ValueError(
                f"scores has shape {scores.shape} and labels {labels.shape}; both must be flat and equal"
            )
        if labels.all() or not labels.any():
            raise ValueError(f"{labels.sum()} of {labels.size} pairs are positive; pass both labels")
        _check_no_nan(scores)
        order = np.argsort(-scores, kind="stable")
        ranked, hits = scores[order], np.cumsum(labels[order])
        last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
        return cls(ranked[last], hits[last], last + 1 - hits[last])


def average_precision(scores: np.ndarray, labels: np.ndarray) -> float:
    """AP = Σₙ (Rₙ − Rₙ₋₁)Pₙ over distinct thresholds."""
    curve = Curve.of(scores, labels)
    precision = curve.positives / (curve.positives + curve.negatives)
    return float(np.sum(np.diff(curve.positives, prepend=0) * precision) / curve.positives[-1])


def roc_auc(scores: np.ndarray, labels: np.ndarray) -> float:
    """The probability that a positive scores above a negative; a tie counts ½."""
    _, positives, negatives = Curve.of(scores, labels)
    below_and_half = negatives[-1] - negatives + 0.5 * np.diff(negatives, prepend=0)
    won = np.sum(np.diff(positives, prepend=0) * below_and_half)
    return float(won / positives[-1] / negatives[-1])


def precision_recall_curve(
    scores: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(precision, recall, thresholds) by increasing threshold; the last point, (1, 0), has no threshold."""
    thresholds, positives, negatives = (x[::-1] for x in Curve.of(scores, labels))
    precision = np.append(positives / (positives + negatives), 1.0)
    return precision, np.append(positives / positives[0], 0.0), thresholds


def best_f1_threshold(scores: np.ndarray, labels: np.ndarray) -> float:
    """The threshold at which predicting "score ≥ threshold" has the highest F1; of ties, the highest one.

    Choose it on validation pairs, never on the pairs that you report.
    """
    thresholds, positives, negatives = Curve.of(scores, labels)
    return float(thresholds[np.argmax(positives / (positives + negatives + positives[-1]))])


def f1(scores: np.ndarray, labels: np.ndarray, threshold: float) -> float:
    """F1 = 2PR/(P + R) when an edge is predicted for score ≥ threshold; 0 if none is predicted."""
    predicted, labels = np.asarray(scores) >= threshold, np.asarray(labels, bool)
    return float(2 * np.sum(predicted & labels) / max(1, np.sum(predicted) + np.sum(labels)))


def hits_at(k: int, positives: np.ndarray, negatives: np.ndarray) -> float:
    """The share of positives that score above the k-th highest negative; 1 with fewer than k negatives."""
    whole_number("k", k, 1)
    if len(negatives) < k:
        return 1.0
    return float(np.mean(np.asarray(positives) > np.partition(negatives, -k)[-k]))


def ranks(positives: np.ndarray, negatives: np.ndarray, ties: str = "realistic") -> np.ndarray:
    """The rank, from 1, of each positive among the negatives: shared ones, (m,), or its own, (n, m).

    Of the negatives with an equal score, none ranks above the positive ("optimistic"), all do
    ("pessimistic"), or half do ("realistic", as in the Open Graph Benchmark).
    """
    _check_no_nan(positives)
    _check_no_nan(negatives)
    positives, negatives = np.asarray(positives), np.asarray(negatives)
    if negatives.ndim == 1:
        ranked = np.sort(negatives)
        better = len(ranked) - np.searchsorted(ranked, positives, side="right")
        at_least = len(ranked) - np.searchsorted(ranked, positives, side="left")
    else:
        better = np.sum(negatives > positives[:, None], axis=1)
        at_least = np.sum(negatives >= positives[:, None], axis=1)
    return resolve_ties(better, at_least - better, ties)


def resolve_ties(better: np.ndarray, equal: np.ndarray, ties: str) -> np.ndarray:
    """Ranks, from 1, given the numbers of better and of equal scores."""
    one_of("ties", ties, TIES)
    return 1 + better + {"optimistic": 0.0, "realistic": 0.5, "pessimistic": 1.0}[ties] * equal


def mean_reciprocal_rank(positives: np.ndarray, negatives: np.ndarray, ties: str = "realistic") -> float:
    """The mean of 1/rank over the positives; see `ranks`."""
    return float(np.mean(1 / ranks(positives, negatives, ties)))


def nll(log_probs: np.ndarray, labels: np.ndarray) -> float:
    """The mean of −log p for edges and −log(1 − p) for non-edges."""
    log_p = np.asarray(log_probs, float)
    log_not = np.log(-np.expm1(np.minimum(log_p, np.log1p(-LEAST_DOUBT))))
    return float(-np.mean(np.where(labels, log_p, log_not)))


def brier(log_probs: np.ndarray, labels: np.ndarray) -> float:
    """The mean of (p − y)², y = 1 for edges and 0 for non-edges."""
    return float(np.mean((np.exp(np.asarray(log_probs, float)) - np.asarray(labels, float)) ** 2))


def calibration_curve(
    log_probs: np.ndarray, labels: np.ndarray, bins: int = 10
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(mean probability, share of edges, number of pairs) of each non-empty one of `bins` bins in [0, 1].

    The share depends on the ratio of edges to non-edges among these pairs, not in the graph.
    """
    whole_number("bins", bins, 1)
    p, truth = np.exp(np.asarray(log_probs, float)), np.asarray(labels, float)
    part = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], p)
    count = np.bincount(part, minlength=bins)
    used = count > 0
    sums = (np.bincount(part, weights=x, minlength=bins)[used] for x in (p, truth))
    mean, share = (x / count[used] for x in sums)
    return mean, share, count[used]


def direction_accuracy(forward: np.ndarray, backward: np.ndarray) -> float:
    """The share of edges that score above their reverses; a tie counts ½, so a symmetric model gets ½.

    Scores that differ only by single-precision rounding are ties: a symmetric model may compute the two
    directions in a different order, and would otherwise be judged by its rounding errors.
    """
    a, b = np.asarray(forward, float), np.asarray(backward, float)
    tied = np.isclose(a, b, rtol=ROUNDING, atol=0)
    return float(np.mean(np.where(tied, 0.5, a > b)))


def _check_no_nan(scores: np.ndarray) -> None:
    missing = np.argwhere(np.isnan(scores))
    if len(missing):
        raise ValueError(f"score {missing[0].tolist()} is NaN ({len(missing)} in all); check the model")
