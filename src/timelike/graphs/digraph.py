"""A directed graph: sorted arrays of sources and targets, with optional names, weights and times."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from timelike._util.checks import instance, show, whole_number
from timelike._util.guesses import SaysTheRightCall
from timelike.graphs import conversions, edge_sorting
from timelike.graphs.edge_checks import checked_rows, checked_times, checked_weights, count_names
from timelike.graphs.node_names import Names, as_names, label_of, unknown
from timelike.graphs.reading_notes import ReadSummary

if TYPE_CHECKING:
    import networkx
    import pandas
    import polars
    from scipy.sparse import csr_array

    from timelike.graphs.description import Description

#: Edge positions and node numbers are int32, also on the device.
MOST_EDGES = MOST_NODES = 2**31 - 1


@dataclasses.dataclass(frozen=True, eq=False)
class DiGraph(SaysTheRightCall):
    """Edges `sources[i]` → `targets[i]` between nodes 0 … `num_nodes` − 1.

    Edges join different nodes, are unique and sorted by source, then target; there are at most 2³¹ − 1.
    `names[i]` is the name of node i (None: nodes have numbers only). Optional `weights` are positive.
    Optional `times`, numbers or dates, tell when each edge appeared. `notes` reports what was left out when
    the graph was read or built from edges with self-loops.
    """

    sources: np.ndarray
    targets: np.ndarray
    num_nodes: int
    names: Names | None = None
    weights: np.ndarray | None = None
    times: np.ndarray | None = None
    notes: ReadSummary | None = None

    RIGHT_CALLS: ClassVar = {
        "nodes": "names, num_nodes, or to_networkx().nodes",
        "edges": "pairs, to_polars(), or to_networkx().edges",
        "edge_index": "pairs.T",
        "number_of_nodes": "num_nodes",
        "number_of_edges": "num_edges",
        "has_edge": "has_edges(sources, targets), by number",
        "in_degree": "to_networkx().in_degree, or np.bincount(targets, minlength=num_nodes)",
        "out_degree": "to_networkx().out_degree, or np.diff(row_starts)",
        "successors": "to_networkx().successors(node)",
        "predecessors": "to_networkx().predecessors(node)",
        "neighbors": "to_networkx().neighbors(node)",
        "reverse": "DiGraph.from_arrays(targets, sources, num_nodes, names)",
        "add_edge": "with_edges(edges), which makes a new graph",
        "add_edges_from": "with_edges(edges), which makes a new graph",
    }

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
        """Build a graph from node numbers; of repeated edges, keep the first or, with times, the earliest.

        Self-loops are left out and counted in `notes`: the separation of a point from itself is the same
        everywhere, so they carry no information.
        """
        s, t = (np.asarray(x).reshape(-1) for x in (sources, targets))
        if s.shape != t.shape:
            raise ValueError(f"sources has {s.size} entries and targets has {t.size}; they must match")
        if s.size and not all(np.issubdtype(x.dtype, np.integer) for x in (s, t)):
            raise TypeError(f"sources and targets hold {s.dtype} and {t.dtype}; they must hold integers")
        if s.size > MOST_EDGES:
            raise ValueError(f"sources has {s.size:,} edges; at most {MOST_EDGES:,} are possible")
        top = int(max(s.max(), t.max())) + 1 if s.size else 0
        n = top if num_nodes is None else whole_number("num_nodes", num_nodes, 0)
        n = n if names is None else count_names(names, num_nodes)
        if s.size and (min(s.min(), t.min()) < 0 or top > min(n, MOST_NODES)):
            raise ValueError(
                f"node numbers run from {min(s.min(), t.min())} to {top - 1}; allowed: 0 to "
                f"{min(n, MOST_NODES) - 1}"
            )
        w = None if weights is None else checked_weights(weights, s.size)
        when = None if times is None else checked_times(times, s.size)
        rows, is_loop = s.size, s == t
        if loops := int(np.count_nonzero(is_loop)):
            s, t = s[~is_loop], t[~is_loop]
            w, when = (None if x is None else x[~is_loop] for x in (w, when))
        s, t, w, when = edge_sorting.ordered(edge_sorting.keys(s, t), w, when)
        notes = None
        if loops:
            kept = "first" if when is None else "earliest"
            notes = ReadSummary("edges", rows, self_loops=loops, duplicates=rows - loops - s.size, kept=kept)
        return cls(s, t, n, None if names is None else as_names(names), w, when, notes)

    @classmethod
    def from_edges(cls, edges: Iterable[tuple], nodes: Iterable[Hashable] = ()) -> DiGraph:
        """Build a graph from pairs of names, or from triples with a weight, as in `from_arrays`.

        `nodes` lists names to include even if they have no edge.
        """
        number: dict[Hashable, int] = {}
        for name in nodes:
            number.setdefault(name, len(number))
        rows = checked_rows(edges)
        ends = [[number.setdefault(name, len(number)) for name in row[:2]] for row in rows]
        array = np.asarray(ends, dtype=np.int64).reshape(-1, 2)
        weights = [row[2] for row in rows] if rows and len(rows[0]) == 3 else None
        return cls.from_arrays(array[:, 0], array[:, 1], names=tuple(number), weights=weights)

    @property
    def num_edges(self) -> int:
        """Number of edges."""
        return int(self.sources.size)

    @cached_property
    def row_starts(self) -> np.ndarray:
        """The edges of source i are at positions `row_starts[i]` to `row_starts[i + 1]` − 1."""
        nodes = np.arange(self.num_nodes + 1, dtype=np.int32)
        return np.searchsorted(self.sources, nodes).astype(np.int32)

    def has_edges(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Whether each pair is an edge, by binary search among the targets of its source."""
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
        """The graph of all nodes with the edges selected by a mask or by positions."""
        instance("keep", keep, np.ndarray, "a mask of the edges, or positions; to_networkx() cuts out nodes")
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
        """A graph with the (n, 2) array `edges` added; pass `num_nodes` and `names` if it gains nodes.

        The result has weights only if `weights` are passed for the new edges.
        """
        count = self.num_nodes if num_nodes is None else num_nodes
        s, t = np.concatenate([np.stack([self.sources, self.targets]), np.transpose(edges)], axis=1)
        if weights is not None:
            old = np.ones(self.num_edges, np.float32) if self.weights is None else self.weights
            weights = np.concatenate([old, weights])
        return DiGraph.from_arrays(s, t, count, self.names if names is None else names, weights)

    def numbers(self, nodes: Any, argument: str = "nodes") -> np.ndarray:
        """The numbers of nodes from their names (from their numbers in a graph without names)."""
        return node_numbers(nodes, self.num_nodes, self.names, argument)

    def adjacency(self) -> csr_array:
        """The adjacency matrix: 1 for every edge, in double precision as SciPy's algorithms require."""
        from scipy.sparse import csr_array

        ones, shape = np.ones(self.num_edges), (self.num_nodes, self.num_nodes)
        return csr_array((ones, self.targets, self.row_starts), shape)

    @property
    def pairs(self) -> np.ndarray:
        """The edges as an (n, 2) array of node numbers."""
        return np.stack([self.sources, self.targets], axis=1)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.pairs, dtype)

    def to_polars(self) -> polars.DataFrame:
        """A polars table with a row per edge: source and target by name, weight and time if there are any."""
        return conversions.to_polars(self)

    def to_pandas(self) -> pandas.DataFrame:
        """`to_polars` as a pandas table."""
        return conversions.to_pandas(self.to_polars())

    def to_networkx(self) -> networkx.DiGraph:
        """A networkx graph, with weights, times and labels as attributes."""
        return conversions.to_networkx(self)

    def name(self, node: int) -> Hashable:
        """The name of a node; its number in a graph without names."""
        return int(node) if self.names is None else self.names[node]

    def label(self, node: Hashable) -> str:
        """The label of a node by name (by number without names), such as that of a term; "" without one."""
        return label_of(self.names, int(self.numbers([node], "node")[0]))

    def with_labels(self, labels: Mapping[Any, str]) -> DiGraph:
        """The same graph, with labels for the nodes of these names."""
        names = as_names(range(self.num_nodes) if self.names is None else self.names)
        self.numbers(list(labels), "labels")
        return dataclasses.replace(self, names=names.labelled([labels.get(x, "") for x in names]))

    def describe(self, seed: int = 0) -> Description:
        """Statistics of the graph, and the geometry that they suggest."""
        from timelike.graphs.description import describe

        return describe(self, seed)

    def __repr__(self) -> str:
        return f"DiGraph({self.num_nodes:,} nodes, {self.num_edges:,} edges)"


def node_numbers(
    nodes: Any, num_nodes: int, names: Sequence[Hashable] | None, argument: str = "nodes"
) -> np.ndarray:
    """Node numbers: looked up by name if there are names, otherwise checked to be in range."""
    if names is None:
        return checked_nodes(nodes, num_nodes, argument)
    values = [nodes] if isinstance(nodes, str) else list(np.atleast_1d(np.asarray(nodes, dtype=object)))
    numbers = as_names(names).find(values)
    if None in numbers:
        raise ValueError(f"{argument}: {unknown(values[numbers.index(None)], num_nodes, names)}")
    return np.asarray(numbers, dtype=np.int32)


def is_one(nodes: Any) -> bool:
    """Whether this is a single node rather than several."""
    return isinstance(nodes, str) or not isinstance(nodes, Iterable) or getattr(nodes, "ndim", 1) == 0


def checked_nodes(nodes: Any, num_nodes: int, argument: str) -> np.ndarray:
    """Node numbers as an int32 array; the error names the first one that is out of range."""
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
