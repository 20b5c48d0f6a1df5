"""Counts of paths between two nodes, the strongest simple scores of a possible edge.

A pattern of arrows says which paths count: ">" follows an edge, "<" goes against one. "><>" is L3, the number
of paths s → z ← w → t: s shares targets with a node that points to t.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from timelike._util.checks import positive_number, show, whole_number
from timelike.graphs.digraph import DiGraph, checked_nodes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: The matrices of each graph, plain and normalised, as long as the graph is used.
_SHARED: WeakKeyDictionary[DiGraph, dict[bool, dict[str, Any]]] = WeakKeyDictionary()

#: Entries of sparse matrices held in memory at once.
ENTRIES = 1 << 23

#: Entries to visit for an evaluation of half as many pairs as there are edges, at most `PAIRS`, a fifth of
#: them edges. Beyond that, long lists of neighbours are sampled.
WORK, PAIRS, EDGE_SHARE = 150_000_000, 100_000, 0.2

#: Sample sizes to try, the largest that keeps to `WORK` first.
SAMPLES = (4096, 1024, 256, 64, 16, 4)


@dataclasses.dataclass(frozen=True, eq=False)
class Paths:
    """The number of paths from s to t that follow a `pattern` of ">" and "<"; nodes may occur repeatedly.

    If `normalised`, an edge a → b counts 1/√(out-degree(a) · in-degree(b)): paths through hubs say little.
    With A the (normalised) adjacency matrix, "><>" is (A Aᵀ A)ₛₜ. It is computed for the given pairs only:
    row s of the first factors times row t of the transposed last ones, cut where that is cheapest. If scoring
    edges like those of the graph still visits more than `work` entries, each node keeps a random `sample` of
    its neighbours, weighted so that the expected count stays the same.
    """

    graph: DiGraph
    pattern: str
    normalised: bool = False
    work: int = WORK

    def __post_init__(self) -> None:
        if not self.pattern or {*self.pattern} - {*"<>"}:
            raise ValueError(f'Paths: pattern is {show(self.pattern)}; it must be of ">" and "<", like "><>"')

    @cached_property
    def _matrices(self) -> dict[str, csr_array]:
        """The adjacency matrix for ">", its transpose for "<"; all patterns over a graph share them."""
        shared = _SHARED.setdefault(self.graph, {})
        if self.normalised not in shared:
            matrix = self.graph.adjacency()
            if self.normalised:
                leaving, entering = matrix.sum(axis=1), matrix.sum(axis=0)
                matrix.data /= np.sqrt(np.repeat(leaving, np.diff(matrix.indptr)) * entering[matrix.indices])
            shared[self.normalised] = {">": matrix, "<": matrix.T.tocsr()}
        return shared[self.normalised]

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The count of each pair."""
        s, t = ends(self.graph, sources, targets)
        scores = np.zeros(len(s))
        if not len(s):
            return scores
        sample, cut = self.sample
        left_steps, right_steps = self._steps
        order = np.lexsort((t, s))
        first, last = (self._visits(half, sample) for half in self._halves(cut))
        visits = first[s] + last[t]
        for pairs in blocks(order, visits):
            left, right = (self._rows(x, y[pairs]) for x, y in ((left_steps, s), (right_steps, t)))
            scores[pairs] = left.multiply(right).sum(axis=1)
        return scores

    @property
    def matrix(self) -> csr_array:
        """The (normalised) adjacency matrix."""
        return self._matrices[">"]

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """The counts of all pairs from these sources, (sources, nodes), without samples."""
        return self._rows([self._matrices[arrow] for arrow in self.pattern], np.asarray(sources)).toarray()

    def sparse_rows(self, sources: np.ndarray) -> csr_array:
        """The counts of all pairs from these sources that have paths, from the samples that `score` uses."""
        left, right = self._steps
        back = [matrix.T.tocsr() for matrix in reversed(right)]
        return self._rows([*left, *back], np.asarray(sources))

    @cached_property
    def sample(self) -> tuple[int | None, int]:
        """The most neighbours of a node that are followed (None: all), and the cut with the least work.

        They depend on the graph alone: scores of different calls can be compared.
        """
        s, t = self.graph.sources, self.graph.targets
        if not len(s):
            return None, 0
        pairs = min(max(len(s) // 2, 1), PAIRS)
        for size in (None, *SAMPLES):
            costs = []
            for cut in range(len(self.pattern) + 1):
                first, last = (self._visits(half, size) for half in self._halves(cut))
                edge, other = first[s].mean() + last[t].mean(), first.mean() + last.mean()
                costs.append(pairs * (EDGE_SHARE * edge + (1 - EDGE_SHARE) * other))
            if min(costs) <= self.work:
                break
        return size, int(np.argmin(costs))

    @property
    def neighbours(self) -> int | None:
        """The most neighbours of a node that are followed; None: all."""
        return self.sample[0]

    @cached_property
    def _steps(self) -> list[list[csr_array]]:
        """The matrices of both halves, each with a sample of its own."""
        (sample, cut), rng = self.sample, np.random.default_rng(0)
        return [
            [_thinned(self._matrices[arrow], sample, rng) for arrow in half] for half in self._halves(cut)
        ]

    def _halves(self, cut: int) -> tuple[str, str]:
        """The steps from the source up to the cut, and those from the target back to it."""
        return self.pattern[:cut], self.pattern[cut:][::-1].translate(str.maketrans("<>", "><"))

    def _rows(self, steps: list[csr_array], nodes: np.ndarray) -> csr_array:
        """One row per node of the product of the steps; a repeated node is computed once."""
        from scipy.sparse import csr_array

        once, place = np.unique(nodes, return_inverse=True)
        shape = (len(once), self.graph.num_nodes)
        rows = csr_array((np.ones(len(once)), once, np.arange(len(once) + 1)), shape)
        for step in steps:
            rows = rows @ step
        return rows[place]

    def _visits(self, steps: str, sample: int | None) -> np.ndarray:
        """For each node, at least the number of entries in its row of the product of the steps."""
        count = self.graph.num_nodes
        visits = np.ones(count)
        for arrow in reversed(steps):
            matrix = self._matrices[arrow]
            degrees = np.diff(matrix.indptr)
            visits = _ones(matrix) @ visits
            if sample is not None:
                visits *= np.minimum(1, sample / np.maximum(degrees, 1))
        return np.minimum(visits, count) + 1


def _ones(matrix: csr_array) -> csr_array:
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(matrix.data)), matrix.indices, matrix.indptr), matrix.shape)


def blocks(order: np.ndarray, visits: np.ndarray) -> Iterator[np.ndarray]:
    """Consecutive parts of the order with at most about `ENTRIES` visits each, at least one pair."""
    used = np.cumsum(visits[order]) // ENTRIES
    cuts = [0, *(np.flatnonzero(np.diff(used)) + 1), len(order)]
    return (order[a:b] for a, b in itertools.pairwise(cuts) if a < b)


def _thinned(matrix: csr_array, sample: int | None, rng: np.random.Generator) -> csr_array:
    """The matrix with at most `sample` random entries per row, scaled so that expected sums are the same."""
    from scipy.sparse import csr_array

    degrees = np.diff(matrix.indptr)
    if sample is None or degrees.max(initial=0) <= sample:
        return matrix
    row = np.repeat(np.arange(len(degrees)), degrees)
    order = np.argsort(row + rng.random(len(row)))  # a random order within each row
    kept = np.sort(order[np.arange(len(row)) - matrix.indptr[row] < sample])
    scale = np.maximum(degrees / sample, 1)[row[kept]]
    starts = np.append(0, np.cumsum(np.minimum(degrees, sample)))
    return csr_array((matrix.data[kept] * scale, matrix.indices[kept], starts), matrix.shape)


@dataclasses.dataclass(frozen=True, eq=False)
class Katz:
    """Σₗ βˡ (Aˡ)ₛₜ over l in `lengths`; (Aˡ)ₛₜ counts the walks s → … → t of length l.

    The sum is truncated, so it is sparse and finite for any β.
    """

    graph: DiGraph
    beta: float = 0.05
    lengths: tuple[int, ...] = (1, 2, 3, 4)

    def __post_init__(self) -> None:
        positive_number("Katz: beta", self.beta)
        for length in self.lengths:
            whole_number("Katz: lengths", length, 1)

    @cached_property
    def _walks(self) -> list[Paths]:
        work = WORK // len(self.lengths)
        return [Paths(self.graph, ">" * length, work=work) for length in self.lengths]

    @property
    def neighbours(self) -> int | None:
        """The most neighbours of a node that walks of every length follow; None: all."""
        return min((n for walks in self._walks if (n := walks.neighbours) is not None), default=None)

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The score of each pair."""
        scores = np.zeros(len(np.asarray(sources)))
        for length, walks in zip(self.lengths, self._walks, strict=True):
            scores += self.beta**length * walks.score(sources, targets)
        return scores


def common_neighbours(graph: DiGraph) -> Paths:
    """The number of nodes z with s → z → t: common neighbours along edge directions."""
    return Paths(graph, ">>")


def l3(graph: DiGraph, normalised: bool = True) -> Paths:
    """L3, the paths s → z ← w → t: s has targets in common with a node that points to t."""
    return Paths(graph, "><>", normalised)


def ends(graph: DiGraph, sources: Any, targets: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of pairs, as node numbers of the graph."""
    n = graph.num_nodes
    return checked_nodes(sources, n, "sources"), checked_nodes(targets, n, "targets")
