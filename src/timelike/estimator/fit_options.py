"""The explicit options of a fit: the last layer over a recipe and a preset."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from timelike._util.checks import positive_number, share, show, whole_number
from timelike.core.likelihood import Likelihood
from timelike.core.manifold import Manifold
from timelike.engine.negatives import Negatives
from timelike.estimator.baseline_names import baseline_names
from timelike.estimator.recipes import any_negatives, check_geometry
from timelike.estimator.settings import Settings


@dataclasses.dataclass(frozen=True)
class FitOptions:
    """What a user may say about a fit; None leaves the choice to the preset, the recipe or validation.

    `SpacetimeEmbedding` explains each field; its parameters and the options of `timelike fit` are these.
    """

    geometry: str | Manifold = "auto"
    likelihood: str | Likelihood | None = None
    settings: Settings | str | os.PathLike | None = None
    dim: int | None = None
    epochs: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    negatives: int | Negatives | None = None
    tables: str | None = None
    seed: int = 0
    seeds: int = 1
    members: int = 1
    valid_fraction: float = 0.1
    refit: bool | None = None
    calibrate: bool = True
    baselines: str = "untrained"

    def check(self) -> None:
        """Reject impossible values; reading a large graph first would take long."""
        if isinstance(self.geometry, Manifold):
            if self.dim is not None:
                raise ValueError(
                    f"dim is {show(self.dim)}; {self.geometry} has its own dimensions, leave dim out"
                )
        else:
            check_geometry(self.geometry, ("auto",))
        whole_number("seed", self.seed)
        for name in ("seeds", "members", "dim", "epochs", "batch_size"):
            if getattr(self, name) is not None:
                whole_number(name, getattr(self, name), 1)
        if self.learning_rate is not None:
            positive_number("learning_rate", self.learning_rate)
        share("valid_fraction", self.valid_fraction)
        baseline_names(self.baselines)
        _ = self.drawn

    @property
    def drawn(self) -> Negatives | None:
        """The negatives of training, if they are given; a number means uniform ones."""
        return any_negatives(self.negatives) if isinstance(self.negatives, int) else self.negatives

    @property
    def named(self) -> dict[str, Any]:
        """The fields of `Config` that are given, by name."""
        names = ("batch_size", "learning_rate", "tables", "seed")
        fields = {name: getattr(self, name) for name in names} | {"negatives": self.drawn}
        return {name: value for name, value in fields.items() if value is not None}
