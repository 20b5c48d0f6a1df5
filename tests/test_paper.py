"""Every formula in sections 2 and 3 of the paper against 50-digit values (`paper_formulas`)."""

import functools
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import paper_formulas as paper
import pytest
from paper_formulas import Precision, exact_numbers, mp

from timelike.core.model import Model
from timelike.likelihoods import Cone, FermiDirac, LawLucas, TripleFermiDirac
from timelike.manifolds import (
    MANIFOLDS,
    AntiDeSitter,
    CylindricalMinkowski,
    Euclidean,
    Hyperboloid,
    Minkowski,
    Separation,
    Sphere,
)

RIEMANNIAN = [Euclidean(4), Sphere(3), Hyperboloid(3, radius=1.7)]
RADIUS = 1.7


@pytest.fixture(params=[(np.float64, 1e-12), (np.float32, 1e-5)], ids=["float64", "float32"])
def precision(request):
    with jax.enable_x64(request.param[0] is np.float64):
        yield Precision(*request.param)


@pytest.fixture
def rng():
    return np.random.default_rng(2021)


def ads_points(rng, count, spread=1.0):
    """Points with three space dimensions by eqs. 7 and 8, all around the circle of time."""
    x = rng.normal(scale=spread, size=(count, 3))
    r, theta = np.sqrt(1 + np.sum(x**2, axis=1)), rng.uniform(-np.pi, np.pi, count)
    return np.column_stack([r * np.sin(theta), r * np.cos(theta), x])


def random_point(rng, manifold, dtype=np.float64):
    v = manifold.from_tangent_coordinates(jnp.asarray(rng.normal(size=manifold.dim), dtype))
    return manifold.exp(manifold.origin().astype(dtype), v)


@pytest.mark.parametrize("manifold", RIEMANNIAN, ids=["euclidean", "sphere", "hyperboloid"])
def test_eq01_gradient_is_the_metric_dual_of_the_differential(manifold, precision, rng):
    p = random_point(rng, manifold, precision.dtype)
    df, *vectors = precision.array(rng.normal(size=(6, manifold.ambient_dim)))
    for v in vectors:
        v = manifold.to_tangent(p, v)
        size = float(jnp.linalg.norm(df) * jnp.linalg.norm(v) * jnp.sum(p * p))
        want = mp.fdot(precision.exact(df), precision.exact(v))
        precision.agree(manifold.inner(p, manifold.gradient(p, df), v), [want], scale=size)


@pytest.mark.parametrize("manifold", RIEMANNIAN, ids=["euclidean", "sphere", "hyperboloid"])
def test_eq02_first_order_taylor_expansion(manifold, rng):
    with jax.enable_x64(True):
        p = random_point(rng, manifold)
        weights, v = rng.normal(size=(2, manifold.ambient_dim))
        v = manifold.to_tangent(p, v)

        def f(x):
            return jnp.sum(weights * jnp.sin(x))

        slope = manifold.inner(p, manifold.gradient(p, jax.grad(f)(p)), v)
        coarse, fine = (f(manifold.exp(p, h * v)) - f(p) - h * slope for h in (1e-3, 1e-4))
        assert coarse / fine == pytest.approx(100, rel=0.05)  # the remainder is of second order


@pytest.mark.parametrize("name", MANIFOLDS)
def test_eq03_update_goes_downhill(name, rng):
    with jax.enable_x64(True):
        manifold = MANIFOLDS[name](4)
        for df in jnp.asarray(rng.normal(size=(10, manifold.ambient_dim))):
            p = random_point(rng, manifold)
            step = -1e-4 * manifold.gradient(p, df)
            assert jnp.dot(df, manifold.exp(p, step)) < jnp.dot(df, p)


def test_eq04_minkowski_interval(precision, rng):
    for x, y in precision.array(rng.normal(size=(50, 2, 4))):
        a, b = precision.exact(x), precision.exact(y)
        got = Minkowski(4).separation(x, y)
        precision.agree(got.interval, [paper.minkowski_interval(a, b)], scale=np.sum((x - y) ** 2))
        precision.agree(got.time, [b[0] - a[0]], scale=abs(x[0]))


def test_eq05_minkowski_exponential_map(precision, rng):
    p, df = precision.array(rng.normal(size=(2, 4)))
    want = [a + b for a, b in zip(precision.exact(p), precision.exact(df), strict=True)]
    precision.agree(Minkowski(4).exp(p, Minkowski(4).gradient(p, df)), want, scale=1)


def test_eq06_projected_points_lie_on_the_quadric(precision, rng):
    for drifted in precision.array(ads_points(rng, 20) * (1 + 0.01 * rng.normal(size=(20, 5)))):
        p = precision.exact(AntiDeSitter(4).project(drifted))
        assert abs(paper.ads_form(p, p) + 1) <= precision.rtol * mp.fdot(p, p)


def test_eq07_eq08_time_is_the_polar_angle_times_the_radius(precision, rng):
    space = rng.normal(size=(2, 3))
    r_p, r_q = np.sqrt(1 + np.sum(space**2, axis=1))
    for theta_p, theta_q in rng.uniform(-1.5, 1.5, size=(20, 2)):
        p = precision.array([r_p * np.sin(theta_p), r_p * np.cos(theta_p), *space[0]])
        q = precision.array([r_q * np.sin(theta_q), r_q * np.cos(theta_q), *space[1]])
        got = AntiDeSitter(4, RADIUS).separation(p, q).nearest.time
        want = mp.mpf(RADIUS) * mp.mpf(r_q) * (mp.mpf(theta_q) - mp.mpf(theta_p))
        precision.agree(got, [want], scale=RADIUS * r_q)


def test_eq09_angle_differs_from_the_arcsine_cases_by_whole_turns(precision, rng):
    seen = set()
    for p, q in zip(*np.split(precision.array(ads_points(rng, 120)), 2), strict=True):
        (_, theta_p), (r_q, theta_q) = (paper.ads_polar(precision.exact(x)) for x in (p, q))
        got = AntiDeSitter(4).separation(p, q).nearest.time
        turns = mp.nint((mp.mpf(float(got[0])) / r_q - (theta_q - theta_p)) / (2 * mp.pi))
        precision.agree(got, [r_q * (theta_q - theta_p + 2 * mp.pi * turns)], scale=r_q)
        seen.add((p[1] >= 0, q[1] >= 0, int(turns)))
    assert seen == {(1, 1, 0), (0, 0, 0), (1, 0, 0), (1, 0, -1), (0, 1, 0), (0, 1, 1)}


def test_eq10_projection_to_the_tangent_space(precision, rng):
    for p, v in zip(
        precision.array(ads_points(rng, 20)), precision.array(rng.normal(size=(20, 5))), strict=True
    ):
        want = paper.ads_project(precision.exact(p), precision.exact(v))
        precision.agree(AntiDeSitter(4).to_tangent(p, v), want, scale=np.linalg.norm(v) * np.dot(p, p))


def test_eq11_double_projection(precision, rng):
    for p, df in zip(
        precision.array(ads_points(rng, 20)), precision.array(rng.normal(size=(20, 5))), strict=True
    ):
        zeta = AntiDeSitter(4).gradient(p, df)
        want = paper.ads_gradient(precision.exact(p), precision.exact(df))
        precision.agree(zeta, want, scale=np.linalg.norm(df) * np.dot(p, p) ** 2)
        assert jnp.dot(df, zeta) > 0


def test_eq12_anti_de_sitter_interval(precision, rng):
    seen = dict.fromkeys(["timelike", "spacelike", "no geodesic"], 0)
    for p, q in zip(*np.split(precision.array(ads_points(rng, 200, spread=0.7)), 2), strict=True):
        x, y = precision.exact(p), precision.exact(q)
        form = paper.ads_form(x, y)
        if abs(abs(form) - 1) < 0.05:
            continue  # here rounding of p changes arccos by more than p; the cone has its own test
        seen["no geodesic" if form > 1 else "timelike" if form > -1 else "spacelike"] += 1
        want = mp.mpf(RADIUS) ** 2 * paper.ads_interval(x, y)
        got = AntiDeSitter(4, RADIUS).separation(p, q).interval
        precision.agree(got, [want], scale=np.dot(p, p) + np.dot(q, q))
    assert min(seen.values()) >= 5


@pytest.mark.parametrize("t", [0.0, 1e-3, 0.5, 3.0, 700.0])
def test_eq12_on_the_light_cone_and_at_the_antipode(precision, t):
    p, q = precision.array([[1, 0, 0, 0], [1, t, t, 0]])
    assert AntiDeSitter(3).separation(p, q).interval == 0 == paper.ads_interval(p, q)
    precision.agree(AntiDeSitter(3).separation(q, -q).interval, [-(mp.pi**2)])


@pytest.mark.parametrize("t", [0.3, 1.5, 1.7, 3.0])
def test_eq12_has_the_slope_and_curvature_of_a_squared_length(precision, t):
    """s² = −t² along the closed geodesic (cos t, −sin t) of unit speed."""
    precision.agree(interval_and_slopes(precision.array(t)), [-(t**2), -2 * t, -2], scale=10)


@jax.jit
def interval_and_slopes(t):
    def interval(t):
        p, q = jnp.asarray([1, 0, 0], t.dtype), jnp.stack([jnp.cos(t), -jnp.sin(t), 0 * t])
        return AntiDeSitter(2).separation(p, q).interval[0]

    return jnp.stack([f(t) for f in (interval, jax.grad(interval), jax.grad(jax.grad(interval)))])


def test_eq13_anti_de_sitter_exponential_map(precision, rng):
    seen = set()
    for p, v in zip(ads_points(rng, 40), 0.7 * rng.normal(size=(40, 5)), strict=True):
        x = precision.exact(p)
        v = precision.array([float(a) for a in paper.ads_project(x, precision.exact(v))])
        zeta = precision.exact(v)
        want = paper.ads_exp(x, zeta)
        seen.add(paper.ads_form(zeta, zeta) < 0)
        scale = np.dot(p, p) * (1 + np.dot(v, v)) * max(map(abs, want))
        precision.agree(AntiDeSitter(4).exp(precision.array(p), v), want, scale=scale)
    assert seen == {True, False}
    p, null = precision.array([[1, 0, 0, 0], [0, 0.75, 0.75, 0]])
    precision.agree(AntiDeSitter(3).exp(p, null), paper.ads_exp(precision.exact(p), precision.exact(null)), 1)


def check_likelihood(precision, rng, likelihood, formula):
    """Compare log F and log(1 − F) for 200 separations, including null and simultaneous ones."""
    interval, time = precision.array(rng.normal(size=(2, 200)) * [[2.0], [1.0]])
    interval[:20] = time[10:30] = 0
    pairs = zip(precision.exact(interval), precision.exact(time), strict=True)
    probs = [formula(*pair) for pair in pairs]
    yes, no = [mp.log(f) for f in probs], [mp.log1p(-f) for f in probs]
    separation = Separation(jnp.asarray(interval), jnp.asarray(time))
    precision.agree(likelihood.log_prob(separation), yes, scale=small_log_scale(precision, yes, no))
    precision.agree(likelihood.log_prob_not(separation), no, scale=small_log_scale(precision, no, yes))


def small_log_scale(precision, logs, others):
    """If log F = −exp(x) is tiny, rounding x = log(1 − F) by ε|x| changes log F by the relative amount ε|x|.

    Results below the smallest normal number may be flushed to 0.
    """
    tiny = float(np.finfo(precision.dtype).tiny) / precision.rtol
    return [max(abs(a * b), tiny) for a, b in zip(logs, others, strict=True)]


@pytest.mark.parametrize("numbers", [dict(tau=0.4, r=0.1, alpha=0.7), dict(tau=0.04, r=0.0, alpha=1.0)])
def test_eq14_fermi_dirac_and_its_complement(precision, rng, numbers):
    exact = exact_numbers(numbers)
    check_likelihood(precision, rng, FermiDirac(**numbers), lambda s2, _: paper.fermi_dirac(s2, **exact))


TFD = dict(tau1=0.15, tau2=0.07, alpha=0.06, r=-0.1, k=0.9)


@pytest.mark.parametrize("numbers", [TFD, TFD | dict(alpha=0.0, k=1.0), TFD | dict(tau1=0.02, alpha=1.0)])
def test_eq15_to_eq18_triple_fermi_dirac_and_its_complement(precision, rng, numbers):
    exact = exact_numbers(numbers)
    formula = functools.partial(paper.triple_fermi_dirac, **exact)
    check_likelihood(precision, rng, TripleFermiDirac(**numbers), formula)


def test_law_lucas_and_its_complement(precision, rng):
    tau1, tau2 = mp.mpf(0.15), mp.mpf(0.05)

    def formula(interval, time):
        return 1 / (1 + mp.exp(interval / tau1)) / (1 + mp.exp(-time / tau2))

    check_likelihood(precision, rng, LawLucas(), formula)


CONE = dict(tau1=0.05, tau2=0.1, alpha=0.03, beta=0.1, r=0.02, k=0.9)


@pytest.mark.parametrize("numbers", [CONE, CONE | dict(alpha=0.0, beta=0.0)])
def test_cone_and_its_complement(precision, rng, numbers):
    n = SimpleNamespace(**exact_numbers(numbers))

    def formula(interval, time):
        space = mp.sqrt(max(interval + time**2, 0) + n.tau1**2) - n.tau1
        cone = (time - space - n.r) / (n.tau1 + n.beta * (abs(time) + space))
        return 2 * n.k / (1 + mp.exp(-cone)) / (1 + mp.exp(n.alpha * max(time, 0) / n.tau2))

    check_likelihood(precision, rng, Cone(**numbers), formula)


def test_eq20_times_a_circumference_apart_are_the_same_event(precision, rng):
    model = Model(CylindricalMinkowski(3, circumference=8.0), TripleFermiDirac(**TFD))
    for p, q in precision.array(rng.normal(size=(10, 2, 3))):
        want = mp.mpf(float(model.log_prob(p, q)))
        for n in (-3, 1, 2):
            image = precision.array([q[0] + 8 * n, *q[1:]])
            # Rounding changes the shifted time by ε·8n; the slope of log F in Δt is α/(3τ₂) or 1/(3τ₂).
            precision.agree(model.log_prob(p, image), [want], scale=24)


NUMBERS = [TFD, dict(tau1=0.4, tau2=0.15, alpha=0.15, r=-0.1, k=0.7)]
TURNS = range(-60, 61)


@pytest.mark.parametrize("numbers", NUMBERS)
def test_eq21_wrapped_sum_on_the_cylinder(precision, rng, numbers):
    model = Model(CylindricalMinkowski(3, circumference=8.0), TripleFermiDirac(**numbers))
    exact = exact_numbers(numbers)
    for p, q in precision.array(rng.normal(size=(20, 2, 3)) * [6, 1, 1]):
        x, y = precision.exact(p), precision.exact(q)
        nearest = int(mp.nint((x[0] - y[0]) / 8))
        terms = paper.cylinder_terms(x, y, [nearest + n for n in TURNS], mp.mpf(8), **exact)
        time = y[0] - x[0] + 8 * nearest
        past, future = 1 / (3 * exact["tau2"]), exact["alpha"] / (3 * exact["tau2"])
        left_out = [
            mp.exp(-a * t) / (1 - mp.exp(-8 * a)) for a, t in ((past, 24 - time), (future, 24 + time))
        ]
        check_wrapped(precision, model.log_prob(p, q), terms, left_out=exact["k"] * mp.fsum(left_out))


@pytest.mark.parametrize("numbers", NUMBERS)
def test_eq21_to_eq25_wrapped_sum_on_anti_de_sitter(precision, rng, numbers):
    model = Model(AntiDeSitter(4), TripleFermiDirac(**numbers))
    for p, q in zip(*np.split(precision.array(ads_points(rng, 40)), 2), strict=True):
        x, y = precision.exact(p), precision.exact(q)
        turns = (paper.ads_polar(x)[1] - paper.ads_polar(y)[1]) / (2 * mp.pi)
        terms = paper.ads_terms(x, y, [int(mp.nint(turns)) + n for n in TURNS], **exact_numbers(numbers))
        check_wrapped(precision, model.log_prob(p, q), terms, left_out=0.03 * mp.fsum(terms))


def check_wrapped(precision, got, terms, left_out):
    """Check the sum of the five nearest terms; the infinite sum exceeds it by at most `left_out`."""
    middle = len(terms) // 2
    nearest = mp.fsum(terms[middle - 2 : middle + 3])
    precision.agree(got, [mp.log(min(nearest, 1))], scale=1)
    assert 0 <= mp.fsum(terms) - nearest <= left_out


def test_eq21_omits_the_documented_fraction():
    """Three per cent at the paper's slowest decay on anti-de Sitter, half a turn in the past."""
    for numbers, share in zip(NUMBERS, (0.03, 0.016), strict=True):
        p, q = ([mp.sin(a), mp.cos(a)] for a in (mp.pi / 2, mp.mpf("1e-6") - mp.pi / 2))
        terms = paper.ads_terms(p, q, TURNS, **exact_numbers(numbers))
        assert 0.9 * share < 1 - mp.fsum(terms[58:63]) / mp.fsum(terms) < share
