"""The terms of `Structure`: each is a `Term`, a number for a pair of nodes, read off the edges of a graph."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from timelike.evaluation.heuristics import Svd
from timelike.evaluation.path_counts import Paths
from timelike.graphs.digraph import DiGraph

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Ridge penalty λ of `Similar`, and the most nodes that it compares: their similarities are a dense matrix.
RIDGE, MOST_COMPARED = 2.0, 2_500

#: Longest path that `Distance` follows.
FARTHEST = 8

#: `Levels` ties every node weakly to level 0, so that its equations have one solution.
TIE = 1e-3


@dataclasses.dataclass(frozen=True, eq=False)
class Degree:
    """log(1 + degree) of one end of the pair."""

    graph: DiGraph
    of_source: bool
    outgoing: bool

    @cached_property
    def _degrees(self) -> np.ndarray:
        ends = self.graph.sources if self.outgoing else self.graph.targets
        return np.log1p(np.bincount(ends, minlength=self.graph.num_nodes))

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The value of each pair."""
        return self._degrees[sources if self.of_source else targets]

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """The values of all pairs from these sources."""
        shape = (len(sources), self.graph.num_nodes)
        return np.broadcast_to(self._degrees[sources][:, None] if self.of_source else self._degrees, shape)

    def without_edge(self, values: np.ndarray, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The values of edges of the graph, which add to one degree of each end."""
        return np.log(np.maximum(np.expm1(values), 1)) if self.of_source == self.outgoing else values


@dataclasses.dataclass(frozen=True, eq=False)
class PathCount:
    """The number of paths of a pattern as log(1 + count), or the normalised count, see `Paths`."""

    paths: Paths

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The value of each pair."""
        return self._scaled(self.paths.score(sources, targets))

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """The values of all pairs from these sources."""
        return self._scaled(self.paths.rows(sources))

    def _scaled(self, counts: np.ndarray) -> np.ndarray:
        return counts if self.paths.normalised else np.log1p(counts)

    def without_edge(self, values: np.ndarray, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The values of edges of the graph, without the paths through the edge itself.

        In "><>" these are s → t ← w → t and s → z ← s → t, together Aₛₜ(Σ_w A_wt² + Σ_z A_sz² − Aₛₜ²).
        Normalised counts of paths that leave s and enter t grow by √(d/(d − 1)) for both degrees d.
        """
        first, last = self.paths.pattern[0], self.paths.pattern[-1]
        if (first, last) != (">", ">"):
            return values
        out, into = (
            np.bincount(ends, minlength=self.paths.graph.num_nodes)[nodes]
            for ends, nodes in ((self.paths.graph.sources, sources), (self.paths.graph.targets, targets))
        )
        normalised = self.paths.normalised
        counts = values if normalised else np.expm1(values)
        if self.paths.pattern == "><>":
            leaving, entering = self._squares
            weight = 1 / np.sqrt(out * into) if normalised else 1.0
            counts = counts - weight * (leaving[sources] + entering[targets] - weight**2)
        scale = np.sqrt(out * into / np.maximum((out - 1) * (into - 1), 1)) if normalised else 1.0
        return self._scaled(np.maximum(counts, 0) * scale)

    @cached_property
    def _squares(self) -> tuple[np.ndarray, np.ndarray]:
        """Σ_z A_sz² of each source, and Σ_w A_wt² of each target."""
        squares = self.paths.matrix.multiply(self.paths.matrix)
        return np.asarray(squares.sum(axis=1)), np.asarray(squares.sum(axis=0))


@dataclasses.dataclass(frozen=True, eq=False)
class Factors:
    """The entry of the truncated singular value decomposition at (s, t), or at (t, s) if `backwards`."""

    svd: Svd
    backwards: bool = False

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The value of each pair."""
        return self.svd.score(*((targets, sources) if self.backwards else (sources, targets)))

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """The values of all pairs from these sources."""
        left, right = self.svd.vectors
        return right[sources] @ left.T if self.backwards else left[sources] @ right.T


@dataclasses.dataclass(frozen=True, eq=False)
class Similar:
    """How similar t is to the known targets z of s, by their sources; if `of_sources`, s to the sources of t.

    `nearest`: max over z of the cosine of the columns z and t of the adjacency matrix A. Otherwise the sum
    over z of B, the linear regression of each column on all others with ridge penalty λ: B = I − P diag(P)⁻¹,
    P = (AᵀA + λI)⁻¹ (Steck 2019). Neither compares t with itself.
    """

    graph: DiGraph
    of_sources: bool = False
    nearest: bool = False

    @staticmethod
    def affordable(graph: DiGraph, of_sources: bool) -> bool:
        """Whether the side has few enough nodes for a dense matrix."""
        return 1 < len(np.unique(graph.sources if of_sources else graph.targets)) <= MOST_COMPARED

    @cached_property
    def _fitted(self) -> tuple[np.ndarray, csr_array, np.ndarray]:
        """The place of each node among the compared ones (−1: none), their adjacency, and similarities."""
        matrix = self.graph.adjacency()
        matrix = matrix.T.tocsr() if self.of_sources else matrix
        active = np.unique(self.graph.sources if self.of_sources else self.graph.targets)
        place = np.full(self.graph.num_nodes, -1)
        place[active] = np.arange(len(active))
        matrix = matrix[:, active].astype(np.float32)
        common = (matrix.T @ matrix).toarray()
        if self.nearest:
            norms = np.sqrt(np.diag(common))
            similar = common / np.outer(norms, norms)
        else:
            inverse = np.linalg.inv(common + np.float32(RIDGE) * np.eye(len(active), dtype=np.float32))
            similar = -inverse / np.diag(inverse)
        np.fill_diagonal(similar, 0)
        return place, matrix, similar

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The value of each pair."""
        place, matrix, similar = self._fitted
        kept, other = (targets, sources) if self.of_sources else (sources, targets)
        rows, at = matrix[kept], place[other]
        known = np.diff(rows.indptr)
        scores = np.zeros(len(kept))
        found = (known > 0) & (at >= 0)
        if found.any():
            entries = similar[rows.indices, np.repeat(at, known)]
            reduce = np.maximum.reduceat if self.nearest else np.add.reduceat
            scores[known > 0] = reduce(entries, rows.indptr[:-1][known > 0])
        return np.where(found, scores, 0.0)

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """The values of all pairs from these sources."""
        n = self.graph.num_nodes
        place, matrix, similar = self._fitted
        if self.nearest:
            return self.score(np.repeat(sources, n), np.tile(np.arange(n), len(sources))).reshape(-1, n)
        out = np.zeros((len(sources), n), np.float32)
        if not self.of_sources:
            out[:, place >= 0] = matrix[sources] @ similar
            return out
        known = place[sources] >= 0
        out[known] = (matrix @ similar[:, place[sources[known]]]).T
        return out


@dataclasses.dataclass(frozen=True, eq=False)
class Levels:
    """h(t) − h(s), the difference of trophic levels: Σ over edges (h(t) − h(s) − 1)² is least.

    It is 1 along every edge of a graph in layers, and near 0 on average if edges go round in cycles
    (MacKay, Johnson and Sansom 2020).
    """

    graph: DiGraph

    @cached_property
    def levels(self) -> np.ndarray:
        """The level of each node."""
        from scipy.sparse import diags_array
        from scipy.sparse.linalg import cg

        matrix = self.graph.adjacency()
        out, into = np.asarray(matrix.sum(axis=1)), np.asarray(matrix.sum(axis=0))
        laplacian = diags_array(out + into + TIE) - matrix - matrix.T
        scale = diags_array(1 / (out + into + TIE))
        return cg(laplacian.tocsr(), into - out, rtol=1e-6, maxiter=500, M=scale)[0]

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The value of each pair."""
        return self.levels[targets] - self.levels[sources]

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """The values of all pairs from these sources."""
        return self.levels[None] - self.levels[sources][:, None]


@dataclasses.dataclass(frozen=True, eq=False)
class Distance:
    """1/(length of the shortest path s → … → t of at least two edges), 0 without one; t to s if `backwards`.

    A single edge is no path here: known edges do not predict themselves. Paths longer than `FARTHEST` do not
    count.
    """

    graph: DiGraph
    backwards: bool = False

    @cached_property
    def _matrix(self) -> csr_array:
        matrix = self.graph.adjacency().astype(np.float32)
        return matrix.T.tocsr() if self.backwards else matrix

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The value of each pair, 256 sources at a time."""
        once, place = np.unique(sources, return_inverse=True)
        scores = np.zeros(len(sources))
        for start in range(0, len(once), 256):
            here = (place >= start) & (place < start + 256)
            scores[here] = self.rows(once[start : start + 256])[place[here] - start, targets[here]]
        return scores

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """The values of all pairs from these sources."""
        step = self._matrix.T.tocsr()
        scores = np.zeros((self.graph.num_nodes, len(sources)), np.float32)
        front = self._matrix[sources].toarray().T
        seen = np.zeros(scores.shape, bool)
        for length in range(2, FARTHEST + 1):
            front = ((step @ front > 0) & ~seen).astype(np.float32)
            if not front.any():
                break
            seen |= front > 0
            scores[front > 0] = 1 / length
        return scores.T
