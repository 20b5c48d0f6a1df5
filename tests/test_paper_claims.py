"""What the paper says its likelihood can and cannot do, as properties of our models."""

import jax
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from paper_formulas import disk_radius, mp, triple_fermi_dirac

from timelike.core.model import Model
from timelike.likelihoods import FermiDirac, TripleFermiDirac
from timelike.manifolds import CylindricalMinkowski, Minkowski

log_prob = jax.jit(Model.log_prob)
interval = jax.jit(lambda p, q: Minkowski(3).separation(p, q).interval[0])

coordinates = st.tuples(*[st.floats(-10, 10)] * 3).map(np.asarray)
property_test = settings(max_examples=200)  # the first example compiles


@st.composite
def future_steps(draw):
    """A vector into the closed future light cone."""
    x, y = draw(st.floats(-5, 5)), draw(st.floats(-5, 5))
    return np.asarray([np.hypot(x, y) + draw(st.floats(0, 5)), x, y])


@property_test
@given(coordinates, future_steps(), future_steps(), st.floats(0.01, 2), st.floats(-1, 1))
def test_eq19_functions_of_the_interval_alone_are_transitive(p1, step12, step23, tau, r):
    """p₁ → p₃ is at least as near, in s², as either link: any decreasing function of s² predicts it."""
    p2, p3 = p1 + step12, p1 + step12 + step23
    model = Model(Minkowski(3), FermiDirac(tau, r))
    with jax.enable_x64(True):
        size = np.sum((p3 - p1) ** 2) + np.sum(p3**2)
        longest = min(interval(p1, p2), interval(p2, p3))
        assert interval(p1, p3) <= longest + 1e-14 * size
        links = max(log_prob(model, p1, p2), log_prob(model, p2, p3))
        assert log_prob(model, p1, p3) >= links - 1e-14 * size / tau


@property_test
@given(coordinates, st.floats(0.5, 5), st.floats(0.01, 0.1), st.floats(0.01, 0.1), st.floats(0.5, 1))
def test_eq19_triple_fermi_dirac_can_break_transitivity(p1, step, tau1, tau2, alpha):
    """With a large α two likely links need not imply the third; with α = 0 they still do."""
    p2, p3 = (np.add(p1, [n * step, 0, 0]) for n in (1, 2))
    broken = Model(Minkowski(3), TripleFermiDirac(tau1, tau2, alpha))
    closed = Model(Minkowski(3), TripleFermiDirac(tau1, tau2, 0.0))
    with jax.enable_x64(True):
        assert log_prob(broken, p1, p3) < log_prob(broken, p1, p2) - 0.1
        assert log_prob(closed, p1, p3) >= log_prob(closed, p1, p2) - 1e-12


@property_test
@given(
    coordinates, st.floats(-1, 3), st.floats(0, 5), st.floats(0, 7), st.floats(0.01, 1), st.floats(0.01, 1)
)
def test_eq26_edges_of_one_half_are_disks_in_the_light_cone(p, time, distance, angle, tau1, tau2):
    """F ≥ ½ if and only if D ≤ the radius of eq. 26, with α = 0, r = 0, k = 1."""
    q = np.add(p, [time, distance * np.cos(angle), distance * np.sin(angle)])
    t, x, y = (mp.mpf(b) - mp.mpf(a) for a, b in zip(p, q, strict=True))
    exact = triple_fermi_dirac(x**2 + y**2 - t**2, t, mp.mpf(tau1), mp.mpf(tau2), 0, 0, 1)
    assume(abs(exact - 0.5) > 1e-11)  # nearer than that, rounding decides
    with jax.enable_x64(True):
        likely = log_prob(Model(Minkowski(3), TripleFermiDirac(tau1, tau2, 0.0)), p, q) >= np.log(0.5)
    assert likely == (mp.hypot(x, y) <= disk_radius(t, mp.mpf(tau1), mp.mpf(tau2)))
    assert likely or t < 0 or mp.hypot(x, y) > t  # Euclidean disks, D ≤ T, are contained


@pytest.mark.parametrize(
    ("tau2", "alpha", "turn"), [(0.07, 0.09, 10.0), (0.03, 0.075, 8.0), (0.07, 0.03, 6.0)]
)
def test_eq21_truncation_is_bounded_for_near_pairs_only(tau2, alpha, turn):
    """Half a turn away, two images omit more with every turn of distance, and then everything."""
    k = 0.3  # so that no sum exceeds 1
    likelihood = TripleFermiDirac(0.1, tau2, alpha, k=k)
    short, long = (Model(CylindricalMinkowski(2, turn, images), likelihood) for images in (2, 40))
    ratio = np.exp(-alpha * turn / (3 * tau2))
    bound = k * ratio**2.5 / (1 - ratio)
    with jax.enable_x64(True):
        for distance, power in ((0.4, 2), (1.25, 1), (2.0, 0), (3.0, 0)):
            q = np.asarray([-0.4999 * turn, distance * turn])
            sums = [np.exp(log_prob(model, np.zeros(2), q)) for model in (short, long)]
            assert 1 - sums[0] / sums[1] == pytest.approx(ratio**power, rel=0.05)
            assert sums[1] - sums[0] <= bound
