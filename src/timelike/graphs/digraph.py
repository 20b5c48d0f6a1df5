"""A directed graph: two arrays of node numbers, names, weights, times, sorted rows for membership tests."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike._util.checks import instance, show, whole_number
from timelike.graphs import edge_sorting
from timelike.graphs.node_names import NameColumn, Names, as_names, nearest

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from timelike.graphs.description import Description
    from timelike.graphs.reading_notes import ReadSummary

#: Positions of edges and numbers of nodes are int32, on the device too.
MOST_EDGES = MOST_NODES = 2**31 - 1


@dataclasses.dataclass(frozen=True, eq=False)
class DiGraph:
    """Edges `sources[i]` → `targets[i]` between nodes 0 … `num_nodes` − 1.

    Edges join different nodes, are sorted by source, then target, and unique, at most 2³¹ − 1. `names[i]`
    is what the user calls node i (None: its number); `weights` are optional and positive; `times`, numbers
    or dates, are optional too and say when each edge came about. `notes` says what was found and left out,
    for a graph that was read, or that was given self-loops.
    """

    sources: np.ndarray
    targets: np.ndarray
    num_nodes: int
    names: Names | None = None
    weights: np.ndarray | None = None
    times: np.ndarray | None = None
    notes: ReadSummary | None = None

    def __post_init__(self) -> None:
        for name in ("sources", "targets"):
            instance(name, getattr(self, name), np.ndarray, "DiGraph.from_arrays, or timelike.read of pairs")
        if self.names is not None:
            object.__setattr__(self, "names", as_names(self.names))

    @classmethod
    def from_arrays(
        cls,
        sources: Sequence[int] | np.ndarray,
        targets: Sequence[int] | np.ndarray,
        num_nodes: int | None = None,
        names: Sequence[Hashable] | None = None,
        weights: Sequence[float] | np.ndarray | None = None,
        times: Sequence[float] | np.ndarray | None = None,
    ) -> DiGraph:
        """Build a graph from node numbers; of repeated edges the first is kept, with times the earliest.

        Self-loops are left out and counted in `notes`: a point's separation from itself is the same
        wherever it lies, so there is nothing to learn from them.
        """
        s, t = (np.asarray(x).reshape(-1) for x in (sources, targets))
        if s.shape != t.shape:
            raise ValueError(f"sources has {s.size} entries and targets {t.size}; they must be equally many")
        if s.size and not all(np.issubdtype(x.dtype, np.integer) for x in (s, t)):
            raise TypeError(f"sources and targets hold {s.dtype} and {t.dtype}; they must be whole numbers")
        if s.size > MOST_EDGES:
            raise ValueError(f"there are {s.size:,} edges; at most {MOST_EDGES:,} are possible")
        top = int(max(s.max(), t.max())) + 1 if s.size else 0
        n = top if num_nodes is None else whole_number("num_nodes", num_nodes, 0)
        n = n if names is None else _count_names(names, num_nodes)
        if s.size and (min(s.min(), t.min()) < 0 or top > min(n, MOST_NODES)):
            raise ValueError(
                f"node numbers run from {min(s.min(), t.min())} to {top - 1}; allowed: 0 to "
                f"{min(n, MOST_NODES) - 1}"
            )
        w = None if weights is None else _checked_weights(weights, s.size)
        when = None if times is None else checked_times(times, s.size)
        rows, loops = s.size, s == t
        if left_out := int(np.count_nonzero(loops)):
            s, t = s[~loops], t[~loops]
            w, when = (None if x is None else x[~loops] for x in (w, when))
        s, t, w, when = edge_sorting.ordered(edge_sorting.keys(s, t), w, when)
        notes = _notes(rows, left_out, s.size, when) if left_out else None
        return cls(s, t, n, None if names is None else as_names(names), w, when, notes)

    @classmethod
    def from_edges(cls, edges: Iterable[tuple], nodes: Iterable[Hashable] = ()) -> DiGraph:
        """Build a graph from pairs of names, or triples with a weight.

        `nodes` lists names to keep even if they have no edge. What is left out is as in `from_arrays`.
        """
        number: dict[Hashable, int] = {}
        for name in nodes:
            number.setdefault(name, len(number))
        rows = _checked_rows(edges)
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
        nodes = np.arange(self.num_nodes + 1, dtype=np.int32)
        return np.searchsorted(self.sources, nodes).astype(np.int32)

    def has_edges(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Whether each pair is an edge: a binary search in the row of its source."""
        s, t = np.asarray(sources), np.asarray(targets)
        if not self.num_edges:
            return np.zeros(s.shape, bool)
        low, end = self.row_starts[s], self.row_starts[s + 1]
        high, last = end, self.num_edges - 1
        for _ in range(int(np.max(end - low, initial=0)).bit_length()):
            middle = low + (high - low) // 2
            after = (low < high) & (self.targets[np.minimum(middle, last)] < t)
            low, high = np.where(after, middle + 1, low), np.where(after, high, middle)
        return (low < end) & (self.targets[np.minimum(low, last)] == t)

    def subgraph(self, keep: np.ndarray) -> DiGraph:
        """The same nodes with the edges selected by a mask or by indices in edge order."""
        keep = np.flatnonzero(keep) if keep.dtype == bool else np.sort(keep)
        weights, times = (None if x is None else x[keep] for x in (self.weights, self.times))
        return DiGraph(self.sources[keep], self.targets[keep], self.num_nodes, self.names, weights, times)

    def with_edges(
        self,
        edges: np.ndarray,
        num_nodes: int | None = None,
        names: Sequence[Hashable] | None = None,
        weights: np.ndarray | None = None,
    ) -> DiGraph:
        """A graph with the (n, 2) `edges` too; `num_nodes` and `names` if it grows.

        It has weights if the new edges are given some.
        """
        count = self.num_nodes if num_nodes is None else num_nodes
        s, t = np.concatenate([np.stack([self.sources, self.targets]), np.transpose(edges)], axis=1)
        if weights is not None:
            old = np.ones(self.num_edges, np.float32) if self.weights is None else self.weights
            weights = np.concatenate([old, weights])
        return DiGraph.from_arrays(s, t, count, self.names if names is None else names, weights)

    def numbers(self, nodes: Any, argument: str = "nodes") -> np.ndarray:
        """The numbers of nodes given by name (or by number, in a graph without names)."""
        return node_numbers(nodes, self.num_nodes, self.names, argument)

    def adjacency(self) -> csr_array:
        """The adjacency matrix: 1 for every edge, in double precision, which SciPy's algorithms work in."""
        from scipy.sparse import csr_array

        ones, shape = np.ones(self.num_edges), (self.num_nodes, self.num_nodes)
        return csr_array((ones, self.targets, self.row_starts), shape)

    @property
    def pairs(self) -> np.ndarray:
        """The edges as an (n, 2) array of numbers."""
        return np.stack([self.sources, self.targets], axis=1)

    def name(self, node: int) -> Hashable:
        """What the user calls a node."""
        return int(node) if self.names is None else self.names[node]

    def describe(self, seed: int = 0) -> Description:
        """Counts and shares that say what kind of graph this is, and which geometry that suggests."""
        from timelike.graphs.description import describe

        return describe(self, seed)

    def __repr__(self) -> str:
        return f"DiGraph({self.num_nodes:,} nodes, {self.num_edges:,} edges)"


def node_numbers(
    nodes: Any, num_nodes: int, names: Sequence[Hashable] | None, argument: str = "nodes"
) -> np.ndarray:
    """Numbers of nodes: looked up by name where there are names, checked for their range otherwise."""
    if names is None:
        return checked_nodes(nodes, num_nodes, argument)
    names = as_names(names)
    values = [nodes] if isinstance(nodes, str) else list(np.atleast_1d(np.asarray(nodes, dtype=object)))
    found = names.find(values)
    if None in found:
        value = values[found.index(None)]
        near = ", ".join(nearest(names, value))
        raise ValueError(f"{argument}: there is no node {value!r}; the nearest names are {near}")
    return np.asarray(found, dtype=np.int32)


def is_one(nodes: Any) -> bool:
    """Whether this is a node rather than several."""
    return isinstance(nodes, str) or not isinstance(nodes, Iterable) or getattr(nodes, "ndim", 1) == 0


def checked_nodes(nodes: Any, num_nodes: int, argument: str) -> np.ndarray:
    """Node numbers as an int32 array, or an error that names the first one out of range."""
    array = np.asarray(nodes)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise TypeError(
            f"{argument} has {show(array.item(0))}; these nodes have no names, only the numbers 0 to "
            f"{num_nodes - 1}"
        )
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
    return checked_nodes(array, MOST_NODES if num_nodes is None else num_nodes, argument)


def checked_times(times: Any, count: int) -> np.ndarray:
    """One number or date per edge, dates as microseconds."""
    array = np.asarray(times)
    if array.shape != (count,):
        raise ValueError(f"times has shape {array.shape}; ({count},) is needed, one for each edge")
    if array.dtype.kind not in "iufM":
        raise TypeError(f"times holds {array.dtype}; it must hold numbers or datetime64")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise ValueError(f"times[{bad[0]}] is {array[bad[0]]}; every edge needs a time")
    return array.astype("datetime64[us]") if array.dtype.kind == "M" else array


def _count_names(names: Sequence[Hashable], num_nodes: int | None) -> int:
    repeated = 0 if isinstance(names, NameColumn) else len(names) - len(set(names))
    if repeated:
        raise ValueError(f"names has {repeated} repetitions; every node needs its own name")
    if num_nodes is not None and num_nodes != len(names):
        raise ValueError(f"num_nodes is {num_nodes} but there are {len(names)} names")
    return len(names)


def _checked_rows(edges: Iterable[tuple]) -> list[tuple]:
    """Rows of two names, or all with a weight."""
    instance("edges", edges, Iterable, "a list of (source, target) pairs")
    rows: list[tuple] = []
    for i, edge in enumerate(edges):
        row = () if isinstance(edge, str) or not isinstance(edge, Iterable) else tuple(edge)
        if len(row) not in (2, 3) or len(row) != len((rows or [row])[0]):
            raise ValueError(
                f"edges[{i}] is {show(edge)}; every edge must be (source, target), or all with a weight"
            )
        if not all(isinstance(name, Hashable) for name in row[:2]):
            raise TypeError(f"edges[{i}] is {show(edge)}; names must be hashable, such as texts and numbers")
        rows.append(row)
    return rows


def _notes(rows: int, loops: int, edges: int, times: np.ndarray | None) -> ReadSummary:
    from timelike.graphs.reading_notes import ReadSummary

    kept = "first" if times is None else "earliest"
    return ReadSummary("edges", rows, self_loops=loops, duplicates=rows - loops - edges, kept=kept)


def _checked_weights(weights: Sequence[float] | np.ndarray, count: int) -> np.ndarray:
    try:
        array = np.asarray(weights, dtype=np.float32).reshape(-1)
    except (TypeError, ValueError):
        raise TypeError(f"weights is {show(weights)}; it must hold a number for each edge") from None
    if array.size != count:
        raise ValueError(f"weights has {array.size} entries for {count} edges")
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if bad.size:
        raise ValueError(f"weights[{bad[0]}] is {array[bad[0]]}; weights must be finite and > 0")
    return array
