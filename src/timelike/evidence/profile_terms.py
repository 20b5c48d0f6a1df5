"""Terms from profiles: a row of numbers for each node, such as its expression, compared between nodes.

A pair s → t is compared directly, and t with the other known targets of s: the edge s → t itself never
counts. Nodes without a profile get `UNKNOWN`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property

import numpy as np

from timelike.evidence.profiles import Profiles
from timelike.graphs.digraph import DiGraph

#: Below every value that a term can take: the trees recognise pairs about which it says nothing.
UNKNOWN = -9.0

#: Ridge penalties, relative to the largest possible similarity 1: of partial correlations, of regressions.
PARTIAL, RIDGES = 20.0, (1.0, 10.0)

#: Entries of a table of sources × nodes, and products of edges and nodes, up to which it is made.
MOST_ENTRIES, MOST_PRODUCTS = 60_000_000, 1_000_000_000

#: Sums of fourth powers below this are no likeness at all.
TINY = 1e-4

#: Products of known neighbours and nodes held at a time.
BLOCK_ENTRIES = 1 << 23


@dataclasses.dataclass(frozen=True, eq=False)
class Direct:
    """A number for the profiles of s and t themselves: `kind` is one of `KINDS`."""

    profiles: Profiles
    kind: str

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The value of each pair."""
        p = self.profiles
        product = np.einsum("ij,ij->i", self._left(sources), p.z[targets])
        return np.where(
            p.known[sources] & p.known[targets], KINDS[self.kind](product, p, sources, targets), UNKNOWN
        )

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """The values of all pairs from these sources."""
        p, every = self.profiles, np.arange(len(self.profiles.z))
        product = self._left(sources) @ p.z.T
        found = KINDS[self.kind](product, p, sources[:, None], every[None])
        return np.where(p.known[sources][:, None] & p.known[None], found, UNKNOWN)

    def _left(self, sources: np.ndarray) -> np.ndarray:
        rows = self.profiles.z[sources]
        return rows @ self.profiles.hat(PARTIAL)[0] if self.kind == "partial correlation" else rows


def _likelihood_of_relatedness(x: np.ndarray, p: Profiles, s: np.ndarray, t: np.ndarray) -> np.ndarray:
    """CLR: √(zₛ² + zₜ²) of |correlation| against all pairs of s and all pairs of t (Faith et al. 2007)."""
    mean, spread = p.background
    return np.hypot(*(np.maximum((np.abs(x) - mean[end]) / spread[end], 0) for end in (s, t)))


def _partial(x: np.ndarray, p: Profiles, s: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The partial correlation under a ridge: −P/√(PₛₛPₜₜ) with P = (I + ZZᵀ/λ)⁻¹ = I − H."""
    h = p.hat(PARTIAL)[1]
    return x / np.sqrt(np.maximum((1 - h[s]) * (1 - h[t]), 1e-6))


Kind = Callable[[np.ndarray, Profiles, np.ndarray, np.ndarray], np.ndarray]
#: What can be said of two profiles: name → a function of their product.
KINDS: dict[str, Kind] = {
    "correlation": lambda x, p, s, t: x,
    "CLR": _likelihood_of_relatedness,
    "partial correlation": _partial,
}


@dataclasses.dataclass(frozen=True, eq=False)
class ToTargets:
    """How t relates to the known targets of s without t by profile, or s to the sources of t: low rank.

    The mean correlation; with a `ridge` penalty λ, the leave-one-out prediction of A[s, t] by a ridge
    regression of the targets of s on the profiles: (Σ_z A_sz H_zt − A_st h_t)/(1 − h_t), which never sees
    A_st.
    """

    profiles: Profiles
    graph: DiGraph
    ridge: float | None = None
    of_sources: bool = False

    @cached_property
    def _sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Σ over neighbours of their profiles, times G with a ridge, and the number of known neighbours."""
        p, matrix = self.profiles, self.graph.adjacency().astype(np.float32)
        matrix = matrix.T.tocsr() if self.of_sources else matrix
        sums = matrix @ p.z
        if self.ridge is not None:
            sums = sums @ p.hat(self.ridge)[0]
        return sums, matrix @ p.known.astype(np.float32)

    def _value(self, product: np.ndarray, own: np.ndarray, kept: np.ndarray, other: np.ndarray) -> np.ndarray:
        """The value from Σ_z, of which `own` tells whether it holds the pair's own edge."""
        p, (_, count) = self.profiles, self._sums
        own = own & p.known[other]
        if self.ridge is None:
            others = count[kept] - own
            found = (product - own) / np.maximum(others, 1)
            return np.where(p.known[other] & (others > 0.5), found, UNKNOWN)
        h = p.hat(self.ridge)[1][other]
        found = (product - own * h) / np.maximum(1 - h, 1e-3)
        return np.where(p.known[other] & (count[kept] - own > 0.5), found, UNKNOWN)

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The value of each pair."""
        kept, other = (targets, sources) if self.of_sources else (sources, targets)
        product = np.einsum("ij,ij->i", self._sums[0][kept], self.profiles.z[other])
        return self._value(product, self.graph.has_edges(sources, targets), kept, other)

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """The values of all pairs from these sources."""
        every, own = np.arange(self.graph.num_nodes), self.graph.adjacency()[sources].toarray() > 0
        if self.of_sources:
            product = self.profiles.z[sources] @ self._sums[0].T
            return self._value(product, own, every[None], sources[:, None])
        product = self._sums[0][sources] @ self.profiles.z.T
        return self._value(product, own, sources[:, None], every[None])


@dataclasses.dataclass(frozen=True, eq=False)
class Smoothed:
    """(H A H)ₛₜ − Aₛₜ hₛ hₜ: the edges between nodes like s and nodes like t, without the edge s → t itself.

    It needs no known edge of s or t, only their profiles.
    """

    profiles: Profiles
    graph: DiGraph
    ridge: float

    @cached_property
    def _left(self) -> np.ndarray:
        z, (g, _) = self.profiles.z, self.profiles.hat(self.ridge)
        between = z.T @ (self.graph.adjacency().astype(np.float32) @ z)
        return z @ (g @ between @ g)

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The value of each pair."""
        p, h = self.profiles, self.profiles.hat(self.ridge)[1]
        found = np.einsum("ij,ij->i", self._left[sources], p.z[targets])
        found = found - self.graph.has_edges(sources, targets) * h[sources] * h[targets]
        return np.where(p.known[sources] & p.known[targets], found, UNKNOWN)

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """The values of all pairs from these sources."""
        p, h = self.profiles, self.profiles.hat(self.ridge)[1]
        own = self.graph.adjacency()[sources].toarray() > 0
        found = self._left[sources] @ p.z.T - own * np.outer(h[sources], h)
        return np.where(np.outer(p.known[sources], p.known), found, UNKNOWN)


@dataclasses.dataclass(frozen=True, eq=False)
class Nearness:
    """How near t is to the known targets z ≠ t of each source; if `of_sources`, s to the sources of t.

    `neighbour_terms` gives it whitened profiles.
    """

    profiles: Profiles
    graph: DiGraph
    of_sources: bool = False

    @staticmethod
    def affordable(graph: DiGraph, of_sources: bool = False) -> bool:
        """Whether the table of active nodes × nodes is small enough, and the work on it."""
        active = len(np.unique(graph.targets if of_sources else graph.sources))
        small = active * graph.num_nodes <= MOST_ENTRIES
        return small and graph.num_edges * graph.num_nodes <= MOST_PRODUCTS

    @cached_property
    def tables(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The row of each active node, −1 for others; the largest z·t, Σ max(z·t, 0)^4, and the share of this
        sum in that of all active nodes, each by row and t.
        """
        p, n = self.profiles, self.graph.num_nodes
        matrix = self.graph.adjacency().astype(np.float32)
        matrix = matrix.T.tocsr() if self.of_sources else matrix
        place, known = np.full(n, -1), np.flatnonzero(p.known)
        active = np.flatnonzero(np.diff(matrix.indptr))
        own = matrix[active]
        near = own[:, known]
        some, count = np.flatnonzero(np.diff(near.indptr)), np.diff(near.indptr)[:, None]
        place[active] = np.arange(len(active))
        largest, sums = (np.full((len(active), n), UNKNOWN, np.float32) for _ in range(2))
        width = int(np.clip(BLOCK_ENTRIES // max(near.nnz, 1), 16, 512))
        for start in range(0, n if near.nnz else 0, width):
            here = np.arange(start, min(start + width, n))
            alike = p.z[known] @ p.z[here].T
            alike[known[:, None] == here[None]] = -1  # no node is compared with itself
            told = (count - own[:, here].toarray() > 0.5) & p.known[here][None]
            fourth = np.maximum(alike, 0) ** 2
            sums[:, here] = np.where(told, near @ (fourth * fourth), UNKNOWN)
            top = np.maximum.reduceat(alike[near.indices], near.indptr[some], axis=0)
            largest[np.ix_(some, here)] = np.where(told[some], top, UNKNOWN)
        total = np.maximum(sums, 0).sum(axis=0)
        shares = np.where(sums == UNKNOWN, UNKNOWN, sums / np.maximum(total, TINY)).astype(np.float32)
        return place, {"nearest": largest, "sum": sums, "share": shares}


@dataclasses.dataclass(frozen=True, eq=False)
class ToNearest:
    """A number of `Nearness`: "nearest", "sum" or "share"."""

    near: Nearness
    kind: str

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The value of each pair."""
        place, tables = self.near.tables
        table = tables[self.kind]
        kept, other = (targets, sources) if self.near.of_sources else (sources, targets)
        if not len(table):
            return np.full(len(kept), UNKNOWN, np.float32)
        return np.where(place[kept] >= 0, table[place[kept], other], UNKNOWN)

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """The values of all pairs from these sources."""
        every = np.arange(self.near.graph.num_nodes)
        return self.score(np.repeat(sources, len(every)), np.tile(every, len(sources))).reshape(
            -1, len(every)
        )


def neighbour_terms(profiles: Profiles, graph: DiGraph) -> dict[str, ToTargets | Smoothed | ToNearest]:
    """What profiles say about t and the known targets of s, and about s and the known sources of t."""
    found: dict[str, ToTargets | Smoothed | ToNearest] = {}
    for of_sources, end in ((False, "targets"), (True, "sources")):
        found[f"mean to known {end}"] = ToTargets(profiles, graph, None, of_sources)
        for ridge in RIDGES[: 2 - of_sources]:
            found[f"regression on known {end}, {ridge:g}"] = ToTargets(profiles, graph, ridge, of_sources)
        if Nearness.affordable(graph, of_sources):
            near = Nearness(profiles.whitened, graph, of_sources)
            found[f"nearest known of {end}"] = ToNearest(near, "nearest")
            found[f"sum to known {end}"] = ToNearest(near, "sum")
            found[f"share of sum to known {end}"] = ToNearest(near, "share")
    found["edges between like nodes"] = Smoothed(profiles, graph, RIDGES[-1])
    return found
