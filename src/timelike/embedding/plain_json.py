"""Convert manifolds, likelihoods and settings to plain JSON values, and back."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from timelike._util.checks import show
from timelike.baselines import MODELS
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS

#: Part of a model → the registry of its constructors, and the arguments to call them with.
LISTS: dict[str, tuple[dict[str, Any], tuple]] = {
    "manifold": (MANIFOLDS, (3,)),
    "likelihood": (LIKELIHOODS, ()),
}


def struct_to_json(struct: Any, part: str) -> dict[str, Any]:
    """The class and constructor arguments of a struct; `part` is "manifold" or "likelihood"."""
    cls = type(struct)
    if _classes(part).get(cls.__name__) is not cls:
        raise ValueError(
            f"{part} is a {cls.__name__}, which no list of {part}s has, so it cannot be loaded; add it there"
        )
    plain: dict[str, Any] = {"class": cls.__name__}
    for f in dataclasses.fields(struct):
        value = getattr(struct, f.name)
        if "kind" in f.metadata:
            plain[f.name] = struct_to_json(value, part)
        elif np.ndim(value):
            raise ValueError(
                f"{cls.__name__}: {f.name} has shape {np.shape(value)}; only a single number can be saved"
            )
        else:
            plain[f.name] = np.asarray(value).item()
    return plain


def struct_from_json(value: Any, part: str, where: str) -> Any:
    """The inverse of `struct_to_json`; errors name `where` in the file the value is."""
    classes = _classes(part)
    kind = value.get("class") if isinstance(value, dict) else value
    if not isinstance(value, dict) or kind not in list(classes):
        raise ValueError(
            f'"{where}" is of class {show(kind)}; it must be one of {", ".join(sorted(classes))}'
        )
    cls = classes[kind]
    fields = {f.name: f for f in dataclasses.fields(cls)}
    unknown = sorted(value.keys() - fields.keys() - {"class"})
    missing = [name for name, f in fields.items() if name not in value and not _added_later(f)]
    if unknown or missing:
        wrong = f"no {missing[0]!r}" if missing else f"an unknown {unknown[0]!r}"
        raise ValueError(f'"{where}" has {wrong}; {cls.__name__} has {", ".join(fields)}')
    nested = [name for name, f in fields.items() if "kind" in f.metadata]
    inner = {name: struct_from_json(value[name], part, f"{where}.{name}") for name in nested}
    return cls(**{name: value[name] for name in fields if name in value} | inner)


def _added_later(field: dataclasses.Field) -> bool:
    """Whether a file may lack the field: a static one with a default, which an older version may not have."""
    return "static" in field.metadata and field.default is not dataclasses.MISSING


def _classes(part: str) -> dict[str, Any]:
    """Every class that a registry and the baselines construct, including nested ones, by name."""
    makers, arguments = LISTS[part]
    classes: dict[str, Any] = {}
    todo: list[Any] = [make(*arguments) for make in makers.values()]
    todo += [getattr(make(3), part) for make in MODELS.values()]
    while todo:
        struct = todo.pop()
        classes[type(struct).__name__] = type(struct)
        todo += [getattr(struct, f.name) for f in dataclasses.fields(struct) if "kind" in f.metadata]
    return classes


def to_plain(value: Any, where: str) -> Any:
    """The value in types that JSON has; infinities and NaN become text."""
    if isinstance(value, dict):
        return {str(key): to_plain(x, f"{where}[{key!r}]") for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(x, where) for x in value]
    value = value.item() if hasattr(value, "item") and not np.ndim(value) else value
    if isinstance(value, float) and not math.isfinite(value):
        return _TEXT[repr(value)]
    if not isinstance(value, str | int | float | None):
        raise TypeError(
            f"{where} is {show(value)}; only text, numbers, booleans, None and lists can be saved"
        )
    return value


def from_plain(value: Any) -> Any:
    """The inverse of `to_plain`; tuples come back as lists."""
    if isinstance(value, dict):
        return {key: from_plain(x) for key, x in value.items()}
    if isinstance(value, list):
        return [from_plain(x) for x in value]
    return _NUMBERS.get(value, value) if isinstance(value, str) else value


_TEXT = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
_NUMBERS = {text: float(number) for number, text in _TEXT.items()}
