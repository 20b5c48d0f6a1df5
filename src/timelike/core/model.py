"""A model combines a manifold and a likelihood: the log-probability of an edge between two points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import jax.numpy as jnp
from jaxtyping import Array, Bool

from timelike._util.checks import show
from timelike.core.likelihood import Likelihood
from timelike.core.manifold import Manifold, Point, Scalar, Separation
from timelike.core.numerics import log1mexp, log_sigmoid, log_sum_exp, log_sum_exp_of
from timelike.core.struct import Number, child, number, static, struct


@struct
class Model:
    """log F̃(p, q) = log Σₙ F(p, q⁽ⁿ⁾), the wrapped likelihood of eq. 21 on any manifold.

    The sum runs over the images of q that the manifold lists. It can exceed 1 (the paper scales it with k);
    the probability is then capped at 1: `log_prob` is min(log F̃, 0), and `log_prob_not` continues log(1 − F̃)
    along its tangent (`numerics.log1mexp`), which is finite and still pushes unlinked pairs apart.
    `saturated` identifies these pairs.

    If the sum of a likelihood does not converge (`decays_in_time` is false), only the nearest image counts.
    """

    manifold: Manifold = child(Manifold, "a Manifold, such as manifolds.Minkowski(10)")
    likelihood: Likelihood = child(Likelihood, "a Likelihood, such as likelihoods.TripleFermiDirac()")

    def _check_together(self) -> None:
        if (needed := self.likelihood.misses(self.manifold)) is not None:
            raise TypeError(f"{type(self.likelihood).__name__} needs {needed}, not {show(self.manifold)}")

    def log_prob(self, p: Point, q: Point) -> Scalar:
        """log-probability of the edge p → q."""
        return self.log_probs(p, q)[0]

    def log_prob_not(self, p: Point, q: Point) -> Scalar:
        """log-probability that there is no edge p → q."""
        return self.log_probs(p, q)[1]

    def log_probs(self, p: Point, q: Point) -> tuple[Scalar, Scalar]:
        """(`log_prob`, `log_prob_not`), computed together."""
        return self.from_separation(self.separation(p, q))

    def separation(self, p: Point, q: Point) -> Separation:
        """The separation that the likelihood sees."""
        return self.likelihood.separation(self.manifold, p, q)

    def from_separation(self, separation: Separation) -> tuple[Scalar, Scalar]:
        """(`log_prob`, `log_prob_not`) from the separation of a pair."""
        if not self.likelihood.decays_in_time:
            separation = separation.nearest
        if separation.time.shape[-1] == 1:
            log_prob, log_prob_not = (x[0] for x in self.likelihood.log_probs(separation))
        else:
            log_prob = self._over_images(separation)
            log_prob_not = log1mexp(log_prob)
        return jnp.where(log_prob > 0, 0.0, log_prob), log_prob_not

    def _over_images(self, separation: Separation) -> Scalar:
        """log Σₙ F. Terms are written out if the images share the interval; else XLA compiles forever."""
        if separation.interval.shape[-1] > 1:
            return log_sum_exp(self.likelihood.log_prob(separation))
        return log_sum_exp_of([self.likelihood.log_prob(image)[0] for image in separation.one_by_one])

    def prob(self, p: Point, q: Point) -> Scalar:
        """Probability of the edge p → q."""
        return jnp.exp(self.log_prob(p, q))

    def saturated(self, p: Point, q: Point) -> Bool[Array, ""]:
        """Whether the wrapped sum reaches 1 (or rounds to it), where the probability is capped."""
        return self.log_prob(p, q) >= 0


@struct
class MeanModel:
    """log F̄(p, q) with logit F̄ = (1/M) Σₘ g(logit F̃(pₘ, qₘ)): the mean log-odds of M ensemble members.

    M = `members`. The point of a node concatenates its points in all members. Below the `knee` κ the
    log-odds fall only logarithmically, g(x) = κ − log(1 + κ − x), as in `Calibration`, so that one very
    confident member cannot decide alone.
    """

    model: Model = child(Model)
    members: int = static(minimum=1)
    knee: Number = number(default=-1e9)

    def log_prob(self, p: Point, q: Point) -> Scalar:
        """log-probability of the edge p → q."""
        pairs = zip(jnp.split(p, self.members), jnp.split(q, self.members), strict=True)
        return self.mean([self.model.log_prob(a, b) for a, b in pairs])

    def mean(self, log_probs: Sequence[Array]) -> Array:
        """log F̄ from the log F̃ of the members."""
        odds = [x - log1mexp(x) for x in log_probs]
        bent = [
            jnp.where(x < self.knee, self.knee - jnp.log1p(jnp.maximum(self.knee - x, 0)), x) for x in odds
        ]
        return log_sigmoid(sum(bent) / self.members)


__all__ = ["MeanModel", "Model"]


#: A model that ranks pairs.
Ranker: TypeAlias = Model | MeanModel
