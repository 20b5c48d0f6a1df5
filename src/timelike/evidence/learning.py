"""Cross-fitting: the rows from which the combiner learns, made without a look at the edges themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

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
    folds, rest = list(folds), None if watched is None else _Watched(watched.sample(WATCHED))
    drawing = _Drawing.of(known, evidence)
    teacher = _Teacher(known, evidence, final, drawing, len(folds), rest, seed)
    taught = [teacher.of_fold(number, fold) for number, fold in enumerate(folds)]
    step = None
    if teacher.whole:
        sparser, others = _concatenated([one.ahead for one in taught])
        step = Ahead(sparser, others, float(np.median([steps_ahead(fold, known) for fold in folds])))
    kinds = [kind for kind in drawing.shares if all(kind in one.negatives for one in taught)]
    lesson = Lesson(
        {kind: _concatenated([one.negatives[kind] for one in taught]) for kind in kinds},
        _concatenated([one.sample for one in taught]),
        step,
    )
    ratio = missing_ratio(known.num_nodes, known.num_edges)
    found = learn(lesson, *taught[-1].described, drawing.shares, ratio, seed)
    if rest is None or not 0 < rest.labels.sum() < len(rest.labels):
        return found
    scores = _concatenated([one.watched for one in taught]).unseen(found.trees)
    reached = average_precision(scores, rest.labels)
    return dataclasses.replace(found, record={**found.record, "valid_ap": reached, "folds": len(folds)})


class _Drawing(NamedTuple):
    """What is drawn as negatives: weights by kind, the kind that suits the graph, and the guess at edges.

    Likely pairs, by this guess, are negatives only without evidence from `outside`.
    """

    shares: Mapping[str, float]
    suitable: str
    guess: str
    outside: bool

    @classmethod
    def of(cls, known: DiGraph, evidence: Sequence[Evidence]) -> _Drawing:
        """What suits this graph and this evidence."""
        outside = any(not isinstance(getattr(one, "evidence", one), Structure) for one in evidence)
        suitable = suitable_negatives(known) if outside else "uniform"
        shares = OUTSIDE if outside else SHARES
        if suitable != "uniform":
            shares = {**shares, "uniform": UNIFORM, suitable: SUITABLE}
        return cls(shares, suitable, LikelyPairs.affordable(known).name, outside)


class _Taught(NamedTuple):
    """What one fold teaches: parts of a `Lesson`, watched pairs, and the names and groups of the numbers."""

    negatives: dict[str, Table]
    sample: Sample
    ahead: tuple[Sample, np.ndarray] | None
    watched: Table
    described: tuple[list[str], list[str]]


class _Teacher:
    """Draws pairs for one fold after another and describes them by evidence that has not seen its edges."""

    def __init__(
        self,
        known: DiGraph,
        evidence: Sequence[Evidence],
        final: Embedding,
        drawing: _Drawing,
        folds: int,
        rest: _Watched | None,
        seed: int,
    ):
        self.known, self.evidence, self.drawing, self.folds = known, evidence, drawing, folds
        self.rest, self.seed, self.rng = rest, seed, np.random.default_rng([seed, 8])
        self.whole = [Geometry(final), *self._prepared(known)] if known.num_edges <= CARRIED else []

    def of_fold(self, number: int, fold: Fold) -> _Taught:
        """What a fold teaches; a single fold is dealt into `PARTS` parts."""
        columns = [Geometry(fold.geometry), *self._prepared(fold.graph)]
        edges = _some(fold.held_out, POSITIVES // self.folds, self.rng)
        drawn = self._negatives(number, fold, edges)
        others, weights = _background(
            self.known, fold.graph, self.drawing.guess, BACKGROUND // self.folds, self.rng
        )
        parts, other_parts = self._deal(edges, number), self._deal(others, number)
        more, more_parts = edges[:0], parts[:0]
        if self.rest is not None:
            more, more_parts = self.rest.take(edges, parts, number, self.folds)

        own, random, watching, *each = _features(columns, edges, others, more, *drawn.values())
        sample = Sample(Table(own, parts), Table(random, other_parts), weights)
        negatives = {kind: Table(x, self._deal(x, number)) for kind, x in zip(drawn, each, strict=True)}
        if not self.drawing.outside:
            first = slice(MOST_LIKELY * len(edges))
            negatives[LIKELY] = Table(*(column[first] for column in sample.others))
        ahead = None
        if self.whole:
            fewer = [columns[0], *self._prepared(thinned(fold, self.rng))]
            own, random = _features(fewer, edges, others)
            thinner = Sample(Table(own, parts), Table(random, other_parts), weights)
            ahead = thinner, _features(self.whole, others)[0]
        names, groups = ([text for one in columns for text in getattr(one, x)] for x in ("names", "groups"))
        return _Taught(negatives, sample, ahead, Table(watching, more_parts), (names, groups))

    def _negatives(self, number: int, fold: Fold, edges: np.ndarray) -> dict[str, np.ndarray]:
        """The negatives of the questions about a fold's edges, and suitable ones; no known edge is one."""
        drawn, _ = draw_questions(self.known, edges, self.seed + 1000 * number)
        if (kind := self.drawing.suitable) != "uniform":
            drawn[kind] = draw_negatives(kind, self.known, edges, RATIO, [self.seed + 1000 * number, 4])
        if fold.whole is not None:
            drawn = as_often_whole(drawn, edges, fold.whole, self.known, self.rng)
        return drawn

    def _prepared(self, graph: DiGraph) -> list[Prepared]:
        return [one.prepare(graph) for one in self.evidence]

    def _deal(self, pairs: np.ndarray, number: int) -> np.ndarray:
        count = len(pairs)
        return np.full(count, number) if self.folds > 1 else self.rng.integers(0, PARTS, count)


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
