"""Training edges behind a Bloom filter: on a GPU, and for edges that are streamed in parts.

Reading one number at a random address takes as long as reading two, so both ends of an edge lie side by side;
and the membership test is one lookup in a `bloom_filter` instead of a binary search.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from timelike.core.hashed_random import at
from timelike.engine.bloom_filter import Words, add_members, has_member, no_members
from timelike.engine.edge_source import STATIC, Nodes
from timelike.engine.hubs import Places
from timelike.engine.sampling import EdgeTable, degrees_of, weights_of
from timelike.graphs.digraph import DiGraph


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class FilteredEdges:
    """All edges on the device, or a part of them.

    All parts have the same length: the first `count` edges are their own, the rest is padding that is never
    a positive. The filter holds the edges of all parts.
    """

    pairs: Int[Array, "edges 2"]
    count: Int[Array, ""]
    weights: Array
    words: Words
    active_sources: Int[Array, "active_sources"]
    active_targets: Int[Array, "active_targets"]
    places: Places
    listed_sources: Int[Array, "listed"]
    listed_targets: Int[Array, "listed"]
    num_nodes: int = dataclasses.field(metadata=STATIC)
    draws: int = dataclasses.field(metadata=STATIC)

    @classmethod
    def of(cls, table: EdgeTable, graph: DiGraph, rows_at_once: int) -> FilteredEdges:
        """The edges of a graph that are on the device, for kernels whose steps touch `rows_at_once` rows."""
        return cls(
            pairs=side_by_side(table.sources, table.targets),
            count=jnp.asarray(table.num_edges, jnp.int32),
            weights=table.weights,
            words=add_members(no_members(table.num_edges), table.sources, table.targets),
            active_sources=table.active_sources,
            active_targets=table.active_targets,
            places=Places.for_steps(degrees_of(graph), rows_at_once),
            listed_sources=table.listed_sources,
            listed_targets=table.listed_targets,
            num_nodes=table.num_nodes,
            draws=table.draws,
        )

    @property
    def num_edges(self) -> int:
        """Number of edges, including padding."""
        return self.pairs.shape[0]

    def edges(self, ids: Nodes) -> tuple[Nodes, Nodes, Array]:
        """Sources, targets and weights of edges by number."""
        sources, targets = jnp.moveaxis(at(self.pairs, ids), -1, 0)
        return sources, targets, weights_of(self.weights, ids)

    below, asking = EdgeTable.below, EdgeTable.asking

    def contains(self, sources: Nodes, targets: Nodes) -> Bool[Array, "*shape"]:
        """Whether each pair counts as an edge; about one non-edge in 150 does."""
        return has_member(self.words, sources, targets)


@jax.jit
def side_by_side(sources: Int[Array, "edges"], targets: Int[Array, "edges"]) -> Int[Array, "edges 2"]:
    """Both ends of every edge in a row."""
    return jnp.stack([sources, targets], axis=1)
