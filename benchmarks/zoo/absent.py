"""Run where libraries for files, tables and progress bars are missing, such as on a bare machine with JAX.

Generated and prepared graphs have no names and are not read from files, so a fit uses none of them. The
placeholders only satisfy import statements and type hints.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

#: Libraries that may be missing.
OPTIONAL = ("polars", "pooch", "tyro", "jaxtyping")


def fill_in() -> list[str]:
    """Put placeholders where libraries are missing, and return their names; call it before anything else."""
    missing = [name for name in OPTIONAL if _is_missing(name)]
    for name in missing:
        sys.modules[name] = _Placeholder(name)
    if _is_missing("tqdm"):
        module = types.ModuleType("tqdm")
        module.tqdm = _Bar  # type: ignore[attr-defined]
        sys.modules["tqdm"] = module
        missing.append("tqdm")
    return missing


def _is_missing(name: str) -> bool:
    if name in sys.modules:
        return sys.modules[name] is None
    try:
        return importlib.util.find_spec(name) is None
    except ImportError:
        return True


class _Type(type):
    """A class that can be subscripted, as in a type hint."""

    def __getitem__(cls, item: Any) -> Any:
        return cls

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Type(name, (), {})


class _Placeholder(types.ModuleType):
    """A module whose every name is a class of no instances."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Type(name, (), {})


class _Bar:
    """A progress bar that shows nothing."""

    format_dict: ClassVar[dict[str, None]] = {"rate": None}

    def __init__(self, iterable: Iterable = (), *_: Any, **__: Any) -> None:
        self.iterable = iterable

    def __iter__(self) -> Iterator:
        return iter(self.iterable)

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None
