"""OBO ontologies (`.obo`): an edge from a term to each term that it is a kind or a part of."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence

from timelike.graphs.digraph import DiGraph
from timelike.graphs.name_parsing import name_labels
from timelike.io.byte_streams import File
from timelike.io.graph_builder import Builder

RELATIONS = ("is_a", "part_of")
COMMENT, BRACES_END = re.compile(r"(?<!\\)!"), re.compile(r"\}\s*(!|$)")


@dataclasses.dataclass(slots=True)
class Term:
    """A `[Term]` stanza: its line, and what matters of it."""

    line: int
    id: str = ""
    name: str = ""
    obsolete: bool = False
    parents: list[tuple[int, str]] = dataclasses.field(default_factory=list)


def looks(head: bytes) -> bool:
    """Whether a file begins like this format."""
    return head.startswith((b"format-version:", b"\xef\xbb\xbfformat-version:")) or b"\n[Term]" in head


def read(file: File, builder: Builder, relations: Sequence[str] = RELATIONS, labels: bool = False) -> DiGraph:
    """Read child → parent edges between all terms that are not obsolete; nodes are ids, or names."""
    import polars as pl

    seen: set[str] = set()
    terms = {term.id: term for term in _terms(file, builder, frozenset(relations), seen) if term.id}
    if unknown := sorted({*relations} - seen - {*RELATIONS}):
        there = ", ".join(sorted(seen)) or "none"
        raise ValueError(f"{file.name}: there is no relation {unknown[0]!r}; there are {there}")
    obsolete = {key for key, term in terms.items() if term.obsolete}
    for key in obsolete:
        del terms[key]
    if not terms:
        raise ValueError(f"{file.name}: there are no [Term] stanzas with an id in it")
    if obsolete:
        builder.remarks.append(f"{len(obsolete):,} obsolete terms left out")
    called = name_labels({key: term.name for key, term in terms.items()}) if labels else None
    sources, targets, outside = list[str](), list[str](), 0
    for key, term in terms.items():
        for line, parent in term.parents:
            if parent in terms:
                sources.append(called[key] if called else key)
                targets.append(called[parent] if called else parent)
            elif parent in obsolete:
                outside += 1
            else:
                builder.bad(f"line {line}", "the parent is no term of this file", parent)
    if outside:
        builder.remarks.append(f"{outside:,} edges to obsolete terms left out")
    builder.list_nodes(pl.Series([*(called.values() if called else terms)], dtype=pl.String))
    builder.add(pl.Series(sources, dtype=pl.String), pl.Series(targets, dtype=pl.String))
    return builder.finish()


def _terms(file: File, builder: Builder, relations: frozenset[str], seen: set[str]) -> Iterator[Term]:
    """The terms, with their parents by these relations; all relations of the file are added to `seen`."""
    term: Term | None = None
    for line, text in file.lines():
        if text.startswith("["):
            if term:
                yield term
            term = Term(line) if text.strip() == "[Term]" else None
            continue
        tag, colon, value = text.partition(":")
        if term is None or not text.strip() or text.startswith("!"):
            continue
        if not colon:
            builder.bad(f"line {line}", "a tag and a colon expected", text)
            continue
        _take(term, line, tag.strip(), bare(value), relations, seen, builder)
    if term:
        yield term


def bare(value: str) -> str:
    """A value without modifiers in braces and a comment behind `!`, in time that grows with its length."""
    comment = COMMENT.search(value)
    cut = comment.start() if comment else len(value)
    for end in BRACES_END.finditer(value):
        begin = value.find("{", value.rfind("}", 0, end.start()) + 1, end.start())
        if 0 <= begin < cut:
            cut = begin
            break
    return value[:cut].strip()


def _take(
    term: Term,
    line: int,
    tag: str,
    value: str,
    relations: frozenset[str],
    seen: set[str],
    builder: Builder,
) -> None:
    """Put one line of a stanza into its term."""
    if tag == "id":
        term.id = value
    elif tag == "name":
        term.name = value
    elif tag == "is_obsolete":
        term.obsolete = value == "true"
    elif tag in ("is_a", "relationship"):
        kind, parent = (tag, value) if tag == "is_a" else [*value.split(), "", ""][:2]
        seen.add(kind)
        if not parent:
            builder.bad(f"line {line}", "the parent is missing", f"{tag}: {value}")
        elif kind in relations:
            term.parents.append((line, parent))
