"""Frozen dataclasses that are JAX pytrees, with checked numbers as leaves.

A class decorated with `struct` has three kinds of fields:

- `number(...)`: a leaf. It may be a float, an array (a sweep) or a tracer, and has a `Domain`.
- `static(...)`: an integer fixed at compile time (a dimension, a number of images).
- `child(kind)`: another struct, an instance of `kind`.

The constructor checks each field and then calls the method `_check_together` if the class has one. When JAX
rebuilds a struct inside `jit` and `vmap`, it bypasses these checks.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar, dataclass_transform

import jax
import jax.numpy as jnp
import numpy as np

from timelike._util.checks import show, whole_number
from timelike.core.numerics import inverse_softplus, logit, softplus

T = TypeVar("T")

#: The value of a number field: a float, or an array to sweep over or to learn.
Number: TypeAlias = float | jax.Array


@dataclasses.dataclass(frozen=True)
class Domain:
    """The allowed values of a number, and a smooth map from the real line onto them."""

    allowed: str
    contains: Callable[[Any], Any]
    constrain: Callable[[Any], Any]
    unconstrain: Callable[[Any], Any]


REAL = Domain("a finite number", lambda x: np.isfinite(x), lambda x: x, lambda x: x)
POSITIVE = Domain("a finite number > 0", lambda x: np.isfinite(x) & (x > 0), softplus, inverse_softplus)
UNIT = Domain("a number in [0, 1]", lambda x: (x >= 0) & (x <= 1), jax.nn.sigmoid, logit)


def number(*, default: Any = dataclasses.MISSING, domain: Domain = REAL) -> Any:
    """A leaf of the pytree: a number that can be swept with `vmap` or learned."""
    return dataclasses.field(default=default, metadata={"domain": domain})


def static(
    *, default: Any = dataclasses.MISSING, minimum: int = 0, choices: tuple[int, ...] | None = None
) -> Any:
    """An integer fixed at compile time: ≥ `minimum`, or one of `choices`."""
    return dataclasses.field(default=default, metadata={"static": {"least": minimum, "choices": choices}})


def child(kind: type, allowed: str | None = None) -> Any:
    """Another struct, an instance of `kind`; error messages describe it as `allowed`."""
    return dataclasses.field(metadata={"kind": (kind, allowed or f"a {kind.__name__}")})


@dataclass_transform(frozen_default=True, field_specifiers=(number, static, child))
def struct(cls: type[T]) -> type[T]:
    """Turn `cls` into a frozen dataclass, checked on construction, and register it as a pytree."""
    cls.__post_init__ = _check  # type: ignore[attr-defined]
    cls = dataclasses.dataclass(frozen=True)(cls)
    meta = [f.name for f in dataclasses.fields(cls) if "static" in f.metadata]  # type: ignore[arg-type]
    data = [f.name for f in dataclasses.fields(cls) if "static" not in f.metadata]  # type: ignore[arg-type]

    def flatten_with_keys(self: Any) -> tuple[list[tuple[Any, Any]], tuple]:
        children = [(jax.tree_util.GetAttrKey(n), getattr(self, n)) for n in data]
        return children, tuple(getattr(self, n) for n in meta)

    def flatten(self: Any) -> tuple[list, tuple]:
        return [getattr(self, n) for n in data], tuple(getattr(self, n) for n in meta)

    def unflatten(static_values: tuple, leaves: Any) -> Any:
        self = object.__new__(cls)
        for name, value in (*zip(meta, static_values, strict=True), *zip(data, leaves, strict=True)):
            object.__setattr__(self, name, value)
        return self

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
    return cls


def _check(self: Any) -> None:
    for f in dataclasses.fields(self):
        value = getattr(self, f.name)
        where = f"{type(self).__name__}: {f.name}"
        if "static" in f.metadata:
            object.__setattr__(self, f.name, whole_number(where, value, **f.metadata["static"]))
        elif "kind" in f.metadata:
            kind, allowed = f.metadata["kind"]
            if not isinstance(value, kind):
                raise TypeError(f"{where} is {show(value)}; it must be {allowed}")
        elif "domain" in f.metadata and not isinstance(value, jax.core.Tracer):
            _check_number(where, value, f.metadata["domain"])
            if isinstance(value, int | np.generic):
                object.__setattr__(self, f.name, float(value))
    if hasattr(self, "_check_together"):
        self._check_together()


def _check_number(where: str, value: Any, domain: Domain) -> None:
    kind = getattr(value, "dtype", type(value))
    if not (jnp.issubdtype(kind, jnp.floating) or jnp.issubdtype(kind, jnp.integer)):
        raise TypeError(f"{where} is {show(value)}; it must be {domain.allowed}, or an array of them")
    array = np.asarray(value, dtype=float)
    outside = np.argwhere(~domain.contains(array)).tolist()
    if outside:
        first = tuple(outside[0])
        raise ValueError(f"{where}{list(first) or ''} is {array[first]}; it must be {domain.allowed}")


def numbers_of(tree: Any) -> dict[str, Any]:
    """The numbers of a struct and of its nested structs, by name."""
    numbers: dict[str, Any] = {}
    for f in dataclasses.fields(tree):
        value = getattr(tree, f.name)
        if "domain" in f.metadata:
            numbers[f.name] = value
        elif "kind" in f.metadata:
            numbers |= numbers_of(value)
    return numbers


def with_numbers(tree: T, values: Mapping[str, Any]) -> T:
    """A copy of a struct with some numbers replaced, at any depth, and checked again."""
    changes = {}
    for f in dataclasses.fields(tree):  # type: ignore[arg-type]
        if "domain" in f.metadata and f.name in values:
            changes[f.name] = values[f.name]
        elif "kind" in f.metadata:
            changes[f.name] = with_numbers(getattr(tree, f.name), values)
    return dataclasses.replace(tree, **changes)  # type: ignore[type-var]


def reals_of(tree: Any, names: Iterable[str]) -> dict[str, Any]:
    """The named numbers of a struct, mapped to the real line."""
    reals = numbers_of(to_real(tree))
    return {name: reals[name] for name in names}


def with_reals(tree: T, reals: Mapping[str, Any]) -> T:
    """The inverse of `reals_of`: a copy of the struct with these numbers replaced, unchecked."""

    def replaced(name: str, domain: Domain, value: Any) -> Any:
        return domain.constrain(reals[name]) if name in reals else value

    return _map_numbers(tree, replaced) if reals else tree


def with_scaled(tree: T, prefix: str, factor: Any) -> T:
    """A copy of a struct in which numbers whose names start with `prefix` are multiplied, unchecked."""
    return _map_numbers(tree, lambda name, _, x: x * factor if name.startswith(prefix) else x)


def to_real(tree: T) -> T:
    """Map every number of a struct to the real line, where an optimiser can move it freely."""
    return _map_numbers(tree, lambda _, domain, x: domain.unconstrain(jnp.asarray(x)))


def from_real(tree: T) -> T:
    """The inverse of `to_real`: positive numbers stay positive, fractions stay in (0, 1)."""
    return _map_numbers(tree, lambda _, domain, x: domain.constrain(x))


def _map_numbers(tree: T, function: Callable[[str, Domain, Any], Any]) -> T:
    new: Any = object.__new__(type(tree))
    for f in dataclasses.fields(tree):  # type: ignore[arg-type]
        value = getattr(tree, f.name)
        if "domain" in f.metadata:
            value = function(f.name, f.metadata["domain"], value)
        elif dataclasses.is_dataclass(value):
            value = _map_numbers(value, function)
        object.__setattr__(new, f.name, value)
    return new
