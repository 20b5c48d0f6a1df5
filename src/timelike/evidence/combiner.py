"""The combiner: one probability from all evidence, learned on edges that none of the evidence has seen."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from timelike._util.checks import positive_number
from timelike.evaluation.metrics import average_precision
from timelike.evidence.tree_tables import TreeTables

#: By convention this share of all edges, known and unknown, is missing from the graph: the probability of a
#: pair that is no known edge has to assume something. `--ratio` replaces it.
MISSING = 0.15

#: Thresholds of a stored `Curve`.
THRESHOLDS = 300


def missing_ratio(nodes: int, edges: int) -> float:
    """Non-edges per missing edge among the pairs that are no known edges, if `MISSING` of all edges are."""
    hidden = edges * MISSING / (1 - MISSING)
    return max((nodes * (nodes - 1) - edges - hidden) / max(hidden, 1e-9), 1e-3)


@dataclasses.dataclass(frozen=True, eq=False)
class Curve:
    """Shares of the held-out edges and of all non-edges whose log-likelihood ratio is ≥ `at`, descending."""

    at: np.ndarray
    edges: np.ndarray
    non_edges: np.ndarray

    @classmethod
    def of(cls, edges: np.ndarray, others: np.ndarray, weights: np.ndarray) -> Curve:
        """The curve of these log-likelihood ratios; non-edges have weights."""
        order = np.argsort(-others)
        total = np.append(0.0, np.cumsum(weights[order])) / weights.sum()
        ranks = np.unique(np.geomspace(1, len(edges), THRESHOLDS).astype(int))
        at = np.sort(edges)[::-1][ranks - 1]
        below = np.searchsorted(-others[order], -at, side="right")
        return cls(at, ranks / len(edges), total[below])

    def precision_at(self, count: int, hidden: float, ratio: float) -> float:
        """The share of edges among the top `count`, if `hidden` edges lie among `ratio` times the non-edges.

        A few non-edges above the best edge are possible: half a non-edge is added to those seen.
        """
        listed = hidden * (self.edges + ratio * self.non_edges)
        edges = np.interp(min(count, listed[-1]), listed, hidden * self.edges, left=np.nan)
        first = hidden * self.edges[0] / listed[0]
        return float(first if np.isnan(edges) else edges / min(count, listed[-1]))

    def best_f1(self, ratio: float) -> float:
        """The log-likelihood ratio from which on pairs count as edges, for the best F1 at this ratio."""
        f1 = 2 * self.edges / (1 + self.edges + ratio * self.non_edges)
        return float(self.at[np.argmax(f1)])


@dataclasses.dataclass(frozen=True, eq=False)
class Combiner:
    """log P/(1 − P) = slope · z + intercept − log(ratio), with z the mean score of the `trees`.

    Every member of `trees` was learned without one part of the held-out edges. `slope` and `intercept` turn
    the scores of these parts into log-likelihood ratios of edges to all non-edges; `ratio` is the number of
    non-edges per edge among the pairs that are asked. `record` says how well the members rank the parts that
    they have not seen.
    """

    names: tuple[str, ...]
    groups: tuple[str, ...]
    trees: tuple[TreeTables, ...]
    slope: float
    intercept: float
    ratio: float
    curve: Curve
    record: Mapping[str, Any]

    def at_ratio(self, ratio: float) -> Combiner:
        """The same for another ratio of non-edges to edges."""
        return dataclasses.replace(self, ratio=positive_number("ratio", ratio))

    def scores(self, features: Sequence[np.ndarray]) -> np.ndarray:
        """The calibrated log-odds of every member, (members, pairs), each for its own features."""
        raw = np.stack([tree.score(x) for tree, x in zip(self.trees, features, strict=True)])
        return self.slope * raw + self.intercept - math.log(self.ratio)

    def log_odds(self, features: np.ndarray) -> np.ndarray:
        """The mean log-odds of the members for the same features."""
        return self.scores([features] * len(self.trees)).mean(axis=0)

    def contributions(self, features: np.ndarray) -> tuple[float, np.ndarray]:
        """The log-odds of an average pair of the training, and what each feature adds, (pairs, features)."""
        base, parts = 0.0, np.zeros(features.shape)
        for tree in self.trees:
            mean, part = tree.contributions(features)
            base, parts = base + mean / len(self.trees), parts + part / len(self.trees)
        return self.slope * base + self.intercept - math.log(self.ratio), self.slope * parts


@dataclasses.dataclass(frozen=True)
class Rows:
    """What the combiner learns from: a row of features per pair.

    kinds       −1 for a held-out edge, otherwise the number of the question whose negative it is
    parts       the part of each row: a member learns from the other parts
    background  random non-edges, with `background_weights` and `background_parts`, for calibration
    watched     more pairs to score without having seen them, with `watched_parts`
    """

    features: np.ndarray
    kinds: np.ndarray
    parts: np.ndarray
    background: np.ndarray
    background_weights: np.ndarray
    background_parts: np.ndarray
    watched: np.ndarray
    watched_parts: np.ndarray


def learn(
    rows: Rows,
    names: Sequence[str],
    groups: Sequence[str],
    shares: Mapping[str, float],
    ratio: float,
    seed: int = 0,
) -> tuple[Combiner, np.ndarray]:
    """Learn a member for every part from the other parts, and calibrate on the part that it has not seen.

    `shares` are the total weights of the negatives of each question, relative to the edges. Also returns the
    scores of the watched pairs, each by the member that has not seen its part.
    """
    labels, weights = rows.kinds < 0, np.ones(len(rows.kinds))
    for kind, share in enumerate(shares.values()):
        chosen = rows.kinds == kind
        weights[chosen] = share * labels.sum() / max(chosen.sum(), 1)
    trees: list[TreeTables] = []
    unseen = [np.zeros(len(table)) for table in (rows.features, rows.background, rows.watched)]
    for part in np.unique(rows.parts):
        seen = rows.parts != part
        tree = TreeTables.learn(rows.features[seen], labels[seen], weights[seen], seed + int(part))
        parts = (rows.parts, rows.background_parts, rows.watched_parts)
        tables = (rows.features, rows.background, rows.watched)
        for scores, own, table in zip(unseen, parts, tables, strict=True):
            scores[own == part] = tree.score(table[own == part])
        trees.append(tree)
    scores, others, watched = unseen
    slope, intercept = _calibrate(scores[labels], others, rows.background_weights, ratio)
    curve = Curve.of(slope * scores[labels] + intercept, slope * others + intercept, rows.background_weights)
    asked = {
        kind: average_precision(scores[labels | (rows.kinds == i)], labels[labels | (rows.kinds == i)])
        for i, kind in enumerate(shares)
        if (rows.kinds == i).any()
    }
    record = {"edges": int(labels.sum()), "questions": asked}
    found = Combiner(
        tuple(names), tuple(groups), tuple(trees), slope, intercept, ratio, curve, record
    )
    return found, watched


def _calibrate(
    edges: np.ndarray, others: np.ndarray, weights: np.ndarray, ratio: float
) -> tuple[float, float]:
    """Slope and intercept of the log-likelihood ratio, by maximum likelihood at this ratio, slope ≥ 0."""
    from scipy.optimize import minimize
    from scipy.special import expit

    z = np.concatenate([edges, others])
    label = np.arange(len(z)) < len(edges)
    weight = np.concatenate([np.ones(len(edges)), weights * ratio * len(edges) / weights.sum()])
    center, scale = edges.mean(), max(float(z.std()), 1e-9)
    design = np.stack([(z - center) / scale, np.ones_like(z)], axis=1)
    offset = -math.log(ratio)

    def loss(ab: np.ndarray) -> tuple[float, np.ndarray]:
        x = design @ ab + offset
        slopes = design.T @ (weight * (expit(x) - label))
        return float(weight @ (np.logaddexp(0, x) - label * x)) / len(edges), slopes / len(edges)

    bounds = [(1e-6, None), (None, None)]
    found = minimize(loss, [scale, 0.0], jac=True, bounds=bounds, method="L-BFGS-B").x
    slope = float(found[0] / scale)
    return slope, float(found[1] - slope * center)
