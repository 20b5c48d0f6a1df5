"""Match the names in a user's table to the nodes of a graph: count what fits, and show what does not."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Sequence

import numpy as np

from timelike.evidence.named_table import SHOWN, some, text_names
from timelike.graphs.digraph import DiGraph

#: Names compared for likeness.
COMPARED = 5_000


@dataclasses.dataclass(frozen=True, eq=False)
class Matched:
    """For each node of a graph the row of a table, −1 without one; `text` says how many fit."""

    row_of: np.ndarray
    text: str

    @property
    def nodes(self) -> np.ndarray:
        """The nodes that have a row."""
        return np.flatnonzero(self.row_of >= 0)


def match(graph: DiGraph, names: Sequence[str], source: str, what: str) -> Matched:
    """Match by name; a `ValueError` if no name fits.

    A name that repeats counts once, with its first row. Nodes that no name fits as it is written get the
    first unused one that fits if upper and lower case are ignored.
    """
    nodes = text_names(graph.names, graph.num_nodes)
    place: dict[str, int] = {}
    for i, name in enumerate(names):
        place.setdefault(name, i)
    row_of = np.array([place.get(name, -1) for name in nodes], np.int64)
    exact = int((row_of >= 0).sum())
    used = {*row_of.tolist()}
    folded = {name.casefold(): i for name, i in reversed(place.items()) if i not in used}
    for node in np.flatnonzero(row_of < 0):
        row_of[node] = folded.get(nodes[node].casefold(), -1)
    found = int((row_of >= 0).sum())
    if not found:
        raise ValueError(
            f"{source}: none of its names is a node; it has {some(names)}, the graph has {some(nodes)}"
        )
    text = f"{found:,} of {len(nodes):,} nodes have {what}"
    text += f", {found - exact:,} of them ignoring case" * (found > exact)
    if found < len(nodes):
        text += _nearest(nodes, row_of, names)
    repeated = len(names) - len(place)
    return Matched(row_of, text + f"; {repeated:,} with a repeated name left out" * (repeated > 0))


def _nearest(nodes: Sequence[str], row_of: np.ndarray, names: Sequence[str]) -> str:
    """The first nodes without a row, and the unused names most like them."""
    used = {names[i] for i in row_of[row_of >= 0]}
    free = list(dict.fromkeys(name for name in names if name not in used))[:COMPARED]
    shown = []
    for node in np.flatnonzero(row_of < 0)[:SHOWN]:
        near = difflib.get_close_matches(nodes[node], free, 1, 0.6)
        shown.append(nodes[node] + (f" (nearest: {near[0]})" if near else ""))
    return f"; without: {', '.join(shown)}{', …' * bool((row_of < 0).sum() > SHOWN)}"
