"""Ancestors, descendants and lowest common ancestors, read off the light cones.

In a hierarchy whose edges point from parent to child, the past light cone of a node holds its ancestors and
the future one its descendants; if edges point from child to parent, the other way round.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from timelike._util.checks import instance, show, whole_number
from timelike._util.html_tables import Rows
from timelike.core.manifold import Manifold
from timelike.graphs.digraph import DiGraph, node_numbers
from timelike.manifolds import Flat, pairwise

if TYPE_CHECKING:
    from timelike.embedding.embedding import Embedding

#: Nodes whose cones tell the direction of a hierarchy if neither its record nor a graph does.
SAMPLED = 256


class Relative(NamedTuple):
    """An ancestor or descendant, and the probability of the edge or path between it and the node asked about.

    `steps` counts the cones between the two: 1 if no other node lies between, as for a parent or child.
    `time` is |Δt|, the depth between them.
    """

    node: Hashable
    probability: float
    steps: int
    time: float


class CommonAncestor(NamedTuple):
    """A common ancestor of two nodes: the lower of both probabilities, the longer of both times."""

    node: Hashable
    probability: float
    time: float


def of_node(
    embedding: Embedding,
    node: Hashable,
    k: int | None,
    threshold: float | None,
    graph: DiGraph | None,
    ancestors: bool,
) -> list[Relative]:
    """The ancestors or descendants of a node, nearest first."""
    count = len(embedding.points) if k is None else whole_number("k", k, 1)
    cones = Cones(embedding, upward(embedding, graph) == ancestors, threshold)
    number = _number(embedding, node)
    inside = cones.inside(number, np.delete(np.arange(len(embedding.points)), number))
    rows = list(itertools.islice(_by_steps(cones, inside, count), count))
    nodes = np.array([row[0] for row in rows], np.int64)
    probability, time = cones.probabilities(number, nodes), cones.times(number, nodes)
    steps = [row[1] for row in rows]
    found = zip(nodes, probability.tolist(), steps, time.tolist(), strict=True)
    return Rows(Relative(embedding.name(one), *numbers) for one, *numbers in found)


def common_ancestors(
    embedding: Embedding,
    first: Hashable,
    second: Hashable,
    k: int | None,
    threshold: float | None,
    graph: DiGraph | None,
) -> list[CommonAncestor]:
    """The lowest common ancestors of two nodes, nearest first; one of the two itself if it is an ancestor."""
    count = len(embedding.points) if k is None else whole_number("k", k, 1)
    cones = Cones(embedding, upward(embedding, graph), threshold)
    ends = [_number(embedding, node) for node in (first, second)]
    every = np.arange(len(embedding.points))
    held = [np.append(cones.inside(end, np.delete(every, end)), end) for end in ends]
    shared = np.intersect1d(held[0], held[1])
    time = np.max([cones.times(end, shared) for end in ends], axis=0)
    order = np.lexsort((shared, time))
    lowest = np.array([one for one, _ in itertools.islice(_nearest(cones, shared[order]), count)], np.int64)
    probability = np.ones(lowest.size)
    for end in ends:
        other = lowest != end
        probability[other] = np.minimum(probability[other], cones.probabilities(end, lowest[other]))
    names = map(embedding.name, lowest)
    times = dict(zip(shared.tolist(), time.tolist(), strict=True))
    return Rows(
        CommonAncestor(name, chance, times[one])
        for name, chance, one in zip(names, probability.tolist(), lowest.tolist(), strict=True)
    )


def upward(embedding: Embedding, graph: DiGraph | None = None) -> bool:
    """Whether edges point from child to parent: as recorded, else by the graph, else by the cones.

    A hierarchy has few tops and many ends. So more nodes have an edge to a parent than to a child, and most
    nodes have more ancestors than descendants.
    """
    if (recorded := embedding.info.get("upward")) is not None:
        return bool(recorded)
    if graph is not None:
        instance("graph", graph, DiGraph, "the graph of known edges")
        return np.unique(graph.sources).size > np.unique(graph.targets).size
    every = np.arange(len(embedding.points))
    sample = np.unique(np.linspace(0, len(every) - 1, SAMPLED).astype(int))
    future, past = (
        np.array([cones.inside(node, np.delete(every, node)).size for node in sample])
        for cones in (Cones(embedding, True), Cones(embedding, False))
    )
    return bool(np.sum(future > past) > np.sum(past > future))


class Cones:
    """Which nodes lie in the future light cone of a node, or in the past one.

    The cone is s² ≤ 0 with Δt ≥ 0 (Δt ≤ 0 for the past), computed in double precision for the nearest image
    and the first member of an ensemble. A `threshold` replaces it by: the edge has at least this probability.
    """

    def __init__(self, embedding: Embedding, future: bool, threshold: float | None = None) -> None:
        space = embedding.model.manifold
        if space.signature[0] != 1:
            raise ValueError(
                f"{show(space)} has no light cone, so it has no ancestors; fit a spacetime, such as minkowski"
            )
        if threshold is not None and not 0 < threshold <= 1:
            raise ValueError(f"threshold is {threshold:g}; it must be > 0 and ≤ 1")
        self.embedding, self.space, self.threshold = embedding, space, threshold
        self.sign = 1.0 if future else -1.0
        self.points = np.asarray(embedding.points, np.float64)

    def inside(self, node: int, among: np.ndarray) -> np.ndarray:
        """Those of the nodes that lie in the cone of a node, by time from it."""
        margin, time = self._cone(node, among)
        if self.threshold is not None:
            margin = self.probabilities(node, among) - self.threshold
        kept = np.flatnonzero(margin >= 0)
        return among[kept[np.lexsort((among[kept], time[kept]))]]

    def times(self, node: int, others: np.ndarray) -> np.ndarray:
        """|Δt| from a node."""
        return np.abs(self._cone(node, others)[1])

    def probabilities(self, node: int, others: np.ndarray) -> np.ndarray:
        """The probability of the edge from the node to each of the others; from each to it for the past."""
        ends = [np.full(others.size, node), others]
        log_prob = self.embedding.log_prob_by_number(*ends[:: int(self.sign)])
        return np.exp(log_prob.astype(np.float64))

    def _cone(self, node: int, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A number that is ≥ 0 in the cone, and the time towards it."""
        if isinstance(self.space, Flat):
            delta = self.points.take(others, axis=0) - self.points[node]
            time = self.sign * delta[:, 0]
            return time - np.sqrt(np.einsum("nd,nd->n", delta[:, 1:], delta[:, 1:])), time
        with jax.enable_x64(True):
            interval, time = (np.asarray(x)[others] for x in _separations(self.space, self.points.T, node))
        time = self.sign * time
        return np.where(time >= 0, -interval, -np.inf), time


@jax.jit
def _separations(space: Manifold, columns: jax.Array, node: int) -> tuple[jax.Array, jax.Array]:
    """The interval and the time from a node to the nearest image of every node."""
    pairs = pairwise.separations(space, columns[:, node][:, None], jnp.asarray(columns))
    interval, time = (x[x.shape[0] // 2] for x in pairs)
    return interval, time


def _by_steps(cones: Cones, inside: np.ndarray, count: int) -> Iterator[tuple[int, int]]:
    """The nodes of a cone with their steps, at least `count` of them: layer by layer, each by time.

    The next layer below a node are the nodes of its cone that lie in no other cone within it.
    """
    seen: set[int] = set()
    layer = {-1: inside}
    place = dict(zip(inside.tolist(), range(inside.size), strict=True))
    for steps in itertools.count(1):
        below: dict[int, np.ndarray] = {}
        for within in layer.values():
            for node, rest in itertools.islice(_nearest(cones, within), count - len(seen)):
                if node not in seen:
                    below.setdefault(node, rest)
        yield from ((node, steps) for node in sorted(below, key=place.__getitem__))
        seen.update(below)
        layer = below
        if not below or len(seen) >= count:
            return


def _nearest(cones: Cones, nodes: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Each of the nodes, sorted by time, that lies in the cone of no other, with the others in its cone."""
    left = np.ones(nodes.size, bool)
    for i, node in enumerate(nodes.tolist()):
        if left[i]:
            left[i] = False
            within = cones.inside(node, nodes[i + 1 :])
            left[i + 1 :] &= ~np.isin(nodes[i + 1 :], within, assume_unique=True)
            yield node, within


def _number(embedding: Embedding, node: Hashable) -> int:
    return int(node_numbers([node], len(embedding.points), embedding.names, "node")[0])
