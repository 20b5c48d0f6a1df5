"""A file that keeps the finished steps of a search, so that an interrupted search can continue."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from timelike._util.atomic_files import replacing
from timelike._util.checks import output_path, show


class Journal:
    """Scores and seconds of finished steps, by name; without a path, in memory only."""

    def __init__(self, path: str | os.PathLike | None, about: dict[str, Any]):
        self.path = None if path is None else output_path("journal", path)
        self.about = json.loads(json.dumps(about))
        self.steps: dict[str, dict[str, Any]] = {}
        if self.path is not None and self.path.exists():
            self.steps = self._read(self.path)

    @property
    def seconds(self) -> float:
        """Seconds of all steps, including those of earlier runs."""
        return sum(step["seconds"] for step in self.steps.values())

    def step(self, name: str, work: Callable[[], list[float]]) -> list[float]:
        """The scores of a step: from the file, or else from `work`, and then written to the file."""
        if name not in self.steps:
            start = time.monotonic()
            scores = work()
            self.steps[name] = {"scores": scores, "seconds": time.monotonic() - start}
            if self.path is not None:
                with replacing(self.path) as part:
                    part.write_text(json.dumps({"about": self.about, "steps": self.steps}), encoding="utf-8")
        return self.steps[name]["scores"]

    def _read(self, path: Path) -> dict[str, dict[str, Any]]:
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            about, steps = stored["about"], stored["steps"]
            good = isinstance(about, dict) and all(_is_step(step) for step in steps.values())
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            good = False
        if not good:
            raise ValueError(f"{path} is not the journal of a search; delete it to start over") from None
        changed = sorted(
            key for key in self.about.keys() | about.keys() if about.get(key) != self.about.get(key)
        )
        if changed:
            raise ValueError(
                f"{path} belongs to another search ({show(changed)} changed); "
                "use its settings, or delete it to start over"
            )
        return steps


def _is_step(step: Any) -> bool:
    """Whether `step` wrote this."""
    if not isinstance(step, dict) or not isinstance(step.get("scores"), list):
        return False
    return all(isinstance(x, int | float) for x in (step.get("seconds"), *step["scores"]))
