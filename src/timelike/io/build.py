"""From columns of names to a `DiGraph`: the one place that numbers nodes and decides what is left out.

Texts that are all plain whole numbers (`7`, `-3`, not `007`) are whole numbers. Whole numbers are
put in ascending order, and are no names at all if they are 0 … n − 1; other names keep the order in
which they are first seen, listed nodes first.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.checks import show
from timelike.graph import MOST_EDGES, DiGraph
from timelike.io.numbering import IdNumbering, Numbering
from timelike.io.summary import ReadSummary
from timelike.io.times import Clock
from timelike.names import NameColumn, NameTuple, NumberColumn

if TYPE_CHECKING:
    import polars as pl

#: Up to here names are Python objects in a tuple, beyond it a column.
SMALL = 2**17
#: A file that announces more nodes than this has at most so many for an edge.
MANY_NODES, NODES_PER_EDGE = 2**24, 100
Edges = tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None]
WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"


class Builder:
    """Collects edges batch by batch; rows that cannot be read raise an error, or are counted."""

    def __init__(self, source: str, nodes: pl.Series | None = None, skip_bad_rows: bool = False):
        self.source, self.nodes, self.skip_bad_rows = source, nodes, skip_bad_rows
        self.remarks: list[str] = []
        self.clock = Clock()
        self.rows = self.bad_rows = 0
        self._left_out: Counter[str] = Counter()
        self._numbering: Numbering | IdNumbering | None = None
        self._batches: list[Edges] = []
        self._lonely: list[np.ndarray] = []
        self._top = 0

    def bad(self, where: str, why: str, seen: Any) -> None:
        """Refuse a row, or count it."""
        if not self.skip_bad_rows:
            hint = "skip_bad_rows leaves such rows out"
            raise ValueError(f"{self.source}, {where}: {why}; the text is {show(seen)} ({hint})")
        self.bad_rows += 1

    def list_nodes(self, names: pl.Series) -> None:
        """Nodes that the source lists itself come before those that the caller listed."""
        import polars as pl

        self.nodes = names if self.nodes is None else pl.concat([names, self.nodes.cast(pl.String)])

    def add(
        self,
        sources: pl.Series,
        targets: pl.Series,
        weights: np.ndarray | None = None,
        times: np.ndarray | None = None,
    ) -> None:
        """Edges between names, either all text or all whole numbers."""
        import polars as pl

        ids = None if sources.dtype == pl.String else _small(sources, targets)
        if ids is None or self._numbering is not None:
            if self._numbering is None:
                self._start_numbering(sources.dtype)
            ids = self._numbered(sources, targets)
        else:
            self._top = max(self._top, *(int(x.max(initial=0)) for x in ids))
        self._batches.append(self._kept(*ids, weights, times))

    def _start_numbering(self, kind: Any) -> None:
        """Number listed nodes, and all that has been added as small numbers so far."""
        import polars as pl

        self._numbering = Numbering() if kind == pl.String else IdNumbering()
        listed = pl.Series([], dtype=kind) if self.nodes is None else self.nodes.cast(pl.String)
        if kind != pl.String:
            listed = pl.Series(np.concatenate([*self._lonely, self._whole_nodes()]), dtype=kind)
        self._numbering.number([listed])
        for i, (s, t, weights, times) in enumerate(self._batches):
            ends = self._numbered(*(pl.Series(x, dtype=kind) for x in (s, t)))
            self._batches[i] = (*ends, weights, times)

    def _numbered(self, sources: pl.Series, targets: pl.Series) -> tuple[np.ndarray, np.ndarray]:
        s, t = self._numbering.number([sources, targets])  # type: ignore[union-attr]
        return s, t

    def _kept(
        self, s: np.ndarray, t: np.ndarray, weights: np.ndarray | None, times: np.ndarray | None
    ) -> Edges:
        """Edges without those that policy leaves out, which are counted; each for the first reason."""
        self.rows += len(s)
        reasons = {"self_loops": s == t}
        if weights is not None:
            with np.errstate(over="ignore"):
                weights = weights.astype(np.float32)
            reasons["missing_weights"] = ~np.isfinite(weights)
            reasons["negative_weights"] = weights < 0
            reasons["zero_weights"] = weights == 0
        out = np.zeros(len(s), bool)
        for reason, mask in reasons.items():
            self._left_out[reason] += int(np.count_nonzero(mask & ~out))
            out |= mask
        if not out.any():
            return s, t, weights, times
        self._lonely += [s[out], t[out]]  # their nodes stay
        weights, times = (None if x is None else x[~out] for x in (weights, times))
        return s[~out], t[~out], weights, times

    def finish(self) -> DiGraph:
        """The graph of all that was added."""
        import polars as pl

        if not self.rows:
            more = f" but {self.bad_rows:,} malformed rows" if self.bad_rows else ""
            raise ValueError(f"{self.source}: there are no edges in it{more}")
        if self._numbering is None and not self._is_dense():
            self._start_numbering(pl.Int64)
        if self._numbering is None:
            s, t, *rest = self._joined()
            s, t, ids = compact(s, t, np.concatenate([*self._lonely, self._whole_nodes()]))
            return self._graph(s, t, len(ids), name_numbers(ids), *rest)
        final, rank, count = self.final_names()
        s, t, *rest = self._joined(rank)
        return self._graph(s, t, count, final, *rest)

    def final_names(self) -> tuple[NameTuple | NameColumn | None, np.ndarray | None, int]:
        """The names of the nodes, what number each becomes (None: its own), and how many they are."""
        import polars as pl

        assert self._numbering is not None
        names = self._numbering.names()
        self._numbering = None
        if names.dtype == pl.String and not names.str.contains(WHOLE).all():
            return name_texts(names), None, len(names)
        ids = names.cast(int).to_numpy()
        order = np.argsort(ids)
        rank = np.empty(len(ids), np.int32)
        rank[order] = np.arange(len(ids), dtype=np.int32)
        return name_numbers(ids[order]), rank, len(ids)

    def finish_numbered(self, nodes: int, first: int = 0, mirrored: bool = False) -> DiGraph:
        """The graph of texts that number the nodes from `first` on; if mirrored, each edge goes both ways."""
        if self._numbering is None:
            return self.finish()
        if nodes > max(MANY_NODES, NODES_PER_EDGE * self.rows):
            raise ValueError(
                f"{self.source}: {nodes:,} nodes and {self.rows:,} edges; so many nodes without an edge are "
                "there to fill the memory"
            )
        names = self._numbering.names()
        wrong = names.filter(~names.str.contains(WHOLE))
        if len(wrong):
            raise ValueError(f"{self.source}: {show(wrong[0])} is no whole number; nodes of this format are")
        ids = names.cast(int).to_numpy() - first
        self._check_range(ids, nodes, first)
        s, t, weights, _ = self._joined()
        s, t = ids[s], ids[t]
        if mirrored:
            self.remarks.append("a symmetric matrix: every entry is an edge both ways")
            s, t = np.concatenate([s, t]), np.concatenate([t, s])
            weights = None if weights is None else np.concatenate([weights, weights])
        return self._graph(s, t, nodes, None, weights)

    def numbered(
        self,
        s: np.ndarray,
        t: np.ndarray,
        nodes: int,
        weights: np.ndarray | None = None,
        names: Sequence[Hashable] | None = None,
        times: np.ndarray | None = None,
    ) -> DiGraph:
        """The graph of an object whose nodes have numbers already, 0 … `nodes` − 1."""
        for end in (s, t):
            self._check_range(end, nodes, 0, names)
        s, t, weights, times = self._kept(s, t, weights, times)
        return self._graph(s, t, nodes, names, weights, times)

    def _check_range(
        self, ids: np.ndarray, nodes: int, first: int, names: Sequence[Hashable] | None = None
    ) -> None:
        if self.nodes is not None and names is None:
            raise ValueError(f"nodes has no meaning for {self.source}, which says how many there are")
        wrong = ids[(ids < 0) | (ids >= nodes)]
        if wrong.size:
            raise ValueError(
                f"{self.source}: there is a node {wrong[0] + first}; allowed: {first} to {nodes - 1 + first}"
            )

    def _graph(
        self,
        s: np.ndarray,
        t: np.ndarray,
        nodes: int,
        names: Any,
        weights: np.ndarray | None,
        times: np.ndarray | None = None,
    ) -> DiGraph:
        """The graph with its notes, if it has any edge."""
        graph = DiGraph.from_arrays(s, t, nodes, names, weights, times)
        counts = {**self._left_out, "duplicates": len(s) - graph.num_edges, "bad_rows": self.bad_rows}
        kept = "first" if times is None else "earliest"
        notes = ReadSummary(self.source, self.rows, **counts, remarks=tuple(self.remarks), kept=kept)
        if not graph.num_edges:
            why = "; ".join(notes.lines()) or "there are none in it"
            raise ValueError(f"{self.source}: no edges between different nodes: {why}")
        return dataclasses.replace(graph, notes=notes)

    def _joined(self, rank: np.ndarray | None = None) -> Edges:
        """All batches as one, with the ranks of nodes for their numbers if these are given.

        Those of one end are let go before those of the next are joined.
        """
        batches, self._batches = self._batches, []
        if sum(len(batch[0]) for batch in batches) > MOST_EDGES:
            raise ValueError(f"{self.source}: {self.rows:,} edges; at most {MOST_EDGES:,} are possible")
        columns = [list(column) for column in zip(*batches, strict=True)]
        del batches
        s, t = (_take(rank, columns.pop(0)) for _ in range(2))
        weights, times = (None if column[0] is None else np.concatenate(column) for column in columns)
        return s, t, weights, times

    def _is_dense(self) -> bool:
        """Whether a table with a row for every small id is worth its memory."""
        listed = self._whole_nodes()
        top = max(self._top, int(listed.max(initial=0)))
        return bool(listed.min(initial=0) >= 0 and top < max(2 * self.rows, 2**20))

    def _whole_nodes(self) -> np.ndarray:
        """Listed nodes as numbers, where the edges are between numbers."""
        import polars as pl

        if self.nodes is None:
            return np.zeros(0, np.int32)
        texts = self.nodes.cast(pl.String)
        wrong = texts.filter(~texts.str.contains(WHOLE))
        if len(wrong):
            raise ValueError(
                f"nodes: {show(wrong[0])} is no whole number, but the nodes of {self.source} are"
            )
        return texts.cast(int).to_numpy()


def compact(s: np.ndarray, t: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ends numbered by the rank of their id, and the ids of all in ascending order; ids are small and ≥ 0."""
    parts = (s, t, nodes)
    seen = np.zeros(1 + max(int(part.max(initial=0)) for part in parts), bool)
    for part in parts:
        seen[part] = True
    ids = np.flatnonzero(seen)
    if len(ids) == len(seen):
        return s, t, ids
    rank = np.cumsum(seen, dtype=np.int32) - np.int32(1)
    return rank[s], rank[t], ids


def name_numbers(ids: np.ndarray) -> NameTuple | NumberColumn | None:
    """Names for nodes whose ids are these, in ascending order; none if the ids are 0 … n − 1."""
    if ids[0] == 0 and ids[-1] == len(ids) - 1:
        return None
    return NameTuple(ids.tolist()) if len(ids) <= SMALL else NumberColumn(ids)


def name_texts(names: pl.Series) -> NameTuple | NameColumn:
    """Names that are texts."""
    return NameTuple(names.to_list()) if len(names) <= SMALL else NameColumn(names)


def name_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """id → name: the label where it is the only one like it, else the label with the id."""
    seen = Counter(labels.values())
    names = {key: x if x and seen[x] == 1 else f"{x} ({key})".strip() for key, x in labels.items()}
    if len(set(names.values())) != len(names):
        raise ValueError("labels: two nodes have the same label; leave labels away")
    return names


def _take(values: np.ndarray | None, parts: Sequence[np.ndarray]) -> np.ndarray:
    """All parts as one; the values at these places, if there are any."""
    if values is None:
        return np.concatenate(parts)
    found = np.empty(sum(map(len, parts)), values.dtype)
    ends = np.cumsum([len(part) for part in parts])

    def fill(i: int) -> None:
        values.take(parts[i], mode="clip", out=found[ends[i] - len(parts[i]) : ends[i]])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(fill, range(len(parts))))
    return found


def _small(sources: pl.Series, targets: pl.Series) -> tuple[np.ndarray, np.ndarray] | None:
    """Ids in 32 bits, or None if they do not fit or are negative."""
    ends = sources.to_numpy(), targets.to_numpy()
    if any(x.size and (x.min() < 0 or x.max() >= 2**31) for x in ends):
        return None
    return ends[0].astype(np.int32), ends[1].astype(np.int32)
