"""One file that holds a run between two epochs, replaced atomically."""

from __future__ import annotations

import dataclasses
import json
import os
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from timelike._util.atomic_files import read_tensors, write_tensors
from timelike._util.checks import output_path, positive_number, whole_number

#: What a setting was and is now is told in so many characters at most; a list of runs only differs.
LONGEST = 400


class Checkpoint(NamedTuple):
    """What a checkpoint file holds."""

    state: Any
    history: dict[str, np.ndarray]


def write(path: Path, state: Any, history: dict[str, np.ndarray], settings: dict[str, Any]) -> None:
    """Write a run to `path`, whole or not at all."""
    tensors = {f"state{jax.tree_util.keystr(k)}": np.asarray(x) for k, x in _leaves(state)}
    tensors |= {f"history.{name}": np.asarray(values) for name, values in history.items()}
    write_tensors(path, tensors, {"settings": settings})


def read(path: Path, like: Any, settings: dict[str, Any], columns: Sequence[str] = ()) -> Checkpoint:
    """Read a run back. `like` gives the structure; `settings` must be those it was started with.

    `columns` are those that its history must have.
    """
    tensors, about = read_tensors(path, "checkpoint", "delete it to start over")
    check_settings(path, about.get("settings"), json.loads(json.dumps(settings)))
    leaves = []
    for key, leaf in _leaves(like):
        value = tensors.get(f"state{jax.tree_util.keystr(key)}")
        if value is None or value.shape != leaf.shape or value.dtype != leaf.dtype:
            raise ValueError(
                f"{path}: {jax.tree_util.keystr(key)} does not fit this run; delete the file to start over"
            )
        leaves.append(jax.numpy.asarray(value))
    state = jax.tree.unflatten(jax.tree.structure(like), leaves)
    prefix = "history."
    history = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
    lengths = {history[name].shape[:1] for name in columns if name in history}
    if not set(columns) <= history.keys() or len(lengths) > 1 or () in lengths:
        raise ValueError(f"{path}: its history does not fit this run; delete the file to start over")
    return Checkpoint(state, history)


@dataclasses.dataclass(frozen=True)
class Checkpointing:
    """Where to keep a run between epochs, and how often: after n epochs, if given, or so many seconds."""

    path: str | os.PathLike
    every_epochs: int | None = None
    every_seconds: float = 30.0
    resume: bool = True

    def __post_init__(self) -> None:
        if self.every_epochs is not None:
            whole_number("Checkpointing: every_epochs", self.every_epochs, 1)
        positive_number("Checkpointing: every_seconds", self.every_seconds, finite=False)
        output_path("Checkpointing: path", self.path)


def beside(plan: Checkpointing | str | os.PathLike | None, parts: Sequence[str]) -> Any:
    """The checkpoint of one run of several: the same, in a file whose name says which."""
    if plan is None or not parts:
        return plan
    plan = plan if isinstance(plan, Checkpointing) else Checkpointing(plan)
    path = Path(plan.path)
    return dataclasses.replace(plan, path=path.with_name("-".join([path.stem, *parts]) + path.suffix))


class Saver:
    """Reads a run back when it starts, writes it when that is due, and at the end."""

    def __init__(self, plan: Checkpointing | str | os.PathLike | None, settings: dict[str, Any]):
        self.plan = plan if plan is None or isinstance(plan, Checkpointing) else Checkpointing(plan)
        self.settings = settings
        self.time = time.monotonic()
        self.trouble = ""

    def load(self, like: Any, columns: Sequence[str]) -> Checkpoint | None:
        """The run that is to be continued, if there is one; `columns` are those of its history."""
        if self.plan is None or not self.plan.resume or not Path(self.plan.path).exists():
            return None
        return read(Path(self.plan.path), like, self.settings, columns)

    def before_due(self, done: int, wanted: int) -> int:
        """As many epochs as are wanted, but no more than until the run is to be written."""
        every = None if self.plan is None else self.plan.every_epochs
        return wanted if every is None else min(wanted, every - done % every)

    def due(self, done: int) -> bool:
        """Whether the run is to be written after so many epochs: they, or the time since then, are enough."""
        if self.plan is None:
            return False
        every = self.plan.every_epochs
        late = time.monotonic() - self.time >= self.plan.every_seconds
        return late or (every is not None and done % every == 0)

    def save(self, state: Any, history: dict[str, np.ndarray]) -> None:
        """Write the run, unless it has not begun; a full disk is a warning: the run is not lost yet."""
        if self.plan is None or not history:
            return
        self.time, self.trouble = time.monotonic(), ""
        try:
            write(Path(self.plan.path), state, history, self.settings)
        except OSError as error:
            self.trouble = f"the checkpoint could not be written ({error})"
            warnings.warn(f"{self.trouble}; the run goes on", stacklevel=3)

    def farewell(self, name: str, epoch: int, epochs: int) -> str:
        """What to say when a signal stops the run."""
        done = f"{name}: stopped after epoch {epoch} of {epochs}"
        if self.plan is None:
            return f"{done}; nothing was saved (no checkpoint was asked for)"
        if self.trouble:
            return f"{done}; {self.trouble}"
        return f"{done}; saved to {self.plan.path}, run the same again to resume"


def _leaves(tree: Any) -> list[tuple[Any, Any]]:
    return jax.tree_util.tree_flatten_with_path(tree)[0]


def check_settings(path: Path, stored: Any, wanted: dict[str, Any]) -> None:
    """Raise a `ValueError` unless a run with these settings wrote the file."""
    if not isinstance(stored, dict):
        raise ValueError(f"{path} is not a checkpoint of timelike; delete it to start over")
    different = {
        k: f"{k} was {stored.get(k)!r}, is now {wanted.get(k)!r}"
        for k in sorted(stored.keys() | wanted.keys())
        if stored.get(k) != wanted.get(k)
    }
    if different:
        told = [text if len(text) <= LONGEST else f"{k} differs" for k, text in different.items()]
        raise ValueError(
            f"{path} was written by another run ({'; '.join(told)}); use its settings or another file, or "
            "delete it to start over"
        )
