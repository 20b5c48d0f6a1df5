"""The probability of each sign or type of an edge, given that there is an edge."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from timelike._util.checks import show
from timelike.evidence.edge_labels import FEWEST, EdgeLabels
from timelike.evidence.expression import Expression
from timelike.evidence.node_features import NodeFeatures
from timelike.evidence.profile_terms import KINDS, RIDGES, Direct, Nearness, ToNearest, ToTargets
from timelike.evidence.profiles import Profiles
from timelike.evidence.tree_tables import TreeTables
from timelike.graphs.digraph import DiGraph

#: Parts of the cross-fitting.
PARTS = 5

#: How strongly the share of a class among few edges is drawn to its share among all.
PRIOR = 2.0


@dataclasses.dataclass(frozen=True, eq=False)
class LabelModel:
    """P(class | edge) from the classes of other edges at both ends, and from profiles of the nodes.

    For each class, the mean score z of trees that were learned without a part of the labelled edges becomes
    a log-odds, slope · z + shift, learned on the parts that they have not seen; the classes then share the
    probability 1. `record` has their number, and the area under the ROC curve on unseen edges.
    """

    column: str
    classes: tuple[str, ...]
    graph: DiGraph
    labels: np.ndarray
    outside: tuple[Any, ...]
    trees: tuple[tuple[TreeTables, ...], ...]
    scales: np.ndarray
    record: Mapping[str, Any]

    @classmethod
    def learn(
        cls, known: EdgeLabels, graph: DiGraph, outside: Sequence[Any] = (), seed: int = 0
    ) -> LabelModel:
        """Learn from the labelled edges of the graph; a `ValueError` if a class has too few."""
        labels = known.aligned(graph)
        kept = np.flatnonzero(labels >= 0)
        counts = np.bincount(labels[kept], minlength=len(known.classes))
        if (counts < FEWEST).any():
            least = known.classes[int(counts.argmin())]
            raise ValueError(
                f"{known.column}: {counts.min()} of {len(kept):,} labelled edges of the graph are "
                f"{show(least)}; at least {FEWEST} of each are needed"
            )
        parts = np.random.default_rng([seed, 29]).permutation(len(kept)) % PARTS
        rows = np.zeros((len(kept), 0))
        for part in range(PARTS):
            hidden = labels.copy()
            hidden[kept[parts == part]] = -1
            table = _Table.of(graph, hidden, len(known.classes), outside)
            found = table.features(*graph.pairs[kept[parts == part]].T)
            rows = rows if rows.shape[1] else np.zeros((len(kept), found.shape[1]), np.float32)
            rows[parts == part] = found
        fitted = [_one_class(rows, labels[kept] == i, parts, seed) for i in _modelled(known.classes)]
        trees, scales, areas = zip(*fitted, strict=True)
        record = {"edges": len(kept), "counts": counts.tolist(), "roc_auc": float(np.mean(areas))}
        own = tuple(one for one in outside if isinstance(one, Expression | NodeFeatures))
        return cls(known.column, known.classes, graph, labels, own, trees, np.array(scales), record)

    def probabilities(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """P(class | edge) of each pair by number, (pairs, classes)."""
        rows = self.features(sources, targets)
        odds = []
        for trees, (slope, shift) in zip(self.trees, self.scales, strict=True):
            odds.append(slope * np.mean([tree.score(rows) for tree in trees], axis=0) + shift)
        likely = 1 / (1 + np.exp(-np.stack(odds, axis=1)))
        if len(self.classes) == 2:
            return np.hstack([likely, 1 - likely])
        return likely / likely.sum(axis=1, keepdims=True)

    def features(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The numbers of each pair that the trees see."""
        return self._table.features(np.asarray(sources), np.asarray(targets))

    @cached_property
    def _table(self) -> _Table:
        return _Table.of(self.graph, self.labels, len(self.classes), self.outside)

    def grown(self, known: DiGraph) -> LabelModel:
        """The same for a graph with other edges, and with more nodes; new edges have no label."""
        return dataclasses.replace(self, graph=known, labels=self.known(*known.pairs.T).astype(np.int32))

    def of_pairs(self, sources: np.ndarray, targets: np.ndarray) -> tuple[list[str], np.ndarray]:
        """The class of each pair and its probability: the known one, or the likeliest."""
        found, known = self.probabilities(sources, targets), self.known(sources, targets)
        best = np.where(known < 0, found.argmax(axis=1), known)
        likely = np.where(known < 0, found[np.arange(len(best)), best], 1.0)
        return [self.classes[i] for i in best], likely

    def known(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The number of the known class of each pair, −1 without one."""
        n = max(self.graph.num_nodes, int(np.max(targets, initial=-1)) + 1)
        keys = np.append(self.graph.sources.astype(np.int64) * n + self.graph.targets, np.iinfo(np.int64).max)
        wanted = np.asarray(sources, np.int64) * n + targets
        at = np.searchsorted(keys, wanted)
        return np.where(keys[at] == wanted, np.append(self.labels, -1)[at], -1)


def _modelled(classes: Sequence[str]) -> range:
    """The classes that have trees: of two, the first."""
    return range(1 if len(classes) == 2 else len(classes))


def _one_class(
    rows: np.ndarray, labels: np.ndarray, parts: np.ndarray, seed: int
) -> tuple[tuple[TreeTables, ...], tuple[float, float], float]:
    """Trees for one class against the others, the scale of their scores, and their area under the curve."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    trees, unseen = [], np.zeros(len(rows))
    for part in range(PARTS):
        seen = parts != part
        tree = TreeTables.learn(rows[seen], labels[seen], np.ones(seen.sum()), seed + part)
        unseen[~seen] = tree.score(rows[~seen])
        trees.append(tree)
    fit = LogisticRegression().fit(unseen[:, None], labels)
    slope = max(float(fit.coef_[0, 0]), 1e-3)
    return tuple(trees), (slope, float(fit.intercept_[0])), float(roc_auc_score(labels, unseen))


@dataclasses.dataclass(frozen=True, eq=False)
class _Table:
    """Numbers of pairs from the labels of other edges; `by_class` are the graphs of each class."""

    by_class: tuple[DiGraph, ...]
    profiles: tuple[Profiles, ...]

    @classmethod
    def of(cls, graph: DiGraph, labels: np.ndarray, classes: int, outside: Sequence[Any]) -> _Table:
        known = [one for one in outside if isinstance(one, Expression | NodeFeatures)]
        graphs = tuple(graph.subgraph(labels == i) for i in range(classes))
        return cls(graphs, tuple(one.profiles(graph) for one in known))

    def features(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """One row per pair: shares of the classes at both ends, and how the profiles relate."""
        columns = []
        total = sum(graph.num_edges for graph in self.by_class)
        for end, pair in (("sources", sources), ("targets", targets)):
            counts = np.stack(
                [np.bincount(getattr(g, end), minlength=g.num_nodes)[pair] for g in self.by_class]
            )
            number = counts.sum(axis=0)
            overall = np.array([graph.num_edges / max(total, 1) for graph in self.by_class])
            columns += [*((counts + PRIOR * overall[:, None]) / (number + PRIOR)), np.log1p(number)]
        for profiles in self.profiles:
            columns += [Direct(profiles, kind).score(sources, targets) for kind in KINDS]
            for graph in self.by_class:
                columns.append(ToTargets(profiles, graph, RIDGES[0]).score(sources, targets))
                columns.append(ToTargets(profiles, graph).score(sources, targets))
                columns.append(ToTargets(profiles, graph, None, True).score(sources, targets))
                if Nearness.affordable(graph):
                    columns.append(ToNearest(Nearness(profiles, graph), "nearest").score(sources, targets))
        return np.stack(columns, axis=1).astype(np.float32)
