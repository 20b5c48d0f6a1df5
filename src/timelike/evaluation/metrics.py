"""Scores of link prediction on the host, in double precision, with ties counted as ties.

Scores are any numbers that are higher for likelier edges; `nll`, `brier` and `calibration_curve`
need log-probabilities. Definitions are those of scikit-learn and of the Open Graph Benchmark.
Inside compiled epochs use `timelike.evaluation.average_precision_on_device`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from timelike._util.checks import one_of, whole_number

TIES = ("realistic", "optimistic", "pessimistic")

#: log(1 − p) is taken at p ≤ 1 − `LEAST_DOUBT`: the largest float32 below 1, so a model in single
#: precision that is wrong with certainty costs log(2²⁴) ≈ 16.6, not infinity.
LEAST_DOUBT = 2.0**-24

#: Relative error of a log-probability in single precision: some 16 roundings.
ROUNDING = 2e-6


class Curve(NamedTuple):
    """How many positives and negatives are at or above each distinct score, from the highest."""

    thresholds: np.ndarray
    positives: np.ndarray
    negatives: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, labels: np.ndarray) -> Curve:
        """Count; there must be a positive and a negative, and no score may be missing."""
        scores, labels = np.asarray(scores), np.asarray(labels, bool)
        if scores.shape != labels.shape or scores.ndim != 1:
            raise ValueError(
                f"scores has shape {scores.shape} and labels {labels.shape}; both flat and equal"
            )
        if labels.all() or not labels.any():
            raise ValueError(f"{labels.sum()} of {labels.size} pairs are positive; both kinds are needed")
        _no_gaps(scores)
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
    """The chance that a positive is scored above a negative; a tie counts ½."""
    _, positives, negatives = Curve.of(scores, labels)
    below_and_half = negatives[-1] - negatives + 0.5 * np.diff(negatives, prepend=0)
    won = np.sum(np.diff(positives, prepend=0) * below_and_half)
    return float(won / positives[-1] / negatives[-1])


def precision_recall_curve(
    scores: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(precision, recall, thresholds) by rising threshold; the last point is (1, 0), without a threshold."""
    thresholds, positives, negatives = (x[::-1] for x in Curve.of(scores, labels))
    precision = np.append(positives / (positives + negatives), 1.0)
    return precision, np.append(positives / positives[0], 0.0), thresholds


def best_f1_threshold(scores: np.ndarray, labels: np.ndarray) -> float:
    """The threshold whose "score ≥ threshold" has the highest F1; of equally good ones the highest.

    Choose it on validation pairs, never on those that are reported.
    """
    thresholds, positives, negatives = Curve.of(scores, labels)
    return float(thresholds[np.argmax(positives / (positives + negatives + positives[-1]))])


def f1(scores: np.ndarray, labels: np.ndarray, threshold: float) -> float:
    """F1 = 2PR/(P + R) of predicting an edge where score ≥ threshold; 0 if nothing is predicted."""
    predicted, labels = np.asarray(scores) >= threshold, np.asarray(labels, bool)
    return float(2 * np.sum(predicted & labels) / max(1, np.sum(predicted) + np.sum(labels)))


def hits_at(k: int, positives: np.ndarray, negatives: np.ndarray) -> float:
    """The share of positive scores above the k-th highest negative; 1 if there are fewer than k."""
    whole_number("k", k, 1)
    if len(negatives) < k:
        return 1.0
    return float(np.mean(np.asarray(positives) > np.partition(negatives, -k)[-k]))


def ranks(positives: np.ndarray, negatives: np.ndarray, ties: str = "realistic") -> np.ndarray:
    """The rank of each positive score, from 1, among the negatives: shared, (m,), or its own, (n, m).

    Of negatives with the same score none counts as better ("optimistic"), all do ("pessimistic"),
    or half of them ("realistic", as in the Open Graph Benchmark).
    """
    _no_gaps(positives)
    _no_gaps(negatives)
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
    """Ranks, from 1, by how many others are better and how many equally good."""
    one_of("ties", ties, TIES)
    return 1 + better + {"optimistic": 0.0, "realistic": 0.5, "pessimistic": 1.0}[ties] * equal


def mean_reciprocal_rank(positives: np.ndarray, negatives: np.ndarray, ties: str = "realistic") -> float:
    """The mean of 1/rank over the positives; see `ranks`."""
    return float(np.mean(1 / ranks(positives, negatives, ties)))


def nll(log_probs: np.ndarray, labels: np.ndarray) -> float:
    """The mean of −log p over the edges and −log(1 − p) over the non-edges."""
    log_p = np.asarray(log_probs, float)
    log_not = np.log(-np.expm1(np.minimum(log_p, np.log1p(-LEAST_DOUBT))))
    return float(-np.mean(np.where(labels, log_p, log_not)))


def brier(log_probs: np.ndarray, labels: np.ndarray) -> float:
    """The mean of (p − y)², y = 1 for edges and 0 for non-edges."""
    return float(np.mean((np.exp(np.asarray(log_probs, float)) - np.asarray(labels, float)) ** 2))


def calibration_curve(
    log_probs: np.ndarray, labels: np.ndarray, bins: int = 10
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(mean probability, share of edges, number of pairs) in each of `bins` parts of [0, 1] that has any.

    The share refers to the ratio of edges to non-edges among these pairs, not in the graph.
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
    """The share of edges scored above their reverses; a tie counts ½, so no sense of direction gives ½.

    Scores that differ by less than single precision rounds are tied: a symmetric model computes
    both directions in another order, and would be scored by its rounding errors.
    """
    a, b = np.asarray(forward, float), np.asarray(backward, float)
    tied = np.isclose(a, b, rtol=ROUNDING, atol=0)
    return float(np.mean(np.where(tied, 0.5, a > b)))


def _no_gaps(scores: np.ndarray) -> None:
    gaps = np.argwhere(np.isnan(scores))
    if len(gaps):
        raise ValueError(f"score number {gaps[0].tolist()} is NaN ({len(gaps)} such); is the model trained?")
