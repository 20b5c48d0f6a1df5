"""Folds of edges in which some nodes lose all of theirs, so that a combiner learns about such nodes too.

A held-out edge into a node without any other edge is hard, and an edge into a node whose near-twin keeps its
edges is easy. So nodes with nearly the same profile lose their edges together. Negatives get ends that have
lost their edges as often as those of the edges: otherwise losing them would speak for an edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from timelike.evaluation.negative_kinds import KIND_ENDS
from timelike.evidence.profiles import Profiles
from timelike.graphs.digraph import DiGraph

#: All edges into this share of the nodes, and out of this share, are held out together; not those of nodes
#: with more than `LARGEST` of all edges.
INTO_ONE, OUT_OF_ONE, LARGEST = 0.5, 0.3, 0.05

#: Nodes whose profiles correlate more than this stay together, and the most that do.
ALIKE, MOST_ALIKE = 0.75, 50

#: Nodes compared with the others at a time.
BLOCK = 256


class Part(NamedTuple):
    """A graph without some edges, these, (n, 2), and which nodes lack all edges out of them, or into them."""

    graph: DiGraph
    held_out: np.ndarray
    whole: tuple[np.ndarray, np.ndarray] | None = None


def split_into_folds(graph: DiGraph, parts: int, seed: int, groups: np.ndarray | None = None) -> list[Part]:
    """Graphs without one fold of the edges each, and these edges.

    Folds have equal sizes. With `groups`, a number for each node, all edges into some nodes go together, and
    with them those into the rest of the group; and all edges out of some nodes. An edge between two of them
    is held out with its target, and its source lacks it too. Groups so large that the folds become uneven do
    not go together.
    """
    rng, n = np.random.default_rng([seed, 7]), graph.num_nodes
    size = graph.num_edges // parts
    fold = np.full(graph.num_edges, parts)
    fold[rng.permutation(graph.num_edges)[: parts * size]] = np.repeat(np.arange(parts), size)
    if groups is None:
        return [Part(graph.subgraph(fold != part), graph.pairs[fold == part]) for part in range(parts)]
    lost, kept = [], np.ones((parts, graph.num_edges), bool)
    for ends, share, group in ((graph.sources, OUT_OF_ONE, np.arange(n)), (graph.targets, INTO_ONE, groups)):
        few = np.bincount(ends, minlength=n) <= LARGEST * graph.num_edges
        lost.append(np.where(few & (rng.random(n) < share)[group], rng.integers(0, parts, n)[group], -1))
        fold = np.where(lost[-1][ends] >= 0, lost[-1][ends], fold)
        kept &= lost[-1][ends] != np.arange(parts)[:, None]
    kept &= fold != np.arange(parts)[:, None]
    found = [
        Part(graph.subgraph(kept[part]), graph.pairs[fold == part], (lost[0] == part, lost[1] == part))
        for part in range(parts)
    ]
    uneven = any(2 * len(one.held_out) < size or 2 * one.graph.num_edges < graph.num_edges for one in found)
    return split_into_folds(graph, parts, seed) if uneven else found


def alike(profiles: Profiles, nodes: np.ndarray, seed: int = 0) -> np.ndarray:
    """Groups of nodes whose profiles correlate more than `ALIKE` with one of them, by its number.

    Only these `nodes` are compared; each other node is a group of its own.
    """
    group = np.arange(len(profiles.z))
    nodes = nodes[profiles.known[nodes]]
    nodes = nodes[np.random.default_rng([seed, 9]).permutation(len(nodes))]
    left = np.ones(len(nodes), bool)
    for start in range(0, len(nodes), BLOCK):
        near = profiles.z[nodes[start : start + BLOCK]] @ profiles.z[nodes].T > ALIKE
        for i, row in enumerate(near, start):
            if left[i]:
                left[i] = False
                like = np.flatnonzero(row & left)[: MOST_ALIKE - 1]
                group[nodes[like]], left[like] = nodes[i], False
    return group


def as_often_whole(
    drawn: Mapping[str, np.ndarray],
    edges: np.ndarray,
    whole: tuple[np.ndarray, np.ndarray],
    known: DiGraph,
    rng: np.random.Generator,
) -> dict[str, np.ndarray]:
    """The negatives of each kind, whose drawn ends have lost all their edges as often as those of the edges.

    Ends that have not, or have, are exchanged for random nodes that have, or have not.
    """
    found = {}
    for kind, pairs in drawn.items():
        pairs = pairs.copy()
        for end, drawn_from in enumerate(KIND_ENDS.get(kind, ("", ""))):
            if drawn_from in ("own", "") or not len(edges):
                continue
            wanted = whole[end][edges[rng.integers(0, len(edges), len(pairs)), end]]
            allowed = np.ones(known.num_nodes, bool)
            if drawn_from.startswith("active"):
                allowed = np.bincount(known.pairs[:, end], minlength=known.num_nodes) > 0
            for state in (True, False):
                pool = np.flatnonzero(allowed & (whole[end] == state))
                other = (wanted == state) & (whole[end][pairs[:, end]] != state)
                if len(pool):
                    pairs[other, end] = rng.choice(pool, int(other.sum()))
        s, t = pairs.T
        found[kind] = pairs[(s != t) & ~known.has_edges(s, t)]
    return found
