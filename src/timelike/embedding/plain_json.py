"""Manifolds, likelihoods and settings as plain JSON values, and back."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from timelike._util.checks import show
from timelike.baselines import MODELS
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS

#: Where structs come from: the part of a model → its one list, and what a constructor is called with.
LISTS: dict[str, tuple[dict[str, Any], tuple]] = {
    "manifold": (MANIFOLDS, (3,)),
    "likelihood": (LIKELIHOODS, ()),
}


def struct_to_json(struct: Any, part: str) -> dict[str, Any]:
    """A manifold or likelihood as its class and constructor arguments; `part` says which of the two."""
    cls = type(struct)
    if _classes(part).get(cls.__name__) is not cls:
        raise ValueError(
            f"{cls.__name__} is in no list of {part}s, so it could not be read back; add it there"
        )
    found: dict[str, Any] = {"class": cls.__name__}
    for f in dataclasses.fields(struct):
        value = getattr(struct, f.name)
        if "kind" in f.metadata:
            found[f.name] = struct_to_json(value, part)
        elif np.ndim(value):
            raise ValueError(
                f"{cls.__name__}: {f.name} has shape {np.shape(value)}; an embedding has one number of each"
            )
        else:
            found[f.name] = np.asarray(value).item()
    return found


def struct_from_json(value: Any, part: str, where: str) -> Any:
    """The inverse of `struct_to_json`; `where` is the place in the file, for errors."""
    classes = _classes(part)
    kind = value.get("class") if isinstance(value, dict) else value
    if not isinstance(value, dict) or kind not in list(classes):
        raise ValueError(f'"{where}" is of class {show(kind)}; known are {", ".join(sorted(classes))}')
    cls = classes[kind]
    fields = {f.name: f for f in dataclasses.fields(cls)}
    strange = sorted(value.keys() - fields.keys() - {"class"})
    missing = [name for name in fields if name not in value]
    if strange or missing:
        wrong = f"no {missing[0]!r}" if missing else f"an unknown {strange[0]!r}"
        raise ValueError(f'"{where}" has {wrong}; {cls.__name__} has {", ".join(fields)}')
    return cls(
        **{
            name: struct_from_json(value[name], part, f"{where}.{name}")
            if "kind" in f.metadata
            else value[name]
            for name, f in fields.items()
        }
    )


def _classes(part: str) -> dict[str, Any]:
    """All classes that the constructors of a list and of the baselines build, those of parts too, by name."""
    makers, arguments = LISTS[part]
    found: dict[str, Any] = {}
    todo: list[Any] = [make(*arguments) for make in makers.values()]
    todo += [getattr(make(3), part) for make in MODELS.values()]
    while todo:
        one = todo.pop()
        found[type(one).__name__] = type(one)
        todo += [getattr(one, f.name) for f in dataclasses.fields(one) if "kind" in f.metadata]
    return found


def to_plain(value: Any, where: str) -> Any:
    """Values that JSON has; what is not finite becomes text."""
    if isinstance(value, dict):
        return {str(key): to_plain(x, f"{where}[{key!r}]") for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(x, where) for x in value]
    value = value.item() if hasattr(value, "item") and not np.ndim(value) else value
    if isinstance(value, float) and not math.isfinite(value):
        return _TEXT[repr(value)]
    if not isinstance(value, str | int | float | None):
        raise TypeError(f"{where} is {show(value)}; only plain values can be saved")
    return value


def from_plain(value: Any) -> Any:
    """The inverse of `to_plain`, with lists for tuples."""
    if isinstance(value, dict):
        return {key: from_plain(x) for key, x in value.items()}
    if isinstance(value, list):
        return [from_plain(x) for x in value]
    return _NUMBERS.get(value, value) if isinstance(value, str) else value


_TEXT = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
_NUMBERS = {text: float(number) for number, text in _TEXT.items()}
