"""The result of training: a model, a point per node, and how it came about."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Any

import jax
import numpy as np

from timelike.evaluate import log_probs
from timelike.graph import node_numbers
from timelike.model import Model


@dataclasses.dataclass(frozen=True, eq=False)
class Embedding:
    """Points of the selected epoch, with the history of all epochs.

    `history` maps loss, gradient_norm, saturated, off_surface, rejected, valid_ap and test_ap to one
    value per epoch. `info` says how the run went: settings, best epoch, by what it was selected.
    """

    model: Model
    points: np.ndarray
    names: Sequence[Hashable] | None
    history: dict[str, np.ndarray]
    info: dict[str, Any]

    def log_prob(self, sources: Any, targets: Any) -> np.ndarray:
        """log-probability of the edges sources[i] → targets[i], by name (by number if there are no names)."""
        ends = [
            np.atleast_1d(node_numbers(nodes, len(self.points), self.names, argument))
            for argument, nodes in (("sources", sources), ("targets", targets))
        ]
        if ends[0].shape != ends[1].shape:
            raise ValueError(
                f"sources has shape {ends[0].shape} and targets {ends[1].shape}; make them equal"
            )
        return np.asarray(_log_probs(self.model, self.points, *ends))

    def prob(self, sources: Any, targets: Any) -> np.ndarray:
        """Probability of the edges sources[i] → targets[i], by name (by number if there are no names)."""
        return np.exp(self.log_prob(sources, targets))

    def __repr__(self) -> str:
        epochs = len(self.history.get("loss", ()))
        return f"Embedding({len(self.points):,} nodes, {self.model}, {epochs} epochs)"


_log_probs = jax.jit(log_probs)
