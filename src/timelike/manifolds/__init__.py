"""Spacetimes and Riemannian spaces, each a class of maths on single points and pairs.

The registry `MANIFOLDS` maps names to constructors, which take `dim` (time included) and the numbers of the
geometry. The axiom tests cover every entry. `pairwise` has the same formulas for many pairs at once.
May import: _util, core.
"""

from collections.abc import Callable
from typing import Any

from timelike.core.manifold import Manifold, Separation
from timelike.manifolds.cylinder import Cylinder, CylindricalEuclidean, CylindricalMinkowski
from timelike.manifolds.flat import Euclidean, Flat, Minkowski, check_dim
from timelike.manifolds.quadric import AntiDeSitter, DeSitter, Hyperboloid, PseudoHyperboloid, Quadric, Sphere


def _two_times(dim: int, **numbers: Any) -> Manifold:
    return PseudoHyperboloid(2, check_dim("two-time-hyperboloid", dim, 2) - 2, **numbers)


MANIFOLDS: dict[str, Callable[..., Manifold]] = {
    "euclidean": Euclidean,
    "minkowski": Minkowski,
    "cylindrical-euclidean": CylindricalEuclidean,
    "cylindrical-minkowski": CylindricalMinkowski,
    "sphere": Sphere,
    "hyperboloid": Hyperboloid,
    "de-sitter": DeSitter,
    "anti-de-sitter": AntiDeSitter,
    "two-time-hyperboloid": _two_times,
}

__all__ = [
    "MANIFOLDS",
    "AntiDeSitter",
    "Cylinder",
    "CylindricalEuclidean",
    "CylindricalMinkowski",
    "DeSitter",
    "Euclidean",
    "Flat",
    "Hyperboloid",
    "Manifold",
    "Minkowski",
    "PseudoHyperboloid",
    "Quadric",
    "Separation",
    "Sphere",
]
