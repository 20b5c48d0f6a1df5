"""From a graph and a few options to a fitted model: the plan of a fit, what it tries, and the front door.

`resolve` makes a `FitPlan`; `SpacetimeEmbedding` carries it out. May import: _util, core, likelihoods,
manifolds, graphs, evaluation, io, baselines, engine, embedding, evidence, training,
hierarchy, spectral.
"""

from timelike.estimator.baseline_names import TRAINED, UNTRAINED
from timelike.estimator.baseline_scores import BASELINES, evaluate_baselines
from timelike.estimator.candidates import Candidate, Trained
from timelike.estimator.fit_plan import FitPlan, resolve
from timelike.estimator.read_off_candidates import FromPaths, NestedCones
from timelike.estimator.settings import PRESETS, FitOptions, Settings
from timelike.estimator.spacetime_embedding import SpacetimeEmbedding
from timelike.estimator.tuning import Tuned, tune

__all__ = [
    "BASELINES",
    "PRESETS",
    "TRAINED",
    "UNTRAINED",
    "Candidate",
    "FitOptions",
    "FitPlan",
    "FromPaths",
    "NestedCones",
    "Settings",
    "SpacetimeEmbedding",
    "Trained",
    "Tuned",
    "evaluate_baselines",
    "resolve",
    "tune",
]
