"""The list of file formats. To add one, write a module with `collect(file, builder, …)` and list it here."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from timelike._util.checks import one_of
from timelike.io import edge_lists, excel, graphml, matrix_market, obo, parquet, rdf, sif, wordnet_database
from timelike.io.byte_streams import File


class Format(NamedTuple):
    """A file format: its name, file endings, a pattern for the first bytes, and its reader."""

    name: str
    endings: tuple[str, ...]
    begins: bytes
    collect: Callable[..., None]


NEVER = rb"(?!)"
EDGE_LISTS = (".tsv", ".csv", ".txt", ".edges", ".edgelist", ".tab")
FORMATS: tuple[Format, ...] = (
    Format("parquet", (".parquet", ".pq"), rb"PAR1", parquet.collect),
    Format("excel", (".xlsx", ".xlsm"), rb"PK\x03\x04", excel.collect),
    Format("matrix-market", (".mtx", ".mm"), rb"(?i)%%matrixmarket", matrix_market.collect),
    Format("graphml", (".graphml",), rb"(?s).*<graphml", graphml.collect),
    Format("obo", (".obo",), rb"(?s)(\xef\xbb\xbf)?format-version:|.*\n\[Term\]", obo.collect),
    Format("rdf-xml", (".owl", ".rdf"), rb"(?s).*<rdf:RDF", rdf.collect_xml),
    Format("turtle", (".ttl",), rb"(?i)(\s*#[^\n]*\n)*\s*@?(prefix|base)\s+[^\s(]*\s*<", rdf.collect_turtle),
    Format("n-triples", (".nt",), rb"(#[^\n]*\n|\s)*(<[^>\s]+>|_:\S+)\s+<[^>\s]+>\s", rdf.collect_triples),
    Format("wordnet", (".noun", ".verb"), rb"  1 This software and database", wordnet_database.collect),
    Format("sif", (".sif",), NEVER, sif.collect),
    Format("edge-list", EDGE_LISTS, NEVER, edge_lists.collect),
)
#: Formats that hold rows of edges, which can be passed on as they are read.
ROW_FORMATS = ("edge-list", "excel", "parquet", "sif")

#: Text formats that are not edge lists: a pattern for the first bytes → what to do.
UNSUPPORTED = {
    rb"<[?!a-zA-Z][\w:]*[\s>?]": "this is XML but neither GraphML nor RDF/XML; save an ontology as RDF/XML",
    rb"(Prefix|Ontology)\(": "this is OWL in functional syntax; save it as RDF/XML or Turtle",
    rb'\{\s*"|\[\s*[\[{]': "this is JSON; convert an ontology to OBO (robot convert), other data to TSV",
    rb"(Creator[^\n]*\n)?\s*graph\s*\[": "this is GML; convert it to GraphML (networkx.write_graphml)",
}


def find(file: File, name: str | None = None) -> Format:
    """Return the format called `name`; by default detect it from the first bytes, then from the file ending.

    Anything else is an edge list. A file that begins like an `UNSUPPORTED` format is a `ValueError`.
    """
    known = {form.name: form for form in FORMATS}
    if name is not None:
        one_of("format", name, known)
        return known[name]
    head = file.head()
    matches = [form for form in FORMATS if re.match(form.begins, head)]
    matches += [form for form in FORMATS if file.ending in form.endings]
    best = (matches or [known["edge-list"]])[0]
    if best.name == "edge-list":
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        for pattern, advice in UNSUPPORTED.items():
            if re.match(pattern, start):
                raise ValueError(f"{file.name}: {advice}")
    return best


def find_rows(file: File, options: dict[str, Any], name: str | None = None) -> Format:
    """Like `find`, restricted to `ROW_FORMATS`; checks the options too."""
    form = find(file, name)
    if form.name not in ROW_FORMATS:
        raise ValueError(
            f"{file.name}: the format is {form.name}; it must be one of {', '.join(ROW_FORMATS)}"
        )
    check_options(form.collect, options, f"{file.name} ({form.name})")
    return form


def check_options(reader: Callable, options: dict[str, Any], what: str) -> dict[str, Any]:
    """Return the options, or raise an error if the reader does not know one of them."""
    for name in options:
        if name not in inspect.signature(reader).parameters:
            raise ValueError(f"{name} has no meaning for {what}; leave it out")
    return options
