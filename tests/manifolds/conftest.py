"""Every geometry in `MANIFOLDS`: with its defaults, with other numbers, and in other dimensions."""

from collections.abc import Callable

import pytest
from samples import number_fields, with_numbers

from timelike.baselines import Static
from timelike.manifolds import MANIFOLDS, AntiDeSitter, Cylinder, Flat, Hyperboloid, Manifold, Quadric


def smallest(make: Callable[..., Manifold]) -> Manifold:
    """The manifold of lowest dimension: 1, or 2 if the signature requires it."""
    try:
        return make(1)
    except ValueError:
        return make(2)


IN_3D = {f"{name}-3": make(3) for name, make in MANIFOLDS.items()}
SCALED = {f"{name}-scaled": with_numbers(m, 4.5) for name, m in IN_3D.items() if number_fields(m)}
OTHERS = {f"{name}-smallest": smallest(make) for name, make in MANIFOLDS.items()}
OTHERS |= {f"{name}-10": MANIFOLDS[name](10) for name in ("minkowski", "anti-de-sitter")}
OTHERS |= {"static-hyperboloid": Static(Hyperboloid(2, 2.0))}
OTHERS |= {"two-time-flat": Flat(2, 1), "two-time-de-sitter": Quadric(2, 2, 1)}
OTHERS |= {"anti-de-sitter-angle": AntiDeSitter(3, arc=0)}

#: The values of each test argument. A program is compiled once for all numbers but again for every dimension
#: and signature, so only the quick axioms run over the other dimensions.
ARGUMENTS = {
    "plain": IN_3D,
    "m": IN_3D | SCALED,
    "any_dim": IN_3D | SCALED | OTHERS,
    "quadric": {name: m for name, m in (IN_3D | SCALED).items() if isinstance(m, Quadric)},
    "cylinder": {name: m for name, m in (IN_3D | SCALED).items() if isinstance(m, Cylinder)},
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for argument in ARGUMENTS.keys() & metafunc.fixturenames:
        metafunc.parametrize(argument, ARGUMENTS[argument].values(), ids=ARGUMENTS[argument].keys())
