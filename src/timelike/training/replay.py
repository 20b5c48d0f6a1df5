"""A replay: the points after some epochs of a run, stored in the model folder to show how it trained.

The file `replay.safetensors` holds `epochs`, from 0 (before training) to the selected one, and `points`, a
table for each.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np

from timelike._util.atomic_files import read_tensors, write_tensors
from timelike._util.checks import whole_number
from timelike._util.progress import announce
from timelike.embedding.embedding import Embedding
from timelike.embedding.model_folder import REPLAY
from timelike.embedding.trained_on import TrainedOn
from timelike.engine.config import Config
from timelike.training.training_loop import train

#: Largest size of a replay: 64 million numbers, 256 MB.
MOST = 1 << 26


@dataclasses.dataclass(frozen=True, eq=False)
class Replay:
    """`points[i]` is the table of points after `epochs[i]` epochs, in ascending order."""

    epochs: np.ndarray
    points: np.ndarray

    def ends_at(self, embedding: Embedding) -> bool:
        """Whether the last table equals the embedding."""
        return bool(np.allclose(self.points[-1], embedding.points, rtol=1e-3, atol=1e-3))

    def save(self, folder: str | os.PathLike) -> None:
        """Write the replay into the folder of its model."""
        write_tensors(Path(folder) / REPLAY, {"epochs": self.epochs, "points": self.points}, {})

    @classmethod
    def load(cls, folder: str | os.PathLike, embedding: Embedding) -> Replay | None:
        """The replay of the model in this folder, if there is one."""
        file = Path(folder) / REPLAY
        if not file.is_file():
            return None
        tensors, _ = read_tensors(file, "replay", "delete it to continue without a replay")
        shape = (len(tensors.get("epochs", ())), *embedding.points.shape)
        points = tensors.get("points")
        if points is None or points.shape != shape or not np.isfinite(points).all():
            raise ValueError(f"{file} is not a replay of this model; delete it to continue without a replay")
        return cls(tensors["epochs"], points)


def record(embedding: Embedding, trained_on: TrainedOn, count: int) -> Replay:
    """Repeat the training of `embedding`, and keep about `count` epochs up to the selected one.

    The same seed and settings give the same points, so the last table equals the embedding. Only after a
    sweep, whose programs round differently, it may not (`Replay.ends_at`).
    """
    whole_number("snapshots", count, 2)
    config, refit = Config.from_dict(embedding.info["config"]), embedding.info.get("refit")
    last = int(embedding.info["best_epoch"] if refit is None else refit["epochs"])
    kept = np.unique(np.linspace(0, last, count).round().astype(int))
    if len(kept) * embedding.points.size > MOST:
        most = max(2, MOST // embedding.points.size)
        raise ValueError(f"snapshots is {count}; for an embedding of this size it must be at most {most}")
    frames: dict[int, np.ndarray] = {}

    def look(epoch: int, points: Any) -> None:
        if epoch in kept:
            frames[epoch] = np.array(points)

    valid = trained_on.valid
    if refit is not None:
        config, valid = config.ended_at(last), None
    announce(None, f"training again to record {len(kept)} epochs", "replay")
    train(trained_on.graph, embedding.model, config, valid=valid, on_epoch=look)
    return Replay(np.array(sorted(frames)), np.stack([frames[i] for i in sorted(frames)]))
