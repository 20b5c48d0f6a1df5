"""From a separation to the probability of an edge p → q, in log space only.

A likelihood sees nothing of two points but their `Separation`. Each method returns one value per
image; `Model` sums them.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from timelike._struct import POSITIVE, REAL, UNIT, Number, number, struct
from timelike.manifolds.base import Manifold, Point, Separation
from timelike.numerics import log1mexp, log_sigmoid, log_sigmoids

LogProb = Float[Array, "images"]


class Likelihood(abc.ABC):
    """The probability of a directed edge as a function of s² and Δt.

    `decays_in_time` says whether the sum over images of a circle of time (eq. 21) converges. Where
    it does not, `Model` looks at the nearest image alone. One that is `contrastive` is trained by a
    softmax of `logits` over an edge and its non-edges, instead of pair by pair.
    """

    decays_in_time: ClassVar[bool]
    contrastive: ClassVar[bool] = False
    #: F in terms of what `factors` lists.
    formula: ClassVar[str] = "F"

    def misses(self, manifold: Manifold) -> str | None:
        """What the likelihood needs where this manifold is not that; None: it will do."""
        return None

    def separation(self, manifold: Manifold, p: Point, q: Point) -> Separation:
        """What the likelihood sees of two points: their separation. Some baselines look at the points."""
        return manifold.separation(p, q)

    @abc.abstractmethod
    def log_probs(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """log F and log(1 − F), the latter without cancellation, for every image."""

    def factors(self, separation: Separation) -> dict[str, LogProb]:
        """The logarithms of what `formula` is made of, for every image: why F is what it is."""
        return {"F": self.log_prob(separation)}

    def logits(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """What the softmax of a contrastive likelihood is taken of: of the pair as an edge, as a non-edge."""
        raise NotImplementedError

    def log_prob(self, separation: Separation) -> LogProb:
        """log F for every image."""
        return self.log_probs(separation)[0]

    def log_prob_not(self, separation: Separation) -> LogProb:
        """log(1 − F) for every image."""
        return self.log_probs(separation)[1]


@struct
class FermiDirac(Likelihood):
    """F(s²) = 1/(exp((α s² − r)/τ) + 1), eq. 14: undirected, for Riemannian baselines.

    `tau` τ > 0 softens the boundary, `r` moves it, 0 ≤ `alpha` ≤ 1 scales the interval. The paper
    asks for r ≥ 0 but uses r < 0 on anti-de Sitter; any finite r is taken.
    """

    decays_in_time: ClassVar[bool] = False

    tau: Number = number(default=1.0, domain=POSITIVE)
    r: Number = number(default=0.0, domain=REAL)
    alpha: Number = number(default=1.0, domain=UNIT)

    def log_probs(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """log σ((r − α s²)/τ) and log σ((α s² − r)/τ)."""
        x = (self.r - self.alpha * separation.interval) * (1 / self.tau)
        return log_sigmoid(x), log_sigmoid(-x)


@struct
class TripleFermiDirac(Likelihood):
    """F = k (F₁F₂F₃)^⅓, eq. 15: high in the near timelike future of p.

    F₁ = 1/(exp((s² − r)/τ₁) + 1) (eq. 16) is high inside the light cone, F₂ = 1/(exp(−Δt/τ₂) + 1)
    (eq. 17) cuts off the past, F₃ = 1/(exp(αΔt/τ₂) + 1) (eq. 18) decays slowly into the future: α
    sets how transitive the graph is. k ≤ 1 keeps F below 1 (at most 2^(−⅓)k for one image).
    """

    decays_in_time: ClassVar[bool] = True
    formula: ClassVar[str] = "k (F₁ F₂ F₃)^⅓"

    tau1: Number = number(default=0.15, domain=POSITIVE)
    tau2: Number = number(default=0.05, domain=POSITIVE)
    alpha: Number = number(default=0.06, domain=UNIT)
    r: Number = number(default=0.0, domain=REAL)
    k: Number = number(default=1.0, domain=POSITIVE)

    def log_probs(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """log F = log k + ⅓[log σ((r − s²)/τ₁) + log σ(Δt/τ₂) + log σ(−αΔt/τ₂)], and log(1 − F).

        The latter is finite, by `numerics.log1mexp`, also where k > 1 lets F pass 1.
        """
        # Times 1/τ instead of over τ: XLA fuses no division, and here each fusion counts.
        cone = (self.r - separation.interval) * (1 / self.tau1)
        time = separation.time * (1 / self.tau2)
        log_prob = jnp.log(self.k) + log_sigmoids(cone, time, -self.alpha * time) * (1 / 3)
        return log_prob, log1mexp(log_prob)

    def factors(self, separation: Separation) -> dict[str, LogProb]:
        """F₁ inside the light cone, F₂ not in the past, F₃ not in the far future."""
        time = separation.time * (1 / self.tau2)
        return {
            "F₁": log_sigmoid((self.r - separation.interval) * (1 / self.tau1)),
            "F₂": log_sigmoid(time),
            "F₃": log_sigmoid(-self.alpha * time),
        }


@struct
class LawLucas(Likelihood):
    """F = σ(χ²/τ₁)·σ(Δt/τ₂), χ² = −s² (Law & Lucas, ICLR 2023): inside the future light cone."""

    decays_in_time: ClassVar[bool] = False
    formula: ClassVar[str] = "F₁ F₂"

    tau1: Number = number(default=0.15, domain=POSITIVE)
    tau2: Number = number(default=0.05, domain=POSITIVE)

    def log_probs(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """log σ(a) + log σ(b) with a = −s²/τ₁, b = Δt/τ₂, and log(1 − σ(a)σ(b)).

        The latter is log(σ(−a) + σ(a)σ(−b)) where F > ½: the other way round would cancel.
        """
        a, b = -separation.interval * (1 / self.tau1), separation.time * (1 / self.tau2)
        log_prob = log_sigmoid(a) + log_sigmoid(b)
        likely = jnp.logaddexp(log_sigmoid(-a), log_sigmoid(a) + log_sigmoid(-b))
        return log_prob, jnp.where(log_prob < -0.693, log1mexp(log_prob), likely)

    def factors(self, separation: Separation) -> dict[str, LogProb]:
        """F₁ = σ(χ²/τ₁) inside the light cone, F₂ = σ(Δt/τ₂) not in the past."""
        inside, after = -separation.interval * (1 / self.tau1), separation.time * (1 / self.tau2)
        return {"F₁": log_sigmoid(inside), "F₂": log_sigmoid(after)}


@struct
class Cone(Likelihood):
    """F = k σ((Δt − ρ − r)/(τ₁ + β(|Δt| + ρ)))·2σ(−αΔt/τ₂), at most k: the future light cone.

    ρ = √(s² + Δt² + τ₁²) − τ₁ is the distance in space of a flat spacetime, rounded off at 0 so that
    it is smooth. The softness of the boundary grows with the size of the pair by the share `beta`: with
    β > 0 the cone looks the same at every scale. The second factor, taken at Δt ≥ 0, fades the far
    future as F₃ of the Triple Fermi-Dirac does.
    """

    decays_in_time: ClassVar[bool] = True
    formula: ClassVar[str] = "2 k F₁ F₂"

    tau1: Number = number(default=0.05, domain=POSITIVE)
    tau2: Number = number(default=0.1, domain=POSITIVE)
    alpha: Number = number(default=0.03, domain=UNIT)
    beta: Number = number(default=0.1, domain=UNIT)
    r: Number = number(default=0.0, domain=REAL)
    k: Number = number(default=1.0, domain=POSITIVE)

    def log_probs(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """log k + log σ(cone) + log 2σ(−α max(Δt, 0)/τ₂), and log(1 − F)."""
        log_prob = jnp.log(2 * self.k) + log_sigmoids(*self._cone_and_fading(separation))
        return log_prob, log1mexp(log_prob)

    def factors(self, separation: Separation) -> dict[str, LogProb]:
        """F₁ = σ(cone) inside the future light cone, F₂ = σ(−α max(Δt, 0)/τ₂) not in the far future."""
        cone, fading = self._cone_and_fading(separation)
        return {"F₁": log_sigmoid(cone), "F₂": log_sigmoid(fading)}

    def _cone_and_fading(self, separation: Separation) -> tuple[LogProb, LogProb]:
        time = separation.time
        square = jnp.maximum(separation.interval + time * time, 0.0)
        space = jnp.sqrt(square + self.tau1**2) - self.tau1
        cone = (time - space - self.r) / (self.tau1 + self.beta * (jnp.abs(time) + space))
        return cone, -self.alpha * jnp.maximum(time, 0.0) * (1 / self.tau2)


#: The one list of likelihoods: name → constructor.
LIKELIHOODS: dict[str, Callable[..., Likelihood]] = {
    "fermi-dirac": FermiDirac,
    "triple-fermi-dirac": TripleFermiDirac,
    "law-lucas": LawLucas,
    "cone": Cone,
}

__all__ = ["LIKELIHOODS", "Cone", "FermiDirac", "LawLucas", "Likelihood", "TripleFermiDirac"]
