"""Where new nodes start: at the point of a similar old node."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

from timelike.core.model import Model
from timelike.engine.epoch import log_probs
from timelike.engine.lessons import roomy
from timelike.graphs.digraph import DiGraph

#: Edges of a new node that decide, and old nodes to compare.
EDGES, CANDIDATES = 16, 24
#: New nodes placed, and pairs scored, at a time.
TOGETHER, PAIRS = 1 << 11, 1 << 16


def first_points(
    model: Model, points: np.ndarray, graph: DiGraph, init_scale: float, seed: int = 0
) -> np.ndarray:
    """The points and, at the end, one for each further node of the graph.

    Of the nodes that share a neighbour with a new node, and of its neighbours, it starts at the one in whose
    place its edges would be likeliest. Nodes that no path joins to an old one start near the origin.
    """
    old, count = len(points), graph.num_nodes
    table = np.concatenate([points, np.zeros((count - old, points.shape[1]), points.dtype)])
    placed, ends = np.arange(count) < old, _Ends(graph)
    rng = np.random.default_rng([seed, 12])
    waiting = np.flatnonzero(~placed)
    while waiting.size:
        near = [node for node in waiting.tolist() if placed[ends.neighbours(node)].any()]
        if not near:
            break
        for i in range(0, len(near), TOGETHER):
            some = near[i : i + TOGETHER]
            for node, start in zip(some, _best(model, table, ends, placed, some, rng), strict=True):
                table[node] = table[start]
        placed[near] = True
        waiting = np.flatnonzero(~placed)
    if waiting.size:
        keys = jax.random.split(jax.random.key(seed), waiting.size)
        table[waiting] = np.asarray(jax.vmap(lambda key: model.manifold.init(key, init_scale))(keys))
    return table


class _Ends:
    """The out- and in-neighbours of every node."""

    def __init__(self, graph: DiGraph):
        order = np.argsort(graph.targets, kind="stable")
        starts = np.searchsorted(graph.targets[order], np.arange(graph.num_nodes + 1))
        self._ways = ((graph.row_starts, graph.targets), (starts, graph.sources[order]))

    def of(self, node: int, way: int) -> np.ndarray:
        """The targets of a node (0), or its sources (1)."""
        starts, others = self._ways[way]
        return others[starts[node] : starts[node + 1]]

    def neighbours(self, node: int) -> np.ndarray:
        """Both."""
        return np.concatenate([self.of(node, 0), self.of(node, 1)])


def _some(nodes: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return nodes if len(nodes) <= most else rng.choice(nodes, most, replace=False)


def _best(
    model: Model,
    table: np.ndarray,
    ends: _Ends,
    placed: np.ndarray,
    nodes: list[int],
    rng: np.random.Generator,
) -> Iterator[int]:
    """For each new node, the placed node in whose place its edges with placed nodes would be likeliest."""
    rows: list[np.ndarray] = []  # source, target, number of the candidate
    candidates: list[np.ndarray] = []
    total = 0
    for node in nodes:
        known = [_some(x[placed[x]], EDGES, rng) for x in (ends.of(node, 0), ends.of(node, 1))]
        siblings = [ends.of(int(t), 1 - way) for way in (0, 1) for t in known[way][:4]]
        alike = np.unique(np.concatenate([*siblings, *known]))
        alike = _some(alike[placed[alike]], CANDIDATES, rng)
        for way, others in enumerate(known):
            pairs = np.stack(np.meshgrid(alike, others, indexing="ij")).reshape(2, -1)
            number = np.repeat(total + np.arange(alike.size), others.size)
            rows.append(np.stack([*(pairs if way == 0 else pairs[::-1]), number]))
        candidates.append(alike)
        total += alike.size
    sources, targets, number = np.concatenate(rows, axis=1)
    scores = np.zeros(total)
    np.add.at(scores, number, _scores(model, table, sources, targets))
    first = 0
    for alike in candidates:
        yield int(alike[np.argmax(scores[first : first + alike.size])])
        first += alike.size


def _scores(model: Model, table: np.ndarray, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """log P of each pair, in pieces of one size; of a node and itself, that of the least likely pair."""
    found = np.zeros(len(sources))
    points = jnp.asarray(np.pad(table, ((0, roomy(len(table)) - len(table)), (0, 0))))  # few shapes
    for i in range(0, len(sources), PAIRS):
        s, t = (np.resize(ends[i : i + PAIRS], PAIRS) for ends in (sources, targets))
        size = min(PAIRS, len(sources) - i)
        found[i : i + size] = np.asarray(_log_probs(model, points, s, t))[:size]
    same = sources == targets
    found[same] = found.min(initial=0.0)
    return found


_log_probs = jax.jit(log_probs)
