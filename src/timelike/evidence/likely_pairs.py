"""Pairs that look like edges: how to draw them, and how much likelier each is drawn than a random pair."""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np

from timelike.evaluation.path_counts import Paths
from timelike.evidence.terms import PathCount
from timelike.graphs.digraph import DiGraph

#: Name → the shares of a mixture: pairs that are uniform, that have a source, a target, or both drawn by
#: degree, and that are ends of walks. Where walks take too long, the second one takes the place of the first.
MIXTURES = {
    "guess by degrees and walks": (0.3, 0.15, 0.15, 0.15, 0.25),
    "guess by degrees": (0.4, 0.2, 0.2, 0.2, 0.0),
    "popularity of either end": (0.5, 0.25, 0.25, 0.0, 0.0),
}
WALKS, DEGREES, EITHER_END = MIXTURES

#: Every node counts as if it had this many more edges each way.
MORE = 0.1


@dataclasses.dataclass(frozen=True, eq=False)
class LikelyPairs:
    """Draw pairs (s, t) with probability q(s, t), a mixture of simple guesses at the edges of a graph.

    q = Σ cₖ qₖ with the shares cₖ of `MIXTURES`. A source or target drawn by degree has probability
    (degree + `MORE`)/(edges + `MORE` · nodes), any other 1/nodes. A random walk s → z ← w → t along and
    against edges, the first one uniform, ends in (s, t) with probability
    √(out-degree(s) · in-degree(t))/edges times the normalised number of these paths. `score` is log q
    relative to uniform pairs.
    """

    graph: DiGraph
    name: str

    @classmethod
    def affordable(cls, graph: DiGraph) -> LikelyPairs:
        """The best guess whose paths are all counted; on large graphs they would be sampled."""
        walks = cls(graph, WALKS)
        return walks if walks.paths.neighbours is None else cls(graph, DEGREES)

    @cached_property
    def paths(self) -> Paths:
        """The paths of the walks."""
        return Paths(self.graph, "><>", True)

    @property
    def _shares(self) -> tuple[float, ...]:
        return MIXTURES[self.name]

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Pairs, (count, 2): some may be edges, or a node with itself."""
        kind = rng.choice(len(self._shares), count, p=self._shares)
        n = self.graph.num_nodes
        anyone = rng.integers(0, n, (2, count))
        popular = [rng.choice(n, count, p=degrees / degrees.sum()) for degrees in self._popular]
        walked = self._walks(count, rng)
        s = np.choose(kind, [anyone[0], popular[0], anyone[0], popular[0], walked[0]])
        t = np.choose(kind, [anyone[1], anyone[1], popular[1], popular[1], walked[1]])
        return np.stack([s, t], axis=1)

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The value of each pair."""
        return self._score(sources, targets, self._counts(sources, targets))

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """The values of all pairs from these sources."""
        every = np.arange(self.graph.num_nodes)[None]
        counts = self.paths.rows(sources) if self._shares[-1] else np.zeros((len(sources), every.size))
        return self._score(sources[:, None], every, counts)

    def without_edge(self, values: np.ndarray, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The values of edges of the graph, without the edges themselves."""
        counts = self._counts(sources, targets)
        if self._shares[-1]:
            counts = PathCount(self.paths).without_edge(counts, sources, targets)
        return self._score(sources, targets, counts, 1)

    def _counts(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        return self.paths.score(sources, targets) if self._shares[-1] else np.zeros(len(sources))

    def _score(
        self, sources: np.ndarray, targets: np.ndarray, counts: np.ndarray, less: int = 0
    ) -> np.ndarray:
        """log(q/uniform), with both ends' degrees and the number of edges `less` by this."""
        n, edges = self.graph.num_nodes, self.graph.num_edges - less
        leaving, entering = (
            degrees[nodes] - less for degrees, nodes in zip(self._popular, (sources, targets), strict=True)
        )
        a, b = (degrees * n / (edges + MORE * n) for degrees in (leaving, entering))
        ends = np.sqrt(np.maximum((leaving - MORE) * (entering - MORE), 0))
        each = (1.0, a, b, a * b, counts * ends * n * n / max(edges, 1))
        return np.log(sum(share * one for share, one in zip(self._shares, each, strict=True)))

    @cached_property
    def _popular(self) -> tuple[np.ndarray, np.ndarray]:
        """Out-degrees and in-degrees, and `MORE`."""
        leaving, entering = (
            np.bincount(ends, minlength=self.graph.num_nodes) + MORE
            for ends in (self.graph.sources, self.graph.targets)
        )
        return leaving, entering

    def _walks(self, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of random walks s → z ← w → t that start with a random edge."""
        graph = self.graph
        into = np.argsort(graph.targets, kind="stable")
        starts = np.searchsorted(graph.targets[into], np.arange(graph.num_nodes + 1))
        first = rng.integers(0, graph.num_edges, count)
        middle = graph.targets[first]
        back = graph.sources[into[_one_of(starts, middle, rng)]]
        return graph.sources[first], graph.targets[_one_of(graph.row_starts, back, rng)]


def _one_of(starts: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random place in each row of a sparse matrix with these row starts; no row is empty."""
    size = starts[rows + 1] - starts[rows]
    return starts[rows] + (rng.random(len(rows)) * size).astype(int)
