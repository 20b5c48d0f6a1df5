"""By what pairs are ranked: the likelihood that was trained, or the light cone alone.

A likelihood that fades with time is good to train with, since it keeps neighbours near each other, but the
far future is no less true for it. So points may be ranked by another score where validation pairs prefer it.
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
#: How soft the tip of the cone is, in units of the points. For the first it ranks by Δt/|Δx|.
SOFTNESS = (1e-6, 0.03, 0.1, 0.3, 1.0)
#: What a score is chosen by, on validation pairs.
CHOSEN_BY = ("average_precision", "f1")


def scores_of(model: Model) -> dict[str, Model]:
    """Every way to rank pairs with the points of this model: name → the model whose log F ranks them.

    "likelihood" is the model itself. In a flat spacetime with one time that is no circle there is also
    "cone s" for every s in `SOFTNESS`: F = σ((Δt − ρ)/(s + |Δt| + ρ)), `Cone` with τ₁ = s, β = 1 and α = 0.
    """
    found = {LIKELIHOOD: model}
    space = model.manifold
    if isinstance(space, Flat) and space.times == 1 and space.dim > 1:
        for soft in SOFTNESS:
            found[f"cone {soft:g}"] = Model(space, Cone(tau1=soft, beta=1.0, alpha=0.0))
    return found


def ranker(model: Model, score: str, members: int = 1, knee: float = KNEES[0]) -> Ranker:
    """The model that ranks by this score; of several members by the mean of their log-odds."""
    known = scores_of(model)
    if score not in known:
        raise ValueError(f"score is {show(score)}; this model has {', '.join(known)}")
    return known[score] if members == 1 else MeanModel(known[score], members, knee)


def choose_score(
    model: Model,
    points: np.ndarray,
    valid: LabelledPairs,
    by: str = "average_precision",
    members: int = 1,
) -> tuple[str, dict[str, float]]:
    """The score that tells these pairs apart best (the likelihood if none is better), and all that were."""
    one_of("by", by, CHOSEN_BY)
    s, t, labels = (np.asarray(x) for x in valid)
    reached = {}
    for name in scores_of(model):
        scores = exact_ranking.listed(ranker(model, name, members), points, s, t)
        if by == "f1":
            reached[name] = metrics.f1(scores, labels, metrics.best_f1_threshold(scores, labels))
        else:
            reached[name] = metrics.average_precision(scores, labels)
    return max(reached, key=lambda name: reached[name]), reached


__all__ = ["LIKELIHOOD", "choose_score", "ranker", "scores_of"]
