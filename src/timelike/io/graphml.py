"""GraphML files: nodes and edges; undirected edges count both ways."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
import polars as pl

from timelike.graphs.node_names import name_labels
from timelike.io.byte_streams import File
from timelike.io.edge_lists import parsed_weight
from timelike.io.edge_times import Clock, Time
from timelike.io.graph_builder import Builder

#: Limit on the nesting of elements, such as graphs within nodes.
DEEPEST = 1000


def collect(file: File, builder: Builder, labels: bool = False, time: str | None = None) -> None:
    """Add nodes by id and edges with their `weight`, 1 where only some have one.

    The attribute `label` or `name` is the label of a node; with `labels` it is named by it.
    `time` names the edge attribute with the times; every edge must have it.
    """
    keys: dict[str, str] = {}
    names: dict[str, str] = {}
    ids: dict[str, str] = {}
    sources, targets, weights, times = list[str](), list[str](), array("d"), list[Time | None]()
    directed, undirected, weighted = True, 0, False
    for tag, element, at_end in _elements(file):
        if tag == "key":
            keys[element.get("id", "")] = element.get("attr.name", "")
        elif tag == "graph" and not at_end:
            directed = element.get("edgedefault") != "undirected"
        elif tag == "node" and at_end:
            name, data = element.get("id", ""), _data(element, keys)
            if name:
                names[name] = data.get("label") or data.get("name") or name
            else:
                builder.bad(f"node {len(names) + 1}", "it has no id", element.attrib)
        elif tag == "edge" and at_end:
            data = _data(element, keys)
            try:
                *ends, weight, when = _edge(element, data, builder.clock, time)
            except ValueError as problem:
                builder.bad(f"edge {len(sources) + 1}", str(problem), {**element.attrib, **data})
                continue
            one_way = {"true": True, "false": False}.get(element.get("directed"), directed)
            source, target = (ids.setdefault(end, end) for end in ends)  # one string per node
            both = not one_way and source != target
            undirected, weighted = undirected + (not one_way), weighted or "weight" in data
            sources += [source, target] if both else [source]
            targets += [target, source] if both else [target]
            weights.extend([weight] * (1 + both))
            times += [when] * (1 + both) if time is not None else []
    if undirected:
        builder.remarks.append(f"{undirected:,} edges are undirected and count both ways")
    builder.labels = {} if labels else dict(names)
    names = name_labels(names) if labels else {x: x for x in names}
    builder.list_nodes(pl.Series(names.values(), dtype=pl.String))
    s, t = (pl.Series([names.get(x, x) for x in end], dtype=pl.String) for end in (sources, targets))
    builder.add(s, t, np.asarray(weights) if weighted else None, None if time is None else np.asarray(times))


def _elements(file: File) -> Iterator[tuple[str, Any, bool]]:
    """Yield the tag and the element at its start (False) and end (True); parser errors name the file."""
    inside: list[Any] = []
    try:
        for event, element in ElementTree.iterparse(file, ("start", "end")):
            tag = element.tag.rpartition("}")[2]
            if event == "start":
                inside.append(element)
                if len(inside) > DEEPEST:
                    raise ValueError(f"{file.name}: elements are nested more than {DEEPEST:,} deep")
                if tag == "hyperedge":
                    raise ValueError(
                        f"{file.name}: hyperedges are not supported; an edge must join two nodes"
                    )
                yield tag, element, False
            else:
                inside.pop()
                yield tag, element, True
                if tag in ("node", "edge") and inside:
                    inside[-1].remove(element)
    except ElementTree.ParseError as error:
        raise ValueError(f"{file.name}: the XML is malformed: {error}") from None
    except (LookupError, ValueError) as error:
        if str(error).startswith(file.name):
            raise
        raise ValueError(f"{file.name}: the encoding cannot be read: {error}") from None


def _data(element: Any, keys: dict[str, str]) -> dict[str, str]:
    """Return the attributes of a node or an edge by name."""
    return {
        keys.get(child.get("key", ""), ""): (child.text or "").strip()
        for child in element
        if child.tag.rpartition("}")[2] == "data"
    }


def _edge(
    element: Any, data: dict[str, str], clock: Clock, time: str | None
) -> tuple[str, str, float, Time | None]:
    """Return source, target, weight and time; a `ValueError` says what is wrong with the edge."""
    source, target = element.get("source", ""), element.get("target", "")
    if not source or not target:
        raise ValueError("the source or target is missing")
    weight = parsed_weight(data.get("weight", "1"))
    return source, target, weight, None if time is None else clock.required(data.get(time))
