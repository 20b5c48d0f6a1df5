"""Separations and log-probabilities of many pairs at once, coordinate by coordinate.

The formulas are those of the manifolds, for coordinate-first arrays of points whose shapes
`(ambient, *shape)` broadcast. After `vmap` of the formula for one pair, XLA sums over coordinates one number
at a time. Written out as here, a single loop over pairs remains, which a CPU runs eight pairs at a time.

A new manifold needs no code here: without a formula of its own it uses `vmap`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce, singledispatch
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from timelike.core.likelihood import Likelihood
from timelike.core.manifold import Separation, Stationary
from timelike.core.model import MeanModel, Model
from timelike.core.numerics import atan2, difference, log_sum_exp_of, sqrt, squared_arc, wrap
from timelike.core.reductions import once
from timelike.manifolds import Cylinder, Flat, Manifold, Quadric

#: Points, coordinate first.
Columns = Float[Array, "ambient *shape"]
#: Per-pair numbers, image first.
Images = Float[Array, "images *shape"]


def log_probs(model: Model | MeanModel, p: Columns, q: Columns) -> Float[Array, "*shape"]:
    """log-probability of every edge p → q, as in `Model.log_prob` and `MeanModel.log_prob`.

    The sum over images is written out too: with an axis of images, XLA would compute shared terms once per
    image.
    """
    if isinstance(model, MeanModel):
        members = zip(jnp.split(p, model.members), jnp.split(q, model.members), strict=True)
        return model.mean([log_probs(model.model, a, b) for a, b in members])
    if type(model.likelihood).separation is Likelihood.separation:
        images = separations(model.manifold, p, q).one_by_one
    else:  # a baseline that uses the points themselves
        images = _mapped(model.separation, p, q).one_by_one
    if len(images) == 1 or not model.likelihood.decays_in_time:
        return _over_pairs(model.from_separation, images[len(images) // 2])[0]
    terms = [_over_pairs(model.likelihood.log_prob, image)[..., 0] for image in images]
    return jnp.minimum(log_sum_exp_of(terms), 0)


def _over_pairs(function: Callable[[Separation], Any], image: Separation) -> Any:
    for _ in image.time.shape[1:]:
        function = jax.vmap(function, in_axes=1)
    return function(image)


@singledispatch
def separations(manifold: Manifold, p: Columns, q: Columns) -> Separation:
    """The separation of every pair, image first."""
    return _mapped(manifold.separation, p, q)


@singledispatch
def separations_at(base: Stationary, p: Columns, q: Columns, shifts: Images) -> Separation:
    """The separation of every pair with q moved in time by `shifts`, image first."""
    return _mapped(base.separation_at, p, q, shifts)


def _mapped(function, *arrays):  # type: ignore[no-untyped-def]
    shape = jnp.broadcast_shapes(*(x.shape[1:] for x in arrays))
    for _ in shape:
        function = jax.vmap(function, in_axes=1, out_axes=1)
    return function(*(jnp.broadcast_to(x, (x.shape[0], *shape)) for x in arrays))


@separations.register(Flat)
def _flat(manifold: Flat, p: Columns, q: Columns) -> Separation:
    return separations_at(manifold, p, q, jnp.zeros((1,) * p.ndim, p.dtype))


@separations_at.register(Flat)
def _flat_at(base: Flat, p: Columns, q: Columns, shifts: Images) -> Separation:
    time = q[0] - p[0] + shifts
    delta = [b - a for a, b in zip(p, q, strict=True)]
    spaces = _squares(delta[max(base.times, 1) :])
    if base.times == 0:
        return Separation(spaces + time**2, time)
    return Separation(difference(spaces, time**2 + _squares(delta[1 : base.times])), time)


@separations.register(Cylinder)
def _cylinder(manifold: Cylinder, p: Columns, q: Columns) -> Separation:
    time = separations(manifold.base, p, q).time
    turns = manifold.circumference * _turns(manifold.images, p)
    return separations_at(manifold.base, p, q, wrap(time, manifold.circumference) - time + turns)


@separations.register(Quadric)
def _quadric(manifold: Quadric, p: Columns, q: Columns) -> Separation:
    """As in `Quadric.separation`; terms of a single point are computed once per point."""
    kappa, radius = manifold.kappa, manifold.radius
    u = -kappa * _chord(manifold, [b - a for a, b in zip(p, q, strict=True)]) / 2
    w = kappa * _chord(manifold, [b + a for a, b in zip(p, q, strict=True)]) / 2
    far = u < -1
    interval = -kappa * radius**2 * squared_arc(jnp.where(far, w - 2, u), jnp.where(far, w, u + 2))
    if manifold.has_circle:
        a, b = (once(atan2(-x[1], x[0])) for x in (p, q))
        angle = wrap(b - a, 2 * jnp.pi)
        time = angle + 2 * jnp.pi * _turns(manifold.images, p)
        if manifold.arc:
            time = once(sqrt(q[0] ** 2 + q[1] ** 2)) * time
    else:
        a, b = (once(jnp.arcsinh(x[manifold.time_axis])) for x in (p, q))
        time = (b - a)[None]
    return Separation(interval[None], radius * time)


def _chord(manifold: Quadric, d: list[Array]) -> Array:
    positive = _squares(d[manifold.negatives :])
    return difference(positive, _squares(d[: manifold.negatives])) if manifold.negatives else positive


def _squares(numbers: list[Array]) -> Array:
    return reduce(lambda total, x: total + x * x, numbers, jnp.zeros(()))


def _turns(images: int, p: Columns) -> Images:
    return jnp.arange(-images, images + 1, dtype=p.dtype).reshape(-1, *(1,) * (p.ndim - 1))
