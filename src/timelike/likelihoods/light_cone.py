"""Likelihoods based on the future light cone alone."""

from __future__ import annotations

from typing import ClassVar

import jax.numpy as jnp

from timelike.core.likelihood import Likelihood, LogProb
from timelike.core.manifold import Separation
from timelike.core.numerics import log1mexp, log_sigmoid, log_sigmoids
from timelike.core.struct import POSITIVE, REAL, UNIT, Number, number, struct


@struct
class LawLucas(Likelihood):
    """F = σ(χ²/τ₁)·σ(Δt/τ₂), χ² = −s² (Law & Lucas, ICLR 2023): inside the future light cone."""

    decays_in_time: ClassVar[bool] = False
    formula: ClassVar[str] = "F₁ F₂"

    tau1: Number = number(default=0.15, domain=POSITIVE)
    tau2: Number = number(default=0.05, domain=POSITIVE)

    def log_probs(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """log σ(a) + log σ(b) with a = −s²/τ₁, b = Δt/τ₂, and log(1 − σ(a)σ(b)).

        If F > ½, the latter is computed as log(σ(−a) + σ(a)σ(−b)) to avoid cancellation.
        """
        a, b = -separation.interval * (1 / self.tau1), separation.time * (1 / self.tau2)
        log_prob = log_sigmoid(a) + log_sigmoid(b)
        likely = jnp.logaddexp(log_sigmoid(-a), log_sigmoid(a) + log_sigmoid(-b))
        return log_prob, jnp.where(log_prob < -0.693, log1mexp(log_prob), likely)

    def factors(self, separation: Separation) -> dict[str, LogProb]:
        """F₁ = σ(χ²/τ₁): inside the light cone; F₂ = σ(Δt/τ₂): not in the past."""
        inside, after = -separation.interval * (1 / self.tau1), separation.time * (1 / self.tau2)
        return {"F₁": log_sigmoid(inside), "F₂": log_sigmoid(after)}


@struct
class Cone(Likelihood):
    """F = k σ((Δt − ρ − r)/(τ₁ + β(|Δt| + ρ)))·2σ(−αΔt/τ₂), at most k: the future light cone.

    ρ = √(s² + Δt² + τ₁²) − τ₁ is the spatial distance in a flat spacetime, smoothed at 0. The width of the
    boundary grows with |Δt| + ρ by the factor `beta`: with β > 0 the cone looks the same at every scale. The
    second factor, taken at max(Δt, 0), fades the far future like F₃ of the Triple Fermi-Dirac.
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
        """F₁ = σ(cone): inside the future light cone; F₂ = σ(−α max(Δt, 0)/τ₂): not in the far future."""
        cone, fading = self._cone_and_fading(separation)
        return {"F₁": log_sigmoid(cone), "F₂": log_sigmoid(fading)}

    def _cone_and_fading(self, separation: Separation) -> tuple[LogProb, LogProb]:
        time = separation.time
        square = jnp.maximum(separation.interval + time * time, 0.0)
        space = jnp.sqrt(square + self.tau1**2) - self.tau1
        cone = (time - space - self.r) / (self.tau1 + self.beta * (jnp.abs(time) + space))
        return cone, -self.alpha * jnp.maximum(time, 0.0) * (1 / self.tau2)
