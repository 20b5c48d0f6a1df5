"""Toy graphs, trained on all ordered pairs of nodes: many settings and seeds side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import timelike as tl
from paper.training.link_prediction import model_of
from paper.training.parallel_runs import train_runs

#: Every step sees all edges of a toy graph.
BATCH_SIZE = 128
#: 2^⅓, so that F reaches 1 for one image and α → 0.
K = 2 ** (1 / 3)


class Toy(NamedTuple):
    """A toy graph, all its ordered pairs of nodes, and which of them are edges."""

    graph: tl.DiGraph
    sources: np.ndarray
    targets: np.ndarray
    edge: np.ndarray

    @classmethod
    def load(cls, name: str) -> Toy:
        """The toy graph of this name."""
        graph = tl.datasets.load(name)
        sources, targets = np.nonzero(~np.eye(graph.num_nodes, dtype=bool))
        return cls(graph, sources, targets, np.asarray(graph.has_edges(sources, targets)))

    @property
    def non_edges(self) -> np.ndarray:
        """The pairs that are not edges, (n, 2)."""
        return np.stack([self.sources, self.targets], axis=1)[~self.edge]

    @property
    def negatives(self) -> tl.Negatives:
        """As many listed non-edges per edge as the graph has, so that the expected loss is the NLL."""
        return tl.Negatives(listed=max(1, round(len(self.non_edges) / self.graph.num_edges)))

    def nll(self, prob: np.ndarray) -> float:
        """The negative log-likelihood of all pairs, in double precision; ∞ where a probability is 0."""
        likelihood = np.where(self.edge, prob.astype(float), 1 - prob.astype(float))
        with np.errstate(divide="ignore"):
            return float(-np.log(likelihood).sum())


def probabilities(
    toy: Toy, geometry: str, likelihood: str, settings: Sequence[Mapping[str, Any]], epochs: int
) -> list[np.ndarray]:
    """The probabilities of all pairs after training in two dimensions; each setting names its seed."""
    config = tl.Config(epochs=epochs, batch_size=BATCH_SIZE, negatives=toy.negatives, select="last")
    model = model_of(geometry, likelihood, 2)
    runs = train_runs(toy.graph, model, config, settings, listed=toy.non_edges)
    return [np.asarray(run.prob(toy.sources, toy.targets)) for run in runs]
