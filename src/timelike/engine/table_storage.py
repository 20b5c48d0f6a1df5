"""16-bit tables with 32-bit arithmetic: stochastic rounding on every write.

Near x, numbers with b mantissa bits are |x|·2⁻ᵇ apart or less. A step is often far shorter, and rounding to
the nearest number would lose it every time. Stochastic rounding, up with a probability proportional to the
distance, keeps it on average: E[rounded x] = x. The moments of an optimiser, which change by a thousandth per
step, need it as much as the points.

A bfloat16 is stored as the integer with its bits: on a CPU, XLA converts a whole bfloat16 table to float32
for every step that writes a row. The kernels of `gpu_step` keep points and moments side by side, because
memory serves a few long requests faster than many short ones.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Num

from timelike._util.checks import show
from timelike.core.hashed_random import scramble
from timelike.manifolds import Cylinder, Flat, Manifold

#: Storage of points: name → dtype in memory; None: that of the arithmetic.
STORAGES: dict[str, Any] = {"float32": None, "bfloat16": jnp.uint16, "float16": jnp.float16}
#: Storage of moments: squares of small gradients need the exponent range of float32, which bfloat16 has.
MOMENTS: dict[str, Any] = {"float32": None, "bfloat16": jnp.uint16, "float16": jnp.uint16}
#: Bits of a float32 that are lost.
LOST = {jnp.dtype(jnp.uint16): 16, jnp.dtype(jnp.float16): 13}

#: Packed rows are aligned to the shortest memory request, in bytes.
REQUEST = 32

Numbers = Num[Array, "*shape"]
Packed = Float[Array, "nodes packed"]
Table = Float[Array, "nodes ambient"]


def is_flat(manifold: Manifold) -> bool:
    """Whether a manifold is flat, possibly wrapped around a cylinder."""
    return isinstance(manifold.base if isinstance(manifold, Cylinder) else manifold, Flat)


def storable(storage: str, manifold: Manifold) -> bool:
    """Whether rounded points stay on the manifold: only if it is flat."""
    return storage == "float32" or is_flat(manifold)


def check_storage(storage: str, manifold: Manifold) -> None:
    """Raise a `ValueError` if rounded points would leave the manifold."""
    if not storable(storage, manifold):
        raise ValueError(
            f"Config: tables is {storage!r}, but rounded points leave {show(manifold)}; use float32 or a "
            "flat space"
        )


def wide(kept: Numbers) -> Numbers:
    """Convert 16-bit numbers to 32 bits for arithmetic; others stay as they are."""
    if kept.dtype not in LOST:
        return kept
    if kept.dtype == jnp.uint16:
        kept = jax.lax.bitcast_convert_type(kept.astype(jnp.uint32) << 16, jnp.float32)
    return kept.astype(jnp.result_type(float))


def narrow(x: Float[Array, "*shape"], dtype: Any, salt: Float[Array, "*shape"] | None = None) -> Numbers:
    """Convert numbers for storage: stochastic rounding to 16 bits; other types stay as they are.

    The random bits are a hash of the number and of `salt`, numbers of a broadcastable shape that differ from
    step to step: without them, a decaying moment would always be rounded the same way.
    """
    if dtype is None or jnp.dtype(dtype) not in LOST:
        return x
    lost, bits = LOST[jnp.dtype(dtype)], _bits(x)
    dice = bits if salt is None else bits + scramble(_bits(salt))
    rounded = (bits + (scramble(dice) >> (32 - lost))) >> lost
    if dtype == jnp.uint16:
        return rounded.astype(jnp.uint16)
    return jax.lax.bitcast_convert_type(rounded << lost, jnp.float32).astype(dtype)


def _bits(x: Float[Array, "*shape"]) -> Array:
    return jax.lax.bitcast_convert_type(x.astype(jnp.float32), jnp.uint32)


def pack(points: Table, state: Any) -> tuple[Packed, Any]:
    """Pack points and the tables of an optimiser state side by side; return the state with empty tables."""
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
