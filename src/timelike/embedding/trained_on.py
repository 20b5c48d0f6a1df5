"""The training data that is kept with a model, for predictions and evaluations that exclude known edges.

In a model folder it is `edges.parquet`, with one row per pair: `source` and `target` by number, and `part`:
"train" (a training edge), "valid" (a validation edge; after a refit it occurs as "train" too) or
"valid-non-edge". Weights and times of the training edges are in the columns `weight` and `time`, which are
empty for the other parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike._util.checks import show
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.graphs.digraph import DiGraph, checked_pairs, node_numbers

if TYPE_CHECKING:
    import polars

PARTS = ("train", "valid", "valid-non-edge")


class TrainedOn:
    """The training graph, and the validation pairs if there were any."""

    def __init__(self, graph: DiGraph, valid: LabelledPairs | None = None):
        self.graph, self.valid = graph, valid

    @cached_property
    def known(self) -> DiGraph:
        """All known edges, of training and validation, without weights."""
        return self.graph.with_edges(self._parts()[1])

    @cached_property
    def before(self) -> DiGraph:
        """The training edges that are not validation edges, without weights.

        For a refitted model, these are the edges that it had seen when validation selected it.
        """
        edges = self.graph.pairs
        if self.valid is not None:
            s, t = self.valid.positives.T
            held = DiGraph.from_arrays(s, t, self.graph.num_nodes)
            edges = edges[~held.has_edges(*edges.T)]
        return DiGraph.from_arrays(edges[:, 0], edges[:, 1], self.graph.num_nodes, self.graph.names)

    def grown(self, rows: Sequence[tuple], nodes: int, names: Any) -> TrainedOn:
        """Add edges, pairs of names or triples with a weight, in a graph of `nodes` nodes."""
        new = [node_numbers([row[end] for row in rows], nodes, names, "edges") for end in (0, 1)]
        weights = None
        if self.graph.weights is not None or any(len(row) > 2 for row in rows):
            weights = np.array([row[2] if len(row) > 2 else 1.0 for row in rows], np.float32)
        return TrainedOn(self.graph.with_edges(np.stack(new, axis=1), nodes, names, weights), self.valid)

    def _parts(self) -> list[np.ndarray]:
        """The (n, 2) arrays of `PARTS`."""
        train = self.graph.pairs
        if self.valid is None:
            return [train, train[:0], train[:0]]
        return [train, self.valid.positives, self.valid.negatives]

    def to_frame(self) -> polars.DataFrame:
        """The table that is saved."""
        import polars as pl

        parts = self._parts()
        pairs = np.concatenate(parts).astype(np.int32)
        names = np.repeat(PARTS, [len(part) for part in parts])
        columns = {"source": pairs[:, 0], "target": pairs[:, 1]}
        table = pl.DataFrame({**columns, "part": pl.Series(names.tolist(), dtype=pl.Enum(PARTS))})
        more = {"weight": self.graph.weights, "time": self.graph.times}
        extra = [pl.Series(name, values) for name, values in more.items() if values is not None]
        return table.with_columns(column.extend_constant(None, len(pairs) - len(column)) for column in extra)

    @classmethod
    def from_frame(cls, table: polars.DataFrame, nodes: int, names: Any) -> TrainedOn:
        """Read and check a table from `to_frame`, for a model with `nodes` nodes."""
        columns = ("source", "target", "part")
        if tuple(x for x in table.columns if x not in ("weight", "time")) != columns:
            raise ValueError(f"the columns are {', '.join(table.columns)}; they must be {', '.join(columns)}")
        part = table["part"].cast(str)
        wrong = part.filter(~part.is_in(PARTS).fill_null(False))
        if len(wrong):
            raise ValueError(f"part is {show(wrong[0])}; it must be one of {', '.join(PARTS)}")
        ends = table.select("source", "target")
        train, valid, non_edges = (
            checked_pairs(ends.filter(part == name).to_numpy(), nodes, name) for name in PARTS
        )
        learned = table.filter(part == "train")
        more = [learned[x].to_numpy() if x in table.columns else None for x in ("weight", "time")]
        graph = DiGraph.from_arrays(train[:, 0], train[:, 1], nodes, names, *more)
        held_out = LabelledPairs.build(valid, non_edges) if len(valid) + len(non_edges) else None
        return cls(graph, held_out)
