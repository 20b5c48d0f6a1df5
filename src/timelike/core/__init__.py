"""The mathematical foundation: the interfaces of manifolds, likelihoods and models.

It also holds the safe scalar functions, reductions that XLA compiles well, hash-based random numbers, and
`struct`, the frozen dataclasses that manifolds and likelihoods are built from. May import: _util.
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
