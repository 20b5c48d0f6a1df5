"""Random points and tangent vectors for the axioms, as NumPy arrays in the working precision."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np

from timelike.manifolds import Manifold


def number_fields(m: Manifold) -> list[str]:
    """The numbers of a manifold that can be swept or learned, such as its radius."""
    return [f.name for f in dataclasses.fields(m) if "domain" in f.metadata]


def with_numbers(m: Manifold, value) -> Manifold:
    """`m` with all its numbers set to `value`."""
    return dataclasses.replace(m, **dict.fromkeys(number_fields(m), value))


def each(function, m: Manifold, *points):
    """Apply a method of m, or a function of m and single points, to many points."""
    return jax.tree.map(np.asarray, _each(function, m, *points))


@functools.partial(jax.jit, static_argnums=0, compiler_options={"xla_backend_optimization_level": "0"})
def _each(function, m, *points):
    # The manifold is an argument, so that one compilation serves all of its radii. Hundreds of programs that
    # run once are compiled without optimisation; tests of steps and epochs run the code that users run.
    one = getattr(m, function) if isinstance(function, str) else functools.partial(function, m)
    return jax.vmap(one)(*points)


def points(m: Manifold, seed: int):
    """64 points within a distance of order 1 from the origin."""
    return each(from_origin, m, jnp.asarray(np.random.default_rng(seed).uniform(-1, 1, (64, m.dim))))


def from_origin(m: Manifold, coordinates):
    """The point with these geodesic coordinates around the origin, time first."""
    return m.exp(m.origin(), m.from_tangent_coordinates(coordinates))


def vectors(m: Manifold, seed: int, count: int = 64):
    """Random ambient vectors."""
    return np.random.default_rng(seed).normal(size=(count, m.ambient_dim)).astype(m.origin().dtype)


def frame(m: Manifold, p):
    """`dim` orthogonal tangent vectors of equal length at p, the timelike ones first."""
    origin, axes = m.origin().astype(p.dtype), jnp.eye(m.dim, dtype=p.dtype)
    vectors = jax.vmap(lambda axis: m.transport(origin, p, m.from_tangent_coordinates(axis)))(axes)
    lengths = jnp.sqrt(jnp.abs(jax.vmap(lambda v: m.inner(p, v, v))(vectors)))
    return vectors * (lengths[-1] / lengths)[:, None]


def tangents(m: Manifold, p, kind: str, seed: int = 0):
    """Timelike, spacelike or lightlike tangent vectors at each p, inside the injectivity region.

    With unit vectors a (time) and b (space): 2a + b, a + 2b and a + b, times a number in [0.1, 1]. If the
    metric is definite, only b or only a.
    """
    rng = np.random.default_rng(seed)
    blocks = np.split(rng.normal(size=(len(p), m.dim)), [m.signature[0]], axis=1)
    weights = {"timelike": (2, 1), "spacelike": (1, 2), "lightlike": (1, 1)}[kind]
    norms = [np.maximum(np.linalg.norm(b, axis=1, keepdims=True), 1e-9) for b in blocks]
    c = np.concatenate([w * b / n for w, b, n in zip(weights, blocks, norms, strict=True)], axis=1)
    c *= rng.uniform(0.1, 1.0, (len(p), 1))
    return np.einsum("ni,nia->na", c.astype(p.dtype), each(frame, m, p))


def kinds(m: Manifold) -> list[str]:
    """The kinds of tangent vectors that the manifold has."""
    times, spaces = m.signature
    return ["timelike"] * (times > 0) + ["spacelike"] * (spaces > 0) + ["lightlike"] * (times > 0 < spaces)


def nearest(m: Manifold, p, q):
    """The interval and the time difference to the nearest image of each q."""
    return (x[:, x.shape[1] // 2] for x in each("separation", m, p, q))


def assert_close(found, expected, tolerance: float) -> None:
    """Assert that all leaves are equal, up to `tolerance` times max(1, the largest entry of the leaf)."""
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        scale = max(1.0, np.max(np.abs(b), initial=0.0))
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * scale)
