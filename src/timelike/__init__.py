"""timelike: directed graph embeddings in spacetimes.

>>> import timelike as tl
>>> model = tl.Model(tl.manifolds.Minkowski(3), tl.likelihoods.TripleFermiDirac())

JAX is loaded when a name that needs it is first used, not on import.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from timelike._version import __version__

if TYPE_CHECKING:
    from timelike import likelihoods, manifolds, numerics
    from timelike.model import Model

_LAZY = {"Model": "timelike.model"}
_MODULES = ("likelihoods", "manifolds", "numerics")

__all__ = ["Model", "__version__", "likelihoods", "manifolds", "numerics"]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"timelike.{name}")
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'timelike' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
