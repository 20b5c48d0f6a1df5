"""Safe scalar functions: every series, floor, clip and epsilon of the package lives here.

All functions act elementwise, keep the dtype of their argument and have finite derivatives everywhere
(including second derivatives where tests use Hessians).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from timelike.core.reductions import once

Scalar = Float[Array, "*shape"]

#: `log1mexp` is exact while 1 − F ≥ SATURATION and follows its tangent beyond: a wrapped probability can
#: exceed 1, where log(1 − F) does not exist. The tangent keeps pushing the pair apart with the bounded slope
#: 1 − 1/SATURATION; a clip would leave it stuck.
SATURATION = 1e-3

#: Below this |argument| a quotient such as θ/sin θ is computed from its Taylor series. With eight terms, the
#: first omitted one is below 1e-16.
SERIES = 1e-2


@jax.custom_jvp
def log_sigmoid(x: Scalar) -> Scalar:
    """log σ(x) = −log(1 + e^(−x)), without overflow; the derivative is σ(−x)."""
    return jnp.minimum(x, 0) - jnp.log1p(jnp.exp(-jnp.abs(x)))


@log_sigmoid.defjvp
def _log_sigmoid_jvp(primals, tangents):  # type: ignore[no-untyped-def]
    (x,), (dx,) = primals, tangents
    return log_sigmoid(x), jax.nn.sigmoid(-x) * dx


@jax.custom_jvp
def log_sigmoids(*xs: Array) -> Array:
    """Σ log σ(xᵢ) with a single logarithm: Σ min(xᵢ, 0) − log Π(1 + e^(−|xᵢ|)); slopes σ(−xᵢ).

    Accurate to ε·(1 + |Σ|). If a sum close to 0 needs all its digits, add up `log_sigmoid` instead.
    """
    return sum(jnp.minimum(x, 0) for x in xs) - jnp.log(_product(_decays(xs)))


@log_sigmoids.defjvp
def _log_sigmoids_jvp(xs, dxs):  # type: ignore[no-untyped-def]
    # σ(−x) = e^(−x)/(1 + e^(−x)) over a common denominator: a single division.
    decays = _decays(xs)
    slope = 0.0
    for i, (x, dx) in enumerate(zip(xs, dxs, strict=True)):
        slope += jnp.where(x > 0, decays[i], 1.0) * _product(decays[:i] + decays[i + 1 :]) * dx
    return log_sigmoids(*xs), slope / _product(decays)


def _decays(xs: tuple[Array, ...]) -> list[Array]:
    return [_decay(x) for x in xs]


@jax.custom_jvp
def _decay(x: Array) -> Array:
    """e^(−|x|), with the left-hand slope at 0: the branch that the slopes above take there."""
    return jnp.exp(-jnp.abs(x))


@_decay.defjvp
def _decay_jvp(primals, tangents):  # type: ignore[no-untyped-def]
    decay = _decay(*primals)
    return decay, jnp.where(primals[0] > 0, -decay, decay) * tangents[0]


def _product(decays: list[Array]) -> Array:
    """Π(1 + eᵢ)."""
    return reduce(jnp.multiply, [1 + e for e in decays])


def log_sum_exp(x: Float[Array, "*shape images"]) -> Scalar:
    """log Σ eˣ over the last axis, for finite x."""
    top = jax.lax.stop_gradient(jnp.max(x, axis=-1, keepdims=True))
    return _log_of_sum(top[..., 0], jnp.sum(jnp.exp(x - top), axis=-1))


def log_sum_exp_of(xs: Sequence[Scalar]) -> Scalar:
    """log Σ eˣ over a sequence, written out term by term: XLA then shares and vectorises more.

    If the terms share little, XLA recomputes each one for every other and compiles forever.
    """
    top = jax.lax.stop_gradient(reduce(jnp.maximum, xs))
    return _log_of_sum(top, reduce(jnp.add, [jnp.exp(x - top) for x in xs]))


def _log_of_sum(top: Scalar, whole: Scalar) -> Scalar:
    # The sum is ≥ 1, unless XLA computes x twice with different rounding: from 10⁹ on, x − top may be −128.
    return top + jnp.log(jnp.where(whole < 0.5, 1.0, whole))


def softplus(x: Scalar) -> Scalar:
    """log(1 + eˣ) > 0; the smallest normal number where it would underflow to 0."""
    return jnp.maximum(-log_sigmoid(-x), jnp.finfo(jnp.result_type(x)).tiny)


def inverse_softplus(y: Scalar) -> Scalar:
    """The x with log(1 + eˣ) = y, for y > 0."""
    return y + jnp.log(-jnp.expm1(-y))


def logit(p: Scalar) -> Scalar:
    """The x with σ(x) = p, for 0 ≤ p ≤ 1; p is clipped to 10⁻⁶ from both ends, so that x can move back."""
    return jax.scipy.special.logit(jnp.clip(p, 1e-6, 1 - 1e-6))


@jax.custom_jvp
def log1mexp(x: Scalar) -> Scalar:
    """log(1 − eˣ), the log-probability of "no edge" if x is that of "edge".

    Exact for eˣ ≤ 1 − `SATURATION`. Beyond this knee, and for x > 0 where the logarithm does not exist, it is
    the tangent line at the knee. Always finite, decreasing and differentiable. The knee also bounds the
    cancellation in 1 − eˣ to a relative error of ε/`SATURATION`.
    """
    safe = _before_knee(x)
    return jnp.log1p(-jnp.exp(safe)) - (1 / SATURATION - 1) * (x - safe)


@log1mexp.defjvp
def _log1mexp_jvp(primals, tangents):  # type: ignore[no-untyped-def]
    # Differentiating the sum above would give 999 − 999 − eˣ, which loses a small eˣ.
    prob = jnp.exp(_before_knee(primals[0]))
    return log1mexp(*primals), prob / (prob - 1) * tangents[0]


def _before_knee(x: Scalar) -> Scalar:
    return jnp.minimum(x, jnp.log1p(jnp.asarray(-SATURATION, jnp.result_type(x))))


def sqrt(x: Scalar) -> Scalar:
    """√x for x ≥ 0 with derivative 0, instead of infinity, at x = 0."""
    positive = x > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1.0)), 0.0)


@jax.custom_jvp
def atan2(y: Scalar, x: Scalar) -> Scalar:
    """The angle of (x, y): 0 at the origin, with derivative 0 where x² + y² is 0 or underflows to 0.

    It uses products alone, so that it vectorises: the series of the angle from the nearest multiple of π/4,
    unfolded over the octants. A library call takes several times as long.
    """
    a, b = jnp.abs(x), jnp.abs(y)
    short, long = jnp.minimum(a, b), jnp.maximum(a, b)
    diagonal = short > 0.41421356 * long  # nearer to 45° than to the axis
    above, below = jnp.where(diagonal, short - long, short), jnp.where(diagonal, short + long, long)
    tangent = above / jnp.where(below > 0, below, 1)
    angle = jnp.where(diagonal, np.pi / 4, 0) + tangent * _horner(tangent * tangent, _ATAN_SERIES, 0.1716)
    angle = jnp.where(b > a, np.pi / 2 - angle, angle)
    angle = jnp.where(x < 0, np.pi - angle, angle)
    return once(jnp.where(y < 0, -angle, angle))


@atan2.defjvp
def _atan2_jvp(primals, tangents):  # type: ignore[no-untyped-def]
    (y, x), (dy, dx) = primals, tangents
    square = x * x + y * y
    inverse = jnp.where(square > 0, 1 / jnp.where(square > 0, square, 1.0), 0.0)
    return atan2(y, x), (x * inverse) * dy - (y * inverse) * dx


@jax.custom_jvp
def difference(a: Float[Array, "*#shape"], b: Float[Array, "*#shape"]) -> Float[Array, "..."]:
    """a − b for squares a, b ≥ 0, as (√a − √b)(√a + √b); the derivative is da − db.

    With a = |Δx|² and b = Δt² this is the interval. If √a and √b are exact (one space dimension), no digit
    is lost on the light cone. Otherwise the rounding of a remains, an absolute error of about ε·|Δx|² that no
    formula in working precision can remove.
    """
    root_a, root_b = jnp.sqrt(a), jnp.sqrt(b)
    return (root_a - root_b) * (root_a + root_b)


@difference.defjvp
def _difference_jvp(primals, tangents):  # type: ignore[no-untyped-def]
    return difference(*primals), tangents[0] - tangents[1]


def wrap(x: Scalar, period: Scalar | float) -> Scalar:
    """x modulo `period`, in [−period/2, period/2]."""
    return x - period * jax.lax.stop_gradient(jnp.round(x / period))


def _arc(u: Scalar, w: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """η = arccosh(1 + u) for u > 0 and sinh η; θ = arccos(1 + u) for u < 0 and sin θ, floored at √(ε|u|)."""
    outside = jnp.where(u > 0, u, 1.0)
    sinh = jnp.sqrt(outside) * jnp.sqrt(outside + 2)
    inside = jnp.where(u > _minus_tiny(u), 1.0, -u)
    sine, cosine = jnp.sqrt(inside), sqrt(w)  # of θ/2, both times √2
    floor = float(np.sqrt(jnp.finfo(jnp.result_type(u)).eps))
    return jnp.log1p(outside + sinh), sinh, 2 * atan2(sine, cosine), sine * jnp.maximum(cosine, floor)


def _minus_tiny(u: Scalar) -> float:
    """Above this u < 0, 1 + u is the cosine of 0 only."""
    return -float(jnp.finfo(jnp.result_type(u)).tiny)


@jax.custom_jvp
def squared_arc(u: Scalar, w: Scalar) -> Scalar:
    """A(z) with z = 1 + u = w − 1: arccosh²z for z ≥ 1, −arccos²z for |z| < 1, −π² for z ≤ −1.

    A is analytic at z = 1 (A = 2u − u²/3 + …): the squared distance on every quadric, up to sign. The caller
    passes u = z − 1 and w = z + 1 separately, each computed without cancellation, so that the angle
    2·atan2(√−u, √w) is accurate at both ends. The derivative is taken along u alone (on the surface dw = du).
    """
    eta, _, theta, _ = _arc(u, w)
    return jnp.where(u > 0, eta**2, jnp.where(u > _minus_tiny(u), 0.0, -(theta**2)))


@squared_arc.defjvp
def _squared_arc_jvp(primals, tangents):  # type: ignore[no-untyped-def]
    u, w = primals
    return squared_arc(u, w), once(squared_arc_slope(u, w)) * tangents[0]


def squared_arc_slope(u: Scalar, w: Scalar) -> Scalar:
    """A′(z) = 2η/sinh η (z > 1) or 2θ/sin θ (|z| < 1), and 0 for z ≤ −1, where A is constant.

    Near z = 1 it is the series aₙ = −n/(2n+1)·aₙ₋₁, a₀ = 2. The slope diverges like 2π/√(2w) as z → −1 (the
    antipode); flooring w at the machine epsilon caps it.
    """
    near = jnp.abs(u) < SERIES
    eta, sinh, theta, sine = _arc(u, w)
    outside = u > 0
    quotient = 2 * jnp.where(outside, eta, theta) / jnp.where(outside, sinh, sine)
    far = jnp.where(outside | (w > 0), quotient, 0.0)
    return jnp.where(near, _horner(jnp.where(near, u, 0.0), _SLOPE_SERIES, SERIES), far)


def cos_sqrt(w: Scalar, *, short: bool = False) -> Scalar:
    """cos √w for w ≥ 0 and cosh √−w for w < 0: one analytic function, 1 − w/2 + w²/24 − …

    The series is used for |w| < 1; with `short`, the caller promises |w| ≤ 1 and only the series is computed.
    """
    if short:
        return _horner(w, _COS_SERIES, 1.0)
    near = jnp.abs(w) < 1
    root = jnp.sqrt(jnp.where(near, 1.0, jnp.abs(w)))
    cosh = jnp.cosh(jnp.where(w < 0, root, 0.0))
    far = jnp.where(w < 0, cosh, jnp.cos(root))
    return jnp.where(near, _horner(jnp.where(near, w, 0.0), _COS_SERIES, 1.0), far)


def sinc_sqrt(w: Scalar, *, short: bool = False) -> Scalar:
    """sin √w / √w for w > 0 and sinh √−w / √−w for w < 0: 1 − w/6 + w²/120 − …; `short` as above."""
    if short:
        return _horner(w, _SINC_SERIES, 1.0)
    near = jnp.abs(w) < 1
    root = jnp.sqrt(jnp.where(near, 1.0, jnp.abs(w)))
    sinh = jnp.sinh(jnp.where(w < 0, root, 0.0))
    far = jnp.where(w < 0, sinh, jnp.sin(root)) / root
    return jnp.where(near, _horner(jnp.where(near, w, 0.0), _SINC_SERIES, 1.0), far)


def _series(first: float, ratio, count: int) -> tuple[float, ...]:  # type: ignore[no-untyped-def]
    terms = [first]
    for n in range(1, count):
        terms.append(terms[-1] * ratio(n))
    return tuple(terms)


_SLOPE_SERIES = _series(2.0, lambda n: -n / (2 * n + 1), 8)
_COS_SERIES = _series(1.0, lambda n: -1 / ((2 * n - 1) * (2 * n)), 10)
#: atan(√t)/√t, for t ≤ tan²(π/8): the first omitted term is below 1e-16.
_ATAN_SERIES = tuple((-1) ** n / (2 * n + 1) for n in range(20))
_SINC_SERIES = _series(1.0, lambda n: -1 / ((2 * n) * (2 * n + 1)), 10)


def _horner(x: Scalar, coefficients: tuple[float, ...], within: float) -> Scalar:
    """Σ cₙxⁿ for |x| ≤ `within`, without trailing terms below the precision of x."""
    least = jnp.finfo(jnp.result_type(x)).eps * abs(coefficients[0]) / 4
    kept = [c for n, c in enumerate(coefficients) if abs(c) * within**n > least]
    total = jnp.full_like(x, kept[-1])
    for c in kept[-2::-1]:
        total = total * x + c
    return total
