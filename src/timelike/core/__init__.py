"""The mathematics that everything stands on: what a manifold, a likelihood and a model are.

Safe scalar functions, reductions that XLA compiles well, random numbers computed from a hash, and `struct`,
the frozen classes that manifolds and likelihoods are made of. May import: _util.
"""

from timelike.core.likelihood import Likelihood
from timelike.core.manifold import Manifold, Separation
from timelike.core.model import Model
from timelike.core.struct import (
    POSITIVE,
    REAL,
    UNIT,
    Domain,
    child,
    from_real,
    number,
    numbers_of,
    static,
    struct,
    to_real,
    with_numbers,
)

__all__ = [
    "POSITIVE",
    "REAL",
    "UNIT",
    "Domain",
    "Likelihood",
    "Manifold",
    "Model",
    "Separation",
    "child",
    "from_real",
    "number",
    "numbers_of",
    "static",
    "struct",
    "to_real",
    "with_numbers",
]
