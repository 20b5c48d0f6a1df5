"""What the page may ask about a model. Nodes come and go by number; names are looked up here.

All numbers are those of `Embedding`: the same programs, the same calibration, the same order. Of a model with
several members they are those of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from timelike.core.model import Model
from timelike.embedding import exact_ranking
from timelike.embedding.exports import coordinate_names
from timelike.evaluation.metrics import resolve_ties
from timelike.explore.shown_model import Picture, Shown
from timelike.graphs.digraph import DiGraph
from timelike.graphs.node_lookup import find_nodes, unknown
from timelike.graphs.node_names import as_names, nearest
from timelike.manifolds import pairwise
from timelike.plot.drawn_nodes import LIKELY, look

#: The most rows of a list, of names in one answer, of search results, of characters in a name.
MOST_ROWS, MOST_NAMES, MOST_FOUND, MOST_TEXT = 100, 500, 50, 500
#: Of so many names that begin alike the shortest are found.
MOST_LOOKED = 500
#: All lists of a node are looked at together, filled up to one of these sizes: two programs for all nodes.
LOOKED_AT = (32, 6 * MOST_ROWS)
#: Of larger graphs the likeliest missing edges take too long to wait for.
MOST_FOR_ALL_PAIRS = 10_000


class UnknownNode(ValueError):
    """There is no such node; `near` are the names most like it."""

    def __init__(self, message: str, near: list[str]):
        super().__init__(message)
        self.near = near


class Answers:
    """Questions about one model."""

    def __init__(self, shown: Shown):
        self.shown, self.picture = shown, Picture(shown)
        self.embedding = shown.embedding
        self.names = None if shown.embedding.names is None else as_names(shown.embedding.names)
        empty = np.zeros(0, np.int32)
        self.known = shown.known or DiGraph.from_arrays(empty, empty, self.picture.count)
        self.strangers = [self.embedding.strangers(shown.known, incoming) for incoming in (False, True)]
        order = np.argsort(self.known.targets, kind="stable")
        self._into = self.known.sources[order]
        self._into_starts = np.searchsorted(self.known.targets[order], np.arange(self.picture.count + 1))
        self._columns = jnp.asarray(np.ascontiguousarray(self.embedding.points.T))
        self._model = jax.tree.map(jnp.asarray, self.embedding.score_model)  # on the device, once
        self._coordinates = coordinate_names(self.embedding.model.manifold)

    # Names

    def number(self, text: str) -> int:
        """The node that a text names; a `ValueError` with the nearest names if there is none."""
        import polars as pl

        text, count = text[:MOST_TEXT], self.picture.count
        number = int(find_nodes(pl.Series([text]), count, self.names)[0])
        if number < 0:
            near = [] if self.names is None else nearest(self.names, text)
            raise UnknownNode(unknown(text, count, self.names), near)
        return number

    def name(self, number: int) -> str:
        """What a node is called, as text."""
        return str(self.embedding.name(number))

    def search(self, text: str, most: int = 12) -> list[dict[str, Any]]:
        """Nodes whose names begin with a text, then those that hold it, whatever the case."""
        wanted = " ".join(text[:MOST_TEXT].casefold().split())
        if not wanted:
            return []
        begin = sorted(self._places(f"\n{wanted}", MOST_LOOKED), key=lambda i: (len(self.name(i)), i))
        inside = self._places(wanted, 2 * most)
        found = dict.fromkeys([*self._places(f"\n{wanted}\n", 1), *begin[:most], *inside])
        return [{"id": i, "name": self.name(i)} for i in [*found][:most]]

    def _places(self, text: str, most: int) -> list[int]:
        """The first so many nodes in whose line of the list of names a text is found."""
        names, starts = self._listed
        found: list[int] = []
        at = names.find(text)
        while at >= 0 and len(found) < most:
            node = int(np.searchsorted(starts, at + text.startswith("\n"), "right")) - 1
            found.append(node)
            at = names.find(text, int(starts[node + 1]) - 1)
        return found

    @cached_property
    def _listed(self) -> tuple[str, np.ndarray]:
        """All names in small letters, each after a line feed, as one text; and where each begins."""
        texts = [self.name(i).casefold().replace("\n", " ") for i in range(self.picture.count)]
        lengths = np.array([len(text) + 1 for text in texts])
        return "\n".join(["", *texts, ""]), np.concatenate([[1], 1 + np.cumsum(lengths)])

    def names_of(self, numbers: Sequence[int]) -> list[str]:
        """The names of some nodes."""
        return [self.name(i) for i in numbers[:MOST_NAMES]]

    # One node

    def node(self, number: int, most: int = 20) -> dict[str, Any]:
        """Where a node lies, its known edges, and its likeliest edges, known ones among them and without."""
        sides = {}
        both = self._scores(number, number)
        for side, incoming, scores in (("targets", False, both[0]), ("sources", True, both[1])):
            mine = self._known_of(number, incoming)
            without = np.append(self.strangers[not incoming], number)
            best = exact_ranking.best_of(scores, most + len(mine), without)
            known = mine[np.argsort(-scores[mine], kind="stable")]
            sides[side] = {
                "all": best[:most],
                "new": best[~np.isin(best, mine)][:most],
                "known": known[:MOST_ROWS],
                "scores": scores,
                "mine": set(mine.tolist()),
            }
        turns = self._turns(number, sides)
        point = self.embedding.points[number]
        return {
            "id": number,
            "name": self.name(number),
            "time": float(self.picture.positions[number, 0]),
            "coordinates": [[n, float(x)] for n, x in zip(self._coordinates, point, strict=True)],
            **{side: self._lists(lists, turns[side]) for side, lists in sides.items()},
        }

    def _lists(self, lists: dict[str, Any], turns: dict[int, int]) -> dict[str, Any]:
        known = lists["mine"]
        rows = {}
        for kind in ("all", "new", "known"):
            ids = lists[kind].tolist()
            prob = np.exp(self.embedding.calibrate(lists["scores"][lists[kind]])).tolist()
            rows[kind] = [
                {"id": i, "name": self.name(i), "p": p, "known": i in known, "turns": turns.get(i, 0)}
                for i, p in zip(ids, prob, strict=True)
            ]
        return {**rows, "total": len(known)}

    def _turns(self, number: int, sides: dict[str, Any]) -> dict[str, dict[int, int]]:
        """Which image of the target stands for each edge that can be drawn, on a circle of time.

        That of an unlikely edge is the nearest, see `plot.selection.look`.
        """
        if self.picture.view.period is None:
            return {side: {} for side in sides}
        ends = []
        for found in sides.values():
            drawn = np.unique(np.concatenate([found["all"], found["new"], found["known"]]))
            ends.append(drawn[found["scores"][drawn] >= np.log(LIKELY)])
        out, into = ends
        s = np.concatenate([np.full(len(out), number), into])
        t = np.concatenate([out, np.full(len(into), number)])
        size = next(size for size in LOOKED_AT if len(s) <= size)
        turns = np.asarray(look(self._model, *self._rows(s, t, size))[1]).tolist() if len(s) else []
        return {
            side: dict(zip(nodes.tolist(), mine, strict=True))
            for side, nodes, mine in (
                ("targets", out, turns[: len(out)]),
                ("sources", into, turns[len(out) : len(s)]),
            )
        }

    # One pair

    def pair(self, source: int, target: int) -> dict[str, Any]:
        """How likely an edge is each way, where it stands in the rankings, and why."""
        p, q = self.embedding.points[[source, target]]
        raw, *parts = jax.device_get(_both_ways(self._model, p, q))
        forward = self._one_way(source, target, raw[:1])
        if source != target:
            out, into = self._scores(source, target)
            forward["among_targets"] = self._place(out, target, source, self._known_of(source, False))
            forward["among_sources"] = self._place(into, source, target, self._known_of(target, True))
        return {
            "forward": {**forward, "why": self._why(*parts)},
            "backward": self._one_way(target, source, raw[1:]),
            "calibration": self.embedding.info.get("calibration"),
        }

    def _one_way(self, source: int, target: int, raw: np.ndarray) -> dict[str, Any]:
        return {
            "source": {"id": source, "name": self.name(source)},
            "target": {"id": target, "name": self.name(target)},
            "p": float(np.exp(self.embedding.calibrate(raw)[0])),
            "model": float(np.exp(raw[0])),
            "known": bool(np.isin(target, self._known_of(source, False))),
        }

    def _place(self, scores: np.ndarray, other: int, own: int, known: np.ndarray) -> dict[str, float]:
        """The place of a node, from 1, among all that are not known edges, as in `ranking.rank_targets`."""
        rivals = np.delete(scores, np.append(known, [own]))
        better, equal = np.sum(rivals > scores[other]), np.sum(rivals == scores[other])
        listed = other not in known
        place = resolve_ties(np.array([better]), np.array([equal - listed]), "realistic")
        return {"place": float(place[0]), "of": int(rivals.size) + (not listed)}

    def _why(
        self, interval: np.ndarray, time: np.ndarray, log_prob: np.ndarray, factors: dict[str, np.ndarray]
    ) -> dict[str, Any]:
        """s², Δt and the factors of the likelihood for every image of the target."""
        middle = len(time) // 2
        images = [
            {
                "turn": i - middle,
                "interval": float(interval[i]),
                "time": float(time[i]),
                "factors": {name: float(np.exp(x[i])) for name, x in factors.items()},
                "p": float(np.exp(log_prob[i])),
            }
            for i in range(len(time))
        ]
        likelihood = self.embedding.score_model.likelihood
        used = images if likelihood.decays_in_time else images[middle : middle + 1]
        return {"formula": likelihood.formula, "images": used}

    # All pairs

    def likeliest(self, most: int = 20) -> list[dict[str, Any]]:
        """The likeliest missing edges of all; none of a graph that is too large to wait for."""
        if self.picture.count > MOST_FOR_ALL_PAIRS:
            return []
        ends = (np.delete(np.arange(self.picture.count), strangers) for strangers in self.strangers)
        s, t, scores = exact_ranking.best_pairs(self._model, self._columns, most, self.known, *ends)
        prob = np.exp(self.embedding.calibrate(scores)).tolist()
        return [
            {"source": {"id": a, "name": self.name(a)}, "target": {"id": b, "name": self.name(b)}, "p": p}
            for a, b, p in zip(s.tolist(), t.tolist(), prob, strict=True)
        ]

    def table(self, number: int, most: int) -> str:
        """The likeliest edges out of and into a node that are not known, as TSV."""
        found = self.node(number, most)
        lines = ["source\ttarget\tprobability"]
        me = _cell(found["name"])
        lines += [f"{me}\t{_cell(row['name'])}\t{row['p']:.7g}" for row in found["targets"]["new"]]
        lines += [f"{_cell(row['name'])}\t{me}\t{row['p']:.7g}" for row in found["sources"]["new"]]
        return "\n".join(lines) + "\n"

    def warm_up(self) -> None:
        """Compile what the first visitor would wait for."""
        self.node(0)
        self.pair(0, min(1, self.picture.count - 1))
        self.search("a")
        if self.picture.view.period is not None:
            none = np.zeros(0, int)
            look(self._model, *self._rows(none, none, LOOKED_AT[0]))

    # Numbers

    def _scores(self, source: int, target: int) -> np.ndarray:
        """log-probabilities of the edges from `source` to all nodes, and from all nodes to `target`."""
        return np.asarray(_from_and_to(self._model, self._columns, source, target))

    def _known_of(self, number: int, incoming: bool) -> np.ndarray:
        if incoming:
            return self._into[self._into_starts[number] : self._into_starts[number + 1]]
        return self.known.targets[self.known.row_starts[number] : self.known.row_starts[number + 1]]

    def _rows(self, sources: np.ndarray, targets: np.ndarray, size: int) -> tuple[Any, Any]:
        points = self.embedding.points
        p, q = (points.take(np.pad(end, (0, size - len(end))), axis=0) for end in (sources, targets))
        return p, q


def _cell(name: str) -> str:
    """A name that keeps to its field of a table."""
    return " ".join(name.split())


@jax.jit
def _from_and_to(model: Model, columns: Any, source: int, target: int) -> Any:
    out = exact_ranking.of_node(model, columns, source)
    return jnp.stack([out, exact_ranking.of_node(model, columns, target, incoming=True)])


@jax.jit
def _both_ways(model: Model, p: Any, q: Any) -> tuple[Any, ...]:
    """log-probabilities of p → q and q → p; interval, time, log F and its factors of p → every image of q."""
    raw = pairwise.log_probs(model, jnp.stack([p, q], axis=1), jnp.stack([q, p], axis=1))
    found = model.separation(p, q)
    shape, likelihood = found.time.shape, model.likelihood
    factors = {name: jnp.broadcast_to(x, shape) for name, x in likelihood.factors(found).items()}
    log_prob = jnp.broadcast_to(likelihood.log_prob(found), shape)
    return raw, jnp.broadcast_to(found.interval, shape), found.time, log_prob, factors
