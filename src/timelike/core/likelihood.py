"""What a likelihood is: the probability of an edge p → q as a function of a `Separation`, in log space."""

from __future__ import annotations

import abc
from typing import ClassVar

from jaxtyping import Array, Float

from timelike.core.manifold import Manifold, Point, Separation

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
