"""Evaluation negatives: what held-out edges are to be told from, by named protocols.

A protocol says what a score means. Against `uniform` non-edges it is enough to know who has many
edges; against `reversed` edges it is not enough to know who is near whom.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from timelike._util.checks import one_of, whole_number
from timelike.graphs.digraph import DiGraph, checked_pairs

#: Draws are repeated at most this often, in batches that grow to this size. A graph with so few
#: non-edges that they are not found by then has too few for an evaluation.
MAX_ROUNDS, MAX_BATCH = 100, 1 << 20

#: If so few of the nodes are one end of all edges, who they are is most of what random pairs teach.
FEW = 0.3

#: One end is replaced at random so often; ends that are still linked to every draw are hubs, for
#: which what is left is listed.
REDRAWS = 16


class Request(NamedTuple):
    """What a protocol is asked for: non-edges of `graph` to go with some of its edges."""

    graph: DiGraph
    positives: np.ndarray
    ratio: int
    rng: np.random.Generator
    listed: np.ndarray | None


def draw_non_edges(
    protocol: str,
    graph: DiGraph,
    positives: np.ndarray,
    ratio: int = 4,
    seed: int | list[int] = 0,
    listed: np.ndarray | None = None,
) -> np.ndarray:
    """Non-edges of `graph` to go with `positives`, `ratio` each, as an (m, 2) array.

    `protocol` is a name in `PROTOCOLS`. `listed` non-edges are drawn without replacement.
    """
    one_of("protocol", protocol, PROTOCOLS)
    whole_number("ratio", ratio, 1)
    for part in seed if isinstance(seed, list) else [seed]:
        whole_number("seed", part)
    known = checked_pairs(positives, graph.num_nodes, "positives")
    listed = None if listed is None else checked_pairs(listed, graph.num_nodes, "listed")
    if not len(known):
        return np.zeros((0, 2), np.int32)
    return PROTOCOLS[protocol](Request(graph, known, ratio, np.random.default_rng(seed), listed))


def uniform(ask: Request) -> np.ndarray:
    """Any two different nodes."""
    n = ask.graph.num_nodes

    def propose(count: int) -> np.ndarray:
        return ask.rng.integers(0, n, (count, 2), dtype=np.int32)

    return _draw_again("uniform", ask, n * (n - 1), propose)


def degree_matched(ask: Request) -> np.ndarray:
    """The source of one random edge with the target of another: nodes come as often as in edges."""
    graph = ask.graph

    def propose(count: int) -> np.ndarray:
        i, j = ask.rng.integers(0, graph.num_edges, (2, count))
        return np.stack([graph.sources[i], graph.targets[j]], axis=1)

    sources, targets = np.unique(graph.sources), np.unique(graph.targets)
    pairs = len(sources) * len(targets) - len(np.intersect1d(sources, targets))
    return _draw_again("degree", ask, pairs, propose)


def inner(ask: Request) -> np.ndarray:
    """A node that has edges to others, each as often, with any node: a regulator and a gene."""
    return _of_sources("inner", ask)


def outer(ask: Request) -> np.ndarray:
    """Any node with one that others have edges to, each as often: a gene and a regulator."""
    return _of_sources("outer", _turned(ask))[:, ::-1]


def corrupt_target(ask: Request) -> np.ndarray:
    """The edge with another target; none for edges of a node that points to every other one."""
    return _replace_targets("corrupt-target", "points to", ask)


def corrupt_source(ask: Request) -> np.ndarray:
    """The edge with another source; none for edges to a node that every other one points to."""
    return _replace_targets("corrupt-source", "is pointed to by", _turned(ask))[:, ::-1]


def reversed_edges(ask: Request) -> np.ndarray:
    """The edge backwards, where that is no edge: one for each, whatever the ratio."""
    back = ask.positives[:, ::-1]
    found = back[(back[:, 0] != back[:, 1]) & ~ask.graph.has_edges(back[:, 0], back[:, 1])]
    if not len(found):
        raise ValueError(
            f"reversed: every one of the {len(back)} held-out edges goes both ways; use another protocol"
        )
    return found


def listed_non_edges(ask: Request) -> np.ndarray:
    """Pairs from a given list, each at most once."""
    if ask.listed is None:
        raise ValueError("listed: no non_edges were given to draw from")
    wanted = ask.ratio * len(ask.positives)
    if wanted > len(ask.listed):
        raise ValueError(
            f"listed: {ask.ratio} × {len(ask.positives)} non-edges are wanted and {len(ask.listed)} are left "
            "of those listed; lower the ratio or hold out fewer edges"
        )
    return ask.listed[np.sort(ask.rng.choice(len(ask.listed), wanted, replace=False))]


#: The one list of protocols: name → function.
PROTOCOLS: dict[str, Callable[[Request], np.ndarray]] = {
    "uniform": uniform,
    "listed": listed_non_edges,
    "inner": inner,
    "outer": outer,
    "corrupt-target": corrupt_target,
    "corrupt-source": corrupt_source,
    "reversed": reversed_edges,
    "degree": degree_matched,
}


def suited(graph: DiGraph) -> str:
    """The protocol that asks what is worth knowing of a graph: who is linked to whom.

    Where few nodes have edges to others, a model that knows these few tells edges from `uniform` non-edges,
    and what it says is likely is none. There it is asked which nodes each of them points to; where few
    nodes are pointed to, which nodes point to each of them. Where they are linked to most
    nodes, as in a star, there is little to ask about them.
    """
    n = graph.num_nodes
    for protocol, ends in (("inner", graph.sources), ("outer", graph.targets)):
        few = len(np.unique(ends))
        if few <= FEW * n and 0 < 2 * graph.num_edges <= few * (n - 1):
            return protocol
    return "uniform"


def check_listed(graph: DiGraph, non_edges: np.ndarray) -> np.ndarray:
    """The listed non-edges, less those of a node with itself, or an error that names one that is an edge."""
    listed = checked_pairs(non_edges, graph.num_nodes, "non_edges")
    wrong = np.flatnonzero(graph.has_edges(listed[:, 0], listed[:, 1]))
    if len(wrong):
        s, t = (graph.name(node) for node in listed[wrong[0]])
        raise ValueError(f"non_edges[{wrong[0]}] is {s!r} → {t!r}, which is an edge ({len(wrong)} such)")
    return listed[listed[:, 0] != listed[:, 1]]


def _draw_again(name: str, ask: Request, pairs: int, propose: Callable[[int], np.ndarray]) -> np.ndarray:
    """Proposals that are no edges and no loops; `pairs` different ones can be proposed, edges included."""
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
    raise ValueError(f"{name}: {graph} has {few} non-edges to draw; use another protocol")


def _turned(ask: Request) -> Request:
    """The same of the graph whose edges go the other way; so does what comes of it."""
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
            f"{name}: node {graph.name(sources[0])!r} {says} every other node; use another protocol"
        )
    return np.stack([sources, targets], axis=1)[served]
