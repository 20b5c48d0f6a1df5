"""From columns of names to a `DiGraph`: the one place that numbers nodes and decides what is left out.

Texts that are all plain whole numbers (`7`, `-3`, not `007`) are whole numbers. Whole numbers are
put in ascending order, and are no names at all if they are 0 … n − 1; other names keep the order in
which they are first seen, listed nodes first.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.checks import show
from timelike.graph import MOST_EDGES, DiGraph
from timelike.io.numbering import Numbering
from timelike.io.summary import ReadSummary
from timelike.names import NameColumn, NameTuple, NumberColumn

if TYPE_CHECKING:
    import polars as pl

#: Up to here names are Python objects in a tuple, beyond it a column.
SMALL = 2**17
WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"


class Builder:
    """Collects edges batch by batch; rows that cannot be read raise an error, or are counted."""

    def __init__(self, source: str, nodes: pl.Series | None = None, skip_bad_rows: bool = False):
        self.source, self.nodes, self.skip_bad_rows = source, nodes, skip_bad_rows
        self.remarks: list[str] = []
        self.rows = self.bad_rows = 0
        self._numbering: Numbering | None = None
        self._ends: list[tuple[np.ndarray, np.ndarray]] = []
        self._weights: list[np.ndarray] = []

    def bad(self, where: str, why: str, seen: Any) -> None:
        """Refuse a row, or count it."""
        if not self.skip_bad_rows:
            raise ValueError(
                f"{self.source}, {where}: {why}; the text is {show(seen)} (skip_bad_rows leaves such rows out)"
            )
        self.bad_rows += 1

    def add(self, sources: pl.Series, targets: pl.Series, weights: np.ndarray | None = None) -> None:
        """Edges between names, either all text or all whole numbers."""
        import polars as pl

        self.rows += len(sources)
        if sources.dtype == pl.String:
            if self._numbering is None:
                self._numbering = Numbering()
                if self.nodes is not None:
                    self._numbering.number([self.nodes.cast(pl.String)])
            ends = self._numbering.number([sources, targets])
            self._ends.append((ends[:, 0].copy(), ends[:, 1].copy()))
        else:
            self._ends.append((_narrow(sources.to_numpy()), _narrow(targets.to_numpy())))
        if weights is not None:
            self._weights.append(weights)

    def finish(self) -> DiGraph:
        """The graph of all that was added."""
        if not self.rows:
            more = f" but {self.bad_rows:,} malformed rows" if self.bad_rows else ""
            raise ValueError(f"{self.source}: there are no edges in it{more}")
        if self.rows > MOST_EDGES:
            raise ValueError(f"{self.source}: {self.rows:,} edges; at most {MOST_EDGES:,} are possible")
        ends = self._taken()
        weights = np.concatenate(self._weights) if self._weights else None
        if self._numbering is None:
            s, t, ids = compact(*ends, None if self.nodes is None else self._whole_nodes())
            return self.clean(s, t, len(ids), name_numbers(ids), weights)
        names = self._numbering.names()
        self._numbering = None
        if not names.str.contains(WHOLE).all():
            return self.clean(*ends, len(names), name_texts(names), weights)
        s, t, ids = _in_order(*ends, names.cast(int).to_numpy())
        return self.clean(s, t, len(ids), name_numbers(ids), weights)

    def list_nodes(self, names: pl.Series) -> None:
        """Nodes that the source lists itself come before those that the caller listed."""
        import polars as pl

        self.nodes = names if self.nodes is None else pl.concat([names, self.nodes.cast(pl.String)])

    def numbered(
        self, s: np.ndarray, t: np.ndarray, nodes: int, weights: np.ndarray | None = None
    ) -> DiGraph:
        """The graph of a source whose nodes are 0 … `nodes` − 1 by definition."""
        if self.nodes is not None:
            raise ValueError(f"nodes has no meaning for {self.source}, which says how many there are")
        for end in (s, t):
            wrong = end[(end < 0) | (end >= nodes)]
            if wrong.size:
                raise ValueError(
                    f"{self.source}: there is a node {wrong[0]}, counted from 0; there are only {nodes:,}"
                )
        return self.clean(s, t, nodes, None, weights)

    def whole_numbers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Both ends of all edges, given as text, as the whole numbers that they must be; and the weights."""
        if self._numbering is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), None
        names = self._numbering.names()
        wrong = names.filter(~names.str.contains(WHOLE))
        if len(wrong):
            raise ValueError(f"{self.source}: {show(wrong[0])} is no whole number; nodes of this format are")
        ids = names.cast(int).to_numpy()
        s, t = self._taken()
        return ids[s], ids[t], np.concatenate(self._weights) if self._weights else None

    def _taken(self) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of all edges; the batches are let go one end after the other."""
        batches, self._ends = self._ends, []
        sources = np.concatenate([s for s, _ in batches])
        ends = [t for _, t in batches]
        del batches
        return sources, np.concatenate(ends)

    def _whole_nodes(self) -> np.ndarray:
        """Listed nodes as numbers, where the edges are between numbers."""
        import polars as pl

        texts = self.nodes.cast(pl.String)  # type: ignore[union-attr]
        wrong = texts.filter(~texts.str.contains(WHOLE))
        if len(wrong):
            raise ValueError(
                f"nodes: {show(wrong[0])} is no whole number, but the nodes of {self.source} are"
            )
        return texts.cast(int).to_numpy()

    def clean(
        self, s: np.ndarray, t: np.ndarray, nodes: int, names: Any = None, weights: np.ndarray | None = None
    ) -> DiGraph:
        """The graph of numbered edges without those that policy leaves out, with a count of each kind."""
        rows, counts = len(s), dict[str, int]()
        wrong = {"self_loops": s == t}
        if weights is not None:
            with np.errstate(over="ignore"):
                weights = weights.astype(np.float32)
            wrong["missing_weights"] = ~np.isfinite(weights)
            wrong["negative_weights"] = weights < 0
            wrong["zero_weights"] = weights == 0
        out = np.zeros(rows, bool)
        for kind, mask in wrong.items():
            counts[kind] = int(np.count_nonzero(mask & ~out))
            out |= mask
        if out.any():
            s, t, weights = s[~out], t[~out], None if weights is None else weights[~out]
        del wrong, out
        graph = DiGraph.from_arrays(s, t, nodes, names, weights)
        counts["duplicates"] = len(s) - graph.num_edges
        notes = ReadSummary(self.source, rows, self.bad_rows, **counts, remarks=tuple(self.remarks))
        if not graph.num_edges:
            why = "; ".join(notes.lines()) or "there are none in it"
            raise ValueError(f"{self.source}: no edges between different nodes: {why}")
        return dataclasses.replace(graph, notes=notes)


def compact(
    s: np.ndarray, t: np.ndarray, nodes: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ends numbered by the rank of their id, and the ids in ascending order."""
    import polars as pl

    parts = [s, t] if nodes is None else [s, t, nodes]
    low = min(int(x.min()) for x in parts if x.size)
    high = max(int(x.max()) for x in parts if x.size)
    if low < 0 or high >= max(8 * s.size, 2**20):
        numbering = Numbering()
        if nodes is not None:
            numbering.number([pl.Series(nodes)])
        ends = numbering.number([pl.Series(s), pl.Series(t)])
        return _in_order(ends[:, 0], ends[:, 1], numbering.names().to_numpy())
    seen = np.zeros(high + 1, bool)
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


def _in_order(
    s: np.ndarray, t: np.ndarray, ids: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number nodes by the rank of their id rather than by first appearance."""
    order = np.argsort(ids)
    rank = np.empty(len(ids), np.int32)
    rank[order] = np.arange(len(ids), dtype=np.int32)
    return rank[s], rank[t], ids[order]


def _narrow(ids: np.ndarray) -> np.ndarray:
    """Ids in 32 bits where they fit."""
    fits = not ids.size or (ids.min() >= -(2**31) and ids.max() < 2**31)
    return ids.astype(np.int32) if fits else ids.astype(np.int64)
