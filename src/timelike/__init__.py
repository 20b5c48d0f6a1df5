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
    from timelike import datasets, likelihoods, manifolds, numerics, plot, split
    from timelike._struct import from_real, to_real
    from timelike.calibration import Calibration
    from timelike.checkpoint import Checkpointing
    from timelike.config import Config
    from timelike.embedding import Embedding, Neighbour, Prediction
    from timelike.evaluate import LabelledPairs
    from timelike.graph import DiGraph
    from timelike.model import Model
    from timelike.sampling import Negatives
    from timelike.sweeps import Sweep, sweep
    from timelike.training import DivergedError, InterruptedTraining, train

_MODULES = ("datasets", "likelihoods", "manifolds", "numerics", "plot", "split")
_HOMES = {
    "_struct": ("from_real", "to_real"),
    "calibration": ("Calibration",),
    "checkpoint": ("Checkpointing",),
    "config": ("Config",),
    "embedding": ("Embedding", "Neighbour", "Prediction"),
    "evaluate": ("LabelledPairs",),
    "graph": ("DiGraph",),
    "model": ("Model",),
    "sampling": ("Negatives",),
    "sweeps": ("Sweep", "sweep"),
    "training": ("DivergedError", "InterruptedTraining", "train"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Calibration",
    "Checkpointing",
    "Config",
    "DiGraph",
    "DivergedError",
    "Embedding",
    "InterruptedTraining",
    "LabelledPairs",
    "Model",
    "Negatives",
    "Neighbour",
    "Prediction",
    "Sweep",
    "__version__",
    "datasets",
    "from_real",
    "likelihoods",
    "manifolds",
    "numerics",
    "plot",
    "split",
    "sweep",
    "to_real",
    "train",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"timelike.{name}")
    if name in _HOME_OF:
        return getattr(importlib.import_module(f"timelike.{_HOME_OF[name]}"), name)
    raise AttributeError(f"module 'timelike' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
