"""GraphML files: nodes and edges; undirected edges count both ways."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np

from timelike.graphs.name_parsing import name_labels
from timelike.io.byte_streams import File
from timelike.io.edge_times import NUMBER, Time
from timelike.io.graph_builder import Builder
from timelike.io.line_layout import MISSING

#: Limit on the nesting of elements, such as graphs within nodes.
DEEPEST = 1000


def collect(file: File, builder: Builder, labels: bool = False, time: str | None = None) -> None:
    """Add nodes by id (or `label` or `name`) and edges with their `weight`, 1 where only some have one.

    `time` names the edge attribute with the times; every edge must have it.
    """
    graph, inside = _Graph(builder, labels, time), []
    for event, element in _events(file):
        tag = element.tag.rpartition("}")[2]
        if event == "start":
            inside.append(element)
            if len(inside) > DEEPEST:
                raise ValueError(f"{file.name}: elements are nested more than {DEEPEST:,} deep")
            if tag == "key":
                graph.keys[element.get("id", "")] = element.get("attr.name", "")
            elif tag == "graph":
                graph.directed = element.get("edgedefault") != "undirected"
            continue
        inside.pop()
        if tag == "hyperedge":
            raise ValueError(f"{file.name}: hyperedges are not supported; an edge must join two nodes")
        if tag in ("node", "edge"):
            (graph.node if tag == "node" else graph.edge)(element)
            if inside:
                inside[-1].remove(element)
    graph.finish()


def _events(file: File) -> Iterator[tuple[str, Any]]:
    """Yield the starts and ends of elements; parser errors name the file."""
    try:
        yield from ElementTree.iterparse(file, ("start", "end"))
    except ElementTree.ParseError as error:
        raise ValueError(f"{file.name}: the XML is malformed: {error}") from None
    except (LookupError, ValueError) as error:
        if str(error).startswith(file.name):  # it could not be decompressed
            raise
        raise ValueError(f"{file.name}: the encoding cannot be read: {error}") from None


class _Graph:
    """The nodes and edges read so far."""

    def __init__(self, builder: Builder, labels: bool, time: str | None):
        self._builder, self._labels, self._time = builder, labels, time
        self.keys: dict[str, str] = {}
        self.directed = True
        self._names: dict[str, str] = {}
        self._ids: dict[str, str] = {}
        self._ends: tuple[list[str], list[str]] = [], []
        self._weights = array("d")
        self._times: list[Time | None] = []
        self._both_ways = self._weighted = 0

    def _data(self, element: Any) -> dict[str, str]:
        return {
            self.keys.get(child.get("key", ""), ""): (child.text or "").strip()
            for child in element
            if child.tag.rpartition("}")[2] == "data"
        }

    def node(self, element: Any) -> None:
        name = element.get("id", "")
        if not name:
            self._builder.bad(f"node {len(self._names) + 1}", "it has no id", element.attrib)
            return
        data = self._data(element) if self._labels else {}
        self._names[name] = data.get("label") or data.get("name") or name

    def edge(self, element: Any) -> None:
        data = self._data(element)
        ends = element.get("source", ""), element.get("target", "")
        weight = data.get("weight", "1").lower()
        when = None if self._time is None or not all(ends) else self._builder.clock.of(data.get(self._time))
        row = f"edge {len(self._ends[0]) + 1}"
        if not all(ends):
            self._builder.bad(row, "the source or target is missing", element.attrib)
        elif weight not in MISSING and not NUMBER.fullmatch(weight):
            self._builder.bad(row, "the weight is not a number", weight)
        elif self._time is not None and when is None:
            self._builder.bad(row, self._builder.clock.problem(data.get(self._time)), data)
        else:
            directed = {"true": True, "false": False}.get(element.get("directed"), self.directed)
            source, target = (self._ids.setdefault(end, end) for end in ends)  # one string per node
            both = not directed and source != target
            self._both_ways += not directed
            self._weighted += "weight" in data
            self._ends[0].extend([source, target] if both else [source])
            self._ends[1].extend([target, source] if both else [target])
            self._weights.extend([float("nan") if weight in MISSING else float(weight)] * (1 + both))
            if self._time is not None:
                self._times += [when] * (1 + both)

    def finish(self) -> None:
        """Pass everything on to the builder."""
        import polars as pl

        if self._both_ways:
            self._builder.remarks.append(f"{self._both_ways:,} edges are undirected and count both ways")
        names = name_labels(self._names) if self._labels else self._names
        self._builder.list_nodes(pl.Series(names.values(), dtype=pl.String))
        s, t = (pl.Series([names.get(x, x) for x in end], dtype=pl.String) for end in self._ends)
        weights = np.asarray(self._weights) if self._weighted else None
        self._builder.add(s, t, weights, None if self._time is None else np.asarray(self._times))
