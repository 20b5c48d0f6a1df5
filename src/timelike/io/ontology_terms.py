"""Terms of an ontology, from whatever file, as edges from each term to its parents."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from timelike.graphs.node_names import name_labels
from timelike.graphs.reading_notes import counted
from timelike.io.graph_builder import Builder

#: Read by default: kinds of and parts of; of a thesaurus, broader concepts.
RELATIONS = ("is_a", "part_of", "broader")


@dataclasses.dataclass(slots=True)
class Term:
    """A term; `parents` holds the relation to each parent, its id, and where the file says so."""

    id: str = ""
    name: str = ""
    obsolete: bool = False
    parents: list[tuple[str, str, str]] = dataclasses.field(default_factory=list)


def add_terms(
    terms: Mapping[str, Term], builder: Builder, relations: Sequence[str], labels: bool, seen: set[str]
) -> None:
    """Add child → parent edges by these relations between all terms that are not obsolete.

    Nodes are named by ids and labelled; with `labels` they are named by labels. `seen` are the relations in
    the file. Remarks count what is left out, and what is unusual for a hierarchy: terms without a label, with
    several parents, on cycles.
    """
    if unknown := sorted({*relations} - seen - {*RELATIONS}):
        present = ", ".join(sorted(seen)) or "none"
        raise ValueError(f"{builder.source}: no relation {unknown[0]!r}; the file has {present}")
    kept = {key: term for key, term in terms.items() if not term.obsolete}
    names = name_labels({key: term.name for key, term in kept.items()}) if labels else {x: x for x in kept}
    if not labels:
        builder.labels |= {key: term.name for key, term in kept.items()}
    edges, to_obsolete = list[tuple[str, str]](), 0
    for key, term in kept.items():
        for relation, parent, where in term.parents:
            if relation not in relations:
                continue
            if parent in kept:
                edges.append((key, parent))
            elif parent in terms:
                to_obsolete += 1
            else:
                builder.bad(where, "the parent is not a term of this file", parent)
    builder.transitive = True
    builder.list_nodes(pl.Series([*names.values()], dtype=pl.String))
    sources, targets = (pl.Series([names[edge[end]] for edge in edges], dtype=pl.String) for end in (0, 1))
    builder.add(sources, targets)
    unlabelled = sum(not term.name for term in kept.values()) if labels else 0
    counts = {
        "obsolete terms left out": len(terms) - len(kept),
        "edges to obsolete terms left out": to_obsolete,
        "terms without a label, known by id": unlabelled,
        **_structure([*kept], set(edges)),
    }
    builder.remarks += [counted(count, what) for what, count in counts.items() if count]


def _structure(terms: list[str], edges: set[tuple[str, str]]) -> dict[str, int]:
    """How many terms have several parents, and how many lie on cycles."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    number = {key: i for i, key in enumerate(terms)}
    pairs = np.array([(number[a], number[b]) for a, b in edges if a != b], np.int64).reshape(-1, 2)
    several = int(np.sum(np.bincount(pairs[:, 0]) > 1))
    matrix = csr_array((np.ones(len(pairs)), pairs.T), (len(terms), len(terms)))
    sizes = np.bincount(connected_components(matrix, directed=True, connection="strong")[1])
    cyclic = int(sizes[sizes > 1].sum())
    return {"terms with several parents": several, "terms on cycles, as if all were the same": cyclic}
