"""What the page shows of a joint model: probabilities with their spread, ranks, and contributions.

Nodes go by number, and all numbers equal those of `Joint`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from timelike.evidence.joint import Joint
from timelike.evidence.label_model import LabelModel

#: In larger graphs the page shows no rank of an edge among all others: that takes all their evidence.
MOST_RANKED = 20_000

#: The length of the list whose measured precision the page states.
LISTED = 100


class Edges(NamedTuple):
    """The other ends of edges of a node, the likeliest first, with probabilities and spreads."""

    nodes: np.ndarray
    probabilities: np.ndarray
    spreads: np.ndarray


class JointNumbers:
    """The numbers of one model."""

    def __init__(self, joint: Joint, labels: tuple[LabelModel, ...] = ()):
        self.joint, self._labels = joint, labels

    def labels(self, sources: np.ndarray, targets: np.ndarray) -> list[dict[str, str]]:
        """What the page says about signs and types of edges: "+" if known, else "+ 0.93", the likeliest."""
        found = [model.of_pairs(sources, targets) for model in self._labels]
        said = [
            [word if sure == 1 else f"{word} {sure:.2f}" for word, sure in zip(*one, strict=True)]
            for one in found
        ]
        return [{"labels": ", ".join(row)} for row in zip(*said, strict=True)] or [{}] * len(sources)

    def new(self, number: int, incoming: bool, most: int) -> Edges:
        """The likeliest unknown edges of a node."""
        name = self.joint.name(number)
        found = (self.joint.top_sources if incoming else self.joint.top_targets)(name, most)
        names = [row.source if incoming else row.target for row in found]
        probabilities, spreads = (np.array([row[i] for row in found]) for i in (2, 3))
        return Edges(self._numbers(names), probabilities, spreads)

    def known(self, number: int, others: np.ndarray, incoming: bool) -> Edges:
        """The known edges of a node, each judged as if it were unknown."""
        if not len(others):
            return Edges(others, np.zeros(0), np.zeros(0))
        own = np.full(len(others), number)
        ends = (others, own) if incoming else (own, others)
        odds = self.joint.log_odds_by_number(*ends)
        order = np.argsort(-odds, kind="stable")
        spreads = self.joint.spread_by_number(*ends)
        return Edges(others[order], _probabilities(odds)[order], spreads[order])

    def pair(self, source: int, target: int) -> dict[str, Any]:
        """Probability, spread and contributions of one edge."""
        ends = np.array([source]), np.array([target])
        base, reasons = self.joint.why(self.joint.name(source), self.joint.name(target))
        return {
            "p": float(_probabilities(self.joint.log_odds_by_number(*ends))[0]),
            "spread": float(self.joint.spread_by_number(*ends)[0]),
            "joint": {"base": base, "reasons": [reason._asdict() for reason in reasons]},
            **self.labels(*ends)[0],
        }

    def row(self, number: int, incoming: bool) -> np.ndarray | None:
        """The log-odds of all edges of a node; None if there are too many."""
        count = len(self.joint.points)
        if count > MOST_RANKED:
            return None
        own, others = np.full(count, number), np.arange(count)
        return self.joint.log_odds_by_number(*((others, own) if incoming else (own, others)))

    def likeliest(self, most: int) -> list[tuple[int, int, float, float]]:
        """The likeliest unknown edges of the graph: source, target, probability and spread."""
        found = self.joint.top_edges(most)
        ends = (self._numbers([row[end] for row in found]).tolist() for end in (0, 1))
        return [(s, t, row.probability, row.spread) for s, t, row in zip(*ends, found, strict=True)]

    @property
    def facts(self) -> dict[str, Any]:
        """What the page says about the model."""
        record = self.joint.combiner.record
        return {
            "members": self.joint.members,
            "valid_ap": record.get("valid_ap"),
            "questions": record.get("questions", {}),
            "listed": LISTED,
            "precision": self.joint.precision_at(LISTED),
        }

    def _numbers(self, names: list[Any]) -> np.ndarray:
        if self.joint.names is None:
            return np.array(names, np.int64)
        return np.array([*self.joint.names.find(names)], np.int64)


def _probabilities(odds: np.ndarray) -> np.ndarray:
    return np.exp(-np.logaddexp(0.0, -odds))
