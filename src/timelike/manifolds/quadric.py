"""Quadrics ⟨x, x⟩ = ±1: sphere, hyperboloid, de Sitter, anti-de Sitter — one class, any signature."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from timelike._util.checks import whole_number
from timelike.core.manifold import Covector, Manifold, Point, Scalar, Separation, Tangent
from timelike.core.numerics import (
    atan2,
    cos_sqrt,
    difference,
    sinc_sqrt,
    sqrt,
    squared_arc,
    squared_arc_slope,
)
from timelike.core.reductions import once, square_sum, total
from timelike.core.struct import POSITIVE, Number, number, static, struct
from timelike.manifolds.flat import check_dim

#: Images of the circle of time on either side. At the paper's slowest decay on anti-de Sitter (α = 0.06,
#: τ₂ = 0.07) the omitted terms are below 3 % of the sum; the worst case is half a turn in the past.
IMAGES = 2


@struct
class Quadric(Manifold):
    """{x ∈ ℝ^(p+q) : ⟨x, x⟩ = κ}, ⟨x, y⟩ = −Σ xᵢyᵢ over `negatives` + Σ xᵢyᵢ over `positives`.

    κ = `kappa` is −1 (hyperboloid, anti-de Sitter, eq. 6) or +1 (sphere, de Sitter). Points always lie on
    the unit quadric; the metric is R²⟨·,·⟩ with `radius` R, so s² scales with R² and Δt with R, and R can be
    swept or learned without moving a point.

    Time: for κ = −1 and two or more negative coordinates (anti-de Sitter) it is a circle, the angle of eq. 7,
    with 2·`images` + 1 images. Δt is R times the arc length rθ of the paper (`arc` = 1), or R times the angle
    θ, the global time of anti-de Sitter (`arc` = 0). Otherwise Δt = R(arcsinh y − arcsinh x) of one
    coordinate: the global proper time of de Sitter, the signed distance from a hyperplane on the
    hyperboloid, a smooth increasing function of latitude on the sphere.
    """

    negatives: int = static(minimum=0)
    positives: int = static(minimum=0)
    kappa: int = static(choices=(-1, 1))
    radius: Number = number(default=1.0, domain=POSITIVE)
    images: int = static(default=IMAGES, minimum=0)
    arc: int = static(default=1, choices=(0, 1))

    def _check_together(self) -> None:
        block = "positives" if self.kappa > 0 else "negatives"
        if getattr(self, block) < 1:
            raise ValueError(f"Quadric: {block} is 0; it must be ≥ 1, or no point has ⟨x, x⟩ = {self.kappa}")
        if self.dim < 1:
            raise ValueError(f"Quadric: negatives + positives is {self.ambient_dim}; it must be ≥ 2")

    @property
    def dim(self) -> int:
        """p + q − 1."""
        return self.negatives + self.positives - 1

    @property
    def ambient_dim(self) -> int:
        """p + q."""
        return self.negatives + self.positives

    @property
    def signature(self) -> tuple[int, int]:
        """(p − 1, q) for κ = −1 and (p, q − 1) for κ = +1: without the normal direction."""
        if self.kappa > 0:
            return self.negatives, self.positives - 1
        return self.negatives - 1, self.positives

    @property
    def has_circle(self) -> bool:
        """Whether time is a circle, the angle in the plane of the first two coordinates."""
        return self.kappa < 0 and self.negatives >= 2

    @property
    def _normal_axis(self) -> int:
        return self.ambient_dim - 1 if self.kappa > 0 else 0

    @property
    def time_axis(self) -> int:
        """The coordinate that serves as time if time is not a circle."""
        return 0 if self.kappa > 0 else 1

    @property
    def _signs(self) -> np.ndarray:
        return np.where(np.arange(self.ambient_dim) < self.negatives, -1, 1)

    def _flip(self, v: Array) -> Array:
        return v * self._signs.astype(v.dtype)

    def _form(self, x: Array, y: Array) -> Scalar:
        return total(self._flip(x) * y)

    def _blocks(self, x: Array) -> tuple[Scalar, Scalar]:
        """|x|² of the negative and of the positive coordinates."""
        return square_sum(x, 0, self.negatives), square_sum(x, self.negatives, self.ambient_dim)

    def _chord(self, d: Array) -> Scalar:
        """⟨d, d⟩, accurate near the null cone: the root of a single coordinate's square is exact."""
        negative, positive = self._blocks(d)
        if min(self.negatives, self.positives) == 1:
            return difference(positive, negative)
        return positive - negative

    def _arc_arguments(self, p: Point, q: Point) -> tuple[Scalar, Scalar]:
        """z − 1 and z + 1 for z = κ⟨p, q⟩, from ⟨p ∓ q, p ∓ q⟩ = 2κ(1 ∓ z): exact at p = ±q.

        The nearer of ±q gives the shorter chord, which cancels least; the other number differs by 2. On the
        surface both have the same derivative, which is taken along q − p.
        """
        u = -self.kappa * self._chord(q - p) / 2
        w = self.kappa * self._chord(q + p) / 2
        far = u < -1
        minus, plus = jax.lax.stop_gradient((jnp.where(far, w - 2, u), jnp.where(far, w, u + 2)))
        slope = u - jax.lax.stop_gradient(u)  # 0, with the shared derivative of u
        return minus + slope, plus + slope

    def origin(self) -> Point:
        """(1, 0, …, 0) for κ = −1 and (0, …, 0, 1) for κ = +1."""
        return jnp.zeros(self.ambient_dim).at[self._normal_axis].set(1.0)

    def inner(self, p: Point, u: Tangent, v: Tangent) -> Scalar:
        """R²⟨u, v⟩."""
        self._check_shapes(p=p, u=u, v=v)
        return self.radius**2 * self._form(u, v)

    def separation(self, p: Point, q: Point) -> Separation:
        """s² = −κR²A(z), z = κ⟨p, q⟩, where A is `numerics.squared_arc`.

        For anti-de Sitter (κ = −1) these are the four cases of eq. 12: −arccos²(−⟨p,q⟩), arccosh²(−⟨p,q⟩), 0
        and, if no geodesic exists, −π².
        """
        self._check_shapes(p=p, q=q)
        interval = -self.kappa * self.radius**2 * squared_arc(*self._arc_arguments(p, q))
        return Separation(interval[None], self.radius * self._time_difference(p, q))

    def _time_difference(self, p: Point, q: Point) -> Float[Array, "images"]:
        """Δt at R = 1: r_q(θ_q − θ_p + 2πn) on the circle of time (eqs. 7–9, 22–25), else arcsinh.

        If `arc` is 0, without the factor r_q.

        θ_q − θ_p ∈ (−π, π] comes from the sine and cosine of the difference, so it does not depend on where
        eq. 9 cuts the circle: the infinite sum over n is the same, and the truncated sum is closer to it.
        """
        if not self.has_circle:
            a, b = p[self.time_axis], q[self.time_axis]
            return (jnp.arcsinh(b) - jnp.arcsinh(a))[None]
        a, b = p[:2], q[:2]
        d = b - a
        angle = atan2(d[0] * a[1] - d[1] * a[0], jnp.sum(a * b))
        turns = jnp.arange(-self.images, self.images + 1, dtype=p.dtype)
        times = angle + 2 * jnp.pi * turns
        if not self.arc:
            return times
        root = jnp.sqrt if self.negatives == 2 else sqrt  # b·b ≥ 1 with two negatives, else it may be 0
        return root(jnp.sum(b * b)) * times

    def gradient(self, p: Point, covector: Covector) -> Tangent:
        """ζ = Π(G Π(G df))/R² (eq. 11), G = diag(∓1), or Π(G df)/R² if the metric is definite.

        df·ζ = |Π(G df)|²/R² ≥ 0 in the Euclidean norm, so −ζ is a descent direction. Multiplied out, the two
        projections add a multiple of p to each block of df: with a₋, a₊ the blocks of df·p, it is
        (a₋ + a₊)|p|² + 2κa₋ for the negative coordinates and (a₋ + a₊)|p|² − 2κa₊ for the positive ones.
        """
        self._check_shapes(p=p, covector=covector)
        square = self.radius**2
        if self.signature[0] == 0:
            return self._project_out(p, self._flip(covector)) / square
        n = self.negatives
        minus, plus = total(covector[:n] * p[:n]), total(covector[n:] * p[n:])
        size = 2 * square_sum(p, 0, n) + self.kappa  # |p|², by ⟨p, p⟩ = κ
        both = (minus + plus) * size
        on_minus, on_plus = (both + 2 * self.kappa * minus) / square, (both - 2 * self.kappa * plus) / square
        return covector * (1 / square) + jnp.where(self._signs < 0, on_minus, on_plus) * p

    def _project_out(self, p: Point, v: Array) -> Tangent:
        """Π_p v = v − κ⟨v, p⟩p (eq. 10)."""
        return v - once(self.kappa * self._form(v, p)) * p

    def exp(self, p: Point, v: Tangent) -> Point:
        """cos‖v‖ p + sin‖v‖ v/‖v‖, cosh and sinh on the other side of the null cone, p + v on it (eq. 13).

        All three are c(w)p + s(w)v with w = κ⟨v, v⟩ and c, s analytic. The result is projected back onto the
        surface, so rounding errors do not accumulate over steps.
        """
        return self._move(p, v, short=False)

    def step(self, p: Point, v: Tangent) -> Point:
        """`exp` for v of Euclidean norm at most 1: c and s from their series alone."""
        return self._move(p, v, short=True)

    def _move(self, p: Point, v: Tangent, short: bool) -> Point:
        self._check_shapes(p=p, v=v)
        w = self.kappa * self._form(v, v)
        return self.project(once(cos_sqrt(w, short=short)) * p + once(sinc_sqrt(w, short=short)) * v)

    def log(self, p: Point, q: Point) -> Tangent:
        """½A′(z)(q − zp); NaN for z ≤ −1, where no geodesic (at the antipode: no unique one) exists."""
        self._check_shapes(p=p, q=q)
        u, w = self._arc_arguments(p, q)
        v = squared_arc_slope(u, w) / 2 * (q - p - u * p)
        return jnp.where(w > 0, self.to_tangent(p, v), jnp.nan)

    def project(self, p: Point) -> Point:
        """Rescale the block of coordinates that cannot vanish: |x₋|² = 1 + |x₊|², or |x₊|² = 1 + |x₋|².

        Unlike division by √|⟨x, x⟩|, this is stable far from the origin, where ⟨x, x⟩ = ±1 is a small
        difference of large numbers. Tangent vectors are unchanged to first order.
        """
        self._check_shapes(p=p)
        negative, positive = self._blocks(p)
        block, other = (positive, negative) if self.kappa > 0 else (negative, positive)
        return p * jnp.where(self._signs == self.kappa, once(jnp.sqrt((1 + other) / block)), 1)

    def to_tangent(self, p: Point, v: Float[Array, "ambient"]) -> Tangent:
        """Π_p v = v − κ⟨v, p⟩p (eq. 10)."""
        self._check_shapes(p=p, v=v)
        return self._project_out(p, v)

    def transport(self, p: Point, q: Point, v: Tangent) -> Tangent:
        """Parallel along the geodesic: v − κ⟨q, v⟩/(1 + z)·(p + q); Π_q v without a geodesic (z ≤ −1)."""
        self._check_shapes(p=p, q=q, v=v)
        _, w = self._arc_arguments(p, q)
        joined = w > 0
        parallel = v - self.kappa * self._form(q, v) / jnp.where(joined, w, 1.0) * (p + q)
        return jnp.where(joined, parallel, self._project_out(q, v))

    def residual(self, p: Point) -> Scalar:
        """|⟨p, p⟩ − κ| / |p|²; 1 on the lower sheet of a two-sheeted quadric such as the hyperboloid."""
        self._check_shapes(p=p)
        off = jnp.abs(self._form(p, p) - self.kappa) / total(p * p)
        two_sheets = (self.positives if self.kappa > 0 else self.negatives) == 1
        return jnp.where(p[self._normal_axis] < 0, 1.0, off) if two_sheets else off

    def from_tangent_coordinates(self, coordinates: Float[Array, "dim"]) -> Tangent:
        """Insert 0 as normal coordinate; on a circle of time the future is towards −x₁ (the paper's −x₀)."""
        if self.kappa > 0:
            return jnp.concatenate([coordinates, jnp.zeros(1, coordinates.dtype)])
        if self.has_circle:
            coordinates = coordinates.at[0].multiply(-1)
        return jnp.concatenate([jnp.zeros(1, coordinates.dtype), coordinates])


def Sphere(dim: int, radius: Number = 1.0) -> Quadric:
    """The sphere S^`dim` of the given radius."""
    return Quadric(0, check_dim("Sphere", dim, 1) + 1, 1, radius)


def Hyperboloid(dim: int, radius: Number = 1.0) -> Quadric:
    """Hyperbolic space H^`dim` as the upper sheet of a hyperboloid, curvature −1/radius²."""
    return Quadric(1, check_dim("Hyperboloid", dim, 1), -1, radius)


def DeSitter(dim: int, radius: Number = 1.0) -> Quadric:
    """De Sitter spacetime with one time and `dim` − 1 ≥ 1 space dimensions."""
    return Quadric(1, check_dim("DeSitter", dim, 2), 1, radius)


def AntiDeSitter(dim: int, radius: Number = 1.0, images: int = IMAGES, arc: int = 1) -> Quadric:
    """Anti-de Sitter spacetime with one (circular) time and `dim` − 1 space dimensions (eq. 6).

    Δt is the arc length rθ, or the angle θ if `arc` is 0.
    """
    return Quadric(2, check_dim("AntiDeSitter", dim, 1) - 1, -1, radius, images, arc)


def PseudoHyperboloid(times: int, spaces: int, radius: Number = 1.0, images: int = IMAGES) -> Quadric:
    """⟨x, x⟩ = −1 with `times` time and `spaces` space dimensions; (0, n) is H^n, (1, n) is AdS."""
    for name, count in (("times", times), ("spaces", spaces)):
        whole_number(f"PseudoHyperboloid: {name}", count)
    if times + spaces < 1:
        raise ValueError("PseudoHyperboloid: times + spaces is 0; it must be ≥ 1")
    return Quadric(times + 1, spaces, -1, radius, images)


def is_hyperbolic(manifold: Manifold) -> bool:
    """Whether this is hyperbolic space of any radius."""
    return isinstance(manifold, Quadric) and manifold.kappa < 0 and manifold.negatives == 1


def is_anti_de_sitter(manifold: Manifold) -> bool:
    """Whether this is anti-de Sitter spacetime with one time dimension."""
    return isinstance(manifold, Quadric) and manifold.has_circle and manifold.negatives == 2
