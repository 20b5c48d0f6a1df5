"""A directed graph: two arrays of node numbers, names, weights, and sorted rows for membership tests."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class DiGraph:
    """Edges `sources[i]` → `targets[i]` between nodes 0 … `num_nodes` − 1.

    Edges are sorted by source, then target, and unique. `names[i]` is what the user calls node i
    (None: its number); `weights` are optional and positive.
    """

    sources: np.ndarray
    targets: np.ndarray
    num_nodes: int
    names: tuple[Hashable, ...] | None = None
    weights: np.ndarray | None = None

    @classmethod
    def from_arrays(
        cls,
        sources: Sequence[int] | np.ndarray,
        targets: Sequence[int] | np.ndarray,
        num_nodes: int | None = None,
        names: Sequence[Hashable] | None = None,
        weights: Sequence[float] | np.ndarray | None = None,
    ) -> DiGraph:
        """Build a graph from node numbers; of repeated edges the first is kept."""
        s, t = (np.asarray(x).reshape(-1) for x in (sources, targets))
        if s.shape != t.shape:
            raise ValueError(f"sources has {s.size} entries and targets {t.size}; they must be equally many")
        if s.size and not all(np.issubdtype(x.dtype, np.integer) for x in (s, t)):
            raise TypeError(f"sources and targets hold {s.dtype} and {t.dtype}; they must be whole numbers")
        s, t = s.astype(np.int32), t.astype(np.int32)
        top = int(max(s.max(), t.max())) + 1 if s.size else 0
        n = len(names) if names is not None else num_nodes if num_nodes is not None else top
        if s.size and (min(s.min(), t.min()) < 0 or top > n):
            raise ValueError(
                f"node numbers run from {min(s.min(), t.min())} to {top - 1}; allowed: 0 to {n - 1}"
            )
        order = np.lexsort((t, s))
        s, t = s[order], t[order]
        first = np.ones(s.size, bool)
        first[1:] = (s[1:] != s[:-1]) | (t[1:] != t[:-1])
        w = None if weights is None else _checked_weights(weights, s.size)[order][first]
        return cls(s[first], t[first], n, None if names is None else tuple(names), w)

    @classmethod
    def from_edges(
        cls, edges: Iterable[tuple[Hashable, Hashable]], nodes: Iterable[Hashable] = ()
    ) -> DiGraph:
        """Build a graph from pairs of names; `nodes` lists names to keep even if they have no edge."""
        number: dict[Hashable, int] = {}
        for name in nodes:
            number.setdefault(name, len(number))
        pairs = [(number.setdefault(a, len(number)), number.setdefault(b, len(number))) for a, b in edges]
        array = np.asarray(pairs, dtype=np.int32).reshape(-1, 2)
        return cls.from_arrays(array[:, 0], array[:, 1], names=tuple(number))

    @property
    def num_edges(self) -> int:
        """How many edges there are."""
        return int(self.sources.size)

    @cached_property
    def row_starts(self) -> np.ndarray:
        """The edges of source i are those from `row_starts[i]` to `row_starts[i + 1]`."""
        return np.searchsorted(self.sources, np.arange(self.num_nodes + 1)).astype(np.int32)

    def has_edges(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Whether each pair is an edge."""
        key = self.sources.astype(np.int64) * self.num_nodes + self.targets
        query = np.asarray(sources, np.int64) * self.num_nodes + np.asarray(targets)
        at = np.minimum(np.searchsorted(key, query), max(key.size - 1, 0))
        return key[at] == query if key.size else np.zeros(query.shape, bool)

    def subgraph(self, keep: np.ndarray) -> DiGraph:
        """The same nodes with the edges selected by a mask or by indices in edge order."""
        keep = np.flatnonzero(keep) if keep.dtype == bool else np.sort(keep)
        weights = None if self.weights is None else self.weights[keep]
        return DiGraph(self.sources[keep], self.targets[keep], self.num_nodes, self.names, weights)

    def name(self, node: int) -> Hashable:
        """What the user calls a node."""
        return int(node) if self.names is None else self.names[node]

    def __repr__(self) -> str:
        return f"DiGraph({self.num_nodes:,} nodes, {self.num_edges:,} edges)"


def _checked_weights(weights: Sequence[float] | np.ndarray, count: int) -> np.ndarray:
    array = np.asarray(weights, dtype=np.float32).reshape(-1)
    if array.size != count:
        raise ValueError(f"weights has {array.size} entries for {count} edges")
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if bad.size:
        raise ValueError(f"weights[{bad[0]}] is {array[bad[0]]}; weights must be finite and > 0")
    return array
