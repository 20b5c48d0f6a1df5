"""Ancestors, descendants and common ancestors as a table, for `timelike predict`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from timelike.cli.saved_models import Fitted
from timelike.embedding.cone_relatives import upward

#: Rows of --descendants; the other questions list all.
TOP = 10
QUESTIONS = ("--ancestors", "--descendants", "--common")


class Asked(NamedTuple):
    """The option, its nodes, the most rows (None: all), and the least probability (None: the cone)."""

    option: str
    texts: Sequence[str]
    top: int | None
    threshold: float | None


def relatives(fitted: Fitted, asked: Asked) -> tuple[list[str], list[tuple], list[str]]:
    """Columns, rows, and notes on the rows.

    If the model keeps its edges, a last column tells whether the row follows from them, by a path.
    """
    nodes = fitted.nodes(asked.texts, asked.option)
    embedding = fitted.embedding
    kind = asked.option.removeprefix("--")
    asked = asked._replace(top=asked.top or (TOP if kind == "descendants" else None))
    ask: Any = getattr(embedding, "common_ancestors" if kind == "common" else kind)
    found = ask(*nodes, asked.top, threshold=asked.threshold, graph=fitted.known)
    columns = ["node", "probability", *([] if kind == "common" else ["steps"]), "time"]
    up, rows = upward(embedding, fitted.known), [tuple(row) for row in found]
    if fitted.known is not None:
        columns.append("known")
        known = np.all([_reached(fitted, node, up != (kind == "descendants")) for node in nodes], axis=0)
        numbers = fitted.known.numbers([row[0] for row in rows] or np.zeros(0, int))
        rows = [(*row, bool(known[number])) for row, number in zip(rows, numbers, strict=True)]
    return columns, rows, _notes(asked, rows, up, kind == "common")


def _notes(asked: Asked, rows: list[tuple], up: bool, common: bool) -> list[str]:
    where = "the light cone" if asked.threshold is None else f"probabilities ≥ {asked.threshold:g}"
    names, kind = " and ".join(asked.texts), "common ancestor" if common else asked.option[2:-1]
    notes = [f"edges point from {'child to parent' if up else 'parent to child'}"]
    if not rows:
        notes.append(f"{names}: no {kind} by {where}")
    elif len(rows) == asked.top:
        notes.append(f"the nearest {asked.top:,} by {where}; --top lists more")
    return notes


def _reached(fitted: Fitted, node: Hashable, forwards: bool) -> np.ndarray:
    """Which nodes a path of known edges from a node reaches, or reaches it from; the node itself too."""
    from scipy.sparse.csgraph import breadth_first_order

    graph = fitted.known
    assert graph is not None
    matrix = graph.adjacency()
    start = int(graph.numbers([node])[0])
    reached = np.zeros(graph.num_nodes, bool)
    reached[
        breadth_first_order(matrix if forwards else matrix.T.tocsr(), start, return_predecessors=False)
    ] = True
    return reached
