"""Simple baselines that need no training: a model is worth what it adds to these.

They see the training graph only. `evaluate` scores them like any model; `path_counts` has those that count
paths.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike._util.checks import whole_number
from timelike.evaluation.path_counts import Paths, blocks, ends
from timelike.graphs.digraph import DiGraph

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Passes over the graph for its singular vectors, after the first.
PASSES = 4

#: Graphs with more edges are decomposed in single precision, in half the time.
SINGLE = 1_000_000


@dataclasses.dataclass(frozen=True, eq=False)
class DegreeProduct:
    """(out-degree(s) + 1) · (in-degree(t) + 1): hubs link to hubs.

    Without the 1, a node whose only edge is held out would always score 0, and the baseline would be easy to
    beat.
    """

    graph: DiGraph

    @cached_property
    def _degrees(self) -> tuple[np.ndarray, np.ndarray]:
        leaving, entering = (
            np.bincount(ends, minlength=self.graph.num_nodes) + 1.0
            for ends in (self.graph.sources, self.graph.targets)
        )
        return leaving, entering

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The score of each pair."""
        leaving, entering = self._degrees
        s, t = ends(self.graph, sources, targets)
        return leaving[s] * entering[t]


@dataclasses.dataclass(frozen=True, eq=False)
class TimesOutDegree:
    """Another score times (out-degree(s) + 1): a source with many targets has more to come."""

    graph: DiGraph
    scorer: Any

    @property
    def neighbours(self) -> int | None:
        """The most neighbours of a node that the other score follows; None: all."""
        return getattr(self.scorer, "neighbours", None)

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The score of each pair."""
        leaving = np.bincount(self.graph.sources, minlength=self.graph.num_nodes) + 1.0
        return leaving[ends(self.graph, sources, targets)[0]] * self.scorer.score(sources, targets)


class Remembered:
    """A scorer that keeps its scores of the last few lists of pairs, for others that use the same scores."""

    #: Lists of pairs to keep: those of validation, of the test, and the test edges turned round.
    KEPT = 4

    def __init__(self, scorer: Any) -> None:
        self.scorer = scorer
        self._known: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    @property
    def neighbours(self) -> int | None:
        """The most neighbours of a node that the scorer follows; None: all."""
        return getattr(self.scorer, "neighbours", None)

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The score of each pair, read-only."""
        for s, t, scores in self._known:
            if np.array_equal(s, sources) and np.array_equal(t, targets):
                return scores
        scores = self.scorer.score(sources, targets)
        scores.flags.writeable = False
        self._known = [*self._known, (np.array(sources), np.array(targets), scores)][-self.KEPT :]
        return scores


def reciprocity(graph: DiGraph) -> Paths:
    """1 if the reverse t → s is an edge, else 0."""
    return Paths(graph, "<")


@dataclasses.dataclass(frozen=True, eq=False)
class Reachability:
    """1/(length of the shortest path s → … → t), or 0 without a path: the perfect answer for a hierarchy.

    All descendants of the sources, or all ancestors of the targets, are followed, whichever are fewer.
    """

    graph: DiGraph

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The score of each pair."""
        s, t = ends(self.graph, sources, targets)
        visits, forward = self.visits(s, t)
        start, end = (s, t) if forward else (t, s)
        scores = np.zeros(len(s))
        for pairs in blocks(np.argsort(start, kind="stable"), visits[start]):
            scores[pairs] = self._lengths(start[pairs], end[pairs], forward)
        return scores

    def visits(self, sources: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, bool]:
        """An upper bound on the nodes reached from each node, and whether to start at the sources."""
        ahead = self.graph.adjacency()
        back = ahead.T.tocsr()
        reached = [_walks(ahead, back), _walks(back, ahead)]
        forward = bool(reached[0][sources].sum() <= reached[1][targets].sum())
        return reached[0 if forward else 1], forward

    def _lengths(self, start: np.ndarray, end: np.ndarray, forward: bool) -> np.ndarray:
        """1/length of the shortest path for a block of pairs, level by level."""
        from scipy.sparse import csr_array

        matrix = self.graph.adjacency()
        step = matrix if forward else matrix.T.tocsr()
        once, row = np.unique(start, return_inverse=True)
        shape = (len(once), self.graph.num_nodes)
        level = seen = csr_array((np.ones(len(once)), once, np.arange(len(once) + 1)), shape)
        scores, length = np.zeros(len(start)), 0
        while level.nnz:
            length += 1
            level = level @ step
            level.data[:] = 1
            level = level - level.multiply(seen)
            level.eliminate_zeros()
            seen = seen + level
            found = (np.asarray(level[row, end]).ravel() > 0) & (start != end)
            scores[found] = 1 / length
        return scores


def _walks(step: csr_array, back: csr_array) -> np.ndarray:
    """The number of walks from each node, at most the number of nodes, which holds on and before a cycle.

    A node is counted once all nodes that it points to are: the time grows with the edges, not with the length
    of the longest path.
    """
    count = step.shape[0]
    total, waiting, degrees = np.ones(count), np.diff(step.indptr), np.diff(back.indptr)
    ready = np.flatnonzero(waiting == 0)
    while len(ready):
        many = degrees[ready]
        ends = np.cumsum(many)
        parents = back.indices[np.arange(many.sum()) + np.repeat(back.indptr[ready] - ends + many, many)]
        np.add.at(total, parents, np.repeat(total[ready], many))
        total[parents] = np.minimum(total[parents], count)
        np.subtract.at(waiting, parents, 1)
        ready = np.unique(parents[waiting[parents] == 0])
    total[waiting > 0] = count
    return total


@dataclasses.dataclass(frozen=True, eq=False)
class Svd:
    """(U Σ Vᵀ)ₛₜ of the adjacency matrix with its `rank` largest singular values: two vectors a node.

    If `normalised`, an edge a → b has the entry 1/√(out-degree(a) · in-degree(b)) instead of 1. A part of a
    `whole` decomposition needs none of its own.
    """

    graph: DiGraph
    rank: int = 16
    normalised: bool = True
    whole: Svd | None = None

    def __post_init__(self) -> None:
        whole_number("Svd: rank", self.rank, 1)

    @cached_property
    def vectors(self) -> tuple[np.ndarray, np.ndarray]:
        """U Σ and V: the vectors of each node as a source and as a target."""
        from sklearn.utils.extmath import randomized_svd

        if self.whole is not None:
            left, right = self.whole.vectors
            return left[:, : self.rank], right[:, : self.rank]
        matrix = Paths(self.graph, ">", self.normalised).matrix
        matrix = matrix.astype(np.float32) if self.graph.num_edges > SINGLE else matrix
        rank = min(self.rank, self.graph.num_nodes)
        left, values, right = randomized_svd(matrix, rank, n_iter=PASSES, random_state=0)
        return left * values, right.T

    def cut(self, rank: int) -> Svd:
        """The same with fewer singular values, without another decomposition."""
        return dataclasses.replace(self, rank=rank, whole=self)

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The score of each pair."""
        left, right = self.vectors
        s, t = ends(self.graph, sources, targets)
        return np.einsum("ij,ij->i", left[s], right[t])
