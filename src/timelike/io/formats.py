"""The one list of file formats: a new one is a module with `read(file, builder, …)` and a line here."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from timelike._util.checks import one_of
from timelike.graphs.digraph import DiGraph
from timelike.io import edge_lists, graphml, matrix_market, obo, parquet, sif
from timelike.io.byte_streams import File
from timelike.io.graph_builder import Builder


class Format(NamedTuple):
    """How a format is called, which endings its files have, how they begin, and what reads them."""

    name: str
    endings: tuple[str, ...]
    looks: Callable[[bytes], bool]
    read: Callable[..., DiGraph]


def _never(head: bytes) -> bool:
    return False


def _is_parquet(head: bytes) -> bool:
    return head.startswith(b"PAR1")


def _to_the_end(collect: Callable[..., None]) -> Callable[..., DiGraph]:
    """A reader of what is nothing but edges: all of them are collected, and make a graph."""

    @functools.wraps(collect)
    def read(file: File, builder: Builder, **options: Any) -> DiGraph:
        collect(file, builder, **options)
        return builder.finish()

    return read


EDGE_LISTS = (".tsv", ".csv", ".txt", ".edges", ".edgelist", ".tab")
FORMATS: tuple[Format, ...] = (
    Format("parquet", (".parquet", ".pq"), _is_parquet, _to_the_end(parquet.collect)),
    Format("matrix-market", (".mtx", ".mm"), matrix_market.looks, matrix_market.read),
    Format("graphml", (".graphml",), graphml.looks, graphml.read),
    Format("obo", (".obo",), obo.looks, obo.read),
    Format("sif", (".sif",), _never, sif.read),
    Format("edge-list", EDGE_LISTS, _never, _to_the_end(edge_lists.collect)),
)

#: How files begin that look like text and are no edge lists, and what they are.
STRANGERS = {
    rb"<[?!a-zA-Z][\w:]*[\s>?]": "this is XML but no GraphML; of an ontology in OWL make OBO (robot convert)",
    rb"@(prefix|base)\s": "this is Turtle (RDF); of an ontology make OBO (robot convert), of triples a TSV",
    rb'\{\s*"|\[\s*[\[{]': "this is JSON; of an ontology make OBO (robot convert), else a TSV",
    rb"(Creator[^\n]*\n)?\s*graph\s*\[": "this is GML; make GraphML, say by networkx.write_graphml",
}


def find(file: File, name: str | None = None) -> Format:
    """The format asked for; else what the first bytes say, then the ending; else an edge list.

    A file that begins like one of the `STRANGERS` is a `ValueError`.
    """
    known = {one.name: one for one in FORMATS}
    if name is not None:
        one_of("format", name, known)
        return known[name]
    head = file.head()
    guesses = [one for one in FORMATS if one.looks(head)]
    guesses += [one for one in FORMATS if file.ending in one.endings]
    found = (guesses or [known["edge-list"]])[0]
    if found.name == "edge-list":
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        for pattern, what in STRANGERS.items():
            if re.match(pattern, start):
                raise ValueError(f"{file.name}: {what}")
    return found


def allowed(reader: Callable, options: dict[str, Any], what: str) -> dict[str, Any]:
    """The options, or an error if there are any that this reader does not know."""
    for name in options:
        if name not in inspect.signature(reader).parameters:
            raise ValueError(f"{name} has no meaning for {what}; leave it out")
    return options
