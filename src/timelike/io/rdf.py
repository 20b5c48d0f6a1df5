"""RDF: ontologies in OWL and RDF Schema (`subClassOf`, parts by restrictions), thesauri in SKOS (`broader`).

RDF/XML, Turtle and N-Triples are parsed by rdflib. Nothing is fetched: imports are named in a remark.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from timelike.io.byte_streams import File
from timelike.io.graph_builder import Builder
from timelike.io.ontology_terms import RELATIONS, Term, add_terms

#: The properties with a meaning here; other triples are not kept.
RDF, RDFS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2000/01/rdf-schema#"
OWL, SKOS = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/2004/02/skos/core#"
TYPE, LABEL, PARENT = f"{RDF}type", f"{RDFS}label", f"{RDFS}subClassOf"
KEPT = {
    *(TYPE, LABEL, PARENT, f"{RDF}first", f"{RDF}rest"),
    *(
        OWL + x
        for x in (
            "deprecated",
            "equivalentClass",
            "imports",
            "intersectionOf",
            "onProperty",
            "someValuesFrom",
        )
    ),
    *(SKOS + x for x in ("prefLabel", "broader", "narrower")),
}
CLASSES = {f"{RDFS}Class", f"{OWL}Class", f"{SKOS}Concept"}
#: Nodes above every class.
TOPS = {f"{OWL}Thing", f"{RDFS}Resource"}
#: The part-of relation of the OBO Foundry, whose address says nothing.
KNOWN = {"http://purl.obolibrary.org/obo/BFO_0000050": "part_of"}
OBO = re.compile(r"http://purl\.obolibrary\.org/obo/([A-Za-z]+)_(\w+)$")


def collect_xml(
    file: File, builder: Builder, relations: Sequence[str] = RELATIONS, labels: bool = False
) -> None:
    """Read RDF/XML."""
    _collect(_parsed(file, "xml", "RDF/XML"), builder, relations, labels)


def collect_turtle(
    file: File, builder: Builder, relations: Sequence[str] = RELATIONS, labels: bool = False
) -> None:
    """Read Turtle."""
    _collect(_parsed(file, "turtle", "Turtle"), builder, relations, labels)


def collect_triples(
    file: File, builder: Builder, relations: Sequence[str] = RELATIONS, labels: bool = False
) -> None:
    """Read N-Triples."""
    _collect(_parsed(file, "nt", "N-Triples"), builder, relations, labels)


def _parsed(file: File, syntax: str, called: str) -> Any:
    """The triples of a file that say something about the hierarchy."""
    try:
        import rdflib
    except ImportError as error:
        raise ImportError(f'{file.name}: {called} needs rdflib: pip install "timelike[ontology]"') from error

    class Kept(rdflib.Graph):
        def add(self, triple: Any) -> Kept:
            return super().add(triple) if str(triple[1]) in KEPT else self

    graph = Kept(bind_namespaces="none")
    try:
        graph.parse(source=io.BytesIO(file.read()), format=syntax, publicID="urn:this-file:")
    except Exception as error:  # rdflib lets errors of several parsers through
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise ValueError(f"{file.name}: this is not {called}: {why}") from None
    return graph


def _collect(graph: Any, builder: Builder, relations: Sequence[str], labels: bool) -> None:
    """Add child → parent edges between all terms that are not deprecated."""
    ontology = _Ontology(graph)
    terms = ontology.terms()
    if not terms:
        raise ValueError(f"{builder.source}: it holds no classes (OWL, RDF Schema) and no concepts (SKOS)")
    imports = sorted(map(str, graph.objects(None, ontology.iri(f"{OWL}imports"))))
    if imports:
        builder.remarks.append(
            f"{len(imports):,} imports not read ({', '.join(imports[:3])}{', …' if imports[3:] else ''}); "
            f"{ontology.foreign:,} parents are known by their address only"
        )
    seen = {relation for term in terms.values() for relation, _, _ in term.parents}
    add_terms(terms, builder, relations, labels, seen)


class _Ontology:
    """Terms, their labels and their parents."""

    def __init__(self, graph: Any) -> None:
        from rdflib import Literal, URIRef

        self.graph, self.iri, self.literal = graph, URIRef, Literal
        self.foreign = 0

    def terms(self) -> dict[str, Term]:
        """The named classes and concepts, with their parents, by id."""
        found = dict.fromkeys(
            node for kind in CLASSES for node in self.graph.subjects(self.iri(TYPE), self.iri(kind))
        )
        for relation in (PARENT, f"{SKOS}broader", f"{SKOS}narrower"):
            found |= dict.fromkeys(self.graph.subjects(self.iri(relation)))
        nodes = [str(node) for node in found if isinstance(node, self.iri) and str(node) not in TOPS]
        parents = {node: list(self._parents(node)) for node in nodes}
        for concept, narrower in self.graph.subject_objects(self.iri(f"{SKOS}narrower")):
            parents.setdefault(str(narrower), []).append(("broader", str(concept)))
        foreign = {parent for rows in parents.values() for _, parent in rows} - parents.keys() - TOPS
        self.foreign = len(foreign)
        every = [*parents, *sorted(foreign)]
        ids = dict(zip(every, _short(every), strict=True))
        terms = {}
        for node in every:
            rows = [(kind, ids[up], "") for kind, up in parents.get(node, ()) if up not in TOPS]
            terms[ids[node]] = Term(ids[node], self._label(node), self._deprecated(node), rows)
        return terms

    def _parents(self, node: str) -> Iterator[tuple[str, str]]:
        """Relation and address of each parent."""
        for wider in self.graph.objects(self.iri(node), self.iri(f"{SKOS}broader")):
            yield "broader", str(wider)
        for above in self.graph.objects(self.iri(node), self.iri(PARENT)):
            yield from self._named(above)
        for same in self.graph.objects(self.iri(node), self.iri(f"{OWL}equivalentClass")):
            if not isinstance(same, self.iri):
                yield from self._named(same)

    def _named(self, expression: Any) -> Iterator[tuple[str, str]]:
        """The parents that an expression names: a class, ∃ property.class, or an intersection of these."""
        left, seen = [expression], set()
        while left:
            above = left.pop(0)
            if above in seen:
                continue
            seen.add(above)
            if isinstance(above, self.iri):
                yield "is_a", str(above)
                continue
            value = self.graph.value(above, self.iri(f"{OWL}someValuesFrom"))
            kind = self.graph.value(above, self.iri(f"{OWL}onProperty"))
            if isinstance(value, self.iri) and isinstance(kind, self.iri):
                yield self._relation(str(kind)), str(value)
            for parts in self.graph.objects(above, self.iri(f"{OWL}intersectionOf")):
                left += self._items(parts)

    def _items(self, node: Any) -> Iterable[Any]:
        """The items of an RDF list; a list that bites its tail ends there."""
        seen = set()
        while node is not None and node not in seen:
            seen.add(node)
            item = self.graph.value(node, self.iri(f"{RDF}first"))
            if item is not None and item != node:
                yield item
            node = self.graph.value(node, self.iri(f"{RDF}rest"))

    def _relation(self, kind: str) -> str:
        """The name of a property: is part of, isPartOf → is_part_of."""
        text = KNOWN.get(kind) or self._label(kind) or _local(kind)
        return re.sub(r"[\s-]+|(?<=[a-z])(?=[A-Z])", "_", text.strip()).lower()

    def _label(self, node: str) -> str:
        """The label without a language, or in English, or the first."""
        found = [
            (x.language or "", str(x))
            for kind in (f"{SKOS}prefLabel", LABEL)
            for x in self.graph.objects(self.iri(node), self.iri(kind))
            if isinstance(x, self.literal)
        ]
        return min(found, key=lambda x: (x[0] != "", not x[0].startswith("en"), x), default=("", ""))[1]

    def _deprecated(self, node: str) -> bool:
        value = self.graph.value(self.iri(node), self.iri(f"{OWL}deprecated"))
        return str(value).lower() in ("true", "1")


def _short(addresses: Sequence[str]) -> list[str]:
    """GO:0006281 for an address of the OBO Foundry, else what follows # or the last /, if no other has it."""
    short = [f"{match[1]}:{match[2]}" if (match := OBO.match(x)) else _local(x) for x in addresses]
    count = Counter(short)
    return [a if count[a] == 1 and a else b for a, b in zip(short, addresses, strict=True)]


def _local(address: str) -> str:
    return re.split(r"[#/:]", address.rstrip("#/"))[-1]
