"""Checkpoints of a run on many processes: each writes its rows; any number of processes can resume."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from timelike.training.checkpoint import check_settings

#: Number of checkpoints to keep; the one before stays until the new one is written.
KEPT = 1


class Keeper:
    """A folder that all processes see, with the latest checkpoint of a run."""

    def __init__(self, folder: Path, settings: dict[str, Any]):
        try:
            import orbax.checkpoint as orbax
        except ImportError:
            raise ImportError('several processes need orbax: pip install "timelike[scale]"') from None
        self.folder, self.settings = folder.absolute(), json.loads(json.dumps(settings))
        self._as = orbax.args
        options = orbax.CheckpointManagerOptions(max_to_keep=KEPT, enable_async_checkpointing=False)
        self._manager = orbax.CheckpointManager(self.folder, options=options)

    def save(self, step: int, arrays: Mapping[str, jax.Array], about: dict[str, Any]) -> None:
        """Write the arrays and `about`; all processes must call this at the same step."""
        metadata = self._as.JsonSave({"settings": self.settings, **about})
        items = {"arrays": self._as.StandardSave(dict(arrays)), "about": metadata}
        self._manager.save(step, args=self._as.Composite(**items), force=True)
        self._manager.wait_until_finished()

    def load(self, like: Mapping[str, jax.Array]) -> tuple[dict[str, jax.Array], dict[str, Any]] | None:
        """The latest checkpoint, sharded like these arrays, or None.

        The number of rows past the last node depends on the number of processes: rows are cut or added.
        """
        step = self._manager.latest_step()
        if step is None:
            return None
        only = self._as.Composite(about=self._as.JsonRestore())
        about = self._manager.restore(step, args=only).about
        check_settings(self.folder, about.get("settings"), self.settings)
        wanted = {
            name: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding) for name, x in like.items()
        }
        restore = self._as.StandardRestore(wanted, strict=False)
        arrays = self._manager.restore(step, args=self._as.Composite(arrays=restore)).arrays
        return dict(arrays), about


def as_lists(columns: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Arrays as lists, for JSON."""
    return {name: np.asarray(values).tolist() for name, values in columns.items()}
