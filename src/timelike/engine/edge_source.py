"""The interface between the sampler and the training edges.

Three classes provide it: `sampling.EdgeTable` holds all edges, `filtered_edges.FilteredEdges` all or a part
of them behind a Bloom filter, and `distributed.sharded_edges.SharedEdges` exchanges edges between processes.
"""

from __future__ import annotations

from typing import Protocol

from jaxtyping import Array, Bool, Int, Key

from timelike.engine.hubs import Places

Nodes = Int[Array, "*shape"]

#: Metadata of a dataclass field that is static in a compiled program.
STATIC = {"static": True}


class EdgeSource(Protocol):
    """Training edges by number, and the membership test that rejects candidate negatives."""

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""

    @property
    def num_edges(self) -> int:
        """Number of edges, including padding."""

    @property
    def count(self) -> Int[Array, ""] | int:
        """Number of edges without padding, which comes last."""

    @property
    def draws(self) -> int:
        """How often a negative is drawn before it is left out."""

    @property
    def active_sources(self) -> Int[Array, "active_sources"]:
        """Nodes with outgoing edges; empty unless a kind of negatives draws from them."""

    @property
    def active_targets(self) -> Int[Array, "active_targets"]:
        """Nodes with incoming edges; empty unless a kind of negatives draws from them."""

    @property
    def listed_sources(self) -> Int[Array, "listed"]:
        """Sources of the listed pairs to draw negatives from."""

    @property
    def listed_targets(self) -> Int[Array, "listed"]:
        """Targets of the listed pairs."""

    def edges(self, ids: Nodes) -> tuple[Nodes, Nodes, Array]:
        """Sources, targets and weights of edges by number."""

    def contains(self, sources: Nodes, targets: Nodes) -> Bool[Array, "*shape"]:
        """Whether each pair is rejected as an edge."""

    def below(self, key: Key[Array, ""], shape: tuple[int, ...], bound: int) -> Nodes:
        """Random integers in [0, bound)."""

    def asking(self, asked: Bool[Array, "*shape"], numbers: Nodes) -> Nodes:
        """Numbers to look up: those where `asked`; elsewhere any that are cheap to look up."""


class LocalEdges(EdgeSource, Protocol):
    """Edges in the memory of one process, which also know their hubs."""

    @property
    def places(self) -> Places:
        """Where the gradients of each node are summed."""
