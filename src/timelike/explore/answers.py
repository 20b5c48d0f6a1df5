"""Replies to the page about one model. Nodes are identified by number; this module looks up their names.

All numbers equal those of `Embedding`: same compiled functions, same calibration, same order. An ensemble is
represented by its first member. With a joint model, probabilities, ranks and lists are those of `Joint`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from timelike.core.model import Model
from timelike.embedding import exact_ranking
from timelike.embedding.exports import coordinate_names
from timelike.evaluation.metrics import resolve_ties
from timelike.explore.joint_numbers import Edges, JointNumbers
from timelike.explore.shown_model import Picture, Shown
from timelike.graphs.digraph import DiGraph
from timelike.graphs.node_names import as_names, find_nodes, nearest, unknown
from timelike.manifolds import pairwise
from timelike.plot.drawn_nodes import score_edges

#: Most rows of a list, names in one reply, search results, and characters in a name.
MOST_ROWS, MOST_NAMES, MOST_FOUND, MOST_TEXT = 100, 500, 50, 500
#: Most names with a common prefix that a search sorts by length.
MOST_PREFIXED = 500
#: The edges of a node are padded to this number, so that one compiled function serves all nodes.
PADDED = 3 * MOST_ROWS
#: In larger graphs, ranking all pairs takes too long to wait for.
MOST_FOR_ALL_PAIRS = 10_000


class UnknownNode(ValueError):
    """The model has no node of this name; `near` lists the most similar names."""

    def __init__(self, message: str, near: list[str]):
        super().__init__(message)
        self.near = near


class Answers:
    """Replies about one model."""

    def __init__(self, shown: Shown):
        self.shown, self.picture = shown, Picture(shown)
        self.embedding = shown.embedding
        self.joint = None if shown.joint is None else JointNumbers(shown.joint, shown.labels)
        self.names = None if shown.embedding.names is None else as_names(shown.embedding.names)
        self.known = shown.known or DiGraph.from_arrays([], [], self.picture.count)
        self.strangers = [self.embedding.strangers(shown.known, incoming) for incoming in (False, True)]
        self._reversed = DiGraph.from_arrays(self.known.targets, self.known.sources, self.picture.count)
        self._columns = jnp.asarray(np.ascontiguousarray(self.embedding.points.T))
        self._model = jax.tree.map(jnp.asarray, self.embedding.score_model)  # on the device, once
        self._coordinates = coordinate_names(self.embedding.model.manifold)

    # Names

    def number(self, text: str) -> int:
        """The node called `text`; raises `UnknownNode` with the nearest names."""
        import polars as pl

        text, count = text[:MOST_TEXT], self.picture.count
        number = int(find_nodes(pl.Series([text]), count, self.names)[0])
        if number < 0:
            if self.names is None:
                raise UnknownNode(unknown(text, count, None), [])
            raise UnknownNode(f"there is no node {text!r}", nearest(self.names, text))
        return number

    def name(self, number: int) -> str:
        """A node's name as text."""
        return str(self.embedding.name(number))

    def search(self, text: str, most: int = 12) -> list[dict[str, Any]]:
        """Nodes whose names begin with `text`, then those that contain it, ignoring case."""
        wanted = " ".join(text[:MOST_TEXT].casefold().split())
        if not wanted:
            return []
        begin = sorted(self._places(f"\n{wanted}", MOST_PREFIXED), key=lambda i: (len(self.name(i)), i))
        inside = self._places(wanted, 2 * most)
        ids = dict.fromkeys([*self._places(f"\n{wanted}\n", 1), *begin[:most], *inside])
        return [self._node(i) for i in [*ids][:most]]

    def _places(self, text: str, most: int) -> list[int]:
        """The first `most` nodes whose lines in the list of names contain a text."""
        names, starts = self._listed
        nodes: list[int] = []
        at = names.find(text)
        while at >= 0 and len(nodes) < most:
            nodes.append(int(np.searchsorted(starts, at + text.startswith("\n"), "right")) - 1)
            at = names.find(text, int(starts[nodes[-1] + 1]) - 1)
        return nodes

    @cached_property
    def _listed(self) -> tuple[str, np.ndarray]:
        """All names case-folded and joined by line feeds, and the offset of each."""
        texts = [self.name(i).casefold().replace("\n", " ") for i in range(self.picture.count)]
        lengths = np.array([len(text) + 1 for text in texts])
        return "\n".join(["", *texts, ""]), np.concatenate([[1], 1 + np.cumsum(lengths)])

    # One node

    def node(self, number: int, most: int = 20) -> dict[str, Any]:
        """A node's position, its known edges, and its likeliest edges with and without the known ones."""
        out, into = self._scores(number, number)
        point = self.embedding.points[number]
        return {
            **self._node(number),
            "time": float(self.picture.positions[number, 0]),
            "coordinates": [[n, float(x)] for n, x in zip(self._coordinates, point, strict=True)],
            "targets": self._side(number, out, False, most),
            "sources": self._side(number, into, True, most),
        }

    def _side(self, number: int, scores: np.ndarray, incoming: bool, most: int) -> dict[str, Any]:
        """Lists of edges out of a node, or into it, and the number of known ones."""
        known = self._known_of(number, incoming)
        if self.joint is not None:
            return self._joint_side(self.joint, number, known, incoming, most)
        without = np.append(self.strangers[not incoming], number)
        best = exact_ranking.best_of(scores, most + len(known), without)
        lists = {
            "all": best[:most],
            "new": best[~np.isin(best, known)][:most],
            "known": known[np.argsort(-scores[known], kind="stable")][:MOST_ROWS],
        }
        ids = np.unique(np.concatenate(list(lists.values())))
        prob = np.exp(self.embedding.calibrate(scores[ids]))
        columns = (ids, prob, np.isin(ids, known), self._turns(number, ids, incoming))
        rows = {
            i: {**self._node(i), "p": p, "known": k, "turns": turns}
            for i, p, k, turns in zip(*(column.tolist() for column in columns), strict=True)
        }
        shown = {kind: [rows[i] for i in ids.tolist()] for kind, ids in lists.items()}
        return {**shown, "total": len(known)}

    def _joint_side(
        self, joint: JointNumbers, number: int, known: np.ndarray, incoming: bool, most: int
    ) -> dict[str, Any]:
        """The same lists by the joint model."""
        new, learned = joint.new(number, incoming, most), joint.known(number, known, incoming)
        learned = Edges(*(column[:MOST_ROWS] for column in learned))
        ids, p, spreads = (np.concatenate(column) for column in zip(new, learned, strict=True))
        columns = (ids, p, spreads, np.arange(len(ids)) >= len(new.nodes), self._turns(number, ids, incoming))
        own = np.full(len(ids), number)
        labels = joint.labels(*((ids, own) if incoming else (own, ids)))
        rows = [
            {**self._node(i), "p": p, "spread": spread, "known": k, "turns": turns, **more}
            for i, p, spread, k, turns, more in zip(*(c.tolist() for c in columns), labels, strict=True)
        ]
        every = sorted(rows, key=lambda row: -row["p"])[:most]
        count = len(new.nodes)
        return {"all": every, "new": rows[:count], "known": rows[count:], "total": len(known)}

    def _turns(self, number: int, others: np.ndarray, incoming: bool) -> np.ndarray:
        """For edges on a time circle: the image of the target that counts most, as in `score_edges`."""
        if self.picture.view.period is None:
            return np.zeros(len(others), int)
        points = self.embedding.points
        own, other = points[[number] * PADDED], points[np.pad(others, (0, PADDED - len(others)))]
        ends = (other, own) if incoming else (own, other)
        return np.asarray(score_edges(self._model, *ends)[1])[: len(others)]

    # One pair

    def pair(self, source: int, target: int) -> dict[str, Any]:
        """The probability of an edge in both directions, its ranks, and the factors that explain it."""
        p, q = self.embedding.points[[source, target]]
        raw, *parts = jax.device_get(_both_ways(self._model, p, q))
        forward = self._one_way(source, target, raw[:1])
        out, into = self._rows(source, target)
        if source != target and out is not None and into is not None:
            forward["among_targets"] = self._place(out, target, source, self._known_of(source, False))
            forward["among_sources"] = self._place(into, source, target, self._known_of(target, True))
        return {
            "forward": {**forward, "why": self._why(*parts)},
            "backward": self._one_way(target, source, raw[1:]),
            "calibration": self.picture.calibration,
        }

    def _one_way(self, source: int, target: int, raw: np.ndarray) -> dict[str, Any]:
        found = {
            "source": self._node(source),
            "target": self._node(target),
            "p": float(np.exp(self.embedding.calibrate(raw)[0])),
            "model": float(np.exp(raw[0])),
            "known": bool(np.isin(target, self._known_of(source, False))),
        }
        return (
            found if self.joint is None or source == target else {**found, **self.joint.pair(source, target)}
        )

    def _rows(self, source: int, target: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        """What ranks the edges out of `source`, and those into `target`; None: there are too many."""
        if self.joint is not None:
            return self.joint.row(source, False), self.joint.row(target, True)
        out, into = self._scores(source, target)
        return out, into

    def _place(self, scores: np.ndarray, other: int, own: int, known: np.ndarray) -> dict[str, float]:
        """A node's rank, from 1, among all nodes without a known edge, as in `target_ranks.rank_targets`."""
        rivals = np.delete(scores, np.append(known, [own]))
        better, equal = np.sum(rivals > scores[other]), np.sum(rivals == scores[other])
        listed = other not in known
        place = resolve_ties(np.array([better]), np.array([equal - listed]), "realistic")
        return {"place": float(place[0]), "of": int(rivals.size) + (not listed)}

    def _why(
        self, interval: np.ndarray, time: np.ndarray, log_prob: np.ndarray, factors: dict[str, np.ndarray]
    ) -> dict[str, Any]:
        """s², Δt and the factors of the likelihood for every image of the target that counts."""
        likelihood, middle = self.embedding.score_model.likelihood, len(time) // 2
        images = [
            {
                "turn": i - middle,
                "interval": float(interval[i]),
                "time": float(time[i]),
                "factors": {name: float(np.exp(x[i])) for name, x in factors.items()},
                "p": float(np.exp(log_prob[i])),
            }
            for i in (range(len(time)) if likelihood.decays_in_time else [middle])
        ]
        return {"formula": likelihood.formula, "images": images}

    # All pairs

    def likeliest(self, most: int = 20) -> list[dict[str, Any]]:
        """The likeliest missing edges; empty for a graph too large to rank all pairs."""
        if self.picture.count > MOST_FOR_ALL_PAIRS:
            return []
        if self.joint is not None:
            found = self.joint.likeliest(most)
            labels = self.joint.labels(*(np.array([row[end] for row in found], int) for end in (0, 1)))
            return [
                {"source": self._node(a), "target": self._node(b), "p": p, "spread": spread, **more}
                for (a, b, p, spread), more in zip(found, labels, strict=True)
            ]
        ends = (np.delete(np.arange(self.picture.count), strangers) for strangers in self.strangers)
        s, t, scores = exact_ranking.best_pairs(self._model, self._columns, most, self.known, *ends)
        prob = np.exp(self.embedding.calibrate(scores)).tolist()
        return [
            {"source": self._node(a), "target": self._node(b), "p": p}
            for a, b, p in zip(s.tolist(), t.tolist(), prob, strict=True)
        ]

    def table(self, number: int, most: int) -> str:
        """The likeliest unknown edges out of and into a node, as TSV; white space in names becomes spaces."""
        reply = self.node(number, most)
        rows = [(reply["name"], row["name"], row["p"]) for row in reply["targets"]["new"]]
        rows += [(row["name"], reply["name"], row["p"]) for row in reply["sources"]["new"]]
        lines = [f"{' '.join(a.split())}\t{' '.join(b.split())}\t{p:.7g}" for a, b, p in rows]
        return "\n".join(["source\ttarget\tprobability", *lines, ""])

    def warm_up(self) -> None:
        """Compile everything that the first visitor would otherwise wait for."""
        self.node(0)
        self.pair(0, min(1, self.picture.count - 1))
        self.search("a")

    # Numbers

    def _node(self, number: int) -> dict[str, Any]:
        return {"id": number, "name": self.name(number)}

    def _scores(self, source: int, target: int) -> np.ndarray:
        """log-probabilities of the edges from `source` to all nodes, and from all nodes to `target`."""
        return np.asarray(_from_and_to(self._model, self._columns, source, target))

    def _known_of(self, number: int, incoming: bool) -> np.ndarray:
        graph = self._reversed if incoming else self.known
        return graph.targets[graph.row_starts[number] : graph.row_starts[number + 1]]


@jax.jit
def _from_and_to(model: Model, columns: Any, source: int, target: int) -> Any:
    out = exact_ranking.of_node(model, columns, source)
    return jnp.stack([out, exact_ranking.of_node(model, columns, target, incoming=True)])


@jax.jit
def _both_ways(model: Model, p: Any, q: Any) -> tuple[Any, ...]:
    """log-probabilities of p → q and q → p; s², Δt, log F and its factors from p to each image of q."""
    raw = pairwise.log_probs(model, jnp.stack([p, q], axis=1), jnp.stack([q, p], axis=1))
    separation, likelihood = model.separation(p, q), model.likelihood
    images = (
        separation.interval,
        separation.time,
        likelihood.log_prob(separation),
        likelihood.factors(separation),
    )
    return raw, *jax.tree.map(lambda x: jnp.broadcast_to(x, separation.time.shape), images)
