"""Evaluate how well a model separates edges from non-edges."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from timelike._util.checks import instance, show
from timelike._util.html_tables import html_table
from timelike.evaluation import metrics
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.splits import Split
from timelike.graphs.digraph import DiGraph, checked_nodes

#: Hits@k is reported for these k, as in the Open Graph Benchmark.
HITS = (20, 50, 100)

#: The columns of `Evaluation.table`, named as in `Evaluation.to_dict`.
COLUMNS = (
    *("average_precision", "roc_auc", "f1", *(f"hits@{k}" for k in HITS)),
    *("mrr", "direction_accuracy"),
)

#: The validation F1 that a model with a boundary of its own may lose by keeping it: the best threshold
#: follows the few sources that validation happens to ask about.
AS_GOOD = 0.01

#: Pairs scored at a time.
BLOCK = 1 << 20


class Scorer(Protocol):
    """Anything that `evaluate` accepts: it returns log-probabilities of edges, by node number.

    A baseline that only ranks has `score` instead, with the same arguments.
    """

    def log_prob(self, sources: np.ndarray, targets: np.ndarray, /) -> np.ndarray:
        """The log-probability of each edge sources[i] → targets[i]."""


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """Metrics on a list of pairs; None where undefined, such as the NLL of a model without probabilities."""

    average_precision: float
    roc_auc: float
    #: F1 when every pair whose probability (a baseline's score) is ≥ `threshold` counts as an edge.
    f1: float | None
    threshold: float | None
    #: How the threshold was chosen.
    threshold_from: str
    #: Hits@k and the mean reciprocal rank ("realistic" ties) of the positives among all negatives.
    hits: dict[int, float]
    mrr: float
    nll: float | None
    brier: float | None
    #: Over the positives whose reverse is not a known edge.
    direction_accuracy: float | None
    positives: int
    negatives: int
    #: The average precision of other questions about the same edges, by kind of negatives.
    questions: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with the names that the command line prints."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        del fields["threshold_from"]
        asked = fields.pop("questions")
        fields |= {"questions": dict(asked)} if asked else {}
        hits = {f"hits@{k}": share for k, share in fields.pop("hits").items()}
        first = {name: fields.pop(name) for name in ("average_precision", "roc_auc", "f1", "threshold")}
        return {**first, **hits, **fields}

    def table(self, baselines: Mapping[str, Evaluation] | None = None) -> str:
        """A plain table: a line for the model, then one for each baseline on the same pairs.

        `baselines` is what `timelike.estimator.evaluate_baselines` returns. "–" stands for an undefined
        score. The last line says what the numbers refer to.
        """
        lines = [["", *COLUMNS]]
        for name, *scores in _rows(self, baselines):
            lines.append([name, *("–" if score is None else f"{score:.4f}" for score in scores)])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = (
            "  ".join([first.ljust(widths[0]), *map(str.rjust, rest, widths[1:])]) for first, *rest in lines
        )
        return "\n".join([*text, self._about])

    @property
    def _about(self) -> str:
        return f"{self.positives:,} edges, {self.negatives:,} negatives; F1 threshold: {self.threshold_from}"

    def _repr_html_(self) -> str:
        return html_table(_rows(self), ["", *COLUMNS], self._about)

    def __str__(self) -> str:
        """`table` without baselines."""
        return self.table()


def _rows(model: Evaluation, baselines: Mapping[str, Evaluation] | None = None) -> Iterator[list[Any]]:
    """A name and the scores in `COLUMNS` for the model and each baseline."""
    for name, one in {"model": model, **(baselines or {})}.items():
        scores = one.to_dict()
        yield [name, *(scores[column] for column in COLUMNS)]


def evaluate(
    scorer: Any,
    pairs: Split | LabelledPairs,
    *,
    valid: LabelledPairs | None = None,
    known: DiGraph | None = None,
    validated: Any = None,
    questions: Mapping[str, LabelledPairs] | None = None,
) -> Evaluation:
    """Score an embedding, estimator, baseline or any `Scorer` on the test pairs of a split or on given pairs.

    The F1 threshold is the best one on the validation pairs: `valid`, by default those of the split. A scorer
    that has since been trained on them cannot choose it. A refitted embedding remembers its threshold; for
    any other scorer, pass the earlier one as `validated`. Without validation pairs the threshold is
    probability ½; a baseline without probabilities then gets none. Direction accuracy counts the edges whose
    reverse is not in `known`, by default the split's whole graph. `questions` are more pairs to rank, as
    `question_pairs` draws them.
    """
    scorer = getattr(scorer, "answers_", scorer)
    if not isinstance(pairs, LabelledPairs):
        instance("pairs", pairs, Split, "split_edges(graph), or LabelledPairs.build(positives, negatives)")
        same_nodes(scorer, pairs.train)
        valid = pairs.valid if valid is None else valid
        known = pairs.graph if known is None else known
        pairs = pairs.test
    labels = np.asarray(pairs.labels)
    if labels.all() or not labels.any():
        raise ValueError(f"pairs has {labels.sum()} positives of {labels.size}; pass positives and negatives")
    if hasattr(scorer, "at_ratio"):  # probabilities for as many non-edges per edge as these pairs have
        scorer = scorer.at_ratio(float(np.sum(~labels) / np.sum(labels)))
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
        questions={kind: _ranked(scorer, asked) for kind, asked in (questions or {}).items()},
    )


def _ranked(scorer: Any, pairs: LabelledPairs) -> float:
    """The average precision on some pairs."""
    return metrics.average_precision(score_pairs(scorer, *pairs[:2]), np.asarray(pairs.labels))


def score_pairs(scorer: Any, sources: Any, targets: Any) -> np.ndarray:
    """The scores of pairs by node number, in blocks: log-probabilities, or a baseline's scores."""
    methods = ("log_prob_by_number", "log_prob", "score")  # an embedding's own `log_prob` takes names
    function = next((getattr(scorer, name) for name in methods if hasattr(scorer, name)), None)
    if function is None:
        raise TypeError(f"scorer is {show(scorer)}; it needs log_prob(sources, targets) or score")
    s, t = np.asarray(sources), np.asarray(targets)
    blocks = [function(s[i : i + BLOCK], t[i : i + BLOCK]) for i in range(0, len(s), BLOCK)]
    return np.concatenate([np.zeros(0), *map(np.asarray, blocks)])


def same_nodes(scorer: Any, graph: DiGraph) -> None:
    """Raise an error if an embedding has other nodes than the graph: its scores would be silently wrong."""
    points = getattr(scorer, "points", None)
    if points is None:
        return
    embedded, known = (None if names is None else list(names) for names in (scorer.names, graph.names))
    if len(points) != graph.num_nodes or embedded != known:
        raise ValueError(
            f"the embedding's {len(points):,} nodes are not those of {graph} in this order; use its graph"
        )


def best_threshold(scorer: Any, valid: LabelledPairs | None) -> tuple[float | None, str]:
    """A threshold on the scores, and how it was chosen."""
    if hasattr(scorer, "best_threshold"):
        return scorer.best_threshold(), "best F1 on held-out edges, among all non-edges"
    if (learned := learned_since(scorer, valid)) is not None:
        return learned["threshold"], "best F1 on validation pairs, before they were learned"
    if valid is not None and len(valid.labels):
        scores, labels = score_pairs(scorer, valid.sources, valid.targets), np.asarray(valid.labels)
        best = metrics.best_f1_threshold(scores, labels)
        boundary: float | None = getattr(scorer, "boundary", None)
        if boundary is not None:
            lost = metrics.f1(scores, labels, best) - metrics.f1(scores, labels, boundary)
            if lost <= AS_GOOD:
                return boundary, f"the light cone itself, {lost:.4f} below the best F1 on validation pairs"
        return best, "best F1 on validation pairs"
    if hasattr(scorer, "log_prob"):
        return float(np.log(0.5)), "probability 1/2 (no validation pairs)"
    return None, "none (no validation pairs, no probabilities)"


def learned_since(scorer: Any, valid: LabelledPairs | None) -> dict[str, Any] | None:
    """The record that an embedding refitted on its validation pairs keeps of its state before the refit.

    None for any other scorer, and if `valid` are other pairs.
    """
    refit: dict[str, Any] | None = getattr(scorer, "info", {}).get("refit")
    return None if refit is None or (valid is not None and refit["valid"] != valid.digest) else refit


def _direction_accuracy(
    scorer: Any, pairs: LabelledPairs, forward: np.ndarray, known: DiGraph | None
) -> float | None:
    """Over the positives that have a direction: no loops, and the reverse is not a known edge."""
    labels = np.asarray(pairs.labels)
    s, t = np.asarray(pairs.sources)[labels], np.asarray(pairs.targets)[labels]
    one_way = (s != t) & ~DiGraph.from_arrays(s, t).has_edges(t, s)
    if known is not None:
        ends = (checked_nodes(nodes, known.num_nodes, "known has too few nodes: pairs") for nodes in (t, s))
        one_way &= ~known.has_edges(*ends)
    if not one_way.any():
        return None
    return metrics.direction_accuracy(forward[one_way], score_pairs(scorer, t[one_way], s[one_way]))
