"""The parameters of an estimator as plain JSON values, and back."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from timelike._util.checks import show
from timelike.core.likelihood import Likelihood
from timelike.core.manifold import Manifold
from timelike.embedding.plain_json import struct_from_json, struct_to_json
from timelike.engine.negatives import Negatives
from timelike.estimator.settings import Settings

#: Parameters that name files of this machine.
LOCAL = ("checkpoint",)


def to_json(parameters: dict[str, Any]) -> dict[str, Any]:
    """Every parameter but `LOCAL` ones; objects as {kind: constructor arguments}."""
    return {name: _plain(value) for name, value in parameters.items() if name not in LOCAL}


def from_json(stored: Any) -> dict[str, Any]:
    """The inverse of `to_json`, or a `ValueError`."""
    if not isinstance(stored, dict):
        raise ValueError(f'"info.estimator" is {show(stored)}; it must hold parameters by name')
    return {name: _value(value, f"info.estimator.{name}") for name, value in stored.items()}


def _plain(value: Any) -> Any:
    for kind in (Likelihood, Manifold):
        if isinstance(value, kind):
            return {kind.__name__: struct_to_json(value, kind.__name__.lower())}
    if isinstance(value, Negatives | Settings):
        return {type(value).__name__: dataclasses.asdict(value)}
    return {"Path": os.fspath(value)} if isinstance(value, os.PathLike) else value


def _value(value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        return value
    makers: dict[str, Callable[[Any], Any]] = {
        "Likelihood": lambda x: struct_from_json(x, "likelihood", where),
        "Manifold": lambda x: struct_from_json(x, "manifold", where),
        "Negatives": lambda x: Negatives(**x),
        "Settings": lambda x: Settings(**x),
        "Path": Path,
    }
    kind = next(iter(value), "")
    if len(value) != 1 or kind not in makers:
        raise ValueError(f'"{where}" is {show(value)}; it must be one of {", ".join(makers)}')
    return makers[kind](value[kind])
