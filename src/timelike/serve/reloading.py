"""Model folders that may be replaced while they are served."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path

from timelike.serve.served_model import ServedModel

#: Files of a model folder that change with its content, the first that is there.
MARKS = ("SHA256SUMS", "model.json")


class Source:
    """A model folder, and the model that was last loaded from it.

    `read` loads a folder as a model of this name and version; `say` gets a line about each change.
    """

    def __init__(
        self,
        name: str,
        path: Path,
        read: Callable[[str, str, Path], ServedModel],
        say: Callable[[str], None],
    ):
        self.name, self.path, self._read, self._say = name, path, read, say
        self._seen = self._state()
        self._lock = threading.Lock()
        self.model = self._fresh()

    def is_replaced(self) -> bool:
        """Whether the folder is another one than at the last look; not while it is missing."""
        state = self._state()
        return state is not None and state != self._seen

    def load(self) -> bool:
        """Load the model anew; the old one answers until this one is warm, and stays if it cannot be read."""
        with self._lock:
            seen = self._state()
            try:
                model = self._fresh()
            except Exception as error:  # whatever is wrong with the folder, the service goes on
                self._say(f"{self.path} was replaced but cannot be loaded, the old model stays: {error}")
                self._seen = seen
                return False
            self._seen, self.model = seen, model
        self._say(f"{self.path} was replaced: now version {self.model.version}")
        return True

    def _fresh(self) -> ServedModel:
        model = self._read(self.name, self._version(), self.path)
        model.warm_up()
        return model

    def _state(self) -> tuple[int, int, int] | None:
        for mark in MARKS:
            try:
                stat = (self.path / mark).stat()
            except OSError:
                continue
            return stat.st_ino, stat.st_mtime_ns, stat.st_size
        return None

    def _version(self) -> str:
        """A digest of the content of the folder."""
        for mark in MARKS:
            if (self.path / mark).is_file():
                return hashlib.sha256((self.path / mark).read_bytes()).hexdigest()[:12]
        return "unknown"
