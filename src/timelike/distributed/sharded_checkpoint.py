"""Checkpoints of a run on many processes: each writes its rows; another number of processes can read them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from timelike.training.checkpoint import check_settings

#: Checkpoints that are kept: the last, and the one before while the last is written.
KEPT = 1


class Keeper:
    """A folder that all processes see, with the last checkpoint of a run."""

    def __init__(self, folder: Path, settings: dict[str, Any]):
        try:
            import orbax.checkpoint as orbax
        except ImportError:
            raise ImportError('many processes need orbax: pip install "timelike[scale]"') from None
        self.folder, self.settings = folder.absolute(), json.loads(json.dumps(settings))
        self._as = orbax.args
        options = orbax.CheckpointManagerOptions(max_to_keep=KEPT, enable_async_checkpointing=False)
        self._manager = orbax.CheckpointManager(self.folder, options=options)

    def save(self, step: int, arrays: Mapping[str, jax.Array], about: dict[str, Any]) -> None:
        """Write the arrays and what else is to be known; all processes must call it at the same step."""
        kept = self._as.JsonSave({"settings": self.settings, **about})
        items = {"arrays": self._as.StandardSave(dict(arrays)), "about": kept}
        self._manager.save(step, args=self._as.Composite(**items), force=True)
        self._manager.wait_until_finished()

    def load(self, like: Mapping[str, jax.Array]) -> tuple[dict[str, jax.Array], dict[str, Any]] | None:
        """What was saved last, spread like these arrays; None if there is nothing.

        Another number of processes has another number of rows past the last node: those are cut or added.
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
        found = self._manager.restore(step, args=self._as.Composite(arrays=restore)).arrays
        return dict(found), about


def as_lists(columns: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Arrays of a history as JSON can hold them."""
    return {name: np.asarray(values).tolist() for name, values in columns.items()}
