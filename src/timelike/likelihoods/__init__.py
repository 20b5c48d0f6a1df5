"""From a separation to the probability of an edge, in log space only.

A likelihood sees only the `Separation` of two points. Each method returns one value per image; `Model` sums
them. The registry `LIKELIHOODS` maps names to constructors. May import: core.
"""

from collections.abc import Callable

from timelike.core.likelihood import Likelihood
from timelike.likelihoods.fermi_dirac import FermiDirac, TripleFermiDirac
from timelike.likelihoods.light_cone import Cone, LawLucas

LIKELIHOODS: dict[str, Callable[..., Likelihood]] = {
    "fermi-dirac": FermiDirac,
    "triple-fermi-dirac": TripleFermiDirac,
    "law-lucas": LawLucas,
    "cone": Cone,
}

__all__ = ["LIKELIHOODS", "Cone", "FermiDirac", "LawLucas", "Likelihood", "TripleFermiDirac"]
