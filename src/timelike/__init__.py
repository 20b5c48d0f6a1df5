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
        core,
        datasets,
        estimator,
        evaluation,
        evidence,
        hierarchy,
        likelihoods,
        manifolds,
        plot,
    )
    from timelike._util.trackers import logged
    from timelike.core.model import Model
    from timelike.embedding.embedding import Embedding
    from timelike.engine.config import Config
    from timelike.engine.negatives import Negatives
    from timelike.estimator.fit_plan import resolve
    from timelike.estimator.settings import Settings
    from timelike.estimator.spacetime_embedding import SpacetimeEmbedding
    from timelike.estimator.tuning import tune
    from timelike.evaluation.pair_evaluation import Evaluation, evaluate
    from timelike.evaluation.splits import Split, split_edges
    from timelike.graphs.digraph import DiGraph
    from timelike.io.edge_shards import EdgeShards
    from timelike.io.reading import read
    from timelike.training.checkpoint import Checkpointing
    from timelike.training.ensembles import ensemble
    from timelike.training.sweeps import sweep
    from timelike.training.training_loop import DivergedError, InterruptedTraining, train

#: Rooms that are public: what their own `__all__` lists is documented.
_ROOMS = (
    "baselines",
    "core",
    "datasets",
    "estimator",
    "evaluation",
    "evidence",
    "hierarchy",
    "likelihoods",
    "manifolds",
    "plot",
)
#: Where the other public names live.
_HOMES = {
    "_util.trackers": ("logged",),
    "core.model": ("Model",),
    "embedding.embedding": ("Embedding",),
    "engine.config": ("Config",),
    "engine.negatives": ("Negatives",),
    "estimator.fit_plan": ("resolve",),
    "estimator.settings": ("Settings",),
    "estimator.spacetime_embedding": ("SpacetimeEmbedding",),
    "estimator.tuning": ("tune",),
    "evaluation.pair_evaluation": ("Evaluation", "evaluate"),
    "evaluation.splits": ("Split", "split_edges"),
    "graphs.digraph": ("DiGraph",),
    "io.edge_shards": ("EdgeShards",),
    "io.reading": ("read",),
    "training.checkpoint": ("Checkpointing",),
    "training.ensembles": ("ensemble",),
    "training.sweeps": ("sweep",),
    "training.training_loop": ("DivergedError", "InterruptedTraining", "train"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
#: Names that users guess, and what to write.
_RIGHT_CALLS = {
    "fit": "SpacetimeEmbedding().fit(graph)",
    "load": "SpacetimeEmbedding.load(folder)",
    "load_dataset": "datasets.load(name)",
    "from_networkx": "read(graph)",
    "from_pandas_edgelist": "read(frame)",
    "read_edgelist": "read(file)",
    "draw": "plot.draw(model)",
    "save": "SpacetimeEmbedding.save(folder)",
    "SpaceTimeEmbedding": "SpacetimeEmbedding",
    "Minkowski": "manifolds.Minkowski",
    "train_test_split": "split_edges(graph)",
}

__all__ = [
    "Checkpointing",
    "Config",
    "DiGraph",
    "DivergedError",
    "EdgeShards",
    "Embedding",
    "Evaluation",
    "InterruptedTraining",
    "Model",
    "Negatives",
    "Settings",
    "SpacetimeEmbedding",
    "Split",
    "__version__",
    "baselines",
    "core",
    "datasets",
    "ensemble",
    "estimator",
    "evaluate",
    "evaluation",
    "evidence",
    "hierarchy",
    "likelihoods",
    "logged",
    "manifolds",
    "plot",
    "read",
    "resolve",
    "split_edges",
    "sweep",
    "train",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"timelike.{name}")
    if name in _HOME_OF:
        return getattr(importlib.import_module(f"timelike.{_HOME_OF[name]}"), name)
    right = _RIGHT_CALLS.get(name)
    hint = f"use timelike.{right}" if right else f"it has {', '.join(__all__)}"
    raise AttributeError(f"module 'timelike' has no attribute {name!r}; {hint}")


def __dir__() -> list[str]:
    return __all__
