"""A model that answers requests by name, as plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from timelike.embedding import block_ranking, exact_ranking
from timelike.embedding.embedding import Embedding
from timelike.evidence.joint import Joint
from timelike.graphs.digraph import DiGraph
from timelike.graphs.node_names import as_names, find_nodes, nearest, unknown

#: Digits of probabilities: those of single precision.
DIGITS = 7
#: Up to this many nodes, names are looked up in a dictionary.
IN_MEMORY = 2**21
#: Numbers of nodes that a program ranks, those to leave out included.
SIZES = (16, 64, 256)


class UnknownName(LookupError):
    """The model has no node of this name; `near` lists the most similar names."""

    def __init__(self, message: str, near: list[str]):
        super().__init__(message)
        self.near = near


class Question(NamedTuple):
    """Which edges of a node are the likeliest: out of it or into it, with known ones or without."""

    node: int
    incoming: bool
    most: int
    known: bool


class ServedModel:
    """One model of the service. It never changes: a replaced model is another object."""

    def __init__(
        self, name: str, version: str, embedding: Embedding, known: DiGraph | None, joint: Joint | None = None
    ):
        self.name, self.version = name, version
        self.embedding, self.joint = embedding, joint
        self.count = len(embedding.points)
        self.known = known or DiGraph.from_arrays([], [], self.count)
        self._reversed = DiGraph.from_arrays(self.known.targets, self.known.sources, self.count)
        self._strangers = [embedding.strangers(known, incoming) for incoming in (True, False)]
        self._blocks = block_ranking.in_blocks(embedding.columns)

    @property
    def answers(self) -> Embedding | Joint:
        """What predicts: the joint model, or the embedding if the geometry is alone."""
        return self.embedding if self.joint is None else self.joint

    @cached_property
    def about(self) -> dict[str, Any]:
        """What the model is, for `GET /v1/models`."""
        info = self.embedding.info
        calibration = info.get("calibration") if self.joint is None else self.joint.calibration_text
        return {
            "name": self.name,
            "version": self.version,
            "nodes": self.count,
            "edges": self.known.num_edges,
            "geometry": str(self.embedding.model.manifold),
            "likelihood": str(self.embedding.model.likelihood),
            "evidence": [] if self.joint is None else list(dict.fromkeys(self.joint.combiner.groups)),
            "members": self.answers.members,
            "calibration": calibration,
        }

    # Names

    @cached_property
    def _numbers(self) -> dict[str, int] | None:
        names = self.embedding.names
        if names is None or self.count > IN_MEMORY:
            return None
        return {str(name): i for i, name in enumerate(names)}

    def number(self, text: str) -> int:
        """The node called `text`; raises `UnknownName` with the nearest names."""
        import polars as pl

        names = self.embedding.names
        if names is None and text.isascii() and text.isdigit() and len(text) < 12 and int(text) < self.count:
            return int(text)
        if self._numbers is not None and text in self._numbers:
            return self._numbers[text]
        number = int(find_nodes(pl.Series([text], dtype=pl.String), self.count, names)[0])
        if number < 0:
            near = [] if names is None else nearest(as_names(names), text)
            raise UnknownName(unknown(text, self.count, names), near)
        return number

    def label(self, number: int) -> str | int:
        """A node's name as JSON has it: whole numbers stay numbers."""
        name = self.embedding.name(number)
        return int(name) if isinstance(name, int | np.integer) else str(name)

    # Answers

    def likeliest(self, questions: list[Question]) -> list[list[dict[str, Any]]]:
        """The likeliest edges for each question; questions in the same direction are ranked together."""
        replies: list[list[dict[str, Any]]] = [[] for _ in questions]
        for incoming in (False, True):
            here = [i for i, question in enumerate(questions) if question.incoming == incoming]
            for i, rows in zip(here, self._ranked([questions[i] for i in here], incoming), strict=True):
                replies[i] = rows
        return replies

    def _ranked(self, questions: list[Question], incoming: bool) -> list[list[dict[str, Any]]]:
        if self.joint is not None:
            return [self._joined(question) for question in questions]
        without = [self._without(question) for question in questions]
        needed = [self._needed(one.most + len(left)) for one, left in zip(questions, without, strict=True)]
        found: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for size in {*needed}:
            same = [i for i, one in enumerate(needed) if one == size]
            for first in range(0, len(same), block_ranking.TOGETHER):
                few = same[first : first + block_ranking.TOGETHER]
                best = self._best([questions[i] for i in few], [without[i] for i in few], size)
                found |= zip(few, best, strict=True)
        return [self._rows(question, *found[i]) for i, question in enumerate(questions)]

    def _needed(self, nodes: int) -> int:
        """The number of nodes to rank: one of a few, so that few programs are compiled; 0: rank all."""
        most = block_ranking.MOST_BLOCKS * self._blocks.blocks
        return next((size for size in SIZES if nodes <= size <= most), 0)

    def _best(
        self, questions: list[Question], without: list[np.ndarray], size: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The answers to questions in the same direction and their log-probabilities, best first."""
        model, incoming = self.embedding.ranker, questions[0].incoming
        if not size:
            for one, left in zip(questions, without, strict=True):
                yield exact_ranking.best_of_node(
                    model, self.embedding.columns, one.node, one.most, left, incoming
                )
            return
        rows = np.array([one.node for one in questions])
        tables = block_ranking.best_of_rows(model, self._blocks, rows, size, incoming)
        for one, left, at, scores in zip(questions, without, *tables, strict=True):
            kept = np.flatnonzero((at < self.count) & ~np.isin(at, left))[: one.most]
            yield at[kept], scores[kept]

    def _without(self, question: Question) -> np.ndarray:
        """The nodes that are no answer: the node itself, its known edges, and nodes never trained on."""
        left = [np.array([question.node]), self._strangers[question.incoming]]
        return np.concatenate(left if question.known else [*left, self._known_of(question)])

    def _known_of(self, question: Question) -> np.ndarray:
        graph = self._reversed if question.incoming else self.known
        return graph.targets[graph.row_starts[question.node] : graph.row_starts[question.node + 1]]

    def _rows(self, question: Question, nodes: np.ndarray, scores: np.ndarray) -> list[dict[str, Any]]:
        """The rows of a reply; an ensemble adds the spread over its members."""
        if self.embedding.members == 1:
            columns = [np.exp(self.embedding.calibrate(scores))]
        else:
            own = np.full(len(nodes), question.node)
            ends = (nodes, own) if question.incoming else (own, nodes)
            columns = [np.exp(self.embedding.log_prob_by_number(*ends))]
            columns += [self.embedding.spread_by_number(*ends)]
        known = np.isin(nodes, self._known_of(question)) if question.known else np.zeros(len(nodes), bool)
        return [
            {"node": self.label(node), "known": is_known, **_numbers(values)}
            for node, is_known, *values in zip(
                nodes.tolist(), known.tolist(), *(x.tolist() for x in columns), strict=True
            )
        ]

    def _joined(self, question: Question) -> list[dict[str, Any]]:
        """The rows of a reply by the joint model, which ranks unknown edges; known ones are scored beside."""
        assert self.joint is not None
        rank = self.joint.top_sources if question.incoming else self.joint.top_targets
        end = 0 if question.incoming else 1
        rows: list[dict[str, Any]] = [
            {"node": _plain(row[end]), "known": False, **_numbers(row[2:])}
            for row in rank(self.embedding.name(question.node), question.most)
        ]
        if not question.known:
            return rows
        others = self._known_of(question).tolist()
        own = [question.node] * len(others)
        ends = (others, own) if question.incoming else (own, others)
        side = "source" if question.incoming else "target"
        for pair in self.pairs(*ends):
            rows.append({"node": pair[side], **{k: pair[k] for k in pair if k not in ("source", "target")}})
        return sorted(rows, key=lambda row: -(row["probability"] or 0))[: question.most]

    def pairs(self, sources: list[int], targets: list[int]) -> list[dict[str, Any]]:
        """The probability of each edge sources[i] → targets[i], with its spread if there are members."""
        s, t = np.asarray(sources, np.int64), np.asarray(targets, np.int64)
        columns = [np.exp(self.answers.log_prob_by_number(s, t))]
        columns += [self.answers.spread_by_number(s, t)] if self.answers.members > 1 else []
        known = self.known.has_edges(s, t)
        return [
            {"source": self.label(a), "target": self.label(b), "known": is_known, **_numbers(values)}
            for a, b, is_known, *values in zip(
                sources, targets, known.tolist(), *(x.tolist() for x in columns), strict=True
            )
        ]

    def why(self, source: int, target: int) -> dict[str, Any]:
        """The probability of an edge and its reasons: geometry, and what evidence adds to the log-odds."""
        (row,) = self.pairs([source], [target])
        p, q = self.embedding.points[[source, target]]
        separation = self.embedding.model.separation(p, q)
        middle = len(separation.time) // 2
        reasons: list[dict[str, Any]] = []
        base = None
        if self.joint is not None:
            base, parts = self.joint.why(*(self.embedding.name(node) for node in (source, target)))
            reasons = [
                {
                    "group": one.group,
                    "contribution": round(one.contribution, DIGITS),
                    "strongest": one.strongest,
                    "value": _finite(one.value),
                }
                for one in parts
            ]
        return {
            **row,
            "interval": _finite(separation.interval[middle]),
            "time": _finite(separation.time[middle]),
            "base": None if base is None else _finite(base),
            "reasons": reasons,
        }

    def warm_up(self) -> None:
        """Compile everything that the first request would otherwise wait for."""
        for incoming in (False, True) if self.joint is None else ():
            for size in SIZES:
                self.likeliest([Question(0, incoming, min(size // 2, 100), False)])
        other = min(1, self.count - 1)
        if self.joint is not None:
            self.likeliest([Question(0, False, 10, False)])
        self.why(0, other)
        self._numbers  # noqa: B018


def _numbers(values: Any) -> dict[str, float | None]:
    """A probability and, if there are several members, its spread."""
    return dict(zip(("probability", "spread"), map(_finite, values), strict=False))


def _finite(value: Any) -> float | None:
    value = float(f"{float(value):.{DIGITS}g}")
    return value if np.isfinite(value) else None


def _plain(name: Any) -> str | int:
    return int(name) if isinstance(name, int | np.integer) else str(name)
