"""The directions of time and space at a point of any manifold, and other points as seen from there."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from timelike.core.manifold import Manifold, Point
from timelike.plot.views import main_axis


class Frame(NamedTuple):
    """Unit tangent vectors of time and of the main direction of space at p, and others' coordinates in them.

    `at` has a row (t, x) per point, NaN where no geodesic from p leads; `lost` is the share of the
    variance in the other directions of space.
    """

    basis: np.ndarray
    at: np.ndarray
    lost: float


def frame_at(manifold: Manifold, p: Point, others: Any) -> Frame:
    """T is the metric's gradient of the time Δt(p, ·), towards the future; X the main direction of log_p ⟂ T.

    With a basis b of the tangent space and g_ij = g(b_i, b_j), the gradient is Σ g^ij dt(b_j) b_i.
    """
    spanning, slope, logs = (np.asarray(x, float) for x in _seen_from(manifold, p, jnp.asarray(others)))
    basis = np.linalg.svd(spanning)[2][: manifold.dim]
    metric = np.asarray(_gram(manifold, p, jnp.asarray(basis, p.dtype)), float)
    raised = np.linalg.solve(metric, basis @ slope)
    length = raised @ metric @ raised
    time = np.sign(length) * raised / np.sqrt(np.abs(length))
    # Orthonormal directions of space: what the metric leaves beside time, by its own eigenvectors.
    dual = metric @ time
    rest = np.linalg.svd(dual[None])[2][1:]
    sizes, turned = np.linalg.eigh(rest @ metric @ rest.T)
    space = (turned / np.sqrt(np.abs(sizes))).T @ rest
    components = logs @ np.linalg.pinv(basis)
    t = components @ dual * np.sign(length)
    x = components @ metric @ space.T * np.sign(sizes)
    axis, lost = main_axis(x[np.isfinite(t)])
    across = axis @ space @ basis
    if len(across) and across[np.argmax(np.abs(across))] < 0:  # one sign for the same data, always
        axis, across = -axis, -across
    return Frame(np.stack([time @ basis, across]), np.stack([t, x @ axis], axis=1), lost)


@jax.jit
def _seen_from(manifold: Manifold, p: Any, others: Any) -> tuple[Any, Any, Any]:
    """Vectors that span the tangent space at p, the differential of the time there, and log_p of others."""
    spanning = jax.vmap(manifold.to_tangent, (None, 0))(p, jnp.eye(manifold.ambient_dim, dtype=p.dtype))
    slope = jax.grad(lambda q: manifold.separation(p, q).nearest.time[0])(p)
    return spanning, slope, jax.vmap(manifold.log, (None, 0))(p, others)


@jax.jit
def _gram(manifold: Manifold, p: Any, basis: Any) -> Any:
    inner = jax.vmap(jax.vmap(manifold.inner, (None, None, 0)), (None, 0, None))
    return inner(p, basis, basis)
