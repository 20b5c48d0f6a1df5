"""Some edges of a graph to learn again; all edges of the graph still reject negatives."""

from __future__ import annotations

import dataclasses

import jax
from jaxtyping import Array, Bool, Int

from timelike.engine.sampling import EdgeTable, Nodes, Pools
from timelike.engine.table_rows import Places


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Lessons:
    """The edges `ids` of a table, as an `EdgeSource`."""

    table: EdgeTable
    ids: Int[Array, "lessons"]

    @property
    def num_edges(self) -> int:
        """Number of edges to learn: there is no padding."""
        return self.ids.shape[0]

    count = num_edges

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.table.num_nodes

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
        """Nothing: no step moves every node."""
        return self.table.places

    def edges(self, ids: Nodes) -> tuple[Nodes, Nodes, Array]:
        """Sources, targets and weights of lessons by number."""
        return self.table.edges(self.ids[ids])

    def contains(self, sources: Nodes, targets: Nodes) -> Bool[Array, "*shape"]:
        """Whether each pair is an edge of the whole graph."""
        return self.table.contains(sources, targets)

    below, asking = EdgeTable.below, EdgeTable.asking
