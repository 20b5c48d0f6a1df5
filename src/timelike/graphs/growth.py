"""Nodes of another graph in the numbers of this one; those that it does not have come at its end."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import polars as pl

from timelike._util.checks import show
from timelike.graphs.digraph import DiGraph
from timelike.graphs.node_names import NameColumn, Names, NameTuple, as_names, names_from


def grown_numbers(
    other: DiGraph, nodes: int, names: Sequence[Hashable] | None
) -> tuple[np.ndarray, int, Names | None]:
    """The number here of each node of `other`, how many nodes there are then, and their names.

    A node is known by its name, or by a label that no other node has. Nodes without names have numbers: new
    ones that continue them leave them without names.
    """
    theirs = [other.name(i) for i in range(other.num_nodes)]
    if names is None:
        return _numbered(theirs, nodes)
    ours = as_names(names)
    if isinstance(ours[0], str):
        theirs = [str(name) for name in theirs]
    elif wrong := next((name for name in theirs if isinstance(name, str)), None):
        raise ValueError(
            f"node {show(wrong)} is text, but the nodes of the model are numbers such as {ours[0]}"
        )
    found: list[int | None] = list(ours.find(theirs))
    for i, name in enumerate(theirs):
        if found[i] is None and ours.labels is not None and len(alike := ours.with_label(str(name))) == 1:
            found[i] = alike[0]
    new = [name for name, number in zip(theirs, found, strict=True) if number is None]
    numbers, count = np.empty(len(found), np.int64), nodes
    for i, number in enumerate(found):
        numbers[i], count = (count, count + 1) if number is None else (number, count)
    return numbers, count, _joined(ours, new)


def _numbered(theirs: list[Hashable], nodes: int) -> tuple[np.ndarray, int, Names | None]:
    wrong = next((x for x in theirs if not isinstance(x, int | np.integer)), None)
    if wrong is not None:
        raise ValueError(f"node {show(wrong)} is no number, but the nodes of the model are 0 to {nodes - 1}")
    ids = np.array([int(x) for x in theirs], np.int64)  # type: ignore[call-overload]
    new = np.unique(ids[(ids < 0) | (ids >= nodes)])
    numbers = np.where(np.isin(ids, new), nodes + np.searchsorted(new, ids), ids)
    count = nodes + len(new)
    if np.array_equal(new, np.arange(nodes, count)):
        return numbers, count, None
    return numbers, count, NameTuple([*range(nodes), *new.tolist()])


def _joined(ours: Names, new: list[Hashable]) -> Names:
    if not new:
        return ours
    if isinstance(ours, NameColumn) and isinstance(ours[0], str):
        names = names_from(pl.concat([pl.Series(ours.to_numpy(), dtype=pl.String), pl.Series(new)]))
    else:
        names = NameTuple([*ours, *new])
    return names if ours.labels is None else names.labelled([*ours.labels, *[""] * len(new)])
