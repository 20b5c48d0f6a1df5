"""The interface of manifolds: maths on one point or one pair of points; callers `vmap`."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from timelike._util.checks import show
from timelike.core.numerics import sqrt

Point = Float[Array, "ambient"]
Tangent = Float[Array, "ambient"]
Covector = Float[Array, "ambient"]
Scalar = Float[Array, ""]

#: Largest allowed distance of a float32 point from its surface, relative to its squared size.
ON_SURFACE = 1e-4
#: Largest allowed coordinate: sums of its squares, divided by any usual temperature, stay finite in float32.
LARGEST_COORDINATE = 1e15

#: Rows of a table to check at a time.
PIECE = 1 << 20


class Separation(NamedTuple):
    """Everything that a likelihood may see of an ordered pair of points (p, q).

    `interval` is the squared geodesic distance s²: negative for timelike pairs, positive for spacelike ones.
    `time` is Δt, positive if q lies in the future of p. The trailing axis runs over the *images* of q, the
    nearest in the middle: 1 in ordinary spaces, 2m + 1 on a circle of time. `interval` has length 1 if all
    images share it.
    """

    interval: Float[Array, "shared_images"]
    time: Float[Array, "images"]

    @property
    def nearest(self) -> Separation:
        """The image of q nearest to p in time, as a separation with one image."""
        return self.one_by_one[self.time.shape[0] // 2]

    @property
    def one_by_one(self) -> list[Separation]:
        """One separation per image."""
        shared = self.interval.shape[0] == 1
        places = [slice(i, i + 1) for i in range(self.time.shape[0])]
        return [Separation(self.interval if shared else self.interval[i], self.time[i]) for i in places]


class Manifold(abc.ABC):
    """A spacetime, or a Riemannian space with a designated time coordinate.

    Every method takes one point (or one pair), each a vector of `ambient_dim` coordinates. `dim` is the
    dimension of the manifold, time included. Notation: p, q points; v tangent vector.
    """

    @property
    @abc.abstractmethod
    def dim(self) -> int:
        """Dimension of the manifold itself."""

    @property
    @abc.abstractmethod
    def ambient_dim(self) -> int:
        """Number of coordinates of a point: `dim`, or `dim + 1` on a quadric."""

    @property
    @abc.abstractmethod
    def signature(self) -> tuple[int, int]:
        """Numbers of timelike and of spacelike directions in a tangent space."""

    @abc.abstractmethod
    def origin(self) -> Point:
        """The point around which embeddings are initialised."""

    @abc.abstractmethod
    def inner(self, p: Point, u: Tangent, v: Tangent) -> Scalar:
        """The metric g_p(u, v): negative for u = v timelike, positive for spacelike."""

    @abc.abstractmethod
    def separation(self, p: Point, q: Point) -> Separation:
        """The interval s² and the time difference Δt from p to q, for every image of q."""

    @abc.abstractmethod
    def gradient(self, p: Point, covector: Covector) -> Tangent:
        """A tangent vector ζ with df·ζ ≥ 0 for the covector df, so that −ζ never points uphill.

        Riemannian spaces: g⁻¹df (eq. 1). Diagonal metrics: the Wick rotation of it. Indefinite
        quadrics: the double projection (eq. 11).
        """

    @abc.abstractmethod
    def exp(self, p: Point, v: Tangent) -> Point:
        """The point reached from p after unit time along the geodesic with velocity v."""

    def step(self, p: Point, v: Tangent) -> Point:
        """`exp` for v of Euclidean norm at most 1; a manifold may override it with a cheaper formula."""
        return self.exp(p, v)

    @abc.abstractmethod
    def log(self, p: Point, q: Point) -> Tangent:
        """The velocity at p of the geodesic that reaches q after unit time; NaN if no geodesic does."""

    @abc.abstractmethod
    def project(self, p: Point) -> Point:
        """Map a point that has drifted off the manifold back onto it."""

    @abc.abstractmethod
    def to_tangent(self, p: Point, v: Float[Array, "ambient"]) -> Tangent:
        """The component of an ambient vector that is tangent at p (eq. 10)."""

    @abc.abstractmethod
    def transport(self, p: Point, q: Point, v: Tangent) -> Tangent:
        """Transport a tangent vector from p to q, parallel along their geodesic if there is one."""

    @abc.abstractmethod
    def residual(self, p: Point) -> Scalar:
        """Distance of p from the manifold, relative to its squared size; 0 in flat spaces."""

    @abc.abstractmethod
    def from_tangent_coordinates(self, coordinates: Float[Array, "dim"]) -> Tangent:
        """The tangent vector at the origin with these `dim` components, time first."""

    def distance(self, p: Point, q: Point) -> Scalar:
        """√|s²| of the nearest image."""
        return sqrt(jnp.abs(self.separation(p, q).nearest.interval[0]))

    def geodesic(self, p: Point, q: Point, t: Scalar | float) -> Point:
        """The point at parameter t on the geodesic from p (t = 0) to q (t = 1)."""
        return self.exp(p, t * self.log(p, q))

    def init(self, key: Key[Array, ""], scale: Scalar | float = 0.01) -> Point:
        """A random point near the origin: within ±`scale` along every direction."""
        dtype = jnp.result_type(self.origin(), jnp.asarray(scale))
        noise = jax.random.uniform(key, (self.dim,), dtype, -1.0, 1.0)
        return self.exp(self.origin().astype(dtype), self.from_tangent_coordinates(scale * noise))

    def check_points(self, points: np.ndarray | Array, argument: str = "points") -> None:
        """Raise a `ValueError` that names the first row of a table that is not a point of this manifold."""
        table = np.asarray(points)
        if not jnp.issubdtype(table.dtype, jnp.floating):
            raise TypeError(f"{argument} has dtype {table.dtype}; it must be a table of floats")
        if table.ndim != 2 or table.shape[1] != self.ambient_dim:
            raise ValueError(
                f"{argument} has shape {table.shape}; it must be (number of points, {self.ambient_dim}) "
                f"for {show(self)}"
            )
        bad = np.flatnonzero(_by_pieces(table, lambda part: ~np.isfinite(part).all(axis=1)))
        if bad.size:
            raise ValueError(
                f"{argument}[{bad[0]}] is {show(table[bad[0]].tolist())}; every coordinate must be finite "
                f"(bad rows: {bad.size})"
            )
        bad = np.flatnonzero(_by_pieces(table, lambda part: (np.abs(part) > LARGEST_COORDINATE).any(axis=1)))
        if bad.size:
            raise ValueError(
                f"{argument}[{bad[0]}] is {show(table[bad[0]].tolist())}; coordinates above "
                f"{LARGEST_COORDINATE:g} have squares that single precision cannot hold "
                f"(bad rows: {bad.size})"
            )
        off = _by_pieces(table, lambda part: np.asarray(_residuals(self, part)))
        bad = np.flatnonzero(~(off <= ON_SURFACE))
        if bad.size:
            raise ValueError(
                f"{argument}[{bad[0]}] is {show(table[bad[0]].tolist())}, off the surface of {show(self)} by "
                f"{off[bad[0]]:.3g}; at most {ON_SURFACE:g} of its squared size is allowed "
                f"(bad rows: {bad.size}); use `project` first"
            )

    def _check_shapes(self, **vectors: Array) -> None:
        """Check that each argument is one vector of `ambient_dim` coordinates (free under `jit`)."""
        for name, vector in vectors.items():
            shape = jnp.shape(vector)
            if shape != (self.ambient_dim,):
                raise ValueError(
                    f"{name} has shape {shape}; it must be ({self.ambient_dim},), one vector of "
                    f"{show(self)} — use jax.vmap for many"
                )


def _by_pieces(table: np.ndarray, of: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """A number for every row of a table, which may be a file that is larger than memory."""
    return np.concatenate([of(table[i : i + PIECE]) for i in range(0, max(len(table), 1), PIECE)])


@jax.jit
def _residuals(manifold: Manifold, points: Float[Array, "points ambient"]) -> Float[Array, "points"]:
    return jax.vmap(manifold.residual)(points)


class Stationary(Manifold):
    """A manifold with a time translation, which a `Cylinder` can make periodic."""

    @abc.abstractmethod
    def separation_at(self, p: Point, q: Point, shifts: Float[Array, "images"]) -> Separation:
        """The separation of p from the images of q, which are q moved in time by each of `shifts`."""

    @abc.abstractmethod
    def translate(self, p: Point, shift: Scalar) -> Point:
        """p moved by `shift` in time, an isometry."""
