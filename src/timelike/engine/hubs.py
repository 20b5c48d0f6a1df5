"""Where to sum the gradients of nodes that are in many pairs of a batch.

GPU threads that add to the same row wait for each other. A hub therefore has several rows; its gradients go
to them in turn, and the rows are summed at the end.
"""

from __future__ import annotations

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from timelike.engine.table_rows import Rows, add_rows, get_rows

#: Number of hubs, and rows of each, if gradients are summed for every node.
HUBS, COPIES = 128, 32

#: The kernels of `gpu_step` follow the entries of a node in a batch one by one. A node with more than CROWD
#: expected entries is a hub, with MORE_COPIES rows; one with more than COMPANY is busy, with one row.
CROWD, MOST_HUBS, MORE_COPIES = 64, 512, 128
COMPANY, MOST_BUSY = 4, 32768


@partial(jax.tree_util.register_dataclass, data_fields=["of_node"], meta_fields=["hubs", "busy", "copies"])
@dataclasses.dataclass(frozen=True)
class Places:
    """Where the gradients of each node are summed: in its own row, or in rows past the last node.

    Past the last node come the hubs, with `copies` rows each, then the busy nodes. Without either, `of_node`
    is empty.
    """

    of_node: Int[Array, "nodes"]
    hubs: int = 0
    busy: int = 0
    copies: int = COPIES

    @property
    def size(self) -> int:
        """Number of rows past the last node."""
        return self.hubs * self.copies + self.busy

    def by_turns(self, place: Int[Array, "entries"], entry: Int[Array, "entries"]) -> Int[Array, "entries"]:
        """The row of every entry past the last node: a hub has several. Negative: the node's own row."""
        of_hub = (place >= 0) & (place < self.hubs * self.copies)
        return jnp.where(of_hub, place + entry % self.copies, place)

    @classmethod
    def none(cls) -> Places:
        """Every node uses its own row."""
        return cls(jnp.zeros(0, jnp.int32))

    @classmethod
    def of(cls, degrees: np.ndarray, hubs: int, busy: int = 0, copies: int = COPIES) -> Places:
        """The nodes of highest degree become the hubs, and the next ones the busy nodes."""
        most, count = np.arange(len(degrees)), hubs + busy
        if len(degrees) > count:  # ties go to the first
            least = np.partition(degrees, len(degrees) - count)[len(degrees) - count]
            above, equal = np.flatnonzero(degrees > least), np.flatnonzero(degrees == least)
            most = np.sort(np.concatenate([above, equal[: count - len(above)]]))
        most = most[np.argsort(-degrees[most], kind="stable")]
        places, rank = np.arange(len(degrees)), np.arange(len(most))
        places[most] = len(degrees) + np.where(rank < hubs, copies * rank, hubs * (copies - 1) + rank)
        return cls(jnp.asarray(places, jnp.int32), hubs, busy, copies)

    @classmethod
    def for_steps(cls, degrees: Int[np.ndarray, "2 nodes"], rows: int) -> Places:
        """With the hubs and busy nodes to expect in steps on this number of rows."""
        both = degrees.sum(axis=0)
        expected = both * (rows / max(int(both.sum()), 1))
        hubs, busy = (int(np.count_nonzero(expected > least)) for least in (CROWD, COMPANY))
        hubs = min(hubs, MOST_HUBS)
        return cls.of(both, hubs, min(busy - hubs, MOST_BUSY), MORE_COPIES) if hubs else cls.none()

    @classmethod
    def for_every_node(cls, degrees: Int[np.ndarray, "2 nodes"]) -> Places:
        """For `sum_by_node`: the nodes of highest degree are hubs."""
        return cls.of(degrees.sum(axis=0), HUBS)

    def sums_of_hubs(
        self, nodes: Int[Array, "places"], sums: Float[Array, "places ambient"]
    ) -> tuple[Int[Array, "all"], Float[Array, "all ambient"]]:
        """The node and the summed gradient of every hub and busy node.

        Rows that nothing was added to have a node number past the last.
        """
        rows = self.hubs * self.copies
        first, rest = (x[:rows].reshape(self.hubs, self.copies, *x.shape[1:]) for x in (nodes, sums))
        return (
            jnp.concatenate([first.min(axis=1), nodes[rows:]]),
            jnp.concatenate([rest.sum(axis=1), sums[rows:]]),
        )


def sum_by_node(
    places: Places, rows: Rows, values: Float[Array, "rows ambient"]
) -> Float[Array, "nodes ambient"]:
    """Sum `values` over all entries of `rows` with the same row, for every node; 0 without entries."""
    of_node, entry = places.of_node, jnp.arange(rows.shape[0], dtype=places.of_node.dtype)
    nodes = of_node.shape[0]
    size = nodes + places.size
    where = nodes + places.by_turns(get_rows(of_node, rows) - nodes, entry)
    where = jnp.where(rows < nodes, where, size)
    sums = add_rows(jnp.zeros((size, *values.shape[1:]), values.dtype), where, values)
    of_hubs = jnp.sum(sums[nodes:].reshape(places.hubs, places.copies, -1), axis=1)
    of_hub = get_rows(of_hubs, jnp.maximum(of_node - nodes, 0) // places.copies)
    return jnp.where((of_node < nodes)[:, None], sums[:nodes], of_hub)
