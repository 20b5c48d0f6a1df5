"""One file that holds a run between two epochs, replaced atomically."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

FORMAT = 1


class Checkpoint(NamedTuple):
    """What a checkpoint file holds."""

    state: Any
    history: dict[str, np.ndarray]


def write(path: Path, state: Any, history: dict[str, np.ndarray], settings: dict[str, Any]) -> None:
    """Write a run to `path`. A crash at any moment leaves the old file or the new one, never half of one."""
    tensors = {f"state{jax.tree_util.keystr(k)}": np.asarray(x) for k, x in _leaves(state)}
    tensors |= {f"history.{name}": np.asarray(values) for name, values in history.items()}
    metadata = {"format": str(FORMAT), "settings": json.dumps(settings, sort_keys=True)}
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(save({k: np.asarray(x, order="C") for k, x in tensors.items()}, metadata))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read(path: Path, like: Any, settings: dict[str, Any]) -> Checkpoint:
    """Read a run back. `like` gives the structure; `settings` must be those it was started with."""
    try:
        with safe_open(path, framework="numpy") as file:
            stored = json.loads((file.metadata() or {}).get("settings", "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(f"{path} is not a readable checkpoint ({error}); delete it to start over") from None
    _check_settings(path, stored, json.loads(json.dumps(settings)))
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
    return Checkpoint(state, history)


def _leaves(tree: Any) -> list[tuple[Any, Any]]:
    return jax.tree_util.tree_flatten_with_path(tree)[0]


def _check_settings(path: Path, stored: Any, wanted: dict[str, Any]) -> None:
    if not isinstance(stored, dict):
        raise ValueError(f"{path} is not a checkpoint of timelike; delete it to start over")
    different = sorted(k for k in stored.keys() | wanted.keys() if stored.get(k) != wanted.get(k))
    if different:
        changes = "; ".join(f"{k} was {stored.get(k)!r}, is now {wanted.get(k)!r}" for k in different)
        raise ValueError(f"{path} was written by another run ({changes}); use its settings or another file")
