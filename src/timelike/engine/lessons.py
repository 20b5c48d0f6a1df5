"""Some edges of a graph to learn again; all edges of the graph still reject negatives.

All arrays have room for more, so that updates of a growing graph share one compiled program.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from timelike.engine.padded_edges import OfTable, PaddedEdges, Room
from timelike.engine.sampling import EdgeTable, Nodes

#: Lengths of up to this number of bits are rounded up to a power of two, longer ones by an eighth of one.
SHORT = 14


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Lessons(OfTable):
    """`count` edges of a table, by number, between `nodes` nodes; padding comes last."""

    ids: Int[Array, "lessons"]
    count: Int[Array, ""]
    nodes: Int[Array, ""]

    @classmethod
    def of(cls, table: EdgeTable, ids: np.ndarray) -> Lessons:
        """The edges `ids` of a table, in which room is made for more edges and nodes."""
        edges, sources, targets = map(roomy, (table.num_edges, *map(len, table.pools[:2])))
        halvings, draws = 2 * (1 + table.halvings // 2), 1 << (table.draws - 1).bit_length()
        padded = PaddedEdges.of(table, Room(edges, sources, targets, halvings, draws)).table
        more = roomy(table.num_nodes) - table.num_nodes
        padded = dataclasses.replace(padded, row_starts=jnp.pad(table.row_starts, (0, more), mode="edge"))
        held = np.resize(ids, roomy(len(ids)))
        return cls(padded, *(jnp.asarray(x, jnp.int32) for x in (held, len(ids), table.num_nodes)))

    @property
    def num_edges(self) -> int:
        """Number of edges to learn, including padding."""
        return self.ids.shape[0]

    @property
    def num_nodes(self) -> Any:
        """Number of nodes without padding."""
        return self.nodes

    def edges(self, ids: Nodes) -> tuple[Nodes, Nodes, Array]:
        """Sources, targets and weights of lessons by number."""
        return self.table.edges(self.ids[ids])


def roomy(count: int) -> int:
    """A length with room for a little more."""
    bits = max(count - 1, 0).bit_length()
    step = 1 << (bits if bits <= SHORT else bits - 3)
    return -(-count // step) * step
