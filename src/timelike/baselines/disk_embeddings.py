"""Disk embeddings (Suzuki, Takahama & Onoda, ICML 2019): Euclidean, spherical and hyperbolic."""

from __future__ import annotations

from timelike.baselines.margin_energy import Energy
from timelike.baselines.static_spacetime import Static
from timelike.core.likelihood import LogProb
from timelike.core.manifold import Manifold, Separation
from timelike.core.model import Model
from timelike.core.numerics import sqrt
from timelike.core.struct import POSITIVE, Number, number, struct
from timelike.manifolds import Hyperboloid, Minkowski, Sphere
from timelike.manifolds.flat import check_dim


@struct
class Disk(Energy):
    """E(p, q) = d(x, y) − (r_p − r_q): p → q if the disk of p contains that of q.

    A formal disk has a centre x and a radius r, which may be any real number. With t = −r it is an event in
    ℝ × space, r_p − r_q is Δt, and inclusion of disks is the causal order (the paper's appendix A), so the
    energy is a function of the separation: d = √(s² + Δt²). The loss is theirs with margin γ = `margin`.
    """

    margin: Number = number(default=1.0, domain=POSITIVE)

    def misses(self, manifold: Manifold) -> str | None:
        """The product of a time axis and a space."""
        has = isinstance(manifold, Static) or manifold == Minkowski(manifold.dim)
        return None if has else "Minkowski space or Static(space)"

    def energy(self, separation: Separation) -> LogProb:
        """√(s² + Δt²) − Δt."""
        return sqrt(separation.interval + separation.time**2) - separation.time


def euclidean_disk(dim: int) -> Model:
    """Disks in ℝ^(`dim` − 1); the last dimension is the radius."""
    return Model(Minkowski(check_dim("euclidean-disk", dim, 2)), Disk(margin=1.0))


def spherical_disk(dim: int) -> Model:
    """Disks on the sphere S^(`dim` − 1)."""
    return Model(Static(Sphere(check_dim("spherical-disk", dim, 2) - 1)), Disk(margin=0.01))


def hyperbolic_disk(dim: int) -> Model:
    """Disks in H^(`dim` − 1)."""
    return Model(Static(Hyperboloid(check_dim("hyperbolic-disk", dim, 2) - 1)), Disk(margin=0.5))
