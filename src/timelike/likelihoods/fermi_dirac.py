"""The likelihoods of the paper: Fermi-Dirac and Triple Fermi-Dirac."""

from __future__ import annotations

from typing import ClassVar

import jax.numpy as jnp

from timelike.core.likelihood import Likelihood, LogProb
from timelike.core.manifold import Separation
from timelike.core.numerics import log1mexp, log_sigmoid, log_sigmoids
from timelike.core.struct import POSITIVE, REAL, UNIT, Number, number, struct


@struct
class FermiDirac(Likelihood):
    """F(s²) = 1/(exp((α s² − r)/τ) + 1), eq. 14: undirected, for Riemannian baselines.

    `tau` τ > 0 softens the boundary, `r` moves it, 0 ≤ `alpha` ≤ 1 scales the interval. The paper requires
    r ≥ 0 but uses r < 0 on anti-de Sitter; any finite r is accepted.
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

    F₁ = 1/(exp((s² − r)/τ₁) + 1) (eq. 16) is high inside the light cone, F₂ = 1/(exp(−Δt/τ₂) + 1) (eq. 17)
    cuts off the past, and F₃ = 1/(exp(αΔt/τ₂) + 1) (eq. 18) decays slowly into the future: α sets how
    transitive the graph is. k ≤ 1 keeps F below 1 (at most 2^(−⅓)k for one image).
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

        `numerics.log1mexp` keeps the latter finite even if k > 1 lets F exceed 1.
        """
        # Multiply by 1/τ instead of dividing by τ: XLA fuses no division, and fusion matters here.
        cone = (self.r - separation.interval) * (1 / self.tau1)
        time = separation.time * (1 / self.tau2)
        log_prob = jnp.log(self.k) + log_sigmoids(cone, time, -self.alpha * time) * (1 / 3)
        return log_prob, log1mexp(log_prob)

    def factors(self, separation: Separation) -> dict[str, LogProb]:
        """F₁: inside the light cone; F₂: not in the past; F₃: not in the far future."""
        time = separation.time * (1 / self.tau2)
        return {
            "F₁": log_sigmoid((self.r - separation.interval) * (1 / self.tau1)),
            "F₂": log_sigmoid(time),
            "F₃": log_sigmoid(-self.alpha * time),
        }
