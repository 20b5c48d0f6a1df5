"""How well a model separates edges from non-edges: every score of an evaluation."""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

import numpy as np

from timelike._util.checks import instance, show
from timelike.evaluation import metrics
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.splits import Split
from timelike.graphs.digraph import DiGraph, checked_nodes

#: Hits@k is reported for these k, as in the Open Graph Benchmark.
HITS = (20, 50, 100)

#: Pairs scored at a time.
BLOCK = 1 << 20


class Scorer(Protocol):
    """What can be evaluated: log-probabilities of edges, by node number.

    A baseline that ranks but knows no probabilities has `score` instead, with the same arguments.
    """

    def log_prob(self, sources: np.ndarray, targets: np.ndarray, /) -> np.ndarray:
        """log-probability of each edge sources[i] → targets[i]."""


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """Scores on one list of pairs. None: not defined here (a probability of a model that gives none)."""

    average_precision: float
    roc_auc: float
    #: At `threshold`: an edge is predicted where the probability (a baseline's score) is at least that.
    f1: float | None
    threshold: float | None
    #: Where the threshold comes from.
    threshold_from: str
    #: Hits@k and the mean reciprocal rank (ties "realistic") of each positive among all the negatives.
    hits: dict[int, float]
    mrr: float
    nll: float | None
    brier: float | None
    #: Over positives whose reverse is no known edge.
    direction_accuracy: float | None
    positives: int
    negatives: int

    def to_dict(self) -> dict[str, float | int | None]:
        """Plain values under the names that the command line prints."""
        found = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        del found["threshold_from"]
        hits = {f"hits@{k}": share for k, share in found.pop("hits").items()}
        first = {name: found.pop(name) for name in ("average_precision", "roc_auc", "f1", "threshold")}
        return {**first, **hits, **found}


def evaluate(
    scorer: Any,
    pairs: Split | LabelledPairs,
    *,
    valid: LabelledPairs | None = None,
    known: DiGraph | None = None,
    validated: Any = None,
) -> Evaluation:
    """Score an `Embedding`, a baseline or any `Scorer` on the test pairs of a split, or on given pairs.

    The threshold of F1 is the best one on the validation pairs: those of the split, or `valid`. A scorer that
    has learned these since cannot tell: an embedding that was trained again remembers it, and of others
    `validated` is the scorer before. Without validation pairs it is the probability ½ (for a baseline, which
    has no probabilities: none). The direction of an edge is tested where its reverse is no edge of `known`
    (of the split's graph). Of a fitted estimator the `embedding_` is evaluated.
    """
    scorer = getattr(scorer, "embedding_", scorer)
    if not isinstance(pairs, LabelledPairs):
        instance("pairs", pairs, Split, "split_edges(graph), or LabelledPairs.build(positives, negatives)")
        same_nodes(scorer, pairs.train)
        valid = pairs.valid if valid is None else valid
        known = pairs.graph if known is None else known
        pairs = pairs.test
    labels = np.asarray(pairs.labels)
    if labels.all() or not labels.any():
        raise ValueError(
            f"pairs has {labels.sum()} positives of {labels.size}; an evaluation needs both kinds"
        )
    scores = score_pairs(scorer, pairs.sources, pairs.targets)
    likely = hasattr(scorer, "log_prob")
    threshold, threshold_from = best_threshold(scorer if validated is None else validated, valid)
    positives, negatives = scores[labels], scores[~labels]
    return Evaluation(
        average_precision=metrics.average_precision(scores, labels),
        roc_auc=metrics.roc_auc(scores, labels),
        f1=None if threshold is None else metrics.f1(scores, labels, threshold),
        threshold=float(np.exp(threshold)) if likely and threshold is not None else threshold,
        threshold_from=threshold_from,
        hits={k: metrics.hits_at(k, positives, negatives) for k in HITS},
        mrr=metrics.mean_reciprocal_rank(positives, negatives),
        nll=metrics.nll(scores, labels) if likely else None,
        brier=metrics.brier(scores, labels) if likely else None,
        direction_accuracy=_direction_accuracy(scorer, pairs, positives, known),
        positives=len(positives),
        negatives=len(negatives),
    )


def score_pairs(scorer: Any, sources: Any, targets: Any) -> np.ndarray:
    """Scores of pairs by node number, in blocks: log-probabilities, or what a baseline ranks by."""
    ways = ("log_prob_by_number", "log_prob", "score")  # the first is an embedding's, whose nodes have names
    function = next((getattr(scorer, way) for way in ways if hasattr(scorer, way)), None)
    if function is None:
        raise TypeError(f"{show(scorer)} cannot be evaluated; it needs log_prob(sources, targets)")
    s, t = np.asarray(sources), np.asarray(targets)
    blocks = [function(s[i : i + BLOCK], t[i : i + BLOCK]) for i in range(0, len(s), BLOCK)]
    return np.concatenate([np.zeros(0), *map(np.asarray, blocks)])


def same_nodes(scorer: Any, graph: DiGraph) -> None:
    """An embedding of other nodes would be scored without complaint, and wrongly."""
    points = getattr(scorer, "points", None)
    if points is None:
        return
    mine, theirs = (None if names is None else list(names) for names in (scorer.names, graph.names))
    if len(points) != graph.num_nodes or mine != theirs:
        raise ValueError(
            f"the embedding of {len(points):,} nodes and {graph} have different nodes, or in another order"
        )


def best_threshold(scorer: Any, valid: LabelledPairs | None) -> tuple[float | None, str]:
    """A threshold on the scores, and a word on where it comes from."""
    if (learned := learned_since(scorer, valid)) is not None:
        return learned["threshold"], "best F1 on validation pairs, before they were learned"
    if valid is not None and len(valid.labels):
        scores = score_pairs(scorer, valid.sources, valid.targets)
        return metrics.best_f1_threshold(scores, np.asarray(valid.labels)), "best F1 on validation pairs"
    if hasattr(scorer, "log_prob"):
        return float(np.log(0.5)), "probability 1/2 (no validation pairs)"
    return None, "none (no validation pairs, no probabilities)"


def learned_since(scorer: Any, valid: LabelledPairs | None) -> dict[str, Any] | None:
    """What an embedding that was trained again with its validation pairs remembers of the time before.

    None for any other scorer, and where `valid` are other pairs than those.
    """
    found: dict[str, Any] | None = getattr(scorer, "info", {}).get("refit")
    if found is None or valid is None or found["valid"] == valid.digest:
        return found
    return None


def _direction_accuracy(
    scorer: Any, pairs: LabelledPairs, forward: np.ndarray, known: DiGraph | None
) -> float | None:
    """Over the positives that have a direction: no loops, and the reverse is no known edge."""
    labels = np.asarray(pairs.labels)
    s, t = np.asarray(pairs.sources)[labels], np.asarray(pairs.targets)[labels]
    one_way = (s != t) & ~DiGraph.from_arrays(s, t).has_edges(t, s)
    if known is not None:
        ends = (checked_nodes(nodes, known.num_nodes, "known is too small: pairs") for nodes in (t, s))
        one_way &= ~known.has_edges(*ends)
    if not one_way.any():
        return None
    return metrics.direction_accuracy(forward[one_way], score_pairs(scorer, t[one_way], s[one_way]))
