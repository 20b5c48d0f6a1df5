"""Build a `DiGraph` from columns of names: number the nodes and filter the edges.

If all names are plain whole numbers (`7`, `-3`, not `007`), they are treated as numbers. Nodes are then in
ascending order, and need no names if they are 0 … n − 1. Other names keep the order in which they are first
seen, listed nodes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import polars as pl

from timelike._util.checks import show
from timelike.graphs.digraph import MOST_EDGES, MOST_NODES, DiGraph
from timelike.graphs.edge_sorting import Edges, ordered
from timelike.graphs.node_names import WHOLE, Names, NameTuple, as_names, name_numbers, names_from
from timelike.graphs.reading_notes import ReadSummary
from timelike.io.edge_buffer import EdgeList
from timelike.io.edge_times import Clock
from timelike.io.name_numbering import IdNumbering, Numbering, small, whole_numbers
from timelike.io.similar_names import said_of_similar

#: A file that announces more nodes than `MANY_NODES` may have at most `NODES_PER_EDGE` per edge.
MANY_NODES, NODES_PER_EDGE = 2**24, 100


class Builder:
    """Collects edges batch by batch; malformed rows raise an error or, if `skip_bad_rows`, are counted.

    Readers may set `node_count`, the number of nodes, if the source numbers them from `first_node` on;
    `mirrored`, if each edge goes both ways; `lone`, nodes that may have no edge; `labels` of names; and
    `transitive`, if edges imply others.
    """

    def __init__(self, source: str, nodes: pl.Series | None = None, skip_bad_rows: bool = False):
        self.source, self.skip_bad_rows = source, skip_bad_rows
        self.nodes = pl.Series([], dtype=pl.String) if nodes is None else nodes
        self.remarks: list[str] = []
        self.clock = Clock()
        self.node_count: int | None = None
        self.first_node, self.mirrored, self.transitive = 0, False, False
        self.lone: list[str] = []
        self.labels: dict[str, str] = {}
        self.rows = self.bad_rows = 0
        self._left_out: Counter[str] = Counter()
        self._numbering: Numbering | IdNumbering | None = None
        self._edges = EdgeList()
        self._top = 0
        self._more: tuple[bool, bool] | None = None

    def bad(self, where: str, why: str, seen: Any) -> None:
        """Reject a malformed row, or count it."""
        if not self.skip_bad_rows:
            hint = "skip_bad_rows skips such rows"
            raise ValueError(f"{self.source}, {where}: {why}; the text is {show(seen)} ({hint})") from None
        self.bad_rows += 1

    def list_nodes(self, names: pl.Series) -> None:
        """Put the nodes that the source itself lists before those that the caller listed."""
        self.nodes = pl.concat([names, self.nodes.cast(pl.String)])

    def add(
        self,
        sources: pl.Series,
        targets: pl.Series,
        weights: np.ndarray | None = None,
        times: np.ndarray | None = None,
    ) -> None:
        """Add edges between names, which are either all text or all whole numbers."""
        s, t = self._numbers(sources, targets)
        self._append(s, t, weights, times)

    def _append(
        self, s: np.ndarray, t: np.ndarray, weights: np.ndarray | None, times: np.ndarray | None
    ) -> None:
        """Add edges between numbers; a weight that is too large for single precision becomes infinite."""
        more = weights is not None, times is not None
        if self._more not in (None, more):
            raise ValueError(f"{self.source}: some edges have weights or times and others have none")
        self._more = more
        with np.errstate(over="ignore"):
            weights = None if weights is None else weights.astype(np.float32)
        self._edges.append(s, t, weights, times)
        self.rows += len(s)

    def _numbers(self, sources: pl.Series, targets: pl.Series) -> Sequence[np.ndarray]:
        """Number the names; as long as all are small whole numbers, each is its own number."""
        if sources.dtype == pl.String and not isinstance(self._numbering, Numbering):
            s, t = whole_numbers(sources), whole_numbers(targets)
            if s is None or t is None or (not self.rows and self._wrong_node() is not None):
                self._start_numbering(pl.String)
            else:
                sources, targets = s, t
        if self._numbering is None:
            small_s, small_t = small(sources), small(targets)
            if small_s is not None and small_t is not None:
                self._top = max(self._top, *(int(x.max(initial=0)) for x in (small_s, small_t)))
                return small_s, small_t
            self._start_numbering(pl.Int64)
        return self._numbering.number([sources, targets])  # type: ignore[union-attr]

    def _start_numbering(self, kind: Any) -> None:
        """Number the listed nodes, then everything added so far as whole numbers."""
        ids = None if self._numbering is None else self._numbering.names()
        self._numbering = numbering = Numbering() if kind == pl.String else IdNumbering()
        listed = self.nodes if kind == pl.String else pl.Series(self._whole_nodes())
        numbering.number([listed.cast(kind)])

        def number(s: np.ndarray, t: np.ndarray, *rest: Any) -> Edges:
            names = (pl.Series(x, dtype=pl.Int64) if ids is None else ids.gather(x) for x in (s, t))
            s, t = numbering.number([x.cast(kind) for x in names])
            return s, t, *rest

        self._edges.change(number)

    def _kept(
        self, s: np.ndarray, t: np.ndarray, weights: np.ndarray | None, times: np.ndarray | None
    ) -> Edges:
        """Drop self-loops and edges without a positive weight; count each under the first reason."""
        reasons = {"self_loops": s == t}
        if weights is not None:
            reasons["missing_weights"] = ~np.isfinite(weights)
            reasons["negative_weights"] = weights < 0
            reasons["zero_weights"] = weights == 0
        out = np.zeros(len(s), bool)
        for reason, mask in reasons.items():
            self._left_out[reason] += int(np.count_nonzero(mask & ~out))
            out |= mask
        if not out.any():
            return s, t, weights, times
        weights, times = (None if x is None else x[~out] for x in (weights, times))
        return s[~out], t[~out], weights, times

    def finish(self) -> DiGraph:
        """Build the graph of everything added."""
        if not self.rows:
            more = f", only {self.bad_rows:,} malformed rows" if self.bad_rows else ""
            raise ValueError(f"{self.source}: there are no edges in it{more}")
        if self.node_count is not None:
            return self._finish_numbered(self.node_count)
        if self.lone:  # as self-loops, which are dropped again
            lone = pl.Series(self.lone, dtype=pl.String)
            s, t = self._numbers(lone, lone)
            self._edges.append(s, t, None, None)
        names, rank, count = (self._compact() if self._numbering is None else None) or self.final_names()
        self._filter(rank)
        return self._graph(count, names)

    def _compact(self) -> tuple[Names | None, np.ndarray | None, int] | None:
        """Do as `final_names` for nodes that are their own numbers; None if a table of them is too sparse."""
        listed = self._whole_nodes()
        size = 1 + max(self._top, int(listed.max(initial=0)))
        if listed.min(initial=0) < 0 or size > max(2 * self.rows, 2**20):
            return None
        seen = np.zeros(size, bool)
        seen[listed] = True
        for s, t, *_ in self._edges.pieces():
            seen[s] = seen[t] = True
        ids = np.flatnonzero(seen)
        rank = None if len(ids) == len(seen) else np.cumsum(seen, dtype=np.int32) - np.int32(1)
        return name_numbers(ids), rank, len(ids)

    def final_names(self) -> tuple[Names | None, np.ndarray | None, int]:
        """Return the nodes' names, their final numbers (None: unchanged) and their count."""
        if self._numbering is None:
            self._start_numbering(pl.Int64)
        names, self._numbering = self._numbering.names(), None  # type: ignore[union-attr]
        if names.dtype == pl.String and not names.str.contains(WHOLE).all():
            return names_from(names), None, len(names)
        ids = names.cast(int).to_numpy()
        order = np.argsort(ids)
        rank = np.empty(len(ids), np.int32)
        rank[order] = np.arange(len(ids), dtype=np.int32)
        return name_numbers(ids[order]), rank, len(ids)

    def _finish_numbered(self, nodes: int) -> DiGraph:
        """Build the graph of nodes that the source numbers from `first_node` on."""
        if nodes > max(MANY_NODES, NODES_PER_EDGE * self.rows):
            limit = f"the limit is {NODES_PER_EDGE} nodes per edge"
            raise ValueError(f"{self.source}: {nodes:,} nodes and {self.rows:,} edges; {limit}")
        if isinstance(self._numbering, Numbering):
            names = self._numbering.names()
            wrong = names.filter(~names.str.contains(WHOLE))
            raise ValueError(f"{self.source}: node is {show(wrong[0])}; it must be a whole number")
        ids = None if self._numbering is None else self._numbering.names().to_numpy()
        self._numbering = None

        def number(s: np.ndarray, t: np.ndarray, *rest: Any) -> Edges:
            pairs = np.stack([s, t], axis=1)
            pairs = (pairs if ids is None else ids[pairs]) - self.first_node
            self._check_range(pairs.reshape(-1), nodes)
            return pairs[:, 0], pairs[:, 1], *rest

        self._edges.change(number)
        self._filter()
        if self.mirrored:
            self.remarks.append("the matrix is symmetric: every entry is an edge both ways")
            self._edges.mirror()
        return self._graph(nodes, None)

    def _filter(self, rank: np.ndarray | None = None) -> None:
        """Drop the edges that `_kept` drops, after renumbering their nodes by `rank`."""
        with ThreadPoolExecutor(2) as pool:

            def keep(s: np.ndarray, t: np.ndarray, *rest: Any) -> Edges:
                if rank is not None:
                    s, t = pool.map(lambda end: rank.take(end, mode="clip"), (s, t))
                return self._kept(s, t, *rest)

            self._edges.change(keep)

    def numbered(
        self,
        s: np.ndarray,
        t: np.ndarray,
        nodes: int,
        weights: np.ndarray | None = None,
        names: Sequence[Hashable] | None = None,
        times: np.ndarray | None = None,
    ) -> DiGraph:
        """Build the graph of an object whose nodes are already numbered 0 … `nodes` − 1."""
        for end in (s, t):
            self._check_range(end, nodes, names)
        self._append(s, t, weights, times)
        self._filter()
        return self._graph(nodes, None if names is None else as_names(names))

    def _check_range(self, ids: np.ndarray, nodes: int, names: Sequence[Hashable] | None = None) -> None:
        if len(self.nodes) and names is None:
            raise ValueError(f"nodes has no meaning for {self.source}, which fixes the number of nodes")
        wrong = ids[(ids < 0) | (ids >= nodes)]
        if wrong.size:
            node, first, last = (x + self.first_node for x in (wrong[0], 0, nodes - 1))
            raise ValueError(f"{self.source}: node {node} is not in {first} to {last}")

    def _graph(self, nodes: int, names: Names | None) -> DiGraph:
        """Build the graph of the edges that were kept, with notes; a graph without edges is an error."""
        count = len(self._edges)
        for what, number, most in (("edges", count, MOST_EDGES), ("nodes", nodes, MOST_NODES)):
            if number > most:
                raise ValueError(f"{self.source}: {number:,} {what}; the limit is {most:,}")
        s, t, weights, times = ordered(*self._edges.taken())
        self._left_out["self_loops"] -= len(self.lone)
        counts = {**self._left_out, "duplicates": count - len(s), "bad_rows": self.bad_rows}
        self.remarks += said_of_similar(names)
        kept = "first" if times is None else "earliest"
        remarks, implied = tuple(self.remarks), self.transitive
        notes = ReadSummary(self.source, self.rows, **counts, remarks=remarks, kept=kept, transitive=implied)
        if not len(s):
            why = "; ".join(notes.lines()) or "the source is empty"
            raise ValueError(f"{self.source}: no edges between different nodes ({why})")
        return DiGraph(s, t, nodes, self._labelled(nodes, names), weights, times, notes)

    def _labelled(self, nodes: int, names: Names | None) -> Names | None:
        """The names with their labels, if any node has one that is not its name."""
        known = {name: label for name, label in self.labels.items() if label not in ("", name)}
        if not known:
            return names
        names = NameTuple(range(nodes)) if names is None else names
        return names.labelled([known.get(str(name), "") for name in names])

    def _whole_nodes(self) -> np.ndarray:
        """Return the listed nodes as numbers; the nodes of the edges are numbers too."""
        wrong = self._wrong_node()
        if wrong is not None:
            raise ValueError(f"nodes: {show(wrong)} is not a whole number, as the nodes of {self.source} are")
        return self.nodes.cast(pl.Int64).to_numpy()

    def _wrong_node(self) -> str | None:
        """Return the first listed node that is not a whole number."""
        texts = self.nodes.cast(pl.String)
        return next(iter(texts.filter(~texts.str.contains(WHOLE))), None)
