"""A step on a GPU in three kernels: pairs become gradients, those of a node are added up, rows move.

XLA reads and writes the rows of a batch about ten times between its gather and its scatter, and adds up
repeated nodes with an atomic addition for every number. Here each row is read once for its pair and once,
with its optimiser state, to be moved; it lies beside that state in one table, since a memory answers few
long requests faster than many short ones. The kernels (Pallas, through Triton) are for flat spaces, where
a pair is seen by its time difference and by the sum of squares of the others.
"""

from __future__ import annotations

from functools import partial, reduce
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Float, Int

from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import Cylinder, Flat
from timelike.manifolds.base import Separation
from timelike.model import Model
from timelike.numerics import difference, log1mexp
from timelike.optimizers import MAX_STEP, Step, shorten
from timelike.storage import narrow, wide
from timelike.tables import COPIES, HUBS, get_rows, set_rows

Nodes = Int[Array, "entries"]
Slots = Int[Array, "slots"]
PerPair = Float[Array, "pairs batch"]
Rows = Float[Array, "entries ambient"]
Table = Float[Array, "nodes ambient"]
Packed = Float[Array, "nodes packed"]

#: Numbers that a block of threads holds of a table, and threads in it in units of 32: for every kernel, of
#: narrow and of wide tables; measured on an H200.
TILES = {
    "gradients": {16: (512, 8), 1024: (1024, 8)},
    "sums": {16: (512, 2), 1024: (1024, 2)},
    "move": {16: (128, 2), 1024: (1024, 4)},
}
#: Rows begin where the memory's shortest requests do, so many bytes apart.
REQUEST = 32


def fits(model: Model, dense: bool) -> bool:
    """Whether there are kernels for this model on this machine."""
    space = model.manifold.base if isinstance(model.manifold, Cylinder) else model.manifold
    flat = isinstance(space, Flat) and space.times <= 1
    known = type(model.likelihood) in LIKELIHOODS.values()
    return (
        flat
        and known
        and not dense
        and jax.default_backend() == "gpu"
        and not jax.config.read("jax_enable_x64")
    )


def no_slots(nodes: int) -> Slots:
    """Scratch space for `step`: a number for every node, and for every copy of a hub."""
    return jnp.zeros(nodes + HUBS * COPIES, jnp.int32)


def pack(points: Table, state: Any) -> tuple[Packed, Any]:
    """Points and the tables of an optimiser state side by side, and that state with empty tables."""
    tables = [points, *(x for x in jax.tree.leaves(state) if x.ndim == 2)]
    padding = -len(tables) * points.shape[1] % (REQUEST // points.dtype.itemsize)
    packed = jnp.concatenate([*tables, jnp.zeros((len(points), padding), points.dtype)], axis=1)
    return packed, jax.tree.map(lambda x: x[:0] if x.ndim == 2 else x, state)


def unpack(packed: Packed, state: Any, dim: int) -> tuple[Table, Any]:
    """The inverse of `pack`."""
    leaves, structure = jax.tree.flatten(state)
    parts = iter(range(dim, packed.shape[1], dim))
    leaves = [packed[:, (at := next(parts)) : at + dim] if x.ndim == 2 else x for x in leaves]
    return packed[:, :dim], jax.tree.unflatten(structure, leaves)


def step(
    model: Model,
    optimizer: optax.GradientTransformation,
    settings: Step,
    places: Int[Array, "nodes"],
    packed: Packed,
    state: Any,
    slots: Slots,
    ends: Nodes,
    weights: PerPair,
    interpret: bool = False,
) -> tuple[Packed, Any, Slots, PerPair, Float[Array, "entries"]]:
    """One minibatch: (table, state without tables, scratch space, log-likelihoods, gradient norms).

    `ends` are the sources of all pairs, then the targets; those past the last node are padding. `places`
    are of `tables.places_of`, or none where no node is in so many pairs that threads wait for it. A norm is
    NaN where an entry is padding or another one of the same node stands for it.
    """
    where, nodes = ends, packed.shape[0]
    if places.shape[0]:
        where = get_rows(places, ends)
        where = jnp.where(where < nodes, where, where + jnp.arange(len(ends), dtype=ends.dtype) % COPIES)
    where = jnp.where(ends < nodes, where, slots.shape[0])
    slots, log_likelihoods, covectors = _gradients(model, weights, packed, slots, ends, where, interpret)
    own, covectors = _sums(slots, ends, where, nodes, covectors, interpret)
    if places.shape[0]:
        slots, own, covectors = _sums_of_hubs(slots, ends, where, own, covectors, interpret)
    packed, state, norms = _move(optimizer, settings, packed, state, own, covectors, interpret)
    return packed, state, slots, log_likelihoods, norms


def _gradients(
    model: Model, weights: PerPair, packed: Packed, slots: Slots, ends: Nodes, where: Nodes, interpret: bool
) -> tuple[Slots, PerPair, Rows]:
    """As `objective.batch_loss` of the rows of `ends`; and one of the entries `where` a slot is, in it."""
    count, leaves, dim = ends.shape[0] // 2, jax.tree.leaves(model), model.manifold.ambient_dim
    slots, log_likelihoods, covectors = _call(
        partial(_gradients_kernel, jax.tree.structure(model), weights.shape[-1]),
        _Tile("gradients", dim),
        count,
        [
            jnp.stack([jnp.asarray(x, jnp.float32) for x in leaves]),
            ends,
            where,
            weights.reshape(-1),
            packed,
            slots,
        ],
        [_like(slots), _like(weights.reshape(-1)), jax.ShapeDtypeStruct((2 * count, dim), jnp.float32)],
        aliases={5: 0},
        interpret=interpret,
    )
    return slots, log_likelihoods.reshape(weights.shape), covectors


def _gradients_kernel(structure: Any, batch: int, tile: _Tile, *refs: Any) -> None:
    numbers, ends, where, weights, packed, _, slots, log_likelihoods, covectors = refs
    model = jax.tree.unflatten(structure, [numbers[i] for i in range(structure.num_leaves)])
    count = weights.shape[0]
    pairs, inside = tile.entries(count)
    s = triton.load(ends.at[pairs], mask=inside, other=0)
    t = triton.load(ends.at[count + pairs], mask=inside, other=0)
    weight = triton.load(weights.at[pairs], mask=inside, other=0.0)
    there = inside & (s < packed.shape[0])
    delta = tile.load(packed, t, there) - tile.load(packed, s, there)
    for entry in (pairs, count + pairs):
        slot = triton.load(where.at[entry], mask=inside, other=slots.shape[0])
        triton.store(slots.at[slot], entry, mask=there)
    time = jnp.sum(jnp.where(tile.axis == 0, delta, 0.0), axis=1)
    spaces = jnp.sum(jnp.where(tile.axis > 0, delta * delta, 0.0), axis=1)

    def loss(time: Array, spaces: Array) -> tuple[Array, Array]:
        as_edge, as_other = _log_probs(model, time, spaces)
        chosen = jnp.where(pairs < batch, as_edge, as_other)
        return -weight * chosen, chosen

    _, pull_back, chosen = jax.vjp(loss, time, spaces, has_aux=True)
    by_time, by_spaces = (slope[:, None] for slope in pull_back(jnp.ones_like(time)))
    of_target = jnp.where(tile.axis == 0, by_time, 2 * by_spaces * delta)
    triton.store(log_likelihoods.at[pairs], chosen, mask=inside)
    tile.store(covectors, pairs, -of_target, inside)
    tile.store(covectors, count + pairs, of_target, inside)


def _log_probs(model: Model, time: Array, spaces: Array) -> tuple[Array, Array]:
    """log F and log(1 − F) of pairs in a flat space, by Δt and the squares in space; images written out."""
    space, times = model.manifold, [time]
    if isinstance(space, Cylinder):
        turns = jax.lax.stop_gradient(jnp.floor(time / space.circumference + 0.5))
        nearest = time - turns * space.circumference
        times = [nearest + n * space.circumference for n in range(-space.images, space.images + 1)]
    if not model.likelihood.decays_in_time:
        times = times[len(times) // 2 :][:1]
    minus = difference if space.signature[0] else (lambda a, b: a + b)
    images = [Separation(minus(spaces, t**2), t) for t in times]
    if len(images) == 1:
        log_prob, log_prob_not = model.likelihood.log_probs(images[0])
    else:
        terms = [model.likelihood.log_prob(image) for image in images]
        top = jax.lax.stop_gradient(reduce(jnp.maximum, terms))
        log_prob = top + jnp.log(sum(jnp.exp(term - top) for term in terms))
        log_prob_not = log1mexp(log_prob)
    return jnp.where(log_prob > 0, 0.0, log_prob), log_prob_not


def _sums(
    slots: Slots, ends: Nodes, where: Nodes, nodes: int, covectors: Rows, interpret: bool
) -> tuple[Nodes, Rows]:
    """Add every row to that which its slot names, in place; and the nodes of those that are named, once each.

    Most rows are alone: they are neither read nor written. What is left over has a node past the last.
    """
    if interpret:  # knows no masked atomic addition
        entries, first = jnp.arange(len(ends)), get_rows(slots, where)
        there = ends < nodes
        covectors = covectors.at[jnp.where(there & (first != entries), first, len(ends))].add(covectors)
        return jnp.where(there & (first == entries) & (where < nodes), ends, nodes), covectors
    own, covectors = _call(
        partial(_sums_kernel, nodes),
        _Tile("sums", covectors.shape[1]),
        ends.shape[0],
        [slots, ends, where, covectors],
        [_like(ends), _like(covectors)],
        aliases={3: 1},
    )
    return own, covectors


def _sums_kernel(nodes: int, tile: _Tile, *refs: Any) -> None:
    slots, ends, where, _, own, covectors = refs
    entries, inside = tile.entries(ends.shape[0])
    node = triton.load(ends.at[entries], mask=inside, other=nodes)
    slot = triton.load(where.at[entries], mask=inside, other=0)
    there = node < nodes
    first = triton.load(slots.at[slot], mask=there, other=0)
    stands = there & (first == entries)
    triton.store(own.at[entries], jnp.where(stands & (slot < nodes), node, nodes), mask=inside)
    tile.add(covectors, entries, first, there & (first != entries))


def _sums_of_hubs(
    slots: Slots, ends: Nodes, where: Nodes, own: Nodes, covectors: Rows, interpret: bool
) -> tuple[Slots, Nodes, Rows]:
    """A hub has many slots, taken by turns: add up what was added up there, where its own slot says."""
    nodes, nothing = slots.shape[0] - HUBS * COPIES, ends.shape[0]
    some = slots[nodes:]
    hub = jnp.where(where[some] == nodes + jnp.arange(len(some)), ends[some], slots.shape[0])
    slots = set_rows(slots, hub, some)
    first = jnp.where(hub < nodes, get_rows(slots, hub), nothing)
    more = jnp.where(first == some, nothing, first)
    if interpret:
        covectors = covectors.at[more].add(covectors[some], mode="drop")
    else:
        tile, inputs = _Tile("sums", covectors.shape[1]), [some, more, covectors]
        (covectors,) = _call(_hubs_kernel, tile, len(some), inputs, [_like(covectors)], aliases={2: 0})
    return slots, set_rows(own, first, hub), covectors


def _hubs_kernel(tile: _Tile, origins: Any, targets: Any, _: Any, covectors: Any) -> None:
    entries, inside = tile.entries(origins.shape[0])
    origin = triton.load(origins.at[entries], mask=inside, other=0)
    target = triton.load(targets.at[entries], mask=inside, other=covectors.shape[0])
    tile.add(covectors, origin, target, target < covectors.shape[0])


def _move(
    optimizer: optax.GradientTransformation,
    settings: Step,
    packed: Packed,
    state: Any,
    own: Nodes,
    covectors: Rows,
    interpret: bool,
) -> tuple[Packed, Any, Float[Array, "entries"]]:
    """As `optimizers.update_rows` in a flat space, of the rows `own` and in place."""
    leaves, structure = jax.tree.flatten(state)
    counts = [x.reshape(1) for x in leaves if x.ndim != 2]
    norms, packed = _call(
        partial(_move_kernel, optimizer, structure, [x.ndim == 2 for x in leaves]),
        _Tile("move", covectors.shape[1]),
        own.shape[0],
        [jnp.stack(settings), own, covectors, *counts, packed],
        [jax.ShapeDtypeStruct(own.shape, jnp.float32), _like(packed)],
        aliases={3 + len(counts): 1},
        interpret=interpret,
    )
    one = jax.tree.map(lambda x: covectors[:1] if x.ndim == 2 else x, state)  # what counts, counts as for one
    _, counted = optimizer.update(covectors[:1], one, covectors[:1])
    return packed, jax.tree.map(lambda old, new: old if old.ndim == 2 else new, state, counted), norms


def _move_kernel(
    optimizer: optax.GradientTransformation, structure: Any, is_table: list[bool], tile: _Tile, *refs: Any
) -> None:
    numbers, own, covectors, *counts, _, norms, packed = refs
    entries, inside = tile.entries(own.shape[0])
    rows = triton.load(own.at[entries], mask=inside, other=packed.shape[0])
    some = rows < packed.shape[0]
    gradients = tile.load(covectors, entries, some)
    points, *tables = (tile.load(packed, rows, some, part) for part in range(1 + sum(is_table)))
    state = [tables.pop(0) if table else counts.pop(0)[0] for table in is_table]
    norm = jnp.sqrt(jnp.sum(gradients * gradients, axis=1))
    gradients = shorten(norm, numbers[1])[:, None] * gradients
    directions, moved = optimizer.update(gradients, jax.tree.unflatten(structure, state), points)
    tangents = -numbers[0] * directions
    tangents = shorten(jnp.sqrt(jnp.sum(tangents * tangents, axis=1)), MAX_STEP)[:, None] * tangents
    moved = [x for x, table in zip(jax.tree.leaves(moved), is_table, strict=True) if table]
    for part, values in enumerate([points + tangents, *moved]):
        tile.store(packed, rows, narrow(values, packed.dtype, norm[:, None]), some, part)
    triton.store(norms.at[entries], jnp.where(some, norm, jnp.nan), mask=inside)


class _Tile:
    """What a block of threads sees of a table: some rows, and columns up to a power of two."""

    def __init__(self, kernel: str, dim: int):
        self.dim, self.width = dim, pl.next_power_of_2(dim)
        sizes = TILES[kernel].items()
        size, self.warps = next((tile for width, tile in sizes if self.width <= width), (self.width, 8))
        self.rows = max(1, size // self.width)

    @property
    def axis(self) -> Int[Array, "1 width"]:
        """The columns."""
        return jnp.arange(self.width, dtype=jnp.int32)[None, :]

    def entries(self, count: int) -> tuple[Array, Array]:
        """The numbers of this block's entries, and which of them there are."""
        entries = pl.program_id(0) * self.rows + jnp.arange(self.rows, dtype=jnp.int32)
        return entries, entries < count

    def _mask(self, some: Array) -> Array:
        return some[:, None] & (self.axis < self.dim)

    def load(self, table: Any, rows: Array, some: Array, part: int = 0) -> Array:
        """Some rows of a table, or of one of those side by side in it; the others 0."""
        place = table.at[rows[:, None], part * self.dim + self.axis]
        return wide(triton.load(place, mask=self._mask(some), other=0))

    def store(self, table: Any, rows: Array, values: Array, some: Array, part: int = 0) -> None:
        """Write some rows."""
        place = table.at[rows[:, None], part * self.dim + self.axis]
        triton.store(place, values, mask=self._mask(some))

    def add(self, table: Any, origins: Array, targets: Array, some: Array) -> None:
        """Add some rows to others."""
        rows = self.load(table, origins, some)
        triton.atomic_add(table, (targets[:, None], self.axis), rows, mask=self._mask(some))


def _call(
    kernel: Any,
    tile: _Tile,
    count: int,
    inputs: list[Array],
    outputs: list[jax.ShapeDtypeStruct],
    aliases: dict[int, int],
    interpret: bool = False,
) -> Any:
    """Run a kernel on `count` entries, a tile in each block of threads."""
    return pl.pallas_call(
        partial(kernel, tile),
        outputs,
        grid=(pl.cdiv(count, tile.rows),),
        input_output_aliases=aliases,
        compiler_params=triton.CompilerParams(num_warps=tile.warps, num_stages=1),
        interpret=interpret,
    )(*inputs)


def _like(x: Array) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(x.shape, x.dtype)
