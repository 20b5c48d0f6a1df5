"""The formulas of the paper with at least 50 digits, written from its text and not from our source.

Points are lists of `mp.mpf`; on anti-de Sitter the order is (x₋₁, x₀, x₁, …). `Precision` runs our code in
one dtype and compares.
"""

import mpmath
import numpy as np

mp = mpmath.mp.clone()
mp.dps = 250  # leaves 50 digits of 1 − F for F = 1 − 1e-200


def minkowski_interval(x, y):
    """Eq. 4."""
    return -((x[0] - y[0]) ** 2) + mp.fsum((a - b) ** 2 for a, b in zip(x[1:], y[1:], strict=True))


def ads_form(x, y):
    """⟨x, y⟩_L of eq. 6."""
    return -x[0] * y[0] - x[1] * y[1] + mp.fdot(x[2:], y[2:])


def ads_polar(p):
    """r of eq. 8 and θ = t/r of eq. 9; the arcsine uses r of eq. 7, which allows for rounding of p."""
    angle = mp.asin(p[0] / mp.hypot(p[0], p[1]))
    return mp.sqrt(1 + mp.fdot(p[2:], p[2:])), (angle if p[1] >= 0 else mp.pi - angle)


def ads_project(p, v):
    """Eq. 10."""
    return [vi + ads_form(v, p) * pi for vi, pi in zip(v, p, strict=True)]


def ads_gradient(p, df):
    """Eq. 11."""

    def raise_index(v):
        return [-v[0], -v[1], *v[2:]]

    return ads_project(p, raise_index(ads_project(p, raise_index(df))))


def ads_interval(p, q):
    """Eq. 12."""
    form = ads_form(p, q)
    if form == -1:
        return mp.mpf(0)
    if form > 1:
        return -(mp.pi**2)
    return -(mp.acos(-form) ** 2) if form > -1 else mp.acosh(-form) ** 2


def ads_exp(p, zeta):
    """Eq. 13."""
    square = ads_form(zeta, zeta)
    norm = mp.sqrt(abs(square))
    if square == 0:
        return [a + b for a, b in zip(p, zeta, strict=True)]
    c, s = (mp.cos(norm), mp.sin(norm)) if square < 0 else (mp.cosh(norm), mp.sinh(norm))
    return [c * a + s * b / norm for a, b in zip(p, zeta, strict=True)]


def fermi_dirac(x, tau, r, alpha):
    """Eq. 14."""
    return 1 / (mp.exp((alpha * x - r) / tau) + 1)


def triple_fermi_dirac(interval, time, tau1, tau2, alpha, r, k):
    """Eqs. 15 to 18."""
    f1 = fermi_dirac(interval, tau1, r, 1)
    f2 = fermi_dirac(-time, tau2, 0, 1)
    f3 = fermi_dirac(time, tau2, 0, alpha)
    return k * mp.cbrt(f1 * f2 * f3)


def cylinder_terms(x, y, turns, circumference, **numbers):
    """The terms of eq. 21 on the cylinder of eq. 20, for n in `turns`."""
    images = ([y[0] + n * circumference, *y[1:]] for n in turns)
    return [triple_fermi_dirac(minkowski_interval(x, q), q[0] - x[0], **numbers) for q in images]


def ads_terms(p, q, turns, **numbers):
    """The terms of eq. 21 on anti-de Sitter by eqs. 22 to 25."""
    interval = ads_interval(p, q)
    (_, theta_p), (r_q, theta_q) = ads_polar(p), ads_polar(q)
    return [
        triple_fermi_dirac(interval, r_q * (theta_q - theta_p) + 2 * mp.pi * n * r_q, **numbers)
        for n in turns
    ]


def disk_radius(time, tau1, tau2):
    """The right-hand side of eq. 26, or −1 where it is not a real number."""
    past = mp.exp(-time / tau2)
    inside = tau1 * mp.log((3 - past) / (1 + past)) + time**2 if past < 3 else mp.mpf(-1)
    return mp.sqrt(inside) if inside >= 0 else mp.mpf(-1)


class Precision:
    """A dtype, its allowed relative error, and the exact values of numbers in it."""

    def __init__(self, dtype, rtol):
        self.dtype, self.rtol = dtype, rtol

    def array(self, values):
        return np.asarray(values, self.dtype)

    def exact(self, values):
        return [mp.mpf(float(x)) for x in self.array(values)]

    def agree(self, got, want, scale=0):
        """Assert |got − want| ≤ rtol·max(|want|, `scale`), where `scale` is the size of cancelling terms."""
        got = np.atleast_1d(np.asarray(got))
        assert got.dtype == self.dtype
        for g, w, s in zip(got, want, np.broadcast_to(scale, got.shape), strict=True):
            assert abs(mp.mpf(float(g)) - w) <= self.rtol * max(abs(w), s), (g, w)


def exact_numbers(numbers):
    """The same numbers as `mp.mpf`."""
    return {name: mp.mpf(x) for name, x in numbers.items()}
