"""Each safe scalar function and its derivatives against exact values, over wide ranges."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from timelike.core import numerics, reductions
from timelike.core.model import Model
from timelike.core.struct import from_real, to_real
from timelike.likelihoods import FermiDirac, TripleFermiDirac
from timelike.manifolds import AntiDeSitter, CylindricalMinkowski

mp = mpmath.mp.clone()
mp.dps = 50

SATURATION, SERIES = numerics.SATURATION, numerics.SERIES
KNEE = float(np.log1p(-SATURATION))
SIDES = np.asarray([1 - 3e-7, 1, 1 + 3e-7])  # both sides of a seam, distinct even in float32


@pytest.fixture(params=[np.float64, np.float32], ids=["float64", "float32"])
def dtype(request):
    with jax.enable_x64(request.param is np.float64):
        yield request.param


def spread(low, high, count=100):
    """Numbers of every magnitude from 10^low to 10^high."""
    return 10.0 ** np.random.default_rng(7).uniform(low, high, count)


def both_signs(low, high):
    return np.concatenate([spread(low, high), -spread(low, high)])


def exact_log1mexp(x):
    knee, slope = mp.log1p(-mp.mpf(SATURATION)), 1 / mp.mpf(SATURATION) - 1
    return mp.log1p(-mp.exp(x)) if x <= knee else mp.log(mp.mpf(SATURATION)) - slope * (x - knee)


def exact_cos_sqrt(w):
    return mp.cos(mp.sqrt(w)) if w >= 0 else mp.cosh(mp.sqrt(-w))


def exact_sinc_sqrt(w):
    return mp.sin(mp.sqrt(w)) / mp.sqrt(w) if w > 0 else mp.sinh(mp.sqrt(-w)) / mp.sqrt(-w)


def exact_squared_arc(u):
    if u <= -2:
        return -(mp.pi**2)
    return mp.acosh(1 + u) ** 2 if u > 0 else -(mp.acos(1 + u) ** 2)


def squared_arc(u):
    return numerics.squared_arc(u, u + 2)


class Case(NamedTuple):
    """A function, its exact counterpart and the arguments to compare them at."""

    ours: Callable
    exact: Callable
    at: np.ndarray


def near_seams(at):
    return np.concatenate([at, SERIES * SIDES, -SERIES * SIDES])


CASES = {
    "log_sigmoid": Case(numerics.log_sigmoid, lambda x: -mp.log1p(mp.exp(-x)), both_signs(-10, 1.9)),
    "softplus": Case(numerics.softplus, lambda x: mp.log1p(mp.exp(x)), both_signs(-10, 1.9)),
    "inverse_softplus": Case(numerics.inverse_softplus, lambda y: mp.log(mp.expm1(y)), spread(-30, 2)),
    "log1mexp": Case(
        numerics.log1mexp,
        exact_log1mexp,
        np.concatenate([-spread(-3.5, 1.9), spread(-6, 1), KNEE * SIDES, -0.693 * SIDES]),
    ),
    "sqrt": Case(numerics.sqrt, mp.sqrt, spread(-30, 30)),
    "cos_sqrt": Case(numerics.cos_sqrt, exact_cos_sqrt, near_seams(both_signs(-12, 3))),
    "sinc_sqrt": Case(numerics.sinc_sqrt, exact_sinc_sqrt, near_seams(both_signs(-12, 3))),
    "squared_arc": Case(
        squared_arc,
        exact_squared_arc,
        near_seams(np.concatenate([spread(-12, 8), -spread(-12, 0.3), -2 + spread(-4, 0)])),
    ),
}


def each(function):
    return jax.jit(jax.vmap(function))


def worst_error(exact, at, got):
    """The largest |error| / (ε(|f| + |x f′|)): rounding the argument and the result alone costs 1."""
    worst = 0
    for x, y in zip(at, np.asarray(got), strict=True):
        x, y = mp.mpf(float(x)), mp.mpf(float(y))
        worst = max(worst, abs(y - exact(x)) / (abs(exact(x)) + abs(x * mp.diff(exact, x))))
    return worst / float(np.finfo(at.dtype).eps)


@pytest.mark.parametrize("name", CASES)
def test_value_and_slope(name, dtype):
    """Accurate to about one rounding error, with three known exceptions.

    Close to the knee, log1mexp loses as much as 1 − F, up to ε/`SATURATION`. In float64, XLA's log1p is off
    by up to 120 ε around log1p(−0.41). Just outside its series, the slope of sin √w / √w is the difference of
    two terms that are 1/w times larger.
    """
    ours, exact, at = CASES[name]
    at = at.astype(dtype)
    value, slope = each(jax.value_and_grad(ours))(at)
    assert value.dtype == slope.dtype == dtype
    lost = {"log1mexp": 1 / SATURATION, "sinc_sqrt": 10 / SERIES}
    assert worst_error(exact, at, value) < (150 if name == "log1mexp" else 2)
    assert worst_error(lambda x: mp.diff(exact, x), at, slope) < lost.get(name, 4)


SPECIAL = np.asarray([0.0, -0.0, 1e-30, -1e-30, -2.0, -2.5, -2 + 1e-6, KNEE])


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"sqrt", "inverse_softplus"}))
def test_first_and_second_derivatives_are_finite_everywhere(name, dtype):
    slope = jax.grad(CASES[name].ours)
    at = near_seams(np.concatenate([SPECIAL, both_signs(-40, 3)])).astype(dtype)
    for derivative in each(lambda x: (slope(x), jax.grad(slope)(x), jax.jacfwd(slope)(x)))(at):
        assert np.isfinite(derivative).all()


def test_squared_arc_has_its_second_derivative():
    """A″ = −⅔ at z = 1, and equals that of the exact function on both sides."""
    with jax.enable_x64(True):
        at = near_seams(np.concatenate([[0.0], spread(-6, 3, 30), -spread(-6, 0.2, 30)]))
        got = each(jax.grad(jax.grad(squared_arc)))(at)
        want = [float(mp.diff(exact_squared_arc, mp.mpf(u), 2)) for u in at]
        np.testing.assert_allclose(got, want, rtol=1e-11)
        assert got[0] == pytest.approx(-2 / 3)


def test_squared_arc_ends_flat_at_the_antipode(dtype):
    u, w = jnp.asarray([[-2.0, -2.5, -1e3, -2.0], [0.0, -0.5, -998.0, 1e-30]], dtype)
    value, slope = each(numerics.squared_arc)(u, w), each(numerics.squared_arc_slope)(u, w)
    np.testing.assert_allclose(value[:3], -(np.pi**2), rtol=2 * np.finfo(dtype).eps)
    assert (slope[:3] == 0).all()
    assert 0 < slope[3] < 2 * np.pi / np.sqrt(np.finfo(dtype).eps)  # capped, where the exact slope diverges


def test_log1mexp_is_finite_and_decreasing_beyond_the_knee(dtype):
    x = np.sort(np.concatenate([KNEE + both_signs(-7, -3), spread(-3, 3)])).astype(dtype)
    value, slope = each(jax.value_and_grad(numerics.log1mexp))(x)
    assert np.isfinite(value).all()
    assert (np.diff(value) <= np.finfo(dtype).eps * abs(value[1:])).all()
    assert (np.diff(slope) <= 0).all()
    loss = np.finfo(dtype).eps / SATURATION
    np.testing.assert_allclose(slope[x > KNEE + 1e-6], 1 - 1 / SATURATION, rtol=loss)


def test_log_sigmoids_are_the_sum(dtype):
    a, b, c = np.random.default_rng(3).permuted(np.tile(both_signs(-10, 1.9), (3, 1)), axis=1).astype(dtype)
    value, slopes = each(jax.value_and_grad(numerics.log_sigmoids, (0, 1, 2)))(a, b, c)
    total, eps = sum(np.asarray(each(numerics.log_sigmoid)(x)) for x in (a, b, c)), np.finfo(dtype).eps
    assert np.max(abs(value - total) / (1 + abs(total))) < 4 * eps
    for x, slope in zip((a, b, c), slopes, strict=True):
        np.testing.assert_allclose(slope, each(jax.grad(numerics.log_sigmoid))(x), rtol=12 * eps)


def test_log_sigmoids_have_their_second_derivatives():
    """−σ(x)σ(−x) on the diagonal, 0 elsewhere; also at 0, for p = q and on the light cone."""
    with jax.enable_x64(True):
        at = np.array([[0.0, 0, 0], [0, 2, -3], [-0.0, 1e-30, -1e-30], [40, -40, 0.3]])
        found = jax.vmap(jax.hessian(lambda x: numerics.log_sigmoids(*x)))(at)
        slopes = jax.nn.sigmoid(at) * jax.nn.sigmoid(-at)
        np.testing.assert_allclose(found, -slopes[:, None] * np.eye(3), rtol=1e-12, atol=1e-16)


def test_sqrt_and_atan2_have_slope_zero_at_the_origin(dtype):
    zero = jnp.zeros((), dtype)
    assert jax.jit(jax.value_and_grad(numerics.sqrt))(zero) == (0, 0)
    assert jax.jit(jax.value_and_grad(numerics.atan2, (0, 1)))(zero, -zero) == (0, (0, 0))


def test_atan2(dtype):
    y, x = np.random.default_rng(0).normal(size=(2, 200)).astype(dtype)
    scale = np.repeat(np.asarray([1e-40, 1e-25, 1e-19, 1, 1e15, 1e30, 0.1, 10], dtype), 25)
    y, x = y * scale, x * scale
    value, (dy, dx) = each(jax.value_and_grad(numerics.atan2, (0, 1)))(y, x)
    want = np.arctan2(y.astype(float), x.astype(float))
    normal = np.minimum(abs(x), abs(y)) > np.finfo(dtype).tiny  # XLA flushes smaller numbers to 0
    np.testing.assert_allclose(value[normal], want[normal], rtol=4 * np.finfo(dtype).eps)
    assert np.isfinite(dy).all()
    assert np.isfinite(dx).all()
    r2 = x.astype(float) ** 2 + y.astype(float) ** 2
    moderate = (scale > 1e-18) & (scale < 1e18)
    np.testing.assert_allclose(dy[moderate], (x / r2)[moderate], rtol=1e-5)
    np.testing.assert_allclose(dx[moderate], (-y / r2)[moderate], rtol=1e-5)


def test_difference_of_squares_loses_nothing_on_the_cone(dtype):
    """In one space dimension, with x and t up to three units in the last place apart."""
    x = np.abs(np.random.default_rng(0).normal(size=200) * 100).astype(dtype)
    t = x * (1 + np.finfo(dtype).eps * np.random.default_rng(1).integers(-3, 4, size=200).astype(dtype))
    got = np.asarray(jax.jit(lambda x, t: numerics.difference(x * x, t * t))(x, t))
    want = [
        (mp.mpf(float(a)) - mp.mpf(float(b))) * (mp.mpf(float(a)) + mp.mpf(float(b)))
        for a, b in zip(x, t, strict=True)
    ]
    np.testing.assert_allclose(got, np.asarray(want, float), rtol=2 * np.finfo(dtype).eps)
    assert jax.grad(numerics.difference, (0, 1))(dtype(0), dtype(0)) == (1, -1)


def test_log_sum_exp(dtype):
    x = (np.random.default_rng(0).normal(size=(100, 5)) * spread(-3, 6)[:, None]).astype(dtype)
    exact = [mp.log(mp.fsum(mp.exp(mp.mpf(float(a))) for a in row)) for row in x]
    for function in (numerics.log_sum_exp, lambda row: numerics.log_sum_exp_of(list(row))):
        value, weights = each(jax.value_and_grad(function))(x)
        np.testing.assert_allclose(value, np.asarray(exact, float), rtol=4 * np.finfo(dtype).eps)
        np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=4 * np.finfo(dtype).eps)


def test_square_sum_and_its_derivatives(dtype):
    x = jnp.asarray([1.0, -2.0, 3.0, 4.0], dtype)
    part = lambda x: reductions.square_sum(x, 1, 3)  # noqa: E731
    value, slope, curvature = jax.jit(lambda x: (part(x), jax.grad(part)(x), jax.hessian(part)(x)))(x)
    assert value == 13
    np.testing.assert_array_equal(slope, [0, -4, 6, 0])
    np.testing.assert_array_equal(curvature, np.diag([0, 2, 2, 0]))


@pytest.mark.parametrize("length", [1, 31, 32, 33, 99, 128])
def test_total_and_its_derivatives(length, dtype):
    x = np.random.default_rng(length).normal(size=(3, length)).astype(dtype)
    exact = [math.fsum(map(float, row)) for row in x]
    np.testing.assert_allclose(jax.jit(reductions.total)(x), exact, atol=20 * np.finfo(dtype).eps)
    cubes = lambda x: reductions.total(x**3)  # noqa: E731
    np.testing.assert_allclose(each(jax.grad(cubes))(x), 3 * x**2, rtol=1e-6)
    np.testing.assert_allclose(each(jax.hessian(cubes))(x)[0], np.diag(6 * x[0]), rtol=1e-6)


def test_logit_is_invertible_and_finite_at_the_ends(dtype):
    p = np.asarray([0.0, 1e-5, 0.2, 0.5, 1 - 1e-3, 1.0], dtype)
    x = each(numerics.logit)(p)
    np.testing.assert_allclose(jax.nn.sigmoid(x), np.clip(p, 1e-6, 1 - 1e-6), rtol=1e-4)
    assert np.isfinite(x).all()
    assert np.isfinite(each(jax.grad(numerics.logit))(p)).all()


def test_once_changes_nothing(dtype):
    x = np.asarray([0.0, -1e30, 1e-30, 0.1], dtype)
    np.testing.assert_array_equal(each(reductions.once)(x), x)
    np.testing.assert_array_equal(each(jax.grad(reductions.once))(x), 1)


@pytest.mark.parametrize(("module", "fewest"), [(numerics, 10), (reductions, 3)])
def test_every_function_is_tested_here(module, fewest):
    public = [name for name, f in vars(module).items() if getattr(f, "__module__", "") == module.__name__]
    text, called = Path(__file__).read_text(), module.__name__.rpartition(".")[2]
    assert len(public) > fewest
    assert not [name for name in public if name[0] != "_" and f"{called}.{name}" not in text]


def test_wrap_is_the_nearest_representative(dtype):
    x = (np.random.default_rng(0).normal(size=500) * 50).astype(dtype)
    value, (by_x, by_period) = each(jax.value_and_grad(numerics.wrap, (0, 1)))(x, jnp.full_like(x, 7))
    turns = (x - np.asarray(value)) / 7
    assert (abs(value) <= 3.5 * (1 + 1e-6)).all()
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-5)
    np.testing.assert_array_equal(by_x, 1)
    np.testing.assert_array_equal(by_period, -np.round(turns))


MODEL = Model(CylindricalMinkowski(3, 8.0), TripleFermiDirac(0.15, 1e-3, 0.06, -0.1, 30.0))


@pytest.mark.parametrize("tree", [MODEL, Model(AntiDeSitter(3, 2.5), FermiDirac(1e-6, 0.5, 1e-3))])
def test_numbers_survive_a_round_trip_to_the_real_line(tree, dtype):
    there = to_real(tree)
    back = from_real(there)
    assert jax.tree.structure(back) == jax.tree.structure(tree)
    for a, b, c in zip(*map(jax.tree.leaves, (tree, there, back)), strict=True):
        assert np.isfinite(b)
        np.testing.assert_allclose(c, a, rtol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_ends_of_the_unit_interval_move_by_a_millionth(alpha, dtype):
    back = from_real(to_real(FermiDirac(alpha=alpha))).alpha
    assert back == pytest.approx(alpha, abs=1.2e-6)
    assert 0 < back < 1


@pytest.mark.parametrize("x", [-1e4, -100.0, -50.0, 0.0, 50.0, 1e4])
def test_positive_numbers_stay_positive_and_finite(x, dtype):
    """No matter how far an optimiser moves them on the real line."""
    moved = from_real(jax.tree.map(lambda _: jnp.asarray(x, dtype), MODEL))
    likelihood = moved.likelihood
    for number in (moved.manifold.circumference, likelihood.tau1, likelihood.tau2, likelihood.k):
        assert 0 < number < np.inf
    assert 0 <= likelihood.alpha <= 1
    assert likelihood.r == x
