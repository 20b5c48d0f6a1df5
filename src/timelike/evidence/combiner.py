"""The combiner: one probability from all evidence, learned on edges that none of the evidence has seen."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from timelike._util.checks import positive_number
from timelike._util.hardware import cores
from timelike._util.progress import within_stage
from timelike.evaluation.metrics import average_precision
from timelike.evaluation.questions import QUESTIONS
from timelike.evidence.density import Curve, Scale
from timelike.evidence.likely_pairs import DEGREES, EITHER_END, WALKS
from timelike.evidence.tree_tables import TreeTables

#: Negatives that `LikelyPairs` has drawn.
LIKELY = "likely"

#: How much of the popularity of the ends is taken off a score, to choose from, and the most average precision
#: that this may cost among any two nodes.
TEMPERS, COST = (1.0, 0.75, 0.5, 0.25, 0.0), 0.01

#: The columns whose sum is the logarithm of the product of degrees.
ENDS = ("out-degree of source", "in-degree of target")


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


class Table(NamedTuple):
    """Pairs: a row of features and a part each. The member without this part may judge the pair."""

    features: np.ndarray
    parts: np.ndarray

    def unseen(self, trees: Sequence[TreeTables]) -> np.ndarray:
        """The score of each pair by the member that has not learned from its part."""
        scores = np.zeros(len(self.parts))
        for part, tree in enumerate(trees):
            own = self.parts == part
            scores[own] = tree.score(self.features[own])
        return scores


class Sample(NamedTuple):
    """Held-out edges, and random non-edges with weights that make them stand for all of them."""

    edges: Table
    others: Table
    weights: np.ndarray

    def scale(self, trees: Sequence[TreeTables], ratio: float) -> Scale:
        """What a score means, by the pairs that the members have not seen."""
        return Scale.fit(self.edges.unseen(trees), self.others.unseen(trees), self.weights, ratio)


class Lesson(NamedTuple):
    """What the combiner learns from.

    negatives  pairs that are no known edges: the negatives of each question, and `LIKELY` ones
    sample     what calibrates: evidence from graphs without the held-out edges
    ahead      how to carry the scale over to the whole graph; None: the graphs of `sample` are nearly whole
    """

    negatives: Mapping[str, Table]
    sample: Sample
    ahead: Ahead | None


class Ahead(NamedTuple):
    """The pairs of a `Sample`, with evidence from other graphs.

    thinner    from graphs without as many edges again
    whole      from all known edges, the others only
    steps      how many times the step from `thinner` to `sample` it is from there to the whole graph
    """

    thinner: Sample
    whole: np.ndarray
    steps: float


def learn(
    lesson: Lesson,
    names: Sequence[str],
    groups: Sequence[str],
    shares: Mapping[str, float],
    ratio: float,
    seed: int = 0,
) -> Combiner:
    """Learn a member for every part from the other parts, and calibrate on the part that it has not seen.

    `shares` are the total weights of the kinds of negatives, relative to the edges. With `LIKELY` ones, the
    first guess at the density of edges is that of these pairs, see `_start`. The scale is that of
    `lesson.sample`, carried over to the whole graph.
    """
    edges, asked = lesson.sample.edges, lesson.negatives
    x, parts = (np.concatenate(column) for column in zip(edges, *asked.values(), strict=True))
    each = [shares[kind] * len(edges.parts) / max(len(table.parts), 1) for kind, table in asked.items()]
    weight = np.repeat([1.0, *each], [len(table.parts) for table in (edges, *asked.values())])
    labels = np.arange(len(parts)) < len(edges.parts)
    start, slopes = _start(x, names, shares) if LIKELY in asked else (None, None)

    def without(part: int) -> TreeTables:
        kept = parts != part
        begun = None if start is None else start[kept]
        return TreeTables.learn(x[kept], labels[kept], weight[kept], seed + part, begun, slopes)

    count = int(parts.max()) + 1
    with ThreadPoolExecutor(cores()) as pool:
        trees = list(within_stage(pool.map(without, range(count)), "learning", unit="part", total=count))
    if LIKELY in asked and "uniform" in asked:
        trees = _tempered(trees, edges, asked["uniform"], [*names])
    scores, others = edges.unseen(trees), lesson.sample.others.unseen(trees)
    scale = measured = lesson.sample.scale(trees, ratio)
    weights, ahead = lesson.sample.weights, lesson.ahead
    if ahead is not None:
        thinner = ahead.thinner.scale(trees, ratio), ahead.thinner.others.unseen(trees)
        whole = np.mean([tree.score(ahead.whole) for tree in trees], axis=0)
        scale = measured.carried_over(others, thinner, whole, weights, ahead.steps)
    curve = Curve.of(measured(scores), measured(others), weights, 1 / (1 + ratio))
    reached = {}
    for kind in filter(asked.__contains__, QUESTIONS):
        both = np.concatenate([scores, asked[kind].unseen(trees)])
        reached[kind] = average_precision(both, np.arange(len(both)) < len(scores))
    record = {"edges": len(scores), "questions": reached}
    return Combiner(tuple(names), tuple(groups), tuple(trees), scale, ratio, curve, record)


def _start(x: np.ndarray, names: Sequence[str], shares: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """The log-odds at which boosting starts, and the slopes of the score on top of the trees.

    With p, q and m the densities, relative to uniform pairs, of edges, of `LIKELY` negatives and of those
    with one end of an edge, trees learn to tell p from D = (share of q) · q + (shares of uniform, same_source
    and same_target) · m; reversed pairs are ignored. They start at log(q/D), the guess that p is q, and add
    f; so log p = f + log q. The score is f + log q − λ · log m, see `_tempered`; here λ = 1.
    """
    place = {name: number for number, name in enumerate(names)}
    guess, either = place[WALKS if WALKS in place else DEGREES], place[EITHER_END]
    others = shares["uniform"] + shares["same_source"] + shares["same_target"]
    drawn = np.logaddexp(np.log(shares[LIKELY]) + x[:, guess], np.log(others) + x[:, either])
    slopes = np.zeros(len(names))
    slopes[[guess, either]] = 1.0, -1.0
    return x[:, guess] - drawn, slopes


def _tempered(trees: Sequence[TreeTables], edges: Table, others: Table, names: list[str]) -> list[TreeTables]:
    """The trees with the largest λ for which the edges rank almost as high as they can among any two nodes.

    Probability alone, λ = 0, ranks any two nodes best. Questions about the edges of one source or target
    compare them with as many non-edges, popular or not: across sources and targets, λ = 1 ranks these best.
    `trees` have λ = 1; `others` are uniform non-edges. The edges may not rank below where the product of
    degrees ranks them, unless all λ do.
    """
    both = np.concatenate([edges.features, others.features])
    scores = np.concatenate([edges.unseen(trees), others.unseen(trees)])
    labels = np.arange(len(scores)) < len(edges.parts)
    either = names.index(EITHER_END)
    reached = {share: average_precision(scores + (1 - share) * both[:, either], labels) for share in TEMPERS}
    degrees = average_precision(both[:, [names.index(name) for name in ENDS]].sum(axis=1), labels)
    best = max(reached.values())
    share = next(share for share in TEMPERS if reached[share] >= max(best - COST, min(best, degrees)))
    slopes = trees[0].slopes.copy()
    slopes[either] = -share
    return [dataclasses.replace(tree, slopes=slopes) for tree in trees]
