"""Heuristic baselines: a model is worth what it adds to these.

They see the training graph only. `evaluate` scores them like any model.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike._util.checks import positive_number, whole_number
from timelike.graphs.digraph import DiGraph, checked_nodes

if TYPE_CHECKING:
    from scipy.sparse import csr_array


#: Sparse matrix entries held in memory at once.
ENTRIES = 1 << 23


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
        s, t = _ends(self.graph, sources, targets)
        return leaving[s] * entering[t]


@dataclasses.dataclass(frozen=True, eq=False)
class Katz:
    """Σₗ βˡ (Aˡ)ₛₜ over l in `lengths`; (Aˡ)ₛₜ counts the walks s → … → t of length l.

    The sum is truncated, so it is sparse and finite for any β. (Aˡ)ₛₜ is row s of A^⌈l/2⌉ times column t of
    A^⌊l/2⌋, computed for the given pairs only.
    """

    graph: DiGraph
    beta: float = 0.05
    lengths: tuple[int, ...] = (1, 2, 3, 4)

    def __post_init__(self) -> None:
        positive_number("Katz: beta", self.beta)
        for length in self.lengths:
            whole_number("Katz: lengths", length, 1)

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The score of each pair."""
        s, t = _ends(self.graph, sources, targets)
        out = self.graph.adjacency()
        back = out.T.tocsr()
        scores = np.zeros(len(s))
        for pairs in self._blocks(out, back, s, t):
            forward, backward = _powers(out, s[pairs]), _powers(back, t[pairs])
            left, right = next(forward), next(backward)
            for length in range(1, max(self.lengths) + 1):
                left, right = (next(forward), right) if length % 2 else (left, next(backward))
                if length in self.lengths:
                    scores[pairs] += self.beta**length * left.multiply(right).sum(axis=1)
        return scores

    def _blocks(self, out: csr_array, back: csr_array, s: np.ndarray, t: np.ndarray) -> Iterator[slice]:
        """Slices of one or more pairs whose rows have at most about `ENTRIES` entries."""
        paths = np.ones((2, self.graph.num_nodes))
        for step in range(max(self.lengths)):
            matrix = (out, back)[step % 2]
            paths[step % 2] = np.minimum(matrix @ paths[step % 2], self.graph.num_nodes)
        used = np.cumsum(paths[0][s] + paths[1][t] + 1) // ENTRIES
        cuts = [0, *(np.flatnonzero(np.diff(used)) + 1), len(s)]
        return (slice(a, b) for a, b in itertools.pairwise(cuts) if a < b)


def _ends(graph: DiGraph, sources: Any, targets: Any) -> tuple[np.ndarray, np.ndarray]:
    n = graph.num_nodes
    return checked_nodes(sources, n, "sources"), checked_nodes(targets, n, "targets")


def _powers(matrix: csr_array, rows: np.ndarray) -> Iterator[csr_array]:
    """Yield the given rows of M⁰, M¹, M², …"""
    from scipy.sparse import csr_array

    ones, starts = np.ones(len(rows)), np.arange(len(rows) + 1)
    power = csr_array((ones, rows, starts), (len(rows), matrix.shape[0]))
    while True:
        yield power
        power = power @ matrix


def common_neighbours(graph: DiGraph) -> Katz:
    """The number of nodes z with s → z → t: common neighbours along edge directions."""
    return Katz(graph, beta=1.0, lengths=(2,))
