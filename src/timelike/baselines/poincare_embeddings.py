"""Poincaré embeddings (Nickel & Kiela, NIPS 2017) with their is-a score."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from timelike.core.likelihood import Likelihood, LogProb
from timelike.core.manifold import Manifold, Point, Scalar, Separation
from timelike.core.model import Model
from timelike.core.numerics import log_sigmoid, sqrt
from timelike.core.reductions import square_sum
from timelike.core.struct import POSITIVE, REAL, Number, number, struct, with_numbers
from timelike.evaluation import metrics
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.pair_evaluation import score_pairs
from timelike.manifolds import Hyperboloid
from timelike.manifolds.quadric import is_hyperbolic

#: A trained embedding, as `timelike.train` returns it.
Trained = TypeVar("Trained", bound=Any)

#: Values of α in the is-a score that `directed` tries; the authors use 1000.
ALPHAS = (0.0, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1000.0)


@struct
class Poincare(Likelihood):
    """F = σ((r − (1 + α(‖p‖ − ‖q‖)) d(p, q))/τ), with d in hyperbolic space and ‖·‖ in the Poincaré ball.

    With `alpha` α = 0 this is the authors' Fermi–Dirac probability for link prediction, which has no
    direction. With α > 0 it ranks by their is-a score −(1 + α(‖p‖ − ‖q‖)) d(p, q), where the more general
    node p lies nearer to the centre. `directed` sets α after training. The training loss is the softmax of −d
    over an edge and its negative samples. Points lie on the hyperboloid, the ball in other coordinates.
    """

    decays_in_time: ClassVar[bool] = False
    contrastive: ClassVar[bool] = True

    r: Number = number(default=2.0, domain=REAL)
    tau: Number = number(default=0.5, domain=POSITIVE)
    alpha: Number = number(default=0.0, domain=REAL)

    def misses(self, manifold: Manifold) -> str | None:
        """Hyperbolic space."""
        return None if is_hyperbolic(manifold) else "a Hyperboloid"

    def separation(self, manifold: Manifold, p: Point, q: Point) -> Separation:
        """d² and ‖q‖ − ‖p‖."""
        return Separation(manifold.separation(p, q).interval, (ball_norm(q) - ball_norm(p))[None])

    def log_probs(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """log σ(x) and log σ(−x)."""
        distance = sqrt(separation.interval) * (1 - self.alpha * separation.time)
        x = (self.r - distance) * (1 / self.tau)
        return log_sigmoid(x), log_sigmoid(-x)

    def logits(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """−d, for edges and for negative samples."""
        distance = sqrt(separation.interval)
        return -distance, -distance


def ball_norm(p: Point) -> Scalar:
    """‖p‖ in the Poincaré ball, for p on the hyperboloid: |x|/(1 + x₀), tanh of half the distance from 0."""
    return sqrt(square_sum(p, 1, p.shape[0])) / (1 + p[0])


def rescaled(points: np.ndarray, factor: float) -> np.ndarray:
    """Move points of the hyperboloid towards the centre: multiply by `factor` < 1 in the Poincaré ball."""
    table = np.asarray(points, np.float64)
    ball = factor * table[:, 1:] / (1 + table[:, :1])
    square = np.sum(ball**2, axis=1, keepdims=True)
    lifted = np.concatenate([1 + square, 2 * ball], axis=1) / (1 - square)
    return lifted.astype(points.dtype)


def directed(embedding: Trained, valid: LabelledPairs, alphas: Sequence[float] = ALPHAS) -> Trained:
    """A trained Poincaré embedding with the is-a score whose α gives the best F1 on the pairs `valid`.

    τ is multiplied by 1 + α; otherwise F would round to 1 and create ties.
    """

    def best_f1(candidate: Trained) -> float:
        scores, labels = score_pairs(candidate, valid.sources, valid.targets), np.asarray(valid.labels)
        return metrics.f1(scores, labels, metrics.best_f1_threshold(scores, labels))

    candidates, tau = [], embedding.model.likelihood.tau
    for alpha in alphas:
        model = with_numbers(embedding.model, {"alpha": alpha, "tau": tau * (1 + alpha)})
        candidates.append(dataclasses.replace(embedding, model=model, calibration=None))
    if not candidates:
        raise ValueError("alphas is empty; it must have at least one value")
    return max(candidates, key=best_f1)


def poincare_embedding(dim: int) -> Model:
    """Poincaré embeddings in H^`dim`."""
    return Model(Hyperboloid(dim), Poincare())
