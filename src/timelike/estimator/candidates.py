"""Candidates of a fit: what each has to say and do, and those that are trained."""

from __future__ import annotations

import abc
import dataclasses
import os
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from timelike.core.model import Model
from timelike.embedding.embedding import Embedding
from timelike.embedding.plain_json import struct_to_json
from timelike.engine.config import Config
from timelike.engine.padded_edges import Room
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.graphs.digraph import DiGraph
from timelike.io.edge_shards import AnyGraph
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


def _plain(struct: Any, part: str) -> Any:
    try:
        return struct_to_json(struct, part)
    except ValueError:
        return str(struct)
