"""OBO ontologies (`.obo`): an edge from each term to the terms that it is a kind of or a part of."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence

import polars as pl

from timelike.graphs.node_names import name_labels
from timelike.io.byte_streams import File
from timelike.io.graph_builder import Builder

RELATIONS = ("is_a", "part_of")
COMMENT, BRACES_END = re.compile(r"(?<!\\)!"), re.compile(r"\}\s*(!|$)")


@dataclasses.dataclass(slots=True)
class Term:
    """The fields of a `[Term]` stanza; `parents` holds line numbers and ids."""

    id: str = ""
    name: str = ""
    obsolete: bool = False
    parents: list[tuple[int, str]] = dataclasses.field(default_factory=list)


def collect(file: File, builder: Builder, relations: Sequence[str] = RELATIONS, labels: bool = False) -> None:
    """Add child → parent edges between all terms that are not obsolete; nodes are ids, or labels."""
    seen: set[str] = set()
    terms = {term.id: term for term in _terms(file, builder, frozenset(relations), seen) if term.id}
    if unknown := sorted({*relations} - seen - {*RELATIONS}):
        present = ", ".join(sorted(seen)) or "none"
        raise ValueError(f"{file.name}: no relation {unknown[0]!r}; the file has {present}")
    obsolete = {key for key, term in terms.items() if term.obsolete}
    for key in obsolete:
        del terms[key]
    if not terms:
        raise ValueError(f"{file.name}: there is no [Term] stanza with an id")
    names = name_labels({key: term.name for key, term in terms.items()}) if labels else {x: x for x in terms}
    sources, targets, outside = list[str](), list[str](), 0
    for key, term in terms.items():
        for line, parent in term.parents:
            if parent in terms:
                sources.append(names[key])
                targets.append(names[parent])
            elif parent in obsolete:
                outside += 1
            else:
                builder.bad(f"line {line}", "the parent is not a term of this file", parent)
    for count, what in ((len(obsolete), "obsolete terms"), (outside, "edges to obsolete terms")):
        builder.remarks += [f"{count:,} {what} left out"] if count else []
    builder.list_nodes(pl.Series([*names.values()], dtype=pl.String))
    builder.add(pl.Series(sources, dtype=pl.String), pl.Series(targets, dtype=pl.String))


def _terms(file: File, builder: Builder, relations: frozenset[str], seen: set[str]) -> Iterator[Term]:
    """Yield the terms with their parents by these relations; add all relations in the file to `seen`."""
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
            elif relation in relations:
                term.parents.append((number, parent))
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
