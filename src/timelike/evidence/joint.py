"""The joint model: geometry and evidence in one calibrated probability."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from timelike._util.checks import whole_number
from timelike.embedding.embedding import Embedding
from timelike.embedding.pair_answers import PairAnswers
from timelike.evidence import joint_of_each, joint_ranking
from timelike.evidence.combiner import Combiner
from timelike.evidence.geometry_term import Geometry
from timelike.evidence.pair_columns import Evidence, Prepared
from timelike.graphs.digraph import DiGraph, checked_nodes, node_numbers

#: Pairs scored at a time.
PAIRS = 1 << 18


class Reason(NamedTuple):
    """What a group of evidence adds to the log-odds of an edge, and its strongest number."""

    group: str
    contribution: float
    strongest: str
    value: float


@dataclasses.dataclass(frozen=True, eq=False)
class Joint(PairAnswers):
    """The probability of an edge from the log-odds of an embedding and from evidence.

    `combiner` joins them; it was learned on edges that neither had seen. `evidence` is prepared from `known`,
    all known edges, and never counts the edge that it is asked about. Probabilities hold for `ratio`
    non-edges per edge; by default the ratio among the pairs that are no known edges, if 15 % of all edges are
    missing from the graph. `at_ratio` converts them.
    """

    embedding: Embedding
    known: DiGraph
    evidence: tuple[Evidence, ...]
    combiner: Combiner

    ranking: ClassVar[Any] = joint_ranking

    @property
    def names(self) -> Any:  # type: ignore[override]
        """The names of the nodes."""
        return self.embedding.names

    @property
    def points(self) -> np.ndarray:  # type: ignore[override]
        """The points of the embedding."""
        return self.embedding.points

    @property
    def geometry(self) -> Embedding:
        """The embedding alone: its light cones hold ancestors and descendants."""
        return self.embedding

    @property
    def info(self) -> dict[str, Any]:
        """The record of the embedding's training."""
        return self.embedding.info

    @property
    def ratio(self) -> float:
        """Non-edges per edge for which the probabilities hold."""
        return self.combiner.ratio

    @property
    def members(self) -> int:
        """The number of members whose mean predicts."""
        return len(self.combiner.trees)

    def at_ratio(self, ratio: float) -> Joint:
        """The same with probabilities for `ratio` non-edges per edge; rankings do not change."""
        return dataclasses.replace(self, combiner=self.combiner.at_ratio(ratio))

    def log_odds_by_number(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """log P − log(1 − P) of the edges sources[i] → targets[i], by number."""
        s, t = self._ends(sources, targets)
        parts = [
            self.combiner.log_odds(self.features(s[i : i + PAIRS], t[i : i + PAIRS]))
            for i in range(0, len(s), PAIRS)
        ]
        return np.concatenate([np.zeros(0), *parts])

    def log_prob_by_number(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The log-probability of the edges sources[i] → targets[i], by number."""
        return -np.logaddexp(0.0, -self.log_odds_by_number(sources, targets))

    def spread_by_number(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The standard deviation of the probability over the members, each with its own points."""
        s, t = self._ends(sources, targets)
        shared, count = self.features(s, t), self.embedding.members
        alone = [Geometry(self.embedding.member(i)).features(s, t) for i in range(count)] if count > 1 else []
        tables = [shared] * self.members
        if alone:
            tables = [np.hstack([alone[m % count], shared[:, 1:]]) for m in range(self.members)]
        odds = self.combiner.members_log_odds(tables)
        return np.std(np.exp(-np.logaddexp(0.0, -odds)), axis=0, ddof=1)

    def features(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The numbers that the combiner sees, one row per pair; the log-odds of the embedding come first."""
        return np.hstack([one.features(sources, targets) for one in self.columns])

    def glance(self, sources: np.ndarray) -> np.ndarray:
        """The scores of all pairs from these sources by the first member, (sources, nodes).

        They serve for a shortlist, and are meaningless for known edges.
        """
        table = np.concatenate([one.block(sources) for one in self.columns], axis=2)
        return self.combiner.trees[0].score(table.reshape(-1, table.shape[2])).reshape(table.shape[:2])

    @cached_property
    def columns(self) -> tuple[Prepared, ...]:
        """Geometry, then the evidence."""
        return (Geometry(self.embedding), *(one.prepare(self.known) for one in self.evidence))

    def why(self, source: Hashable, target: Hashable) -> tuple[float, list[Reason]]:
        """The log-odds of an average pair of the training, and what each group of evidence adds to it.

        Contributions are Shapley values; they add up to the log-odds of this edge. Strongest first.
        """
        s, t = (node_numbers([node], len(self.points), self.names, "node") for node in (source, target))
        row = self.features(s, t)
        base, parts = self.combiner.contributions(row)
        reasons = []
        for group in dict.fromkeys(self.combiner.groups):
            inside = np.flatnonzero([own == group for own in self.combiner.groups])
            top = inside[np.argmax(np.abs(parts[0, inside]))]
            reasons.append(
                Reason(group, float(parts[0, inside].sum()), self.combiner.names[top], float(row[0, top]))
            )
        return base, sorted(reasons, key=lambda one: -abs(one.contribution))

    def precision_at(self, count: int) -> float:
        """The share of edges among the `count` likeliest pairs, as measured on held-out edges.

        It assumes as many missing edges as `ratio` says.
        """
        pairs = len(self.points) * (len(self.points) - 1) - self.known.num_edges
        hidden = pairs / (1 + self.ratio)
        return self.combiner.curve.precision_at(whole_number("count", count, 1), hidden, self.ratio)

    def grown(self, embedding: Embedding, known: DiGraph) -> Joint:
        """The same combiner for an embedding with more nodes, and for more known edges."""
        return dataclasses.replace(self, embedding=embedding, known=known)

    @property
    def calibration_text(self) -> str:
        """For which ratio of non-edges to edges the probabilities hold, and what they were learned from."""
        edges = f"learned on {self.combiner.record['edges']:,} held-out edges"
        return f"calibrated for {self.ratio:.3g} non-edges per edge, {edges}"

    def best_threshold(self) -> float:
        """The log-probability from which on pairs count as edges, for the best F1 on held-out edges."""
        odds = self.combiner.curve.best_f1(self.ratio) - np.log(self.ratio)
        return float(-np.logaddexp(0.0, -odds))

    def best_of_each(
        self, sources: np.ndarray, k: int, exclude: DiGraph | None = None
    ) -> Iterator[tuple[np.ndarray, ...]]:
        """`top_targets` of many sources, by number: see `PairAnswers.best_of_each`."""
        without = joint_ranking.left_out(self, exclude)
        for s, t, odds in joint_of_each.best_of_each(self, k, sources, without):
            yield s, t, np.exp(-np.logaddexp(0.0, -odds)), self.spread_by_number(s, t)

    def recall(
        self, k: int, sources: np.ndarray, exclude: DiGraph | None = None
    ) -> joint_of_each.Recall | None:
        """How many of the `k` likeliest targets are candidates in a large graph; None if all are ranked."""
        return joint_of_each.measured_recall(self, k, sources, joint_ranking.left_out(self, exclude))

    def _ends(self, sources: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        count = len(self.points)
        return checked_nodes(sources, count, "sources"), checked_nodes(targets, count, "targets")

    def __repr__(self) -> str:
        return f"Joint({self.embedding}, {len(self.combiner.names)} numbers, {self.members} members)"
