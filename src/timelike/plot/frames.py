"""The time and space directions at a point of any manifold, and other points in those coordinates."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from timelike.core.manifold import Manifold, Point
from timelike.plot.views import main_axes


class Frame(NamedTuple):
    """Unit tangent vectors at p along time and the main direction of space, and other points in this basis.

    `at` has a row (t, x) per point, NaN if no geodesic from p reaches it. `lost` is the fraction of the
    variance in the remaining directions of space.
    """

    basis: np.ndarray
    at: np.ndarray
    lost: float


def frame_at(manifold: Manifold, p: Point, others: Any) -> Frame:
    """The frame (T, X) at p: T = grad Δt(p, ·) points to the future, X ⟂ T is the main direction of log_p.

    With a basis b of the tangent space and g_ij = g(b_i, b_j), the gradient is Σ g^ij dt(b_j) b_i.
    """
    spanning, slope, logs = (np.asarray(x, float) for x in _seen_from(manifold, p, jnp.asarray(others)))
    basis = np.linalg.svd(spanning)[2][: manifold.dim]
    metric = np.asarray(_gram(manifold, p, jnp.asarray(basis, p.dtype)), float)
    raised = np.linalg.solve(metric, basis @ slope)
    length = raised @ metric @ raised
    time = np.sign(length) * raised / np.sqrt(np.abs(length))
    # Orthonormal directions of space: eigenvectors of the metric on the complement of T.
    dual = metric @ time
    rest = np.linalg.svd(dual[None])[2][1:]
    sizes, turned = np.linalg.eigh(rest @ metric @ rest.T)
    space = (turned / np.sqrt(np.abs(sizes))).T @ rest
    components = logs @ np.linalg.pinv(basis)
    t = components @ dual * np.sign(length)
    x = components @ metric @ space.T * np.sign(sizes)
    axes, shares = main_axes(x[np.isfinite(t)])
    axis, lost = axes[:, 0], max(0.0, 1 - float(shares[0]))
    across = axis @ space @ basis
    if len(across) and across[np.argmax(np.abs(across))] < 0:  # fix the sign
        axis, across = -axis, -across
    return Frame(np.stack([time @ basis, across]), np.stack([t, x @ axis], axis=1), lost)


@jax.jit
def _seen_from(manifold: Manifold, p: Any, others: Any) -> tuple[Any, Any, Any]:
    """Vectors spanning the tangent space at p, the differential of time at p, and log_p of the others."""
    spanning = jax.vmap(manifold.to_tangent, (None, 0))(p, jnp.eye(manifold.ambient_dim, dtype=p.dtype))
    slope = jax.grad(lambda q: manifold.separation(p, q).nearest.time[0])(p)
    return spanning, slope, jax.vmap(manifold.log, (None, 0))(p, others)


@jax.jit
def _gram(manifold: Manifold, p: Any, basis: Any) -> Any:
    inner = jax.vmap(jax.vmap(manifold.inner, (None, None, 0)), (None, 0, None))
    return inner(p, basis, basis)
