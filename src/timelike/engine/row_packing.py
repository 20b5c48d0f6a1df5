"""The points and the tables of an optimiser state side by side, for the kernels of `gpu_step`.

Memory serves a few long requests faster than many short ones.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Packed = Float[Array, "nodes packed"]
Table = Float[Array, "nodes ambient"]

#: Rows are aligned to the shortest memory request, in bytes.
REQUEST = 32


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
