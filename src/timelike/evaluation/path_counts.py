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

#: Entries of sparse matrices, and of rows with all nodes, held in memory at once.
ENTRIES, SPREAD = 1 << 21, 1 << 23

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
    row s of the first factors times row t of the transposed last ones. One of the two is computed once for
    all pairs of its node, the other is listed for every pair; the cheapest cut and order are taken. If
    scoring edges like those of the graph still visits more than `work` entries, each node keeps a random
    `sample` of its neighbours, weighted so that the expected count stays the same.
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
        size, cut, from_source = self.sample
        halves, steps, pairs = self._halves(cut), self._steps, (s, t)
        if not from_source:
            halves, steps, pairs = halves[::-1], steps[::-1], (t, s)
        once, listed = (self._visits(half, size) for half in halves)
        order = np.argsort(pairs[0], kind="stable")
        spread = np.zeros((max(1, SPREAD // self.graph.num_nodes), self.graph.num_nodes))
        visits = np.empty(len(order))
        first = np.append(True, np.diff(pairs[0][order]) != 0)
        visits[order] = np.where(first, once[pairs[0][order]], 0)
        visits += listed[pairs[1]]
        for some in blocks(order, visits):
            scores[some] = self._products(steps, pairs[0][some], pairs[1][some], spread)
        return scores

    def _products(
        self, steps: list[list[csr_array]], nodes: np.ndarray, others: np.ndarray, spread: np.ndarray
    ) -> np.ndarray:
        """Row nodes[i] of the first steps times row others[i] of the second, for all i; `nodes` are sorted.

        A few rows of the first at a time are written into `spread`, which is 0 before and after.
        """
        once, place = np.unique(nodes, return_inverse=True)
        rows = self._rows(steps[0], once)
        if len(steps[1]) == 1:
            listed, row = steps[1][0], others
        else:
            row_nodes, row = np.unique(others, return_inverse=True)
            listed = self._rows(steps[1], row_nodes)
        found = []
        for start in range(0, len(once), len(spread)):
            starts = rows.indptr[start : start + len(spread) + 1]
            inside = slice(starts[0], starts[-1])
            at = np.repeat(np.arange(len(starts) - 1), np.diff(starts)), rows.indices[inside]
            spread[at] = rows.data[inside]
            here = slice(*np.searchsorted(place, [start, start + len(spread)]))
            size = listed.indptr[row[here] + 1] - listed.indptr[row[here]]
            entry = np.arange(size.sum()) + np.repeat(listed.indptr[row[here]] - np.cumsum(size) + size, size)
            pair = np.repeat(np.arange(len(size)), size)
            products = spread[(place[here] - start)[pair], listed.indices[entry]] * listed.data[entry]
            found.append(np.bincount(pair, products, len(size)))
            spread[at] = 0
        return np.concatenate(found)

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
    def sample(self) -> tuple[int | None, int, bool]:
        """The most neighbours of a node that are followed (None: all), the cut, and the half to compute once.

        That is the half from the source, or that from the target. Cut and half are those with the least work.
        They depend on the graph alone: scores of different calls can be compared.
        """
        edges, nodes = self.graph.num_edges, self.graph.num_nodes
        if not edges:
            return None, 0, True
        leaving, entering = (np.bincount(x, minlength=nodes) / edges for x in self.graph.pairs.T)
        pairs = min(max(edges // 2, 1), PAIRS)
        rows = min(pairs, nodes)
        for size in (None, *SAMPLES):
            costs = dict[tuple[int, bool], float]()
            for cut in range(len(self.pattern) + 1):
                halves = self._halves(cut)
                visits = [self._visits(half, size) for half in halves]
                for from_source, often, half in ((True, entering, halves[1]), (False, leaving, halves[0])):
                    once, listed = visits if from_source else visits[::-1]
                    mean = EDGE_SHARE * (listed @ often) + (1 - EDGE_SHARE) * listed.mean()
                    again = 1 if len(half) < 2 else 2  # computed for every block of pairs, then listed
                    costs[cut, from_source] = rows * once.mean() + again * pairs * mean
            if min(costs.values()) <= self.work:
                break
        return size, *min(costs, key=lambda one: costs[one])

    @property
    def neighbours(self) -> int | None:
        """The most neighbours of a node that are followed; None: all."""
        return self.sample[0]

    @cached_property
    def _steps(self) -> list[list[csr_array]]:
        """The matrices of both halves, each with a sample of its own."""
        (sample, cut, _), rng = self.sample, np.random.default_rng(0)
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
        """For each node, at least the number of entries that computing its row of the product visits."""
        if not steps:
            return np.ones(self.graph.num_nodes)
        if (steps, sample) not in self._visited:
            matrix = self._matrices[steps[0]]
            visits = _ones(matrix) @ self._visits(steps[1:], sample)
            if sample is not None:
                visits *= np.minimum(1, sample / np.maximum(np.diff(matrix.indptr), 1))
            self._visited[steps, sample] = np.minimum(visits, len(matrix.data)) + 1
        return self._visited[steps, sample]

    @cached_property
    def _visited(self) -> dict[tuple[str, int | None], np.ndarray]:
        return {}


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
