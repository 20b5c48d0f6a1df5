"""Checks of arguments; each error names the argument, the value seen and the values allowed."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from timelike._util.remote_files import url_of


def show(value: Any) -> str:
    """`repr(value)` on one line of at most 100 characters, for error messages."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 100 else f"{text[:99]}…"


def whole_number(
    where: str,
    value: Any,
    least: int = 0,
    most: int | None = None,
    choices: tuple[int, ...] | None = None,
    note: str = "",
) -> int:
    """Return `value` as an `int`; raise a `ValueError` unless it is an integer in range or in `choices`."""
    good = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if choices is not None:
        allowed = f"one of {choices}"
        good = good and value in choices
    else:
        allowed = f"a whole number ≥ {least}" + ("" if most is None else f" and ≤ {most}")
        good = good and value >= least and (most is None or value <= most)
    if not good:
        raise ValueError(f"{where} is {show(value)}; it must be {allowed}{note}")
    return int(value)


def positive_number(where: str, value: Any, finite: bool = True) -> float:
    """Return `value` as a `float`; raise a `ValueError` unless it is a number > 0."""
    good = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not good or not value > 0 or (finite and math.isinf(value)):
        raise ValueError(f"{where} is {show(value)}; it must be a {'finite ' if finite else ''}number > 0")
    return float(value)


def share(where: str, value: float) -> float:
    """Return `value` as a `float`; raise a `ValueError` unless it is a number in [0, 1)."""
    if not isinstance(value, Real) or not 0 <= value < 1:
        raise ValueError(f"{where} is {show(value)}; it must be a number in [0, 1)")
    return float(value)


def one_of(where: str, value: Any, known: Iterable[str], note: str = "") -> None:
    """Raise a `ValueError` unless `value` is one of the `known` names."""
    names = list(known)
    if value not in names:
        raise ValueError(f"{where} is {show(value)}; it must be one of {', '.join(names)}{note}")


def instance(where: str, value: Any, kind: type, hint: str) -> None:
    """Raise a `TypeError` unless `value` is an instance of `kind`; `hint` says how to get one."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise TypeError(f"{where} is {show(value)}; it must be {article} {kind.__name__}: {hint}")


def output_path(where: str, path: str | os.PathLike, endings: Collection[str] = ()) -> Path:
    """Return `path`; raise an error before any work is done if no file can be written there."""
    if (url := url_of(path)) is not None:
        raise ValueError(f"{where} is {url}; only models go to a URL, so name a local file")
    path = Path(path)
    if endings and not path.name.lower().endswith(tuple(endings)):
        raise ValueError(f"{where} is {path}; its extension must be one of {', '.join(endings)}")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{where} is {path}; there is no folder {path.parent}; create it first")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{where} is {path}; you may not write to the folder {path.parent}")
    return path
