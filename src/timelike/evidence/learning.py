"""Cross-fitting: the rows from which the combiner learns, made without a look at the edges themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from timelike.embedding.embedding import Embedding
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.metrics import average_precision
from timelike.evaluation.questions import QUESTIONS, draw_questions
from timelike.evidence.combiner import Combiner, Rows, learn
from timelike.evidence.density import missing_ratio
from timelike.evidence.geometry_term import Geometry
from timelike.evidence.pair_columns import Evidence, Prepared
from timelike.graphs.digraph import DiGraph

#: Folds of a small graph; members of the combiner.
PARTS = 5

#: The most held-out edges to learn from, and random non-edges to calibrate with.
POSITIVES, BACKGROUND = 20_000, 60_000

#: Weights of the negatives of the four questions, relative to the edges.
SHARES = {"uniform": 2.0, "same_source": 1.0, "same_target": 1.0, "reversed": 1.0}

#: With fewer edges there is too little to learn from.
FEWEST = 60


@dataclasses.dataclass(frozen=True, eq=False)
class Fold:
    """A graph without some edges, an embedding of it, and these edges, (n, 2)."""

    graph: DiGraph
    geometry: Embedding
    held_out: np.ndarray


def split_into_folds(graph: DiGraph, parts: int, seed: int) -> list[tuple[DiGraph, np.ndarray]]:
    """Graphs without one fold of the edges each, of equal sizes, and these edges."""
    order = np.random.default_rng([seed, 7]).permutation(graph.num_edges)
    size = graph.num_edges // parts
    found = []
    for part in range(parts):
        held = np.zeros(graph.num_edges, bool)
        held[order[part * size : (part + 1) * size]] = True
        found.append((graph.subgraph(~held), graph.pairs[held]))
    return found


def combine(
    folds: Iterable[Fold],
    known: DiGraph,
    evidence: Sequence[Evidence],
    watched: LabelledPairs | None = None,
    seed: int = 0,
) -> Combiner:
    """Learn the combiner of geometry and evidence on the held-out edges of the folds.

    A single fold is dealt into `PARTS` parts. `known` has all known edges: none is drawn as a negative. The
    record of the combiner has the average precision on the `watched` pairs, each scored by a member that has
    not seen it.
    """
    rng, folds = np.random.default_rng([seed, 8]), list(folds)
    taken: list[tuple[np.ndarray, ...]] = []
    columns: list[Prepared] = []
    rest = None if watched is None else _Watched(watched)
    for number, fold in enumerate(folds):
        columns = [Geometry(fold.geometry), *(one.prepare(fold.graph) for one in evidence)]
        edges = _some(fold.held_out, POSITIVES // len(folds), rng)
        drawn, _ = draw_questions(known, edges, seed + 1000 * number)
        kinds = [np.full(len(edges), -1)]
        kinds += [np.full(len(rows), [*QUESTIONS].index(kind)) for kind, rows in drawn.items()]
        pairs = np.concatenate([edges, *drawn.values()])
        others, weights = _background(known, fold.graph, BACKGROUND // len(folds), rng)
        parts, other_parts = (
            np.full(len(rows), number) if len(folds) > 1 else rng.integers(0, PARTS, len(rows))
            for rows in (pairs, others)
        )
        more, more_parts = np.zeros((0, 2), np.int32), np.zeros(0, int)
        if rest is not None:
            more, more_parts = rest.take(edges, parts[: len(edges)], number, len(folds))
        tables = [_features(columns, rows) for rows in (pairs, others, more)]
        taken.append(
            (tables[0], np.concatenate(kinds), parts, tables[1], weights, other_parts, tables[2], more_parts)
        )
    rows = Rows(*(np.concatenate(column) for column in zip(*taken, strict=True)))
    names, groups = ([text for one in columns for text in getattr(one, x)] for x in ("names", "groups"))
    ratio = missing_ratio(known.num_nodes, known.num_edges)
    found, scores = learn(rows, names, groups, SHARES, ratio, seed)
    if rest is None or not 0 < rest.labels.sum() < len(rest.labels):
        return found
    reached = average_precision(scores, rest.labels)
    return dataclasses.replace(found, record={**found.record, "valid_ap": reached})


def _features(columns: Sequence[Prepared], pairs: np.ndarray) -> np.ndarray:
    return np.hstack([one.features(*pairs.T) for one in columns])


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
    known: DiGraph, graph: DiGraph, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Random non-edges and weights that make them stand for all of them.

    Half are uniform; half have ends drawn by degree, since the pairs that rank high lie between hubs.
    """
    n = graph.num_nodes
    ends, likely = [], []
    for nodes in (graph.sources, graph.targets):
        chance = np.bincount(nodes, minlength=n) + 0.1
        likely.append(chance / chance.sum())
        popular = rng.choice(n, count, p=likely[-1])
        ends.append(popular)
    uniform = rng.random(count) < 0.5
    s, t = (np.where(uniform, rng.integers(0, n, count), end) for end in ends)
    kept = (s != t) & ~known.has_edges(s, t)
    s, t = s[kept], t[kept]
    density = 0.5 / n**2 + 0.5 * likely[0][s] * likely[1][t]
    weights = 1 / density
    return np.stack([s, t], axis=1), weights / weights.sum()
