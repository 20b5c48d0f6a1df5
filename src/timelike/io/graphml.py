"""GraphML files: nodes and edges; edges that are not directed count both ways."""

from __future__ import annotations

import dataclasses
from array import array
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np

from timelike.graphs.digraph import DiGraph
from timelike.graphs.name_parsing import name_labels
from timelike.io.byte_streams import File
from timelike.io.edge_times import NUMBER, Time
from timelike.io.graph_builder import Builder
from timelike.io.line_layout import MISSING

#: Elements within elements, such as graphs within nodes.
DEEPEST = 1000


@dataclasses.dataclass
class Found:
    """What has been seen of a file so far."""

    nodes: dict[str, str] = dataclasses.field(default_factory=dict)
    ids: dict[str, str] = dataclasses.field(default_factory=dict)
    sources: list[str] = dataclasses.field(default_factory=list)
    targets: list[str] = dataclasses.field(default_factory=list)
    weights: array[float] = dataclasses.field(default_factory=lambda: array("d"))
    times: list[Time | None] = dataclasses.field(default_factory=list)
    keys: dict[str, str] = dataclasses.field(default_factory=dict)
    directed: bool = True
    both_ways: int = 0
    weighted: int = 0


def looks(head: bytes) -> bool:
    """Whether a file begins like this format."""
    return b"<graphml" in head


def read(file: File, builder: Builder, labels: bool = False, time: str | None = None) -> DiGraph:
    """Read nodes by id (or `label` or `name`) and edges with their `weight`, 1 if only some have one.

    `time` is the name of the edges' attribute with their times, which all must have.
    """
    import polars as pl

    found, inside = Found(), []
    for event, element in _events(file):
        tag = element.tag.rpartition("}")[2]
        if event == "start":
            inside.append(element)
            if len(inside) > DEEPEST:
                raise ValueError(f"{file.name}: over {DEEPEST:,} elements within each other are no graph")
            _start(found, tag, element)
            continue
        inside.pop()
        if tag == "hyperedge":
            raise ValueError(f"{file.name}: it has hyperedges, which are no edges between two nodes")
        if tag in ("node", "edge"):
            _end(found, builder, tag, element, labels, time)
            if inside:
                inside[-1].remove(element)
    if found.both_ways:
        builder.remarks.append(f"{found.both_ways:,} edges are not directed and count both ways")
    called = name_labels(found.nodes) if labels else found.nodes
    builder.list_nodes(pl.Series(called.values(), dtype=pl.String))
    ends = [
        pl.Series([called.get(x, x) for x in end], dtype=pl.String) for end in (found.sources, found.targets)
    ]
    weights = np.asarray(found.weights) if found.weighted else None
    builder.add(ends[0], ends[1], weights, None if time is None else np.asarray(found.times))
    return builder.finish()


def _events(file: File) -> Iterator[tuple[str, Any]]:
    """Beginnings and ends of elements; what the parser has to say is said of the file."""
    try:
        yield from ElementTree.iterparse(file, ("start", "end"))
    except ElementTree.ParseError as error:
        raise ValueError(f"{file.name}: the XML is broken: {error}") from None
    except (LookupError, ValueError) as error:
        if str(error).startswith(file.name):  # it could not be unpacked
            raise
        raise ValueError(f"{file.name}: the encoding cannot be read: {error}") from None


def _start(found: Found, tag: str, element: Any) -> None:
    if tag == "key":
        found.keys[element.get("id", "")] = element.get("attr.name", "")
    elif tag == "graph":
        found.directed = element.get("edgedefault") != "undirected"


def _end(found: Found, builder: Builder, tag: str, element: Any, labels: bool, time: str | None) -> None:
    """Take in a node or an edge."""
    data = {
        found.keys.get(child.get("key", ""), ""): (child.text or "").strip()
        for child in element
        if child.tag.rpartition("}")[2] == "data"
    }
    if tag == "node":
        name = element.get("id", "")
        if not name:
            builder.bad(f"node {len(found.nodes) + 1}", "it has no id", element.attrib)
            return
        found.nodes[name] = (data.get("label") or data.get("name") or name) if labels else name
    else:
        _edge(found, builder, element, data, time)


def _edge(found: Found, builder: Builder, element: Any, data: dict[str, str], time: str | None) -> None:
    ends = element.get("source", ""), element.get("target", "")
    weight = data.get("weight", "1").lower()
    when = None if time is None or not all(ends) else builder.clock.of(data.get(time))
    row = f"edge {len(found.sources) + 1}"
    if not all(ends):
        builder.bad(row, "source or target is missing", element.attrib)
    elif weight not in MISSING and not NUMBER.fullmatch(weight):
        builder.bad(row, "the weight is no number", weight)
    elif time is not None and when is None:
        builder.bad(row, builder.clock.problem(data.get(time)), data)
    else:
        directed = {"true": True, "false": False}.get(element.get("directed"), found.directed)
        both = not directed and ends[0] != ends[1]
        found.both_ways += not directed
        found.weighted += "weight" in data
        source, target = (found.ids.setdefault(end, end) for end in ends)  # one text for all edges of a node
        found.sources += [source, target] if both else [source]
        found.targets += [target, source] if both else [target]
        found.weights.extend([float("nan") if weight in MISSING else float(weight)] * (1 + both))
        if time is not None:
            found.times += [when] * (1 + both)
