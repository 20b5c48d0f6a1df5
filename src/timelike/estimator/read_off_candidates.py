"""Candidates whose points are read off the edges: nested cones and points from paths."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from timelike.embedding.embedding import Embedding
from timelike.engine.padded_edges import Room
from timelike.estimator.candidate_scores import with_valid_ap
from timelike.estimator.candidates import Candidate, Checkpoint
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.graphs.digraph import DiGraph
from timelike.hierarchy.cone_embedding import METHOD as CONES
from timelike.hierarchy.cone_embedding import embed_hierarchy
from timelike.io.edge_shards import AnyGraph
from timelike.spectral.mixture_weights import Weights
from timelike.spectral.spectral_embedding import METHOD as PATHS
from timelike.spectral.spectral_embedding import RANKS, embed_paths


@dataclasses.dataclass(frozen=True)
class ReadOff(Candidate):
    """Points that are read off the edges, without training; nothing is kept in a checkpoint."""

    first_seed: int = 0

    doing = "placing"

    #: The name of the method, in `info["method"]`.
    method: ClassVar[str]

    @property
    def runs(self) -> int:
        """There is nothing to vary but the seed."""
        return 1

    @property
    def seed(self) -> int:
        """The seed of the method."""
        return self.first_seed

    @property
    def settings(self) -> dict[str, Any]:
        """The method and the seed."""
        return {"method": self.method, "seed": self.seed}

    @property
    def steps(self) -> str:
        """There is no training."""
        return f"{self.method} need none"

    @abc.abstractmethod
    def place(self, graph: DiGraph, seed: int) -> Embedding:
        """The points of a graph."""

    def place_again(self, graph: DiGraph, seed: int, before: np.ndarray) -> np.ndarray:
        """The points of a graph that has grown, near those `before` where that is free."""
        return self.place(graph, seed).points

    def embed(
        self,
        graph: AnyGraph,
        valid: LabelledPairs | None = None,
        seeds: int = 1,
        checkpoint: Checkpoint = None,
        progress: bool | None = None,
        room: Room | None = None,
    ) -> Embedding:
        """Place the points for each seed, and keep the best."""
        assert isinstance(graph, DiGraph)
        found = self.members(graph, range(self.seed, self.seed + seeds), valid)
        return max(found, key=lambda one: one.info.get("valid_ap", 0.0))

    def members(
        self,
        graph: DiGraph,
        seeds: Iterable[int],
        valid: LabelledPairs | None = None,
        checkpoint: Checkpoint = None,
        progress: bool | None = None,
    ) -> list[Embedding]:
        """The points for each of the seeds."""
        found = [self.place(graph, seed) for seed in seeds]
        return found if valid is None else [with_valid_ap(one, valid) for one in found]


@dataclasses.dataclass(frozen=True)
class NestedCones(ReadOff):
    """Nested light cones, read off the edges of a hierarchy, see `timelike.hierarchy`."""

    method = CONES

    def place(self, graph: DiGraph, seed: int) -> Embedding:
        """Cones whose packing starts from this seed."""
        embedding = embed_hierarchy(graph, self.model.manifold.dim, seed=seed)
        return dataclasses.replace(embedding, model=self.model)


@dataclasses.dataclass(frozen=True)
class FromPaths(ReadOff):
    """Singular vectors of a mixture of paths, see `timelike.spectral`; held-out edges choose the rank.

    `weights` of the mixture are those of the first seed if they are known already; None: learn them.
    """

    ranks: tuple[int, ...] = RANKS
    weights: Weights | None = None

    method = PATHS

    @property
    def settings(self) -> dict[str, Any]:
        """The method, the seed and the ranks."""
        return {**super().settings, "ranks": list(self.ranks)}

    def place(self, graph: DiGraph, seed: int) -> Embedding:
        """Points whose folds start from this seed."""
        return embed_paths(graph, self.ranks, seed, self.weights if seed == self.seed else None)

    def place_again(self, graph: DiGraph, seed: int, before: np.ndarray) -> np.ndarray:
        """The points, turned to those `before`."""
        from timelike.baselines.twisted_time import turned

        return turned(super().place_again(graph, seed, before), before)
