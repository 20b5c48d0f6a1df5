"""Files of arrays with a little JSON beside them: written whole or not at all, and no code runs on load."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save


def write_tensors(path: Path, tensors: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Write arrays, and JSON `about` them. A crash leaves the old file or the new one, never half of one."""
    metadata = {key: json.dumps(value, sort_keys=True) for key, value in about.items()}
    temporary = path.with_name(f".{path.name}.tmp")  # one name, so that a killed run leaves one at most
    try:
        with open(temporary, "wb") as file:
            file.write(save({k: np.asarray(x, order="C") for k, x in tensors.items()}, metadata))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read_tensors(path: Path, what: str, cure: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays of a file and what is said about them; a file that is not `what` is an error with a cure."""
    try:
        with safe_open(path, framework="numpy") as file:
            about = {key: json.loads(text) for key, text in (file.metadata() or {}).items()}
            return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118
    except FileNotFoundError:
        raise
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(f"{path} is not a readable {what} ({error}); {cure}") from None
