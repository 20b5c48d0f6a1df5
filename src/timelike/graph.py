"""A directed graph: two arrays of node numbers, names, weights, and sorted rows for membership tests."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from timelike.checks import whole_number


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
        top = int(max(s.max(), t.max())) + 1 if s.size else 0
        n = top if num_nodes is None else whole_number("num_nodes", num_nodes, 0)
        n = n if names is None else _count_names(names, num_nodes)
        if s.size and (min(s.min(), t.min()) < 0 or top > min(n, 2**31 - 1)):
            raise ValueError(
                f"node numbers run from {min(s.min(), t.min())} to {top - 1}; allowed: 0 to {n - 1}"
            )
        s, t = s.astype(np.int32), t.astype(np.int32)
        order = np.lexsort((t, s))
        s, t = s[order], t[order]
        first = np.ones(s.size, bool)
        first[1:] = (s[1:] != s[:-1]) | (t[1:] != t[:-1])
        w = None if weights is None else _checked_weights(weights, s.size)[order][first]
        return cls(s[first], t[first], n, None if names is None else tuple(names), w)

    @classmethod
    def from_edges(cls, edges: Iterable[tuple], nodes: Iterable[Hashable] = ()) -> DiGraph:
        """Build a graph from pairs of names, or triples with a weight.

        `nodes` lists names to keep even if they have no edge.
        """
        number: dict[Hashable, int] = {}
        for name in nodes:
            number.setdefault(name, len(number))
        rows = [tuple(edge) for edge in edges]
        for i, row in enumerate(rows):
            if len(row) != len(rows[0]) or len(row) not in (2, 3):
                raise ValueError(
                    f"edges[{i}] is {row!r}; every edge must be (source, target), or all with a weight"
                )
        ends = [[number.setdefault(name, len(number)) for name in row[:2]] for row in rows]
        array = np.asarray(ends, dtype=np.int64).reshape(-1, 2)
        weights = [row[2] for row in rows] if rows and len(rows[0]) == 3 else None
        return cls.from_arrays(array[:, 0], array[:, 1], names=tuple(number), weights=weights)

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

    def numbers(self, nodes: Any, argument: str = "nodes") -> np.ndarray:
        """The numbers of nodes given by name (or by number, in a graph without names)."""
        return node_numbers(nodes, self.num_nodes, self.names, argument)

    def name(self, node: int) -> Hashable:
        """What the user calls a node."""
        return int(node) if self.names is None else self.names[node]

    def __repr__(self) -> str:
        return f"DiGraph({self.num_nodes:,} nodes, {self.num_edges:,} edges)"


def node_numbers(
    nodes: Any, num_nodes: int, names: Sequence[Hashable] | None, argument: str = "nodes"
) -> np.ndarray:
    """Numbers of nodes: looked up by name where there are names, checked for their range otherwise."""
    if names is None:
        return checked_nodes(nodes, num_nodes, argument)
    number = {name: i for i, name in enumerate(names)}
    values = [nodes] if isinstance(nodes, str) else list(np.atleast_1d(np.asarray(nodes, dtype=object)))
    for value in values:
        if value not in number:
            near = difflib.get_close_matches(str(value), [str(name) for name in names], 3, 0)
            raise ValueError(
                f"{argument}: there is no node {value!r}; the nearest names are {', '.join(near)}"
            )
    return np.asarray([number[value] for value in values], dtype=np.int32)


def checked_nodes(nodes: Any, num_nodes: int, argument: str) -> np.ndarray:
    """Node numbers as an int32 array, or an error that names the first one out of range."""
    array = np.asarray(nodes)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"{argument} holds {array.dtype}; these nodes have no names, only numbers")
    bad = np.argwhere((array < 0) | (array >= num_nodes))
    if len(bad):
        value = array[tuple(bad[0])]
        raise ValueError(f"{argument} has node {value}; there are nodes 0 to {num_nodes - 1}")
    return array.astype(np.int32)


def checked_pairs(pairs: Any, num_nodes: int | None, argument: str) -> np.ndarray:
    """An (n, 2) array of node numbers."""
    array = np.asarray(pairs)
    if array.size == 0:
        return np.zeros((0, 2), np.int32)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"{argument} has shape {array.shape}; it must be (number of pairs, 2)")
    return checked_nodes(array, 2**31 - 1 if num_nodes is None else num_nodes, argument)


def _count_names(names: Sequence[Hashable], num_nodes: int | None) -> int:
    if len(set(names)) != len(names):
        raise ValueError(
            f"names has {len(names) - len(set(names))} repetitions; every node needs its own name"
        )
    if num_nodes is not None and num_nodes != len(names):
        raise ValueError(f"num_nodes is {num_nodes} but there are {len(names)} names")
    return len(names)


def _checked_weights(weights: Sequence[float] | np.ndarray, count: int) -> np.ndarray:
    array = np.asarray(weights, dtype=np.float32).reshape(-1)
    if array.size != count:
        raise ValueError(f"weights has {array.size} entries for {count} edges")
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if bad.size:
        raise ValueError(f"weights[{bad[0]}] is {array[bad[0]]}; weights must be finite and > 0")
    return array
