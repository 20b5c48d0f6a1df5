"""Tables in 16 bits, and arithmetic in 32: what is computed is rounded at random where it is put back.

Near x, numbers of b bits of mantissa lie |x|·2⁻ᵇ apart or less. A step is often far shorter than that, and
rounded to the nearest number it would be lost, however often it is taken. Rounded up or down at random, up
with a probability that is the share of the way, it is kept on average: E[rounded x] = x. Moments of an
optimiser, which change by a thousandth of themselves in a step, need it as much as points.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from timelike.checks import show
from timelike.manifolds import Cylinder, Flat, Manifold
from timelike.shuffle import scramble

#: How points may lie in memory.
STORAGES = ("float32", "bfloat16", "float16")


def check_storage(storage: str, manifold: Manifold) -> None:
    """Raise a `ValueError` where rounded points would not be points of the manifold."""
    space = manifold.base if isinstance(manifold, Cylinder) else manifold
    if storage != "float32" and not isinstance(space, Flat):
        raise ValueError(
            f"Config: tables is {storage!r}, but rounded points leave {show(manifold)}; take float32, "
            "or a flat space"
        )


def wide(x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Numbers to compute with: 16 bits become 32, others stay."""
    return x.astype(jnp.result_type(float)) if x.dtype.itemsize == 2 else x


def narrow(x: Float[Array, "*shape"], dtype: Any, salt: Float[Array, "*shape"] | None = None) -> Array:
    """Numbers to keep, in 16 bits rounded at random if that is how many there are; no others change.

    The dice are a hash of the number and of `salt`, 32-bit numbers of the same or a broadcast shape that
    differ from step to step: without them, what a moment decays to were always rounded the same way.
    """
    if jnp.dtype(dtype).itemsize > 2:
        return x
    lost, bits = 23 - jnp.finfo(dtype).nmant, _bits(x)
    dice = bits if salt is None else bits + scramble(_bits(salt))
    rounded = (bits + (scramble(dice) >> (32 - lost))) >> lost << lost
    return jax.lax.bitcast_convert_type(rounded, jnp.float32).astype(dtype)


def _bits(x: Float[Array, "*shape"]) -> Array:
    return jax.lax.bitcast_convert_type(x.astype(jnp.float32), jnp.uint32)
