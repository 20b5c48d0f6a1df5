"""Node names: a tuple for small graphs, a column for large ones, with lookup by name and by text."""

from __future__ import annotations

import copy
import difflib
import operator
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from timelike._util.checks import show

if TYPE_CHECKING:
    import polars as pl

#: Up to this many names are Python objects in a tuple; more are a column.
SMALL = 2**17
#: Matches texts that are integers.
WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
#: With more names than this, `nearest` compares only those that share a prefix with the value.
COMPARED = 20_000
#: Most nodes listed in an error about a label that several share.
SOME = 5

#: Types of names that can be saved, and how to convert text back to them.
NAME_KINDS: dict[str, Callable[[str], Hashable]] = {"str": str, "int": int, "float": float}


class Labelled:
    """Names that may have labels: what a person calls each node, "" without a label. Labels may repeat."""

    labels: Sequence[str] | None = None

    def labelled(self, labels: Sequence[str] | None) -> Self:
        """The same names with these labels, one per name; None: without labels."""
        named = copy.copy(self)
        named.__dict__.pop("_by_label", None)
        named.labels = labels
        return named

    @cached_property
    def _by_label(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for i, label in enumerate(self.labels or ()):
            if label:
                found.setdefault(label.casefold(), []).append(i)
        return found

    def with_label(self, label: str) -> list[int]:
        """The numbers of the nodes with this label, ignoring case."""
        return self._by_label.get(label.casefold(), [])

    def labels_with(self, start: str) -> Iterable[str]:
        """The labels that start with this text, ignoring case."""
        return (label for label in self.labels or () if label.lower().startswith(start.lower()))


class NameTuple(Labelled, tuple[Hashable, ...]):
    """Names as Python objects of any hashable type."""

    @cached_property
    def _numbers(self) -> dict[Hashable, int]:
        return {name: i for i, name in enumerate(self)}

    def find(self, values: Sequence[Hashable]) -> list[int | None]:
        """The number of the node with each name; None for unknown names."""
        return [self._numbers.get(value) for value in values]

    def begin_with(self, start: str) -> Iterable[str]:
        """The names that start with this text, ignoring case."""
        return (text for name in self if (text := str(name)).lower().startswith(start.lower()))


class NameColumn(Labelled, Sequence[Hashable]):
    """Millions of names as one polars column of texts, without a Python object for each."""

    def __init__(self, column: Any):
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, index: Any) -> Any:
        return tuple(self._column[index]) if isinstance(index, slice) else self._column[int(index)]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, type(self)):
            return self is other or bool(np.array_equal(self.to_numpy(), other.to_numpy()))
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(operator.eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def to_numpy(self) -> np.ndarray:
        """The names as a new array."""
        return np.asarray(self._column.to_numpy())

    def find(self, values: Sequence[Hashable]) -> list[int | None]:
        """The number of the node with each name; None for unknown names."""
        wanted = [value for value in set(values) if isinstance(value, str)]
        at = self._column.is_in(wanted).arg_true()
        number = dict(zip(self._column.gather(at), at, strict=True))
        return [number.get(value) for value in values]

    def begin_with(self, start: str) -> Iterable[str]:
        """The names that start with this text, ignoring case."""
        return self._column.filter(self._column.str.to_lowercase().str.starts_with(start.lower()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} names, the first is {self[0]!r})"


class NumberColumn(NameColumn):
    """Integers in ascending order as names: a NumPy array."""

    def __getitem__(self, index: Any) -> Any:
        names = self._column[index].tolist()
        return tuple(names) if isinstance(index, slice) else names

    def to_numpy(self) -> np.ndarray:
        """The names as a new array."""
        return self._column.copy()

    def find(self, values: Sequence[Hashable]) -> list[int | None]:
        """The number of the node with each name; None for unknown names."""
        whole = [int(v) if isinstance(v, int | np.integer) and abs(int(v)) < 2**63 else None for v in values]
        wanted = np.asarray([0 if v is None else v for v in whole], dtype=np.int64)
        at = np.minimum(np.searchsorted(self._column, wanted), len(self) - 1)
        hit = self._column[at] == wanted
        return [int(i) if ok and v is not None else None for i, ok, v in zip(at, hit, whole, strict=True)]

    def begin_with(self, start: str) -> Iterable[str]:
        """The names that start with this text."""
        return (text for name in self._column if (text := str(name)).startswith(start))


Names = NameTuple | NameColumn


def as_names(names: Sequence[Hashable]) -> Names:
    """Names in a form that can be looked up."""
    return names if isinstance(names, NameTuple | NameColumn) else NameTuple(names)


def name_numbers(ids: np.ndarray) -> NameTuple | NumberColumn | None:
    """Names of nodes with these ids, in ascending order; None if the ids are 0 … n − 1."""
    if ids[0] == 0 and ids[-1] == len(ids) - 1:
        return None
    return NameTuple(ids.tolist()) if len(ids) <= SMALL else NumberColumn(ids)


def names_from(column: pl.Series) -> Names:
    """Names of any kind; many texts, or many numbers in ascending order, stay a column."""
    import polars as pl

    if len(column) > SMALL and column.dtype == pl.String:
        return NameColumn(column)
    if len(column) > SMALL and column.dtype.is_integer() and column.is_sorted():
        return NumberColumn(column.to_numpy())
    return NameTuple(column.to_list())


def name_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """id → name: the label if it is unique, else the label followed by the id; the id without a label."""
    count = Counter(labels.values())
    names = {key: x if x and count[x] == 1 else f"{x} ({key})" if x else key for key, x in labels.items()}
    if len(set(names.values())) != len(names):
        raise ValueError("labels: two nodes have the same label; omit labels")
    return names


def label_of(names: Names | None, node: int) -> str:
    """The label of a node by number; "" without one."""
    return "" if names is None or names.labels is None else names.labels[node]


def plain_names(names: Iterable[Hashable]) -> list[str | int | float]:
    """Names in a form that a file can hold; raise a `TypeError` if it cannot."""
    values: list[Any] = [name.item() if isinstance(name, np.generic) else name for name in names]
    for value in values:
        if type(value).__name__ not in NAME_KINDS:
            raise TypeError(
                f"node {show(value)} has a name of type {type(value).__name__}; only names of type "
                f"{', '.join(NAME_KINDS)} can be saved"
            )
    return values


def nearest(names: Names, value: Any) -> list[str]:
    """The three names or labels most similar to `value`, ignoring case.

    In a large graph, only those that share the longest possible prefix with `value` are compared.
    """
    text, shared = str(value), 0

    def begin_with(start: str) -> Iterable[str]:
        return chain(names.begin_with(start), names.labels_with(start))

    if len(names) > COMPARED:  # bisect for the longest prefix of three names: each probe scans all names
        lengths = range(1, len(text) + 1)
        shared = bisect(lengths, False, key=lambda n: len(list(islice(begin_with(text[:n]), 3))) < 3)
    candidates = list(islice(begin_with(text[:shared]), 2 * COMPARED))
    lower = [name.lower() for name in candidates]
    near = difflib.get_close_matches(text.lower(), dict.fromkeys(lower), 3, 0)
    return [candidates[lower.index(name)] for name in near]


def find_nodes(texts: pl.Series, nodes: int, names: Sequence[Hashable] | None) -> np.ndarray:
    """The number of the node that each text names, −1 if there is no such node.

    A text also matches an integer name, a label that only one node has or, in a graph without names, a node
    number.
    """
    import polars as pl

    distinct = texts.unique(maintain_order=True)
    whole = distinct.str.contains(WHOLE).to_list()
    if names is None:
        numbers = [
            int(x) if ok and 0 <= int(x) < nodes else None for x, ok in zip(distinct, whole, strict=True)
        ]
    else:
        lookup = as_names(names)
        numbers = lookup.find(distinct.to_list())
        missing = [i for i, number in enumerate(numbers) if number is None and whole[i]]
        for i, number in zip(missing, lookup.find([int(distinct[i]) for i in missing]), strict=True):
            numbers[i] = number
        for i, text in enumerate(distinct):
            if numbers[i] is None and len(alike := lookup.with_label(text)) == 1:
                numbers[i] = alike[0]
    found = pl.Series(numbers, dtype=pl.Int32).fill_null(-1)
    return texts.replace_strict(distinct, found, return_dtype=pl.Int32).to_numpy()


def unknown(value: Hashable, nodes: int, names: Sequence[Hashable] | None) -> str:
    """The error message about a node that does not exist."""
    if names is None:
        return f"there is no node {value!r}; these nodes have no names, only the numbers 0 to {nodes - 1}"
    names = as_names(names)
    if alike := names.with_label(str(value)):
        some = ", ".join(str(names[i]) for i in alike[:SOME]) + ", …" * (len(alike) > SOME)
        return f"{len(alike):,} nodes have the label {value!r}; name one of them: {some}"
    return f"there is no node {value!r}; the nearest names are {', '.join(nearest(names, value))}"
