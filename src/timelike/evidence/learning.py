"""Cross-fitting: the rows from which the combiner learns, made without a look at the edges themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import jax
import numpy as np

from timelike.embedding.embedding import Embedding
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.metrics import average_precision
from timelike.evaluation.negative_kinds import draw_negatives, suitable_negatives
from timelike.evaluation.questions import draw_questions
from timelike.evidence.combiner import LIKELY, Ahead, Combiner, Lesson, Sample, Table, learn
from timelike.evidence.density import missing_ratio
from timelike.evidence.geometry_term import Geometry
from timelike.evidence.likely_pairs import LikelyPairs
from timelike.evidence.pair_columns import Evidence, Prepared
from timelike.evidence.structure import Structure
from timelike.evidence.whole_nodes import as_often_whole
from timelike.graphs.digraph import DiGraph

#: Folds of a small graph; members of the combiner.
PARTS = 5

#: The most held-out edges to learn from, random non-edges to calibrate with, and pairs to watch.
POSITIVES, BACKGROUND, WATCHED = 20_000, 60_000, 100_000

#: With more edges, the scale of the folds is taken for that of the whole graph: counting takes long.
CARRIED = 100_000

#: Weights of the negatives relative to the edges: those drawn as likely ones, the most of these per edge, and
#: those of the four questions. Without evidence from outside.
SHARES = {LIKELY: 3.0, "uniform": 1.0, "same_source": 0.5, "same_target": 0.5, "reversed": 2.0}
MOST_LIKELY = 6

#: The weights with evidence from outside. If few nodes are sources (or targets), negatives of the suitable
#: kind join the others.
OUTSIDE = {"uniform": 2.0, "same_source": 1.0, "same_target": 1.0, "reversed": 1.0}
UNIFORM, SUITABLE = 1.0, 2.0

#: Negatives of the suitable kind per edge.
RATIO = 4

#: With fewer edges there is too little to learn from.
FEWEST = 60


@dataclasses.dataclass(frozen=True, eq=False)
class Fold:
    """A graph without some edges, an embedding of it, and these edges, (n, 2); `whole` as in `Part`."""

    graph: DiGraph
    geometry: Embedding
    held_out: np.ndarray
    whole: tuple[np.ndarray, np.ndarray] | None = None


def combine(
    folds: Iterable[Fold],
    known: DiGraph,
    evidence: Sequence[Evidence],
    final: Embedding,
    watched: LabelledPairs | None = None,
    seed: int = 0,
) -> Combiner:
    """Learn the combiner of geometry and evidence on the held-out edges of the folds.

    It is meant for the geometry `final` and the evidence of all `known` edges. A single fold is dealt into
    `PARTS` parts. No known edge is drawn as a negative. The record of the combiner has the average precision
    on at most `WATCHED` of the `watched` pairs, each scored by a member that has not seen it.
    """
    rng, folds = np.random.default_rng([seed, 8]), list(folds)
    rest = None if watched is None else _Watched(watched.sample(WATCHED))
    carried = known.num_edges <= CARRIED
    whole = [Geometry(final), *(one.prepare(known) for one in evidence)] if carried else []
    negatives: list[dict[str, Table]] = []
    samples: list[Sample] = []
    ahead: list[tuple[Sample, np.ndarray]] = []
    asked: list[Table] = []
    columns: list[Prepared] = []
    outside = any(not isinstance(getattr(one, "evidence", one), Structure) for one in evidence)
    suitable = suitable_negatives(known) if outside else "uniform"
    shares, guess = OUTSIDE if outside else SHARES, LikelyPairs.affordable(known).name
    shares = shares if suitable == "uniform" else {**shares, "uniform": UNIFORM, suitable: SUITABLE}
    for number, fold in enumerate(folds):
        columns = [Geometry(fold.geometry), *(one.prepare(fold.graph) for one in evidence)]

        def deal(pairs: np.ndarray, number: int = number) -> np.ndarray:
            return np.full(len(pairs), number) if len(folds) > 1 else rng.integers(0, PARTS, len(pairs))

        edges = _some(fold.held_out, POSITIVES // len(folds), rng)
        drawn, _ = draw_questions(known, edges, seed + 1000 * number)
        if suitable != "uniform":
            drawn[suitable] = draw_negatives(suitable, known, edges, RATIO, [seed + 1000 * number, 4])
        if fold.whole is not None:
            drawn = as_often_whole(drawn, edges, fold.whole, known, rng)
        others, weights = _background(known, fold.graph, guess, BACKGROUND // len(folds), rng)
        parts, other_parts = deal(edges), deal(others)
        more, more_parts = edges[:0], parts[:0]
        if rest is not None:
            more, more_parts = rest.take(edges, parts, number, len(folds))

        own, random, watching, *each = _features(columns, edges, others, more, *drawn.values())
        negatives.append({kind: Table(x, deal(x)) for (kind, _), x in zip(drawn.items(), each, strict=True)})
        samples.append(Sample(Table(own, parts), Table(random, other_parts), weights))
        if not outside:
            first = slice(MOST_LIKELY * len(edges))
            negatives[-1][LIKELY] = Table(*(column[first] for column in samples[-1].others))
        asked.append(Table(watching, more_parts))
        if carried:
            fewer = [columns[0], *(one.prepare(thinned(fold, rng)) for one in evidence)]
            own, random = _features(fewer, edges, others)
            thinner = Sample(Table(own, parts), Table(random, other_parts), weights)
            ahead.append((thinner, _features(whole, others)[0]))
    step = None
    if carried:
        sparser, rows = _concatenated(ahead)
        step = Ahead(sparser, rows, float(np.median([steps_ahead(fold, known) for fold in folds])))
    kinds = [kind for kind in shares if all(kind in one for one in negatives)]
    lesson = Lesson(
        {kind: _concatenated([drawn[kind] for drawn in negatives]) for kind in kinds},
        _concatenated(samples),
        step,
    )
    names, groups = ([text for one in columns for text in getattr(one, x)] for x in ("names", "groups"))
    found = learn(lesson, names, groups, shares, missing_ratio(known.num_nodes, known.num_edges), seed)
    if rest is None or not 0 < rest.labels.sum() < len(rest.labels):
        return found
    reached = average_precision(_concatenated(asked).unseen(found.trees), rest.labels)
    return dataclasses.replace(found, record={**found.record, "valid_ap": reached, "folds": len(folds)})


def thinned(fold: Fold, rng: np.random.Generator) -> DiGraph:
    """The graph of a fold without as many more edges as it holds out, at most half of them."""
    edges = fold.graph.num_edges
    count = min(len(fold.held_out), edges // 2)
    return fold.graph.subgraph(np.delete(np.arange(edges), rng.choice(edges, count, replace=False)))


def steps_ahead(fold: Fold, known: DiGraph) -> float:
    """How many times the step from a thinned fold to the fold it is from there to all known edges.

    Steps are ratios of numbers of edges.
    """
    edges = fold.graph.num_edges
    thin = edges - min(len(fold.held_out), edges // 2)
    return float(np.log(known.num_edges / edges) / np.log(edges / thin))


def _concatenated(parts: Sequence[Any]) -> Any:
    """The parts, trees of arrays of the same form, one after the other."""
    return jax.tree.map(lambda *arrays: np.concatenate(arrays), *parts)


def _features(columns: Sequence[Prepared], *lists: np.ndarray) -> list[np.ndarray]:
    """The features of several lists of pairs: counting for all of them at once takes least time."""
    pairs = np.concatenate(lists)
    rows = np.hstack([one.features(*pairs.T) for one in columns])
    return np.split(rows, np.cumsum([len(one) for one in lists])[:-1])


class _Watched:
    """Watched pairs, dealt to the parts in which their edges are held out."""

    def __init__(self, pairs: LabelledPairs):
        self._pairs = np.stack([np.asarray(pairs.sources), np.asarray(pairs.targets)], axis=1)
        self._labels, self._left = np.asarray(pairs.labels), np.ones(len(pairs.labels), bool)
        self.labels = np.zeros(0, bool)

    def take(
        self, edges: np.ndarray, parts: np.ndarray, fold: int, folds: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The pairs to score with this fold, and their parts: its edges, and a share of the non-edges."""
        count = int(max(self._pairs.max(initial=0), edges.max(initial=0))) + 1
        part_of = dict(zip((edges[:, 0].astype(np.int64) * count + edges[:, 1]).tolist(), parts, strict=True))
        keys = (self._pairs[:, 0].astype(np.int64) * count + self._pairs[:, 1]).tolist()
        found = np.array([part_of.get(key, -1) for key in keys], int)
        dealt = np.arange(len(keys))
        if folds > 1:
            found = np.where(~self._labels & (dealt % folds == fold), fold, found)
        else:
            found = np.where(found < 0, dealt % PARTS, found)
        taken = self._left & (found >= 0)
        self._left &= ~taken
        self.labels = np.append(self.labels, self._labels[taken])
        return self._pairs[taken], found[taken]


def _some(edges: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return edges if len(edges) <= most else edges[np.sort(rng.choice(len(edges), most, replace=False))]


def _background(
    known: DiGraph, graph: DiGraph, name: str, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Random non-edges, likely in a graph, and weights that make them stand for all of them."""
    likely = LikelyPairs(graph, name)
    pairs = likely.draw(count, rng)
    pairs = pairs[(pairs[:, 0] != pairs[:, 1]) & ~known.has_edges(*pairs.T)]
    weights = np.exp(-likely.score(*pairs.T))
    return pairs, weights / weights.sum()
