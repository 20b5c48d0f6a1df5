"""Evidence from the edges of the graph alone: degrees, paths, factors, regression, levels and distances."""

from __future__ import annotations

import dataclasses

import numpy as np

from timelike.evaluation.heuristics import Svd
from timelike.evaluation.path_counts import Paths
from timelike.evidence.likely_pairs import EITHER_END, MIXTURES, LikelyPairs
from timelike.evidence.pair_columns import Columns, Term
from timelike.evidence.terms import Degree, Distance, Factors, Levels, PathCount, Similar
from timelike.graphs.digraph import DiGraph

#: Ranks of the singular value decomposition; a large graph gets the first two.
RANKS = (8, 24, 64)

#: Graphs with more edges are large and get fewer ranks.
LARGE = 300_000

#: Graphs with more edges or nodes have no distances: they take a search from every source.
SEARCHED = 60_000

#: Distances tell nothing if most nodes lie on cycles: everything then reaches everything.
MOSTLY_CYCLIC = 0.5


@dataclasses.dataclass(frozen=True)
class Structure:
    """What the edges of a graph say about a pair of nodes, as named numbers.

    `chosen` are the names of the numbers; None: those that suit the graph. They count known edges around the
    pair, never the edge between the two. Each number is about popularity (degrees), shared neighbours (paths
    that change direction), chains (paths that do not), reciprocity, patterns (decomposition and regression of
    the adjacency matrix), or order (levels and distances).
    """

    chosen: tuple[str, ...] | None = None

    def prepare(self, graph: DiGraph) -> Columns:
        """The numbers that are chosen, or that such a graph can afford and that tell something."""
        if self.chosen is None:
            return Columns(graph, _terms(graph, True))
        every = _terms(graph, False)
        return Columns(graph, {name: every[name] for name in self.chosen if name in every})

    def suited_to(self, graph: DiGraph) -> Structure:
        """The same numbers for any graph: those that suit this one."""
        return Structure(self.prepare(graph).names)


def _terms(graph: DiGraph, suitable: bool) -> dict[str, tuple[str, Term]]:
    """All terms; if `suitable`, those that such a graph can afford and that tell something."""
    found = dict[str, tuple[str, Term]]()
    for end in ("source", "target"):
        for way in ("out", "in"):
            term = Degree(graph, end == "source", way == "out")
            found[f"{way}-degree of {end}"] = ("popularity", term)
    guesses = (LikelyPairs.affordable(graph).name, EITHER_END) if suitable else MIXTURES
    found |= {name: ("popularity", LikelyPairs(graph, name)) for name in guesses}
    for pattern, group, kinds in (
        ("><>", "shared neighbours", (True, False)),
        ("<><", "shared neighbours", (True, False)),
        ("><", "shared neighbours", (True,)),
        ("<>", "shared neighbours", (True,)),
        (">>", "chains", (True, False)),
        ("<<", "chains", (True, False)),
        (">>>", "chains", (False,)),
        ("<<<", "chains", (False,)),
        ("<", "reciprocity", (False,)),
    ):
        for normalised in kinds:
            name = f"paths {pattern}" + ", normalised" * normalised
            found[name] = (group, PathCount(Paths(graph, pattern, normalised)))
    return {**found, **_patterns(graph, suitable), **_order(graph, suitable)}


def _patterns(graph: DiGraph, suitable: bool) -> dict[str, tuple[str, Term]]:
    found = dict[str, tuple[str, Term]]()
    ranks = RANKS[:2] if suitable and graph.num_edges > LARGE else RANKS
    whole = Svd(graph, ranks[-1])
    for rank in ranks:
        found[f"factors, rank {rank}"] = ("patterns", Factors(whole.cut(rank)))
    middle = ranks[len(ranks) // 2]
    found[f"factors, rank {middle}, reversed"] = ("patterns", Factors(whole.cut(middle), True))
    for of_sources, name in ((False, "targets"), (True, "sources")):
        if not suitable or Similar.affordable(graph, of_sources):
            found[f"regression of {name}"] = ("patterns", Similar(graph, of_sources))
            found[f"nearest of {name}"] = ("shared neighbours", Similar(graph, of_sources, nearest=True))
    return found


def _order(graph: DiGraph, suitable: bool) -> dict[str, tuple[str, Term]]:
    found: dict[str, tuple[str, Term]] = {"difference of levels": ("order", Levels(graph))}
    if not suitable or (
        max(graph.num_edges, graph.num_nodes) <= SEARCHED and _on_cycles(graph) < MOSTLY_CYCLIC
    ):
        found["distance"] = ("order", Distance(graph))
        found["distance, reversed"] = ("order", Distance(graph, True))
    return found


def _on_cycles(graph: DiGraph) -> float:
    """The share of the nodes in the largest strongly connected component."""
    from scipy.sparse.csgraph import connected_components

    labels = connected_components(graph.adjacency(), connection="strong")[1]
    return float(np.bincount(labels).max(initial=0) / max(graph.num_nodes, 1))
