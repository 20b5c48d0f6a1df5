"""The combiner: one probability from all evidence, learned on edges that none of the evidence has seen."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from timelike._util.checks import positive_number
from timelike.evaluation.metrics import average_precision
from timelike.evidence.density import Curve, Scale
from timelike.evidence.tree_tables import TreeTables


@dataclasses.dataclass(frozen=True, eq=False)
class Combiner:
    """log P/(1 − P) = scale(z) − log(ratio), with z the mean score of the `trees`.

    Every member of `trees` was learned without one part of the held-out edges. `scale` turns scores into
    log-likelihood ratios of edges to all non-edges; `ratio` is the number of non-edges per edge among the
    pairs that are asked. `record` says how well the members rank the parts that they have not seen.
    """

    names: tuple[str, ...]
    groups: tuple[str, ...]
    trees: tuple[TreeTables, ...]
    scale: Scale
    ratio: float
    curve: Curve
    record: Mapping[str, Any]

    def at_ratio(self, ratio: float) -> Combiner:
        """The same for another ratio of non-edges to edges."""
        return dataclasses.replace(self, ratio=positive_number("ratio", ratio))

    def members_log_odds(self, features: Sequence[np.ndarray]) -> np.ndarray:
        """The calibrated log-odds of every member, (members, pairs), each for its own features."""
        raw = np.stack([tree.score(x) for tree, x in zip(self.trees, features, strict=True)])
        return self.scale(raw) - math.log(self.ratio)

    def log_odds(self, features: np.ndarray) -> np.ndarray:
        """The calibrated log-odds of the mean of the members."""
        mean = np.mean([tree.score(features) for tree in self.trees], axis=0)
        return self.scale(mean) - math.log(self.ratio)

    def contributions(self, features: np.ndarray) -> tuple[float, np.ndarray]:
        """The log-odds of an average pair of the training, and what each feature adds, (pairs, features)."""
        base, parts = 0.0, np.zeros(features.shape)
        for tree in self.trees:
            mean, part = tree.contributions(features)
            base, parts = base + mean / len(self.trees), parts + part / len(self.trees)
        start, total = self.scale(np.full(1, base)), parts.sum(axis=1)
        stretch = (self.scale(base + total) - start) / np.where(total == 0, 1, total)
        return float(start[0]) - math.log(self.ratio), stretch[:, None] * parts


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
    scale = Scale.fit(scores[labels], others, rows.background_weights, ratio)
    curve = Curve.of(scale(scores[labels]), scale(others), rows.background_weights, 1 / (1 + ratio))
    asked = {
        kind: average_precision(scores[labels | (rows.kinds == i)], labels[labels | (rows.kinds == i)])
        for i, kind in enumerate(shares)
        if (rows.kinds == i).any()
    }
    record = {"edges": int(labels.sum()), "questions": asked}
    return Combiner(tuple(names), tuple(groups), tuple(trees), scale, ratio, curve, record), watched
