"""Tables in 16 bits, and arithmetic in 32: what is computed is rounded at random where it is put back.

Near x, numbers of b bits of mantissa lie |x|·2⁻ᵇ apart or less. A step is often far shorter than that, and
rounded to the nearest number it would be lost, however often it is taken. Rounded up or down at random, up
with a probability that is the share of the way, it is kept on average: E[rounded x] = x. Moments of an
optimiser, which change by a thousandth of themselves in a step, need it as much as points.

A bfloat16 is kept as the whole number with its bits: XLA on a CPU makes a table of float32 of one of bfloat16
for every step that writes a row of it.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Num

from timelike._util.checks import show
from timelike.core.hashed_random import scramble
from timelike.manifolds import Cylinder, Flat, Manifold

#: How points may lie in memory: name → the type of numbers there, None for that of the arithmetic.
STORAGES: dict[str, Any] = {"float32": None, "bfloat16": jnp.uint16, "float16": jnp.float16}
#: The same for moments: squares of small gradients need the exponents of float32, which bfloat16 has.
MOMENTS: dict[str, Any] = {"float32": None, "bfloat16": jnp.uint16, "float16": jnp.uint16}
#: Bits that are lost of a float32.
LOST = {jnp.dtype(jnp.uint16): 16, jnp.dtype(jnp.float16): 13}

Numbers = Num[Array, "*shape"]


def is_flat(manifold: Manifold) -> bool:
    """Whether a manifold is flat, on a circle or not."""
    return isinstance(manifold.base if isinstance(manifold, Cylinder) else manifold, Flat)


def storable(storage: str, manifold: Manifold) -> bool:
    """Whether rounded points stay points of the manifold: if it is flat."""
    return storage == "float32" or is_flat(manifold)


def check_storage(storage: str, manifold: Manifold) -> None:
    """Raise a `ValueError` where rounded points would not be points of the manifold."""
    if not storable(storage, manifold):
        raise ValueError(
            f"Config: tables is {storage!r}, but rounded points leave {show(manifold)}; take float32, "
            "or a flat space"
        )


def wide(kept: Numbers) -> Numbers:
    """Numbers to compute with: 16 bits become 32, others stay."""
    if kept.dtype not in LOST:
        return kept
    if kept.dtype == jnp.uint16:
        kept = jax.lax.bitcast_convert_type(kept.astype(jnp.uint32) << 16, jnp.float32)
    return kept.astype(jnp.result_type(float))


def narrow(x: Float[Array, "*shape"], dtype: Any, salt: Float[Array, "*shape"] | None = None) -> Numbers:
    """Numbers to keep, rounded at random if they are kept in 16 bits; no others change.

    The dice are a hash of the number and of `salt`, numbers of the same or a broadcast shape that differ from
    step to step: without them, what a moment decays to were always rounded the same way.
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
