"""Some edges of a graph to learn again; all edges of the graph still reject negatives."""

from __future__ import annotations

import dataclasses

import jax
from jaxtyping import Array, Int

from timelike.engine.padded_edges import OfTable
from timelike.engine.sampling import Nodes


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Lessons(OfTable):
    """The edges `ids` of a table."""

    ids: Int[Array, "lessons"]

    @property
    def num_edges(self) -> int:
        """Number of edges to learn: there is no padding."""
        return self.ids.shape[0]

    count = num_edges

    def edges(self, ids: Nodes) -> tuple[Nodes, Nodes, Array]:
        """Sources, targets and weights of lessons by number."""
        return self.table.edges(self.ids[ids])
