"""Edges with room for more, so that graphs of nearly the same size share one compiled program.

A program is compiled for the lengths of its arrays, and compiling takes longer than training on a small
graph. The parts of a cross-validation differ by a few edges, and by nodes that lost their last edge: their
tables are padded to common lengths.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from timelike.engine.negatives import Negatives
from timelike.engine.sampling import EdgeTable, Nodes, Pools
from timelike.engine.table_rows import Places
from timelike.graphs.digraph import DiGraph


class Room(NamedTuple):
    """Lengths of the arrays of a table, and what else its program is compiled for."""

    edges: int
    active_sources: int
    active_targets: int
    halvings: int
    draws: int

    @classmethod
    def of(cls, graphs: Iterable[DiGraph], kinds: Negatives) -> Room:
        """The smallest room in which each of the graphs fits, with what these negatives need."""
        each = [cls._of(EdgeTable.build(one, kinds=kinds)) for one in graphs]
        return cls(*(max(lengths) for lengths in zip(*each, strict=True)))

    @classmethod
    def _of(cls, table: EdgeTable) -> Room:
        sources, targets = (len(pool) for pool in table.pools[:2])
        return cls(table.num_edges, sources, targets, table.halvings, table.draws)


@dataclasses.dataclass(frozen=True)
class OfTable:
    """Edges of a table, as an `EdgeSource`: all but their number and how they are counted is the table's."""

    table: EdgeTable

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.table.num_nodes

    @property
    def num_edges(self) -> int:
        """Number of edges, including padding."""
        return self.table.num_edges

    @property
    def draws(self) -> int:
        """How often a negative is drawn before it is left out."""
        return self.table.draws

    @property
    def pools(self) -> Pools:
        """The nodes and pairs that some kinds of negatives draw from."""
        return self.table.pools

    @property
    def places(self) -> Places:
        """Where `sum_by_node` adds up gradients."""
        return self.table.places

    below, asking = EdgeTable.below, EdgeTable.asking

    def edges(self, ids: Nodes) -> tuple[Nodes, Nodes, Array]:
        """Sources, targets and weights of edges by number."""
        return self.table.edges(ids)

    def contains(self, sources: Nodes, targets: Nodes) -> Bool[Array, "*shape"]:
        """Whether each pair is an edge of the table: padding never is."""
        return self.table.contains(sources, targets)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class PaddedEdges(OfTable):
    """The edges of a graph in a table with room for more; padding comes last and is no positive.

    The nodes that negatives are drawn from are repeated until the room is full.
    """

    count: Int[Array, ""]

    @classmethod
    def of(cls, table: EdgeTable, room: Room) -> PaddedEdges:
        """The same edges in this room, which must be large enough; listed pairs are not padded."""
        sources, targets, weights = (
            _filled(x, room.edges) for x in (table.sources, table.targets, table.weights)
        )
        active_sources, active_targets = (
            _filled(pool, length)
            for pool, length in zip(table.pools[:2], (room.active_sources, room.active_targets), strict=True)
        )
        padded = dataclasses.replace(
            table,
            sources=sources,
            targets=targets,
            weights=weights,
            pools=Pools(active_sources, active_targets, *table.pools[2:]),
            halvings=max(room.halvings, table.halvings),
            draws=max(room.draws, table.draws),
        )
        return cls(padded, jnp.asarray(table.num_edges, jnp.int32))


def _filled(values: Array, length: int) -> Array:
    """The values, repeated from the first on up to a length; none stay none."""
    if not len(values) or len(values) >= length:
        return values
    return jnp.asarray(np.resize(np.asarray(values), length))
