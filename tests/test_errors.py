"""Invalid values raise one-line errors that name the argument, the value seen and the values allowed."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from timelike import Model
from timelike.likelihoods import Cone, FermiDirac, LawLucas, TripleFermiDirac
from timelike.manifolds import (
    MANIFOLDS,
    AntiDeSitter,
    Cylinder,
    CylindricalMinkowski,
    DeSitter,
    Flat,
    Hyperboloid,
    Minkowski,
    PseudoHyperboloid,
    Quadric,
    Sphere,
)

NAN, INF = float("nan"), float("inf")
METHODS = ["separation", "exp", "log", "inner", "gradient", "to_tangent", "transport", "project", "residual"]


def refuses(make, *parts: str) -> None:
    """Assert that `make` raises a one-line error that contains all the parts in order."""
    with pytest.raises((ValueError, TypeError)) as caught:
        make()
    message = str(caught.value)
    assert "\n" not in message
    assert re.search(".*".join(map(re.escape, parts)), message), message


@pytest.mark.parametrize("value", [0, -0.5, NAN, INF, -INF])
@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (FermiDirac, "tau"),
        (TripleFermiDirac, "tau1"),
        (TripleFermiDirac, "tau2"),
        (TripleFermiDirac, "k"),
        (LawLucas, "tau1"),
        (LawLucas, "tau2"),
        (Cone, "tau1"),
        (Cone, "tau2"),
        (lambda **numbers: Sphere(3, **numbers), "radius"),
        (lambda **numbers: AntiDeSitter(3, **numbers), "radius"),
        (lambda **numbers: CylindricalMinkowski(3, **numbers), "circumference"),
    ],
)
def test_positive_numbers(make, argument, value):
    refuses(lambda: make(**{argument: value}), argument, f"is {float(value)}", "finite number > 0")


@pytest.mark.parametrize("likelihood", [FermiDirac, TripleFermiDirac])
@pytest.mark.parametrize("value", [-0.01, 1.01, NAN, INF])
def test_fractions(likelihood, value):
    refuses(lambda: likelihood(alpha=value), "alpha", f"is {value}", "[0, 1]")


@pytest.mark.parametrize("likelihood", [FermiDirac, TripleFermiDirac])
@pytest.mark.parametrize("value", [NAN, INF])
def test_real_numbers(likelihood, value):
    refuses(lambda: likelihood(r=value), ": r is", f"{value}", "finite number")


@pytest.mark.parametrize("value", ["2", None, [1.0, 2.0], True, 1j, np.array(["2"]), len])
def test_numbers_are_numbers(value):
    shown = repr(value)
    refuses(lambda: Sphere(3, radius=value), "radius", f"is {shown}", "a finite number > 0")


def test_a_sweep_names_its_bad_entry():
    refuses(lambda: Sphere(3, radius=jnp.array([1.0, -2.0])), "radius[1]", "is -2.0", "> 0")
    refuses(lambda: FermiDirac(tau=np.array([[1.0, NAN]])), "tau[0, 1]", "is nan", "> 0")


@pytest.mark.parametrize("name", MANIFOLDS)
@pytest.mark.parametrize("dim", [0, -1, 2.5, "3", None, True])
def test_dimensions(name, dim):
    refuses(lambda: MANIFOLDS[name](dim), f"dim is {dim!r}", "a whole number ≥")


def test_dimensions_that_a_signature_requires():
    refuses(lambda: DeSitter(1), "DeSitter: dim is 1", "≥ 2")
    refuses(lambda: MANIFOLDS["two-time-hyperboloid"](1), "dim is 1", "≥ 2")
    refuses(lambda: Flat(0, 0), "times + spaces is 0", "≥ 1")
    refuses(lambda: Flat(-1, 3), "times is -1", "≥ 0")
    refuses(lambda: PseudoHyperboloid(0, 0), "times + spaces is 0", "≥ 1")
    refuses(lambda: PseudoHyperboloid(1, 2.0), "spaces is 2.0", "a whole number ≥ 0")
    refuses(lambda: Quadric(2, 2, 0), "kappa is 0", "one of (-1, 1)")
    refuses(lambda: Quadric(0, 3, -1), "negatives is 0", "≥ 1")
    refuses(lambda: Quadric(3, 0, 1), "positives is 0", "≥ 1")
    refuses(lambda: Quadric(1, 0, -1), "negatives + positives is 1", "≥ 2")


def test_numpy_integers_are_accepted():
    assert Minkowski(np.int64(3)) == Minkowski(3)
    assert type(Cylinder(Minkowski(3), 2, np.int32(1)).images) is int


@pytest.mark.parametrize("images", [-1, 1.5, "2", None, False])
def test_images(images):
    refuses(lambda: AntiDeSitter(3, images=images), f"images is {images!r}", "a whole number ≥ 0")
    refuses(lambda: CylindricalMinkowski(3, images=images), f"images is {images!r}", "a whole number ≥ 0")


def test_parts_are_of_the_right_kind():
    stationary = "a manifold with a time translation"
    refuses(lambda: Cylinder(Sphere(3), 1.0), "base is Quadric(negatives=0, positives=4", stationary)
    refuses(lambda: Cylinder(CylindricalMinkowski(2), 1.0), "base is Cylinder(", stationary)
    refuses(lambda: Model("minkowski", FermiDirac()), "manifold is 'minkowski'", "a Manifold")
    refuses(lambda: Model(Minkowski, FermiDirac()), "manifold is <function Minkowski", "a Manifold")
    refuses(lambda: Model(Minkowski(3), 0.5), "likelihood is 0.5", "a Likelihood")


def table(m, rows: int = 5) -> np.ndarray:
    """Valid points, for tests to corrupt."""
    return np.array([m.origin()] * rows)


@pytest.mark.parametrize("name", MANIFOLDS)
def test_points_must_be_finite(name):
    m = MANIFOLDS[name](3)
    good = table(m)
    m.check_points(good)
    for value in (NAN, INF):
        bad = good.copy()
        bad[[2, 4], 1] = value
        row = "points[2] is [", str(value)
        refuses(lambda bad=bad: m.check_points(bad), *row, "finite", "2)")


@pytest.mark.parametrize("make", [Sphere, Hyperboloid, DeSitter, AntiDeSitter])
def test_points_must_lie_on_the_surface(make):
    m = make(12)
    bad = table(m)
    bad[3] *= 1.01
    seen = f"train.points[3] is {bad[3].tolist()}"[:60], "off the surface of Quadric("
    refuses(lambda: m.check_points(bad, "train.points"), *seen, "at most 0.0001", "`project`")
    m.check_points(np.array(jax.vmap(m.project)(jnp.asarray(bad))))


def test_points_must_lie_on_the_upper_sheet():
    m = Hyperboloid(3)
    refuses(lambda: m.check_points(-table(m)), "points[0] is [-1.0, ", "off the surface", "5)")


def test_points_must_be_a_table_of_floats():
    m = Minkowski(3)
    refuses(lambda: m.check_points(np.zeros((5, 4))), "points has shape (5, 4)", "(number of points, 3)")
    refuses(lambda: m.check_points(np.zeros(3)), "points has shape (3,)", "(number of points, 3)")
    refuses(lambda: m.check_points([["a", "b", "c"]]), "points has dtype <U1", "floats")


@pytest.mark.parametrize("name", MANIFOLDS)
@pytest.mark.parametrize("method", METHODS)
def test_methods_take_one_point(name, method):
    m = MANIFOLDS[name](3)
    function = getattr(m, method)
    arguments = function.__code__.co_varnames[1 : function.__code__.co_argcount]
    n = m.ambient_dim
    for wrong, argument in enumerate(arguments):
        for shape in ((n + 1,), (n - 1,), (5, n), ()):
            values = [jnp.ones(shape if i == wrong else n) for i in range(len(arguments))]
            seen = f"{argument} has shape {shape}", f"({n},)", "jax.vmap"
            refuses(lambda values=values: function(*values), *seen)
            refuses(lambda values=values: jax.eval_shape(function, *values), *seen)
