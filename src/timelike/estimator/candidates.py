"""Candidates of a fit, and how each gets its points: by training, or read off the edges."""

from __future__ import annotations

import abc
import dataclasses
import os
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from timelike.core.model import Model
from timelike.embedding.embedding import Embedding
from timelike.embedding.plain_json import struct_to_json
from timelike.engine.config import Config
from timelike.engine.padded_edges import Room
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.metrics import average_precision
from timelike.evaluation.pair_evaluation import score_pairs
from timelike.evaluation.questions import question_pairs
from timelike.graphs.digraph import DiGraph
from timelike.hierarchy.cone_embedding import METHOD as CONES
from timelike.hierarchy.cone_embedding import embed_hierarchy
from timelike.io.edge_shards import AnyGraph
from timelike.spectral.mixture_weights import Weights
from timelike.spectral.spectral_embedding import METHOD as PATHS
from timelike.spectral.spectral_embedding import RANKS, embed_paths, learned_weights
from timelike.training.checkpoint import Checkpointing
from timelike.training.ensembles import train_members
from timelike.training.sweeps import sweep
from timelike.training.training_loop import train

Checkpoint = Checkpointing | str | os.PathLike | None


@dataclasses.dataclass(frozen=True)
class Candidate(abc.ABC):
    """One geometry to try: its name, the model, and how the points come about."""

    geometry: str
    model: Model

    #: What happens when it is the only one.
    doing: ClassVar[str]
    #: How much its validation AP overstates it, roughly: settings and epoch were chosen on these edges.
    optimism: ClassVar[float] = 0.0

    @property
    @abc.abstractmethod
    def runs(self) -> int:
        """The number of runs for each seed."""

    @property
    @abc.abstractmethod
    def seed(self) -> int:
        """The first seed."""

    @property
    @abc.abstractmethod
    def settings(self) -> dict[str, Any]:
        """How the points come about, as plain values."""

    @property
    @abc.abstractmethod
    def steps(self) -> str:
        """The training in a few words."""

    @abc.abstractmethod
    def embed(
        self,
        graph: AnyGraph,
        valid: LabelledPairs | None = None,
        seeds: int = 1,
        checkpoint: Checkpoint = None,
        progress: bool | None = None,
        room: Room | None = None,
    ) -> Embedding:
        """The best run by validation, with its AP as `info["valid_ap"]`.

        `room` lets single runs on graphs of the same nodes share a compiled program.
        """

    @abc.abstractmethod
    def members(
        self,
        graph: DiGraph,
        seeds: Iterable[int],
        valid: LabelledPairs | None = None,
        checkpoint: Checkpoint = None,
        progress: bool | None = None,
    ) -> list[Embedding]:
        """A run for each of these seeds; those that diverge are left out."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values; a manifold or likelihood of the user's own goes by its text."""
        return {
            "geometry": self.geometry,
            "dim": self.model.manifold.dim,
            "manifold": _plain(self.model.manifold, "manifold"),
            "likelihood": _plain(self.model.likelihood, "likelihood"),
            **self.settings,
        }


@dataclasses.dataclass(frozen=True)
class Trained(Candidate):
    """Points that are trained: how, and numbers to vary in one program."""

    config: Config
    variations: tuple[Mapping[str, float], ...] = ()

    doing = "training in"
    optimism = 0.02

    @property
    def runs(self) -> int:
        """A run for each variation."""
        return max(1, len(self.variations))

    @property
    def seed(self) -> int:
        """The seed of the config."""
        return self.config.seed

    @property
    def settings(self) -> dict[str, Any]:
        """The config and the variations."""
        return {"config": self.config.to_dict(), "variations": [dict(run) for run in self.variations]}

    @property
    def steps(self) -> str:
        """Epochs, batch size and learning rate."""
        config = self.config
        return (
            f"{config.epochs} epochs, {config.batch_size} edges a step, {config.optimizer}, "
            f"learning rate {config.learning_rate:g}"
        )

    def embed(
        self,
        graph: AnyGraph,
        valid: LabelledPairs | None = None,
        seeds: int = 1,
        checkpoint: Checkpoint = None,
        progress: bool | None = None,
        room: Room | None = None,
    ) -> Embedding:
        """Train all seeds and variations in one program, and return the best run."""
        common: dict[str, Any] = {"valid": valid, "checkpoint": checkpoint, "progress": progress}
        if not self.variations and seeds == 1:
            return train(graph, self.model, self.config, room=room, **common)
        numbers = range(self.seed, self.seed + seeds)
        grid = [{**run, "seed": seed} for run in self.variations or [{}] for seed in numbers]
        return sweep(graph, self.model, self.config, grid, **common).best  # type: ignore[arg-type]

    def members(
        self,
        graph: DiGraph,
        seeds: Iterable[int],
        valid: LabelledPairs | None = None,
        checkpoint: Checkpoint = None,
        progress: bool | None = None,
    ) -> list[Embedding]:
        """Train the config with each of the seeds, in one program."""
        return train_members(graph, self.model, self.config, seeds, valid, checkpoint, progress)


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


def made(embedding: Embedding, last: int | None = None) -> Candidate:
    """The candidate whose only run made this embedding, to embed other edges in the same way.

    `last` is the epoch to stop at; None: as many epochs as planned.
    """
    info = embedding.info
    name = info.get("geometry", "")
    if info.get("method") == CONES:
        return NestedCones(name, embedding.model, int(info["seed"]))
    if info.get("method") == PATHS:
        weights = learned_weights(embedding)
        return FromPaths(name, embedding.model, int(info["seed"]), (int(info["rank"]),), weights)
    config = Config.from_dict(info["config"])
    return Trained(name, embedding.model, config if last is None else config.ended_at(last))


def kept_epoch(embedding: Embedding) -> int:
    """The epoch of the points; the median over members. It is 0 for points that were not trained."""
    members = embedding.info.get("members") or [embedding.info]
    return int(np.median([one.get("best_epoch") or 0 for one in members]))


def with_valid_ap(embedding: Embedding, valid: LabelledPairs) -> Embedding:
    """The embedding with its validation AP in `info`."""
    scores = score_pairs(embedding, valid.sources, valid.targets)
    reached = average_precision(scores, np.asarray(valid.labels))
    return dataclasses.replace(embedding, info={**embedding.info, "valid_ap": reached})


def question_aps(embedding: Embedding, known: DiGraph, edges: np.ndarray, seed: int) -> list[float]:
    """The AP of an embedding on each of the four questions about held-out edges.

    `known` has these edges and all others: none is drawn as a negative.
    """
    asked = question_pairs(known, edges, seed).values()
    scores = [score_pairs(embedding, pairs.sources, pairs.targets) for pairs in asked]
    return [average_precision(a, np.asarray(pairs.labels)) for a, pairs in zip(scores, asked, strict=True)]


def _plain(struct: Any, part: str) -> Any:
    try:
        return struct_to_json(struct, part)
    except ValueError:
        return str(struct)
