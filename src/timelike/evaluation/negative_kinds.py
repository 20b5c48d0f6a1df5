"""Negative samples: the pairs that edges are compared with, by kind.

A kind says what a score means. Against `uniform` pairs it is enough to know which nodes have many edges;
against `reversed` edges it is not enough to know which nodes are close. The same names are used for training
(`Negatives`), for splits, for evaluation and on the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from timelike._util.checks import one_of, whole_number
from timelike.graphs.digraph import DiGraph, checked_pairs

#: The one vocabulary: kind → where the source and the target of a pair come from. "own" is the end of the
#: edge
#: that the pair goes with, "any" any node, "edge" the end of a random edge (popular nodes come often),
#: "active_source" and "active_target" a node with outgoing or incoming edges, each equally often. `reversed`
#: and
#: `listed` pairs come as a whole.
KIND_ENDS: dict[str, tuple[str, str]] = {
    "uniform": ("any", "any"),
    "same_source": ("own", "any"),
    "same_target": ("any", "own"),
    "degree": ("edge", "edge"),
    "reversed": ("", ""),
    "listed": ("", ""),
    "popular_source": ("edge", "any"),
    "active_source": ("active_source", "any"),
    "popular_same_target": ("edge", "own"),
    "active_same_target": ("active_source", "own"),
    "active_target": ("any", "active_target"),
}

#: A draw is repeated at most this often, in batches that grow to this size. A graph whose non-edges are not
#: found
#: by then has too few of them for an evaluation.
MAX_ROUNDS, MAX_BATCH = 100, 1 << 20

#: If at most this share of the nodes has outgoing (incoming) edges, uniform pairs mostly teach which nodes
#: these are.
FEW = 0.3

#: One end is replaced at random this often. For hubs that are linked to every draw, the remaining ends are
#: listed.
REDRAWS = 16


class Request(NamedTuple):
    """A request for non-edges of `graph` to go with some of its edges."""

    graph: DiGraph
    positives: np.ndarray
    ratio: int
    rng: np.random.Generator
    listed: np.ndarray | None


def draw_negatives(
    kind: str,
    graph: DiGraph,
    positives: np.ndarray,
    ratio: int = 4,
    seed: int | list[int] = 0,
    listed: np.ndarray | None = None,
) -> np.ndarray:
    """Draw `ratio` non-edges of `graph` for each of the `positives`, as an (m, 2) array.

    `kind` is a name in `NEGATIVE_KINDS`; "listed" draws from the pairs `listed`, (n, 2), without replacement.
    """
    one_of("negatives", kind, NEGATIVE_KINDS)
    whole_number("ratio", ratio, 1)
    for part in seed if isinstance(seed, list) else [seed]:
        whole_number("seed", part)
    known = checked_pairs(positives, graph.num_nodes, "positives")
    listed = None if listed is None else checked_pairs(listed, graph.num_nodes, "listed")
    if not len(known):
        return np.zeros((0, 2), np.int32)
    return NEGATIVE_KINDS[kind](Request(graph, known, ratio, np.random.default_rng(seed), listed))


def _uniform(ask: Request) -> np.ndarray:
    """Any two different nodes."""
    n = ask.graph.num_nodes

    def propose(count: int) -> np.ndarray:
        return ask.rng.integers(0, n, (count, 2), dtype=np.int32)

    return _draw_again("uniform", ask, n * (n - 1), propose)


def _degree(ask: Request) -> np.ndarray:
    """The source of one random edge with the target of another: nodes are as frequent as in edges."""
    graph = ask.graph

    def propose(count: int) -> np.ndarray:
        i, j = ask.rng.integers(0, graph.num_edges, (2, count))
        return np.stack([graph.sources[i], graph.targets[j]], axis=1)

    sources, targets = np.unique(graph.sources), np.unique(graph.targets)
    pairs = len(sources) * len(targets) - len(np.intersect1d(sources, targets))
    return _draw_again("degree", ask, pairs, propose)


def _active_source(ask: Request) -> np.ndarray:
    """A node with outgoing edges, each equally often, and any node: a regulator and a gene."""
    return _of_sources("active_source", ask)


def _active_target(ask: Request) -> np.ndarray:
    """Any node and a node with incoming edges, each equally often."""
    return _of_sources("active_target", _turned(ask))[:, ::-1]


def _same_source(ask: Request) -> np.ndarray:
    """The edge with another target; none for a source that points to every other node."""
    return _replace_targets("same_source", "points to", ask)


def _same_target(ask: Request) -> np.ndarray:
    """The edge with another source; none for a target that every other node points to."""
    return _replace_targets("same_target", "is pointed to by", _turned(ask))[:, ::-1]


def _reversed(ask: Request) -> np.ndarray:
    """The edge turned round, unless that is an edge too: one for each edge, whatever the ratio."""
    back = ask.positives[:, ::-1]
    free = back[(back[:, 0] != back[:, 1]) & ~ask.graph.has_edges(back[:, 0], back[:, 1])]
    if not len(free):
        raise ValueError(
            f"reversed: all {len(back)} held-out edges are reciprocal; use another kind of negatives"
        )
    return free


def _listed(ask: Request) -> np.ndarray:
    """Pairs from a given list, each at most once."""
    if ask.listed is None:
        raise ValueError("listed: there is no list to draw from; pass listed=pairs")
    wanted = ask.ratio * len(ask.positives)
    if wanted > len(ask.listed):
        raise ValueError(
            f"listed: {ask.ratio} × {len(ask.positives)} negatives are wanted of {len(ask.listed)} pairs; "
            "lower the ratio or hold out fewer edges"
        )
    return ask.listed[np.sort(ask.rng.choice(len(ask.listed), wanted, replace=False))]


#: The kinds that an evaluation can draw: name → function.
NEGATIVE_KINDS: dict[str, Callable[[Request], np.ndarray]] = {
    "uniform": _uniform,
    "listed": _listed,
    "active_source": _active_source,
    "active_target": _active_target,
    "same_source": _same_source,
    "same_target": _same_target,
    "reversed": _reversed,
    "degree": _degree,
}


def suitable_negatives(graph: DiGraph) -> str:
    """The kind of negatives that asks the interesting question about a graph: which node is linked to which.

    If few nodes have outgoing edges, a model that knows these nodes separates edges from `uniform` pairs, and
    its
    top predictions are worthless. Such a graph gets `active_source` negatives: which targets does each source
    have?
    If few nodes have incoming edges, it gets `active_target`. If the few nodes are linked to most others, as
    in a
    star, there is little to ask about them, and any two nodes are compared.
    """
    n = graph.num_nodes
    for kind, ends in (("active_source", graph.sources), ("active_target", graph.targets)):
        few = len(np.unique(ends))
        if few <= FEW * n and 0 < 2 * graph.num_edges <= few * (n - 1):
            return kind
    return "uniform"


def check_listed(graph: DiGraph, listed: np.ndarray) -> np.ndarray:
    """The listed pairs without self-pairs; an error names the first one that is an edge."""
    pairs = checked_pairs(listed, graph.num_nodes, "listed")
    wrong = np.flatnonzero(graph.has_edges(pairs[:, 0], pairs[:, 1]))
    if len(wrong):
        s, t = (graph.name(node) for node in pairs[wrong[0]])
        raise ValueError(f"listed[{wrong[0]}] is {s!r} → {t!r}, which is an edge ({len(wrong)} such pairs)")
    return pairs[pairs[:, 0] != pairs[:, 1]]


def _draw_again(name: str, ask: Request, pairs: int, propose: Callable[[int], np.ndarray]) -> np.ndarray:
    """Proposals that are neither edges nor self-pairs; `pairs` counts all that can be proposed."""
    graph, wanted = ask.graph, ask.ratio * len(ask.positives)
    found, batch = [np.zeros((0, 2), np.int32)], 2 * wanted + 64
    rounds = MAX_ROUNDS if pairs > graph.num_edges else 0
    for _ in range(rounds):
        drawn = propose(batch)
        good = (drawn[:, 0] != drawn[:, 1]) & ~graph.has_edges(drawn[:, 0], drawn[:, 1])
        found.append(drawn[good])
        if sum(map(len, found)) >= wanted:
            return np.concatenate(found)[:wanted]
        batch = max(batch, min(2 * batch, MAX_BATCH))
    few = "too few" if rounds else "no"
    raise ValueError(f"{name}: {graph} has {few} non-edges to draw; use another kind of negatives")


def _turned(ask: Request) -> Request:
    """The same request for the graph with every edge turned round."""
    graph = ask.graph
    turned = DiGraph.from_arrays(graph.targets, graph.sources, graph.num_nodes, graph.names)
    return ask._replace(graph=turned, positives=ask.positives[:, ::-1])


def _of_sources(name: str, ask: Request) -> np.ndarray:
    graph = ask.graph
    sources = np.unique(graph.sources)

    def propose(count: int) -> np.ndarray:
        chosen = ask.rng.choice(sources, count)
        return np.stack([chosen, ask.rng.integers(0, graph.num_nodes, count, dtype=np.int32)], axis=1)

    return _draw_again(name, ask, len(sources) * (graph.num_nodes - 1), propose)


def _replace_targets(name: str, says: str, ask: Request) -> np.ndarray:
    graph, n = ask.graph, ask.graph.num_nodes
    sources = np.repeat(ask.positives[:, 0], ask.ratio)
    targets = np.zeros_like(sources)
    left = np.arange(len(sources))
    for _ in range(REDRAWS):
        targets[left] = ask.rng.integers(0, n, len(left), dtype=np.int32)
        s, t = sources[left], targets[left]
        left = left[(s == t) | graph.has_edges(s, t)]
    served = np.ones(len(sources), bool)
    for source in np.unique(sources[left]):
        row = graph.targets[graph.row_starts[source] : graph.row_starts[source + 1]]
        free = np.setdiff1d(np.arange(n, dtype=np.int32), np.append(row, source))
        mine = left[sources[left] == source]
        if len(free):
            targets[mine] = ask.rng.choice(free, len(mine))
        else:
            served[mine] = False
    if not served.any():
        raise ValueError(
            f"{name}: node {graph.name(sources[0])!r} {says} every other node; use another kind of negatives"
        )
    return np.stack([sources, targets], axis=1)[served]
