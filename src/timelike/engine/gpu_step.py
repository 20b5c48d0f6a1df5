"""A training step on a GPU in four kernels: compute the gradients of pairs, link entries by node, move rows.

XLA reads and writes the rows of a batch about ten times between gather and scatter, and sums over repeated
nodes with one atomic addition per number. These kernels read each row once for its pair and once, next to its
optimiser state, to move it: the first entry of every node in a batch, found by `gpu_tiles.meet`, moves the
row by the gradients of all entries. The kernels cover flat spaces, where a pair is described by its time
difference and its squared distance in space.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax.experimental.pallas import triton
from jaxtyping import Array, Float

from timelike.core.manifold import Separation
from timelike.core.model import Model
from timelike.core.numerics import difference, log1mexp, log_sum_exp_of
from timelike.engine.gpu_tiles import NONE, Nodes, Tile, like, meet
from timelike.engine.optimizers import MAX_STEP, Step, shorten
from timelike.engine.table_rows import Places
from timelike.engine.table_storage import Packed, is_flat, narrow
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import Cylinder

PerPair = Float[Array, "pairs batch"]
Rows = Float[Array, "pairs ambient"]

#: Per kernel and table width (up to): table numbers per block of threads, and warps (32 threads) per block.
#: Measured on an H200.
TILES = {"gradients": {1024: (256, 1)}, "move": {16: (128, 1), 1024: (256, 1)}}


def fits(model: Model, dense: bool) -> bool:
    """Whether the kernels support this model on this machine."""
    return (
        is_flat(model.manifold)
        and model.manifold.signature[0] <= 1
        and type(model.likelihood) in LIKELIHOODS.values()
        and not dense
        and jax.default_backend() == "gpu"
        and not jax.config.read("jax_enable_x64")
    )


def step(
    model: Model,
    optimizer: optax.GradientTransformation,
    settings: Step,
    places: Places,
    packed: Packed,
    state: Any,
    ends: Nodes,
    weights: PerPair,
    interpret: bool = False,
) -> tuple[Packed, Any, PerPair, Float[Array, "norms"]]:
    """One minibatch: (table, state without tables, log-likelihoods, gradient norms).

    `ends` holds the sources of all pairs, then the targets; numbers past the last node are padding. `places`
    is empty if no node is in so many pairs that threads would wait for each other. A norm is NaN for padding
    and for all entries of a node but the first.
    """
    tile = partial(_tile, model.manifold.ambient_dim, interpret)
    log_likelihoods, covectors, of_hubs, at_hubs = _gradients(
        tile("gradients"), model, weights, places, packed, ends
    )
    own, others = meet(len(packed), ends, at_hubs, interpret)
    move = partial(_move, tile("move"), optimizer, settings, state)
    packed, norms = move(packed, own, covectors, others)
    if of_hubs:
        packed, norms_of_hubs = move(packed, *places.sums_of_hubs(*of_hubs))
        norms = jnp.concatenate([norms, norms_of_hubs])
    one = jax.tree.map(lambda x: covectors[:1] if x.ndim == 2 else x, state)  # counters advance once per step
    _, counted = optimizer.update(covectors[:1], one, covectors[:1])
    state = jax.tree.map(lambda old, new: old if old.ndim == 2 else new, state, counted)
    return packed, state, log_likelihoods, norms


def _tile(dim: int, interpret: bool, kernel: str) -> Tile:
    size, warps = next((tile for width, tile in TILES[kernel].items() if dim <= width), (dim, 8))
    return Tile(dim, size, warps, interpret)


def _gradients(
    tile: Tile, model: Model, weights: PerPair, places: Places, packed: Packed, ends: Nodes
) -> tuple[PerPair, Rows, list[Array], list[Nodes]]:
    """As `batch_step.batch_loss` for the rows of `ends`; sums of hubs; and the hub row of each entry.

    The covector of a pair is its gradient at the target; the gradient at the source is the opposite.
    """
    count, leaves = ends.shape[0] // 2, jax.tree.leaves(model)
    inputs = [jnp.stack([jnp.asarray(x, jnp.float32) for x in leaves]), ends, weights.reshape(-1), packed]
    changed = []
    if places.size:
        inputs.append(places.of_node)
        changed = [
            jnp.full(places.size, len(packed), jnp.int32),
            jnp.zeros((places.size, tile.dim), jnp.float32),
        ]
    kernel = partial(_gradients_kernel, jax.tree.structure(model), places.by_turns, weights.shape[-1])
    made = [like(weights.reshape(-1)), _floats(count, tile.dim), *([like(ends)] if changed else [])]
    results = tile.call(kernel, count, inputs, changed, made)
    of_hubs, (log_likelihoods, covectors, *at_hubs) = results[: len(changed)], results[len(changed) :]
    return log_likelihoods.reshape(weights.shape), covectors, of_hubs, at_hubs


def _gradients_kernel(
    structure: Any, by_turns: Callable, batch: int, tile: Tile, inputs: Any, changed: Any, made: Any
) -> None:
    numbers, ends, weights, packed, *places = inputs
    log_likelihoods, covectors, *at_hubs = made
    model = jax.tree.unflatten(structure, [numbers[i] for i in range(structure.num_leaves)])
    count, nodes = weights.shape[0], packed.shape[0]
    pairs, inside = tile.entries(count)
    sides = [
        (sign, entry, triton.load(ends.at[entry], mask=inside, other=nodes))
        for sign, entry in _sides(pairs, count)
    ]
    weight = triton.load(weights.at[pairs], mask=inside, other=0.0)
    there = sides[0][2] < nodes
    at_source, at_target = (tile.load(packed, node, there, once=True) for _, _, node in sides)
    delta = at_target - at_source
    time = jnp.sum(jnp.where(tile.axis == 0, delta, 0.0), axis=1)
    spaces = jnp.sum(jnp.where(tile.axis > 0, delta * delta, 0.0), axis=1)

    def loss(time: Array, spaces: Array) -> tuple[Array, Array]:
        as_edge, as_other = _log_probs(model, time, spaces)
        chosen = jnp.where(pairs < batch, as_edge, as_other)
        return -weight * chosen, chosen

    _, pull_back, chosen = jax.vjp(loss, time, spaces, has_aux=True)
    by_time, by_spaces = (slope[:, None] for slope in pull_back(jnp.ones_like(time)))
    of_target = jnp.where(tile.axis == 0, by_time, 2 * by_spaces * delta)
    for sign, entry, node in sides if places else []:
        hub = by_turns(triton.load(places[0].at[node], mask=there, other=0) - nodes, entry)
        hubs, sums = changed
        triton.store(at_hubs[0].at[entry], hub, mask=inside)
        triton.store(hubs.at[hub], node, mask=there & (hub >= 0))
        tile.add(sums, hub, sign * of_target, there & (hub >= 0))
    triton.store(log_likelihoods.at[pairs], chosen, mask=inside)
    tile.store(covectors, pairs, of_target, inside)


def _sides(pairs: Array, count: int) -> list[tuple[float, Array]]:
    """For the sources and then the targets of pairs: the sign of the gradient, and the entries."""
    return [(-1.0, pairs), (1.0, count + pairs)]


def _log_probs(model: Model, time: Array, spaces: Array) -> tuple[Array, Array]:
    """log F and log(1 − F) in a flat space, from Δt and the squared distance in space; images unrolled."""
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
        log_prob = log_sum_exp_of([model.likelihood.log_prob(image) for image in images])
        log_prob_not = log1mexp(log_prob)
    return jnp.where(log_prob > 0, 0.0, log_prob), log_prob_not


def _move(
    tile: Tile,
    optimizer: optax.GradientTransformation,
    settings: Step,
    state: Any,
    packed: Packed,
    own: Nodes,
    covectors: Rows,
    *others: Nodes,
) -> list[Array]:
    """As `optimizers.update_rows` in a flat space, for the rows `own` and in place: the table, and norms.

    Without `others`, each entry has its own covector; else entries are ends of pairs as in `_gradients`.
    """
    leaves, structure = jax.tree.flatten(state)
    counts = [x.reshape(1) for x in leaves if x.ndim != 2]
    inputs = [jnp.stack(settings), own, covectors, *counts, *others]
    kernel = partial(_move_kernel, optimizer, structure, [x.ndim == 2 for x in leaves])
    return tile.call(kernel, own.shape[0], inputs, [packed], [_floats(*own.shape)])


def _move_kernel(
    optimizer: optax.GradientTransformation,
    structure: Any,
    is_table: list[bool],
    tile: Tile,
    inputs: Any,
    changed: Any,
    made: Any,
) -> None:
    numbers, own, covectors, *rest = inputs
    split = is_table.count(False)
    counts, others = [x[0] for x in rest[:split]], rest[split:]
    (packed,), (norms,) = changed, made
    entry, inside = tile.entries(own.shape[0])
    if others:  # the two ends of a pair are adjacent because they share a covector
        entry = entry // 2 + entry % 2 * covectors.shape[0]
    row = triton.load(own.at[entry], mask=inside, other=packed.shape[0])
    some = row < packed.shape[0]
    points, *tables = (tile.load(packed, row, some, part) for part in range(1 + sum(is_table)))
    gradients = (
        _sums(tile, covectors, others[0], entry, some) if others else tile.load(covectors, entry, some)
    )
    state = [tables.pop(0) if table else counts.pop(0) for table in is_table]
    norm = jnp.sqrt(jnp.sum(gradients * gradients, axis=1))
    gradients = shorten(norm, numbers[1])[:, None] * gradients
    directions, moved = optimizer.update(gradients, jax.tree.unflatten(structure, state), points)
    tangents = -numbers[0] * directions
    tangents = shorten(jnp.sqrt(jnp.sum(tangents * tangents, axis=1)), MAX_STEP)[:, None] * tangents
    moved = [x for x, table in zip(jax.tree.leaves(moved), is_table, strict=True) if table]
    for part, values in enumerate([points + tangents, *moved]):
        tile.store(packed, row, narrow(values, packed.dtype, norm[:, None]), some, part)
    triton.store(norms.at[entry], jnp.where(some, norm, jnp.nan), mask=inside)


def _sums(tile: Tile, covectors: Any, others: Any, entry: Array, some: Array) -> Array:
    """The sum of the gradients of each entry and of the others in its list."""
    count = covectors.shape[0]

    def add(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        link, total = carry
        more = link >= 0
        rows = tile.load(covectors, link % count, more)
        total += jnp.where(
            (link < count)[:, None], -rows, rows
        )  # the gradient at a source is minus that at its target
        return triton.load(others.at[link], mask=more, other=NONE), total

    start = add((jnp.where(some, entry, NONE), jnp.zeros((tile.rows, tile.width), jnp.float32)))
    return jax.lax.while_loop(lambda carry: jnp.max(carry[0]) >= 0, add, start)[1]


def _floats(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)
