"""Negative samples: the pairs that edges are compared with, by kind.

The kind decides what a score means. `uniform` negatives test little more than which nodes have many edges;
`reversed` ones test direction, not just which nodes are close. Training (`Negatives`), splits, evaluation and
the command line use the same names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from timelike._util.checks import one_of, whole_number
from timelike.graphs.digraph import DiGraph, checked_pairs

#: The one vocabulary: kind → where the source and the target of a pair come from. "own" is the end of the
#: edge that the pair belongs to, "any" any node, "edge" the end of a random edge (popular nodes occur often),
#: "active_source" and "active_target" a node with outgoing or incoming edges, all equally often. `reversed`
#: and `listed` pairs are drawn whole.
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

#: Pairs are drawn in at most MAX_ROUNDS batches, which grow up to MAX_BATCH pairs. A graph that has not
#: yielded enough non-edges by then has too few for an evaluation.
MAX_ROUNDS, MAX_BATCH = 100, 1 << 20

#: If at most this share of the nodes has outgoing (or incoming) edges, uniform pairs mostly teach which nodes
#: these are.
FEW = 0.3

#: An end is redrawn at most this often. If every draw was a neighbour, as for a hub, the remaining nodes are
#: listed, and one of them is chosen.
REDRAWS = 16


class Request(NamedTuple):
    """Draw `ratio` non-edges of `graph` per positive."""

    kind: str
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
    return NEGATIVE_KINDS[kind](Request(kind, graph, known, ratio, np.random.default_rng(seed), listed))


def _uniform(ask: Request) -> np.ndarray:
    """Any two different nodes."""
    n = ask.graph.num_nodes

    def propose(count: int) -> np.ndarray:
        return ask.rng.integers(0, n, (count, 2), dtype=np.int32)

    return _draw_again(ask, n * (n - 1), propose)


def _degree(ask: Request) -> np.ndarray:
    """The source of one random edge and the target of another: nodes occur as often as in edges."""
    graph = ask.graph

    def propose(count: int) -> np.ndarray:
        i, j = ask.rng.integers(0, graph.num_edges, (2, count))
        return np.stack([graph.sources[i], graph.targets[j]], axis=1)

    sources, targets = np.unique(graph.sources), np.unique(graph.targets)
    pairs = len(sources) * len(targets) - len(np.intersect1d(sources, targets))
    return _draw_again(ask, pairs, propose)


def _active_source(ask: Request) -> np.ndarray:
    """A node with outgoing edges, all equally often, and any node: a regulator and a gene."""
    graph = ask.graph
    sources = np.unique(graph.sources)

    def propose(count: int) -> np.ndarray:
        chosen = ask.rng.choice(sources, count)
        return np.stack([chosen, ask.rng.integers(0, graph.num_nodes, count, dtype=np.int32)], axis=1)

    return _draw_again(ask, len(sources) * (graph.num_nodes - 1), propose)


def _active_target(ask: Request) -> np.ndarray:
    """Any node, and a node with incoming edges, all equally often."""
    return _active_source(_reverse(ask))[:, ::-1]


def _same_source(ask: Request) -> np.ndarray:
    """The edge with another target; none for a source that points to every other node."""
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
        unserved = left[sources[left] == source]
        if len(free):
            targets[unserved] = ask.rng.choice(free, len(unserved))
        else:
            served[unserved] = False
    if not served.any():
        hub = f"node {graph.name(sources[0])!r}"
        links = (hub, "every other node") if ask.kind == "same_source" else ("every other node", hub)
        raise ValueError(f"{ask.kind}: {' points to '.join(links)}; use another kind of negatives")
    return np.stack([sources, targets], axis=1)[served]


def _same_target(ask: Request) -> np.ndarray:
    """The edge with another source; none for a target that every other node points to."""
    return _same_source(_reverse(ask))[:, ::-1]


def _reversed(ask: Request) -> np.ndarray:
    """The reverse of the edge, unless it is an edge too: at most one per edge, whatever the ratio."""
    back = ask.positives[:, ::-1]
    free = back[(back[:, 0] != back[:, 1]) & ~ask.graph.has_edges(back[:, 0], back[:, 1])]
    if not len(free):
        raise ValueError(
            f"reversed: all {len(back)} held-out edges are reciprocal; use another kind of negatives"
        )
    return free


def _listed(ask: Request) -> np.ndarray:
    """Pairs from `listed`, each at most once."""
    if ask.listed is None:
        raise ValueError('listed is None; negatives="listed" draws from it, so pass listed=pairs')
    wanted = ask.ratio * len(ask.positives)
    if wanted > len(ask.listed):
        raise ValueError(
            f"listed: {ask.ratio} × {len(ask.positives)} negatives are needed, but {len(ask.listed)} pairs "
            "are left; lower the ratio or hold out fewer edges"
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
    """The kind of negatives for which degrees are not enough: a model must learn which node links to which.

    If few nodes have outgoing edges, knowing them is enough to separate edges from `uniform` pairs, and the
    top predictions are worthless. Such a graph gets `active_source` negatives: which targets does each source
    have? If few nodes have incoming edges, it gets `active_target`. If the few nodes link to most others, as
    in a star, there is little to ask about them, and the kind is `uniform`.
    """
    n = graph.num_nodes
    for kind, ends in (("active_source", graph.sources), ("active_target", graph.targets)):
        few = len(np.unique(ends))
        if few <= FEW * n and 0 < 2 * graph.num_edges <= few * (n - 1):
            return kind
    return "uniform"


def check_listed(graph: DiGraph, listed: np.ndarray) -> np.ndarray:
    """The listed pairs without self-pairs; an error names the first pair that is an edge."""
    pairs = checked_pairs(listed, graph.num_nodes, "listed")
    edges = np.flatnonzero(graph.has_edges(pairs[:, 0], pairs[:, 1]))
    if len(edges):
        s, t = (graph.name(node) for node in pairs[edges[0]])
        raise ValueError(
            f"listed[{edges[0]}] is {s!r} → {t!r}, an edge ({len(edges)} in all); list non-edges"
        )
    return pairs[pairs[:, 0] != pairs[:, 1]]


def _draw_again(ask: Request, pairs: int, propose: Callable[[int], np.ndarray]) -> np.ndarray:
    """Proposals that are neither edges nor self-pairs; `pairs` is the number of possible proposals."""
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
    complete = graph.num_edges == graph.num_nodes * (graph.num_nodes - 1)
    cure = "it is complete, so hide some edges first" if complete else "use another kind of negatives"
    raise ValueError(f"{ask.kind}: {graph} has {few} non-edges to draw; {cure}")


def _reverse(ask: Request) -> Request:
    """The same request with every edge reversed."""
    graph = ask.graph
    back = DiGraph.from_arrays(graph.targets, graph.sources, graph.num_nodes, graph.names)
    return ask._replace(graph=back, positives=ask.positives[:, ::-1])
