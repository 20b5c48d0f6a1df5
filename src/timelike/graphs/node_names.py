"""What users call nodes: a tuple for small graphs, one column for large ones, all with a fast way back."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, overload

import numpy as np

from timelike._util.checks import show

#: Beyond this many names, only those that begin like the one looked for are compared with it.
COMPARED = 20_000

#: What names that go to a file may be, and how they come back from text.
NAME_KINDS: dict[str, Callable[[str], Hashable]] = {"str": str, "int": int, "float": float}


class NameTuple(tuple[Hashable, ...]):
    """Names as Python objects, which may be of any kind."""

    @cached_property
    def _numbers(self) -> dict[Hashable, int]:
        return {name: i for i, name in enumerate(self)}

    def find(self, values: Sequence[Hashable]) -> list[int | None]:
        """The number of each value, None where it is no name."""
        return [self._numbers.get(value) for value in values]

    def begin_with(self, start: str) -> Iterable[str]:
        """The names that begin like this, in capitals or not, as text."""
        return (text for name in self if (text := str(name)).lower().startswith(start.lower()))


class NameColumn(Sequence[Hashable]):
    """Millions of names without as many Python objects: a polars column of texts."""

    def __init__(self, column: Any):
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    @overload
    def __getitem__(self, index: int) -> Hashable: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hashable]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return tuple(self._column[index])
        return self._column[int(index)]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, type(self)):
            return self is other or bool(np.array_equal(self.to_numpy(), other.to_numpy()))
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(_equal, self, other))

    __hash__ = None  # type: ignore[assignment]

    def to_numpy(self) -> np.ndarray:
        """The names as a new array."""
        return np.asarray(self._column.to_numpy())

    def find(self, values: Sequence[Hashable]) -> list[int | None]:
        """The number of each value, None where it is no name."""
        wanted = [value for value in set(values) if isinstance(value, str)]
        at = self._column.is_in(wanted).arg_true()
        number = dict(zip(self._column.gather(at), at, strict=True))
        return [number.get(value) for value in values]

    def begin_with(self, start: str) -> Iterable[str]:
        """The names that begin like this, in capitals or not."""
        return self._column.filter(self._column.str.to_lowercase().str.starts_with(start.lower()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} names, the first is {self[0]!r})"


class NumberColumn(NameColumn):
    """Whole numbers in ascending order as names: a NumPy array."""

    @overload
    def __getitem__(self, index: int) -> Hashable: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hashable]: ...
    def __getitem__(self, index: int | slice) -> Any:
        found = self._column[index].tolist()
        return tuple(found) if isinstance(index, slice) else found

    def to_numpy(self) -> np.ndarray:
        """The names as a new array."""
        return self._column.copy()

    def find(self, values: Sequence[Hashable]) -> list[int | None]:
        """The number of each value, None where it is no name."""
        whole = [int(v) if isinstance(v, int | np.integer) and abs(int(v)) < 2**63 else None for v in values]
        asked = np.asarray([0 if v is None else v for v in whole], dtype=np.int64)
        at = np.minimum(np.searchsorted(self._column, asked), len(self) - 1)
        hit = self._column[at] == asked
        return [int(i) if ok and v is not None else None for i, ok, v in zip(at, hit, whole, strict=True)]

    def begin_with(self, start: str) -> Iterable[str]:
        """The names that begin like this, as text."""
        return (text for name in self._column if (text := str(name)).startswith(start))


Names = NameTuple | NameColumn


def as_names(names: Sequence[Hashable]) -> Names:
    """Names that can be looked up."""
    return names if isinstance(names, NameTuple | NameColumn) else NameTuple(names)


def plain_names(names: Iterable[Hashable]) -> list[str | int | float]:
    """Names as a file can hold them, or a `TypeError` if it cannot."""
    values: list[Any] = [name.item() if isinstance(name, np.generic) else name for name in names]
    for value in values:
        if type(value).__name__ not in NAME_KINDS:
            raise TypeError(
                f"node {show(value)} has a name of type {type(value).__name__}; names that can be saved are "
                f"{', '.join(NAME_KINDS)}"
            )
    return values


def nearest(names: Names, value: Any) -> list[str]:
    """The three names most like `value`, in capitals or not; in a large graph, of those that begin alike."""
    text, enough = str(value), 0
    few = len(text) + 1 if len(names) > COMPARED else 1
    while few - enough > 1:  # so many letters are those of three names, and so many of fewer
        middle = (enough + few) // 2
        found = list(islice(names.begin_with(text[:middle]), 3))
        enough, few = (middle, few) if len(found) == 3 else (enough, middle)
    kept = list(islice(names.begin_with(text[:enough]), COMPARED))
    lower = [name.lower() for name in kept]
    near = difflib.get_close_matches(text.lower(), dict.fromkeys(lower), 3, 0)
    return [kept[lower.index(name)] for name in near]


def _equal(a: Hashable, b: Hashable) -> bool:
    return bool(a == b)
