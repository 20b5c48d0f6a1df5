"""Checkpoints: one file that holds a run between epochs, replaced atomically."""

from __future__ import annotations

import dataclasses
import json
import os
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from timelike._util.atomic_files import read_tensors, write_tensors
from timelike._util.checks import output_path, positive_number, whole_number

#: An error shows the old and new value of a setting in at most this number of characters.
LONGEST = 400

#: One array per quantity, an entry per epoch; with the state of a run, the contents of a checkpoint.
History = dict[str, np.ndarray]
Checkpoint = tuple[Any, History]


def write(path: Path, state: Any, history: History, settings: dict[str, Any]) -> None:
    """Write a run to `path` atomically."""
    tensors = {f"state{jax.tree_util.keystr(k)}": np.asarray(x) for k, x in _leaves(state)}
    tensors |= {f"history.{name}": np.asarray(values) for name, values in history.items()}
    write_tensors(path, tensors, {"settings": settings})


def read(path: Path, like: Any, settings: dict[str, Any], columns: Sequence[str] = ()) -> Checkpoint:
    """Read a run with the structure of `like`, which must have been started with these `settings`.

    Its history must have these `columns`.
    """
    tensors, about = read_tensors(path, "checkpoint", "delete it to start over")
    check_settings(path, about.get("settings"), json.loads(json.dumps(settings)))
    leaves = []
    for key, leaf in _leaves(like):
        value = tensors.get(f"state{jax.tree_util.keystr(key)}")
        if value is None or value.shape != leaf.shape or value.dtype != leaf.dtype:
            raise ValueError(
                f"{path}: {jax.tree_util.keystr(key)} does not match this run; delete the file to start over"
            )
        leaves.append(jax.numpy.asarray(value))
    state = jax.tree.unflatten(jax.tree.structure(like), leaves)
    prefix = "history."
    history = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
    lengths = {history[name].shape[:1] for name in columns if name in history}
    if not set(columns) <= history.keys() or len(lengths) > 1 or () in lengths:
        raise ValueError(f"{path}: its history does not match this run; delete the file to start over")
    return state, history


@dataclasses.dataclass(frozen=True)
class Checkpointing:
    """Where to save a run, and how often: after `every_seconds`, and every n epochs if that is set."""

    path: str | os.PathLike
    every_epochs: int | None = None
    every_seconds: float = 30.0
    resume: bool = True

    def __post_init__(self) -> None:
        if self.every_epochs is not None:
            whole_number("Checkpointing: every_epochs", self.every_epochs, 1)
        positive_number("Checkpointing: every_seconds", self.every_seconds, finite=False)
        output_path("Checkpointing: path", self.path)


def beside(checkpoint: Checkpointing | str | os.PathLike | None, parts: Sequence[str]) -> Any:
    """The checkpoint of one run of several: the same settings, with `parts` added to the file name."""
    if checkpoint is None or not parts:
        return checkpoint
    checkpoint = checkpoint if isinstance(checkpoint, Checkpointing) else Checkpointing(checkpoint)
    path = Path(checkpoint.path)
    return dataclasses.replace(checkpoint, path=path.with_name("-".join([path.stem, *parts]) + path.suffix))


class Saver:
    """Loads a run when it starts, and saves it when that is due and at the end."""

    def __init__(self, checkpoint: Checkpointing | str | os.PathLike | None, settings: dict[str, Any]):
        if checkpoint is not None and not isinstance(checkpoint, Checkpointing):
            checkpoint = Checkpointing(checkpoint)
        self.checkpoint = checkpoint
        self.settings = settings
        self.time = time.monotonic()
        self.trouble = ""
        self.saving = False

    def load(self, like: Any, columns: Sequence[str]) -> Checkpoint | None:
        """The run to resume, if there is one; its history must have these `columns`."""
        if self.checkpoint is None or not self.checkpoint.resume or not Path(self.checkpoint.path).exists():
            return None
        found = read(Path(self.checkpoint.path), like, self.settings, columns)
        return found

    def before_due(self, done: int, wanted: int) -> int:
        """The number of epochs to run next: `wanted`, but no more than until the next save."""
        every = None if self.checkpoint is None else self.checkpoint.every_epochs
        return wanted if every is None else min(wanted, every - done % every)

    def due(self, done: int) -> bool:
        """Whether to save after `done` epochs: by their number, or by the time since the last save."""
        if self.checkpoint is None:
            return False
        every = self.checkpoint.every_epochs
        late = time.monotonic() - self.time >= self.checkpoint.every_seconds
        return late or (every is not None and done % every == 0)

    def save(self, state: Any, history: History) -> None:
        """Save the run if it has begun; a full disk is only a warning, because the run is not lost yet."""
        if self.checkpoint is None or not history:
            return
        self.time, self.trouble, self.saving = time.monotonic(), "", True
        try:
            write(Path(self.checkpoint.path), state, history, self.settings)
        except OSError as error:
            self.trouble = f"the checkpoint could not be written ({error})"
            warnings.warn(f"{self.trouble}; training continues", stacklevel=3)
        finally:
            self.saving = False

    def farewell(self, name: str, epoch: int, epochs: int) -> str:
        """The message when a signal stops the run."""
        done = f"{name}: stopped after epoch {epoch} of {epochs}"
        if self.checkpoint is None:
            return f"{done}; nothing was saved (there is no checkpoint)"
        if self.trouble:
            return f"{done}; {self.trouble}"
        return f"{done}; saved to {self.checkpoint.path}; run it again to resume"

    def last_words(self) -> str:
        """The message when a signal stops the run in the middle of an epoch; "" while the run is saved."""
        if self.saving:
            return ""
        done = "stopped in the middle of an epoch"
        if self.checkpoint is None or not Path(self.checkpoint.path).exists():
            return f"{done}; nothing was saved"
        return f"{done}; its last checkpoint is {self.checkpoint.path}; run it again to resume"


def _leaves(tree: Any) -> list[tuple[Any, Any]]:
    return jax.tree_util.tree_flatten_with_path(tree)[0]


def check_settings(path: Path, stored: Any, wanted: dict[str, Any]) -> None:
    """Raise a `ValueError` if a run with other settings wrote the file."""
    if not isinstance(stored, dict):
        raise ValueError(f"{path} is not a timelike checkpoint; delete it to start over")
    different = {
        k: f"{k} was {stored.get(k)!r}, is now {wanted.get(k)!r}"
        for k in sorted(stored.keys() | wanted.keys())
        if stored.get(k) != wanted.get(k)
    }
    if different:
        shown = [text if len(text) <= LONGEST else f"{k} differs" for k, text in different.items()]
        raise ValueError(
            f"{path} belongs to another run ({'; '.join(shown)}); use its settings or another file, or "
            "delete it to start over"
        )
