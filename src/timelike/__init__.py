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
    from timelike import (
        baselines,
        compare,
        datasets,
        evaluation,
        likelihoods,
        manifolds,
        metrics,
        numerics,
        plot,
        protocols,
        ranking,
        recipes,
        splits,
        structs,
    )
    from timelike._struct import from_real, to_real
    from timelike.calibration import Calibration
    from timelike.checkpoint import Checkpointing
    from timelike.config import Config
    from timelike.describe import Description
    from timelike.embedding import Embedding
    from timelike.ensembles import ensemble
    from timelike.estimator import SpacetimeEmbedding
    from timelike.evaluation import Evaluation, LabelledPairs, evaluate
    from timelike.graph import DiGraph
    from timelike.io import ReadSummary, read
    from timelike.model import Model
    from timelike.negatives import Negatives
    from timelike.predictions import Neighbour, Prediction, UncertainPrediction
    from timelike.settings import Settings
    from timelike.shards import EdgeShards
    from timelike.splits import Split, folds, split_edges
    from timelike.sweeps import Sweep, sweep
    from timelike.training import DivergedError, InterruptedTraining, train
    from timelike.tuning import Tuned, tune

_MODULES = (
    "baselines",
    "compare",
    "datasets",
    "evaluation",
    "likelihoods",
    "manifolds",
    "metrics",
    "numerics",
    "plot",
    "protocols",
    "ranking",
    "recipes",
    "splits",
    "structs",
)
_HOMES = {
    "_struct": ("from_real", "to_real"),
    "calibration": ("Calibration",),
    "checkpoint": ("Checkpointing",),
    "config": ("Config",),
    "describe": ("Description",),
    "embedding": ("Embedding",),
    "ensembles": ("ensemble",),
    "estimator": ("SpacetimeEmbedding",),
    "evaluation": ("Evaluation", "LabelledPairs", "evaluate"),
    "graph": ("DiGraph",),
    "io": ("ReadSummary", "read"),
    "model": ("Model",),
    "predictions": ("Neighbour", "Prediction", "UncertainPrediction"),
    "negatives": ("Negatives",),
    "settings": ("Settings",),
    "shards": ("EdgeShards",),
    "splits": ("Split", "folds", "split_edges"),
    "sweeps": ("Sweep", "sweep"),
    "training": ("DivergedError", "InterruptedTraining", "train"),
    "tuning": ("Tuned", "tune"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Calibration",
    "Checkpointing",
    "Config",
    "Description",
    "DiGraph",
    "DivergedError",
    "EdgeShards",
    "Embedding",
    "Evaluation",
    "InterruptedTraining",
    "LabelledPairs",
    "Model",
    "Negatives",
    "Neighbour",
    "Prediction",
    "ReadSummary",
    "Settings",
    "SpacetimeEmbedding",
    "Split",
    "Sweep",
    "Tuned",
    "UncertainPrediction",
    "__version__",
    "baselines",
    "compare",
    "datasets",
    "ensemble",
    "evaluate",
    "evaluation",
    "folds",
    "from_real",
    "likelihoods",
    "manifolds",
    "metrics",
    "numerics",
    "plot",
    "protocols",
    "ranking",
    "read",
    "recipes",
    "split_edges",
    "splits",
    "structs",
    "sweep",
    "to_real",
    "train",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"timelike.{name}")
    if name in _HOME_OF:
        return getattr(importlib.import_module(f"timelike.{_HOME_OF[name]}"), name)
    raise AttributeError(f"module 'timelike' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
