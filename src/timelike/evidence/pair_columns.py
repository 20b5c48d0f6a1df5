"""The interface of evidence: a kind of evidence prepares itself from a graph, as named numbers of pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Protocol

import numpy as np

from timelike._util.progress import within_stage
from timelike.graphs.digraph import DiGraph

#: Pairs of a `block`.
BLOCK = 1 << 18


class Term(Protocol):
    """One number for a pair of nodes.

    A term that sees the edge s → t itself also has `without_edge(values, sources, targets)`: what the values
    of edges of the graph would be without them.
    """

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The value of each pair."""

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """The values of all pairs from these sources, (sources, nodes)."""


class Prepared(Protocol):
    """Evidence about the pairs of a graph."""

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each number."""

    @property
    def groups(self) -> tuple[str, ...]:
        """What each number is about."""

    def features(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The numbers of each pair, (pairs, numbers), without its own edge."""

    def block(self, sources: np.ndarray) -> np.ndarray:
        """The numbers of all pairs from these sources, (sources, nodes, numbers)."""


class Evidence(Protocol):
    """Anything that says something about pairs: edges, expression, features, another tool's scores."""

    def prepare(self, graph: DiGraph) -> Prepared:
        """What it says about the pairs of a graph; it may read the edges of this graph, and no others."""


@dataclasses.dataclass(frozen=True, eq=False)
class Columns:
    """Evidence as a table: `terms` is name → what the number is about, and the `Term` that computes it."""

    graph: DiGraph
    terms: Mapping[str, tuple[str, Term]]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of `features`."""
        return tuple(self.terms)

    @property
    def groups(self) -> tuple[str, ...]:
        """What each column is about."""
        return tuple(group for group, _ in self.terms.values())

    def features(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """One row of numbers per pair, (pairs, columns), each without the edge between the two."""
        out = np.empty((len(sources), len(self.terms)), np.float32)
        own = np.flatnonzero(self.graph.has_edges(sources, targets))
        for column, (_, term) in enumerate(within_stage(self.terms.values(), "counting", unit="number")):
            values = np.asarray(term.score(sources, targets))
            if len(own) and hasattr(term, "without_edge"):
                values = values.copy()
                values[own] = term.without_edge(values[own], sources[own], targets[own])
            out[:, column] = values
        return out

    def block(self, sources: np.ndarray) -> np.ndarray:
        """The features of all pairs from these sources, (sources, nodes, columns).

        For edges of the graph they include the edge itself: for rankings, which leave known edges out.
        """
        out = np.empty((len(sources), self.graph.num_nodes, len(self.terms)), np.float32)
        for column, (_, term) in enumerate(self.terms.values()):
            out[:, :, column] = term.rows(sources)
        return out
