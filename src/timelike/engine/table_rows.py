"""Read and write table rows by number, and sum gradients of nodes that are in several pairs of a batch.

Row numbers past the end are padding: reads return the last row, writes do nothing. Under `vmap` the tables
are laid end to end and the numbers shifted. XLA's own batched gather and scatter use a two-part index per
row, which costs several times as much on a CPU.

GPU threads that add to the same row wait for each other. A hub therefore has several rows (`Places`); its
gradients go to them in turn, and the rows are summed at the end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Float, Int

from timelike.engine.table_storage import narrow, wide

Rows = Int[Array, "rows"]
Table = Array

#: Number of hubs, and rows of each, if gradients are summed for every node.
HUBS, COPIES = 128, 32

#: The kernels of `gpu_step` follow the entries of a node in a batch one by one. A node with more than CROWD
#: expected entries is a hub, with MORE_COPIES rows; one with more than COMPANY is busy, with one row.
CROWD, MOST_HUBS, MORE_COPIES = 64, 512, 128
COMPANY, MOST_BUSY = 4, 32768


def _end_to_end_under_vmap(write: Callable[[Table, Rows, Array], Table]) -> Callable:
    """`write`, which `vmap` turns into one call on all tables laid end to end."""
    written = custom_vmap(write)

    @written.def_vmap
    def write_many(size: int, batched: list[bool], *arguments: Array) -> tuple[Table, bool]:
        table, rows, values = all_batched(size, batched, arguments)
        flat, numbers = _end_to_end(table, rows)
        return written(flat, numbers, values.reshape(-1, *values.shape[2:])).reshape(table.shape), True

    return written


@custom_vmap
def get_rows(table: Table, rows: Rows) -> Array:
    """The rows of a table with these numbers."""
    return table.at[rows].get(mode="clip", wrap_negative_indices=False)


@get_rows.def_vmap
def _get_many(size: int, batched: list[bool], table: Table, rows: Rows) -> tuple[Array, bool]:
    table, rows = all_batched(size, batched, (table, rows))
    # Padding reads the last row of its own table: another table may hold NaN, and NaN · 0 is not 0.
    flat, numbers = _end_to_end(table, jnp.minimum(rows, table.shape[1] - 1))
    return get_rows(flat, numbers).reshape(*rows.shape, *table.shape[2:]), True


@_end_to_end_under_vmap
def set_rows(table: Table, rows: Rows, values: Array) -> Table:
    """The table with rows replaced; repeated rows must get the same values."""
    return table.at[rows].set(values, mode="drop", wrap_negative_indices=False)


@_end_to_end_under_vmap
def add_rows(table: Table, rows: Rows, values: Array) -> Table:
    """The table with values added to rows; repeated rows get all their values."""
    return table.at[rows].add(values, mode="drop", wrap_negative_indices=False)


def _in_turn(merge: Callable[[Array, Array], Array], table: Table, rows: Rows, values: Array) -> Table:
    """`set_rows` or `add_rows`, one row after the other."""

    def write(i: Array, table: Table) -> Table:
        row = jnp.minimum(rows[i], len(table) - 1)
        old, new = (jax.lax.dynamic_slice_in_dim(x, at, 1) for x, at in ((table, row), (values, i)))
        new = jnp.where(rows[i] < len(table), merge(old, new), old)
        return jax.lax.dynamic_update_slice_in_dim(table, new, row, 0)

    return jax.lax.fori_loop(0, len(rows), write, table)


class Writing(NamedTuple):
    """How to replace rows and add to them."""

    set: Callable[[Table, Rows, Array], Table]
    add: Callable[[Table, Rows, Array], Table]


#: By a scatter; or by a loop, which is best in machine code and all that `in_one_kernel` supports.
AT_ONCE = Writing(set_rows, add_rows)
IN_TURN = Writing(partial(_in_turn, lambda old, new: new), partial(_in_turn, jnp.add))


def all_batched(size: int, batched: Any, arguments: Any) -> Any:
    """The arguments of a `custom_vmap` function, every array with the new leading axis."""
    return jax.tree.map(
        lambda x, has: x if has else jnp.broadcast_to(x, (size, *x.shape)), list(arguments), list(batched)
    )


def _end_to_end(tables: Array, rows: Int[Array, "size rows"]) -> tuple[Table, Rows]:
    size, length = tables.shape[:2]
    shift = length * jnp.arange(size, dtype=rows.dtype)[:, None]
    numbers = jnp.where(rows < length, rows + shift, size * length)
    return tables.reshape(size * length, *tables.shape[2:]), numbers.reshape(-1)


def first_entries(rows: Int[Array, "steps rows"]) -> Int[Array, "steps rows"]:
    """For every entry the first entry of its step with the same row, by comparing all pairs."""
    entries = jnp.arange(rows.shape[1], dtype=rows.dtype)
    same = rows[:, :, None] == rows[:, None, :]
    return jnp.min(jnp.where(same, entries, rows.shape[1]), axis=2)


def sum_repeated(
    slots: Int[Array, "nodes"],
    rows: Rows,
    values: Float[Array, "rows ambient"],
    first: Rows | None = None,
    writing: Writing = AT_ONCE,
) -> tuple[Int[Array, "nodes"], Int[Array, "own"], Float[Array, "own ambient"]]:
    """Sum `values` over all entries of `rows` with the same row: (scratch space, rows, sums).

    Each row occurs once; unused places have a number past the end of the table, where nothing is written.
    With no more nodes than entries, the result has a place per node, in order. Otherwise it has a place per
    entry: `slots`, one number per node, points each row at one of its entries, which collects the sum. That
    needs no sort, no table-sized buffer and no reset. If that entry is known already, pass it as `first`.
    """
    nodes = slots.shape[0]
    if nodes <= rows.shape[0]:
        touched = writing.set(jnp.zeros(nodes, bool), rows, jnp.ones(rows.shape, bool))
        own = jnp.where(touched, jnp.arange(nodes, dtype=rows.dtype), nodes)
        return slots, own, writing.add(jnp.zeros((nodes, *values.shape[1:]), values.dtype), rows, values)
    entries = jnp.arange(rows.shape[0], dtype=slots.dtype)
    if first is None:
        slots = writing.set(slots, rows, entries)
        first = get_rows(slots, rows)
    own = jnp.where((first == entries) & (rows < nodes), rows, nodes)
    return slots, own, writing.add(jnp.zeros_like(values), first, values)


def get_state(state: Any, own: Int[Array, "own"]) -> Any:
    """The optimiser state of the rows from `sum_repeated`: tables are indexed, counters shared."""

    def get(x: Array) -> Array:
        some = x.ndim == 2 and own.shape[0] < len(x)
        return wide(get_rows(x, own) if some else x)

    return jax.tree.map(get, state)


def put_state(
    state: Any, own: Int[Array, "own"], new: Any, salt: Float[Array, "own"], writing: Writing = AT_ONCE
) -> Any:
    """The optimiser state with these rows replaced."""
    return jax.tree.map(lambda x, y: put_rows(x, own, y, salt, writing) if x.ndim == 2 else y, state, new)


def put_rows(
    table: Table, own: Int[Array, "own"], values: Array, salt: Float[Array, "own"], writing: Writing = AT_ONCE
) -> Table:
    """The table with the rows from `sum_repeated` replaced; for `salt` see `table_storage.narrow`."""
    values = narrow(values, table.dtype, salt[:, None])
    if own.shape[0] < table.shape[0]:
        return writing.set(table, own, values)
    return jnp.where((own < table.shape[0])[:, None], values, table)


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
    def of(cls, degrees: np.ndarray, hubs: int = HUBS, busy: int = 0, copies: int = COPIES) -> Places:
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
