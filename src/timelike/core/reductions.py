"""Sums over coordinates and per-pair numbers, written so that XLA compiles fast CPU loops."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

Scalar = Float[Array, "*shape"]

#: Numbers in a strip: a few vector registers.
STRIP = 32


def once(x: Scalar) -> Scalar:
    """x itself (x finite), computed only once.

    On a CPU, XLA tends to fuse a per-pair number into the loop over coordinates and then recomputes its
    cosines and series for every coordinate. It never fuses a division this way, so x is divided by a 1 that
    XLA cannot simplify. (XLA drops `optimization_barrier` before fusion.)
    """
    return jax.lax.platform_dependent(x, cpu=lambda y: y / (1 + 0 * y), default=lambda y: y)


@jax.custom_jvp
def total(x: Float[Array, "*shape n"]) -> Scalar:
    """Σ xᵢ over the last axis.

    On a CPU, XLA adds up a long row one number at a time. This function cuts the row into strips, adds them
    as vectors and sums only the final strip number by number, which is four times as fast.
    """
    if x.shape[-1] < STRIP:
        return jnp.sum(x, axis=-1)
    return jax.lax.platform_dependent(x, cpu=_total_in_strips, default=partial(jnp.sum, axis=-1))


@total.defjvp
def _total_jvp(primals, tangents):  # type: ignore[no-untyped-def]
    return total(*primals), jnp.sum(tangents[0], axis=-1)


def _total_in_strips(x: Float[Array, "*shape n"]) -> Scalar:
    """The last strip has full length too: it overlaps the previous one and is set to 0 there."""
    whole, left = divmod(x.shape[-1], STRIP)
    strips = [x[..., i * STRIP : (i + 1) * STRIP] for i in range(whole)]
    if left:
        strips.append(jnp.where(np.arange(STRIP) < STRIP - left, 0, x[..., -STRIP:]))
    while len(strips) > 1:
        odd = strips[-1:] if len(strips) % 2 else []
        strips = [a + b for a, b in zip(strips[:-1:2], strips[1::2], strict=True)] + odd
    return jnp.sum(once(strips[0]), axis=-1)


@partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def square_sum(x: Float[Array, "n"], start: int, stop: int) -> Float[Array, ""]:
    """Σ xᵢ² over start ≤ i < stop, with the derivative as one masked product instead of padded slices."""
    part = x[start:stop]
    return total(part * part)


@square_sum.defjvp
def _square_sum_jvp(start, stop, primals, tangents):  # type: ignore[no-untyped-def]
    (x,), (dx,) = primals, tangents
    axis = np.arange(x.shape[0])
    inside = jnp.where((start <= axis) & (axis < stop), x, 0)
    return square_sum(x, start, stop), 2 * jnp.sum(inside * dx)
