"""The interface of likelihoods: the probability of an edge p → q as a function of a `Separation`."""

from __future__ import annotations

import abc
from typing import ClassVar

import numpy as np
from jaxtyping import Array, Float

from timelike.core.manifold import Manifold, Point, Separation

LogProb = Float[Array, "images"]


class Likelihood(abc.ABC):
    """The probability of a directed edge as a function of s² and Δt.

    `decays_in_time` states whether the sum over the images of a circle of time (eq. 21) converges. If it
    does not, `Model` uses only the nearest image. A `contrastive` likelihood is trained by a softmax of
    `logits` over an edge and its negative samples instead of pair by pair.
    """

    decays_in_time: ClassVar[bool]
    contrastive: ClassVar[bool] = False
    #: F in terms of the `factors`.
    formula: ClassVar[str] = "F"

    def misses(self, manifold: Manifold) -> str | None:
        """The kind of manifold that this likelihood requires, if `manifold` is a different one; else None."""
        return None

    def separation(self, manifold: Manifold, p: Point, q: Point) -> Separation:
        """The separation of two points; some baselines override this to use the points themselves."""
        return manifold.separation(p, q)

    @abc.abstractmethod
    def log_probs(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """log F and log(1 − F) for every image, the latter without cancellation."""

    def factors(self, separation: Separation) -> dict[str, LogProb]:
        """The logarithm of each factor in `formula`, for every image: an explanation of F."""
        return {"F": self.log_prob(separation)}

    def products(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Rows of sources and targets whose inner products are the log-odds, but for a term of the source.

        None if there are no such rows.
        """
        return None

    def logits(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """Softmax logits of a contrastive likelihood: of the pair as an edge and as a negative sample."""
        raise NotImplementedError

    def log_prob(self, separation: Separation) -> LogProb:
        """log F for every image."""
        return self.log_probs(separation)[0]

    def log_prob_not(self, separation: Separation) -> LogProb:
        """log(1 − F) for every image."""
        return self.log_probs(separation)[1]
