"""OBO ontologies (`.obo`): an edge from each term to the terms that it is a kind of or a part of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from timelike.io.byte_streams import File
from timelike.io.graph_builder import Builder
from timelike.io.ontology_terms import RELATIONS, Term, add_terms

COMMENT, BRACES_END = re.compile(r"(?<!\\)!"), re.compile(r"\}\s*(!|$)")


def collect(file: File, builder: Builder, relations: Sequence[str] = RELATIONS, labels: bool = False) -> None:
    """Add child → parent edges between all terms that are not obsolete; nodes are ids, or labels."""
    seen: set[str] = set()
    terms = {term.id: term for term in _terms(file, builder, seen) if term.id}
    if not any(not term.obsolete for term in terms.values()):
        raise ValueError(f"{file.name}: there is no [Term] stanza with an id")
    add_terms(terms, builder, relations, labels, seen)


def _terms(file: File, builder: Builder, seen: set[str]) -> Iterator[Term]:
    """Yield the terms with their parents; add all relations in the file to `seen`."""
    term: Term | None = None
    for number, line in file.lines():
        if line.startswith("["):
            if term:
                yield term
            term = Term() if line.strip() == "[Term]" else None
            continue
        if term is None or not line.strip() or line.startswith("!"):
            continue
        tag, colon, value = line.partition(":")
        tag, value = tag.strip(), bare(value)
        if not colon:
            builder.bad(f"line {number}", "expected a tag and a colon", line)
        elif tag == "id":
            term.id = value
        elif tag == "name":
            term.name = value
        elif tag == "is_obsolete":
            term.obsolete = value == "true"
        elif tag in ("is_a", "relationship"):
            relation, parent = (tag, value) if tag == "is_a" else [*value.split(), "", ""][:2]
            seen.add(relation)
            if not parent:
                builder.bad(f"line {number}", "the parent is missing", f"{tag}: {value}")
            else:
                term.parents.append((relation, parent, f"line {number}"))
    if term:
        yield term


def bare(value: str) -> str:
    """Strip modifiers in braces and a comment after `!`, in linear time."""
    comment = COMMENT.search(value)
    cut = comment.start() if comment else len(value)
    for end in BRACES_END.finditer(value):
        begin = value.find("{", value.rfind("}", 0, end.start()) + 1, end.start())
        if 0 <= begin < cut:
            cut = begin
            break
    return value[:cut].strip()
