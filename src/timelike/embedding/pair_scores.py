"""The scores that rank pairs: the trained likelihood, or the light cone alone.

A likelihood that fades with time trains well, because it keeps neighbours close, but edges into the far
future are no less real. Points may be ranked by another score if validation pairs prefer it.
"""

from __future__ import annotations

import numpy as np

from timelike._util.checks import one_of, show
from timelike.core.model import MeanModel, Model, Ranker
from timelike.embedding import exact_ranking
from timelike.embedding.calibration import KNEES
from timelike.evaluation import metrics
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.likelihoods import Cone
from timelike.manifolds.flat import Flat

#: The score that every model has.
LIKELIHOOD = "likelihood"
#: How soft the tip of the cone is, in units of the points. The first ranks by Δt/|Δx|.
SOFTNESS = (1e-6, 0.03, 0.1, 0.3, 1.0)
#: The metrics, on validation pairs, that can choose a score.
CHOSEN_BY = ("average_precision", "f1")


def scores_of(model: Model) -> dict[str, Model]:
    """Every score that ranks pairs of this model's points: name → the model whose log F is the score.

    "likelihood" is the model itself. A flat spacetime with one time dimension that is not a circle also has
    "cone s" for every s in `SOFTNESS`: F = σ((Δt − ρ)/(s + |Δt| + ρ)), a `Cone` with τ₁ = s, β = 1, α = 0.
    """
    scores = {LIKELIHOOD: model}
    space = model.manifold
    if isinstance(space, Flat) and space.times == 1 and space.dim > 1:
        for soft in SOFTNESS:
            scores[f"cone {soft:g}"] = Model(space, Cone(tau1=soft, beta=1.0, alpha=0.0))
    return scores


def ranker(model: Model, score: str, members: int = 1, knee: float = KNEES[0]) -> Ranker:
    """The model that ranks by this score; for several members, by the mean of their log-odds."""
    known = scores_of(model)
    if score not in known:
        raise ValueError(f"score is {show(score)}; this model has {', '.join(known)}")
    return known[score] if members == 1 else MeanModel(known[score], members, knee)


def choose_score(
    model: Model, points: np.ndarray, valid: LabelledPairs, by: str = "average_precision", members: int = 1
) -> str:
    """The score that separates these pairs best; the likelihood if no other is better."""
    one_of("by", by, CHOSEN_BY)
    s, t, labels = (np.asarray(x) for x in valid)
    reached = {}
    for name in scores_of(model):
        scores = exact_ranking.listed(ranker(model, name, members), points, s, t)
        if by == "f1":
            reached[name] = metrics.f1(scores, labels, metrics.best_f1_threshold(scores, labels))
        else:
            reached[name] = metrics.average_precision(scores, labels)
    return max(reached, key=lambda name: reached[name])
