"""Which nodes and edges of an embedding are drawn: all of a small graph, a fixed sample of a large one."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from timelike._util.checks import instance
from timelike.core.manifold import Point
from timelike.core.model import Model
from timelike.embedding.embedding import EMBEDDING, Embedding
from timelike.graphs.digraph import DiGraph, node_numbers

#: An edge less likely than this is drawn to the nearest image of its target: no image stands for it.
LIKELY = 0.1

#: At most so many are drawn; more would hide each other, and make files that no reader opens.
NODES, EDGES = 4000, 4000

#: Up to so many edges have arrow heads.
ARROWS = 150


class Selection(NamedTuple):
    """The nodes and edges of a picture.

    `nodes` are numbers of nodes, in increasing order; `sources` and `targets` are positions in
    `nodes`. `prob` is the probability of each edge, calibrated if the embedding is, and `turns` how
    many turns of the circle of time the image of the target that contributes most to it lies off the
    nearest one (0 if the model has it unlikely). `chosen` are the positions of the nodes that the user
    asked for, or of the one with most edges. `degrees` are the out- and in-degrees in the whole graph.
    """

    nodes: np.ndarray
    sources: np.ndarray
    targets: np.ndarray
    prob: np.ndarray
    turns: np.ndarray
    chosen: np.ndarray
    degrees: np.ndarray
    notes: list[str]

    @property
    def by_degree(self) -> np.ndarray:
        """Positions of the nodes, those with most edges first."""
        return np.argsort(-self.degrees.sum(axis=0), kind="stable")


def select(
    embedding: Embedding,
    graph: DiGraph | None = None,
    nodes: Any = None,
    *,
    most_nodes: int = NODES,
    most_edges: int = EDGES,
) -> Selection:
    """What to draw of `embedding`: the edges of `graph`, or the likeliest edge of each node without one.

    `nodes` names those that must be there. The rest is drawn at random, always the same.
    """
    instance("embedding", embedding, Embedding, EMBEDDING)
    model, total = embedding.score_model, len(embedding.points)
    if not total:
        raise ValueError("the embedding has no nodes; there is nothing to draw")
    wanted = np.zeros(0, np.int32)
    if nodes is not None:
        wanted = np.atleast_1d(node_numbers(nodes, total, embedding.names, "nodes"))
    sources, targets = edges_of(embedding, graph)
    degrees = np.stack([np.bincount(ends, minlength=total) for ends in (sources, targets)])
    if graph is not None and not len(wanted):
        wanted = np.atleast_1d(np.argmax(degrees.sum(axis=0)))
    shown = sample_nodes(total, wanted, most_nodes)
    notes = [] if len(shown) == total else [f"{len(shown):,} of {total:,} nodes shown"]
    position = np.full(total, -1)
    position[shown] = np.arange(len(shown))
    if graph is None:
        targets = _likeliest_targets(model, embedding.points[shown])
        sources = np.flatnonzero(targets >= 0)
        targets = targets[sources]
        degrees[:, shown] = [np.bincount(ends, minlength=len(shown)) for ends in (sources, targets)]
        notes.append("edges: the likeliest one of each node")
    else:
        every = len(sources)
        sources, targets = _sample_edges(position[sources], position[targets], most_edges)
        if len(sources) < every:
            notes.append(f"{len(sources):,} of {every:,} edges shown")
    ends = (embedding.points[shown[sources]], embedding.points[shown[targets]])
    log_prob, turns = (np.asarray(x) for x in look(model, *map(jnp.asarray, ends)))
    prob = np.exp(embedding.calibrate(log_prob))
    of_shown = degrees[:, shown]
    chosen = position[wanted] if len(wanted) else np.atleast_1d(np.argmax(of_shown.sum(axis=0)))
    return Selection(shown, sources, targets, prob, turns, chosen, of_shown, notes)


def edges_of(embedding: Embedding, graph: DiGraph | None) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the graph's edges as nodes of the embedding, matched by name where both have names."""
    if graph is None:
        return np.zeros(0, np.int32), np.zeros(0, np.int32)
    instance("graph", graph, DiGraph, "say DiGraph.from_edges([(source, target), …])")
    if graph.names == embedding.names or graph.names is None or embedding.names is None:
        if graph.num_nodes != len(embedding.points):
            raise ValueError(
                f"graph has {graph.num_nodes} nodes and the embedding {len(embedding.points)}; "
                "give the graph that was embedded, or one with names"
            )
        return graph.sources, graph.targets
    number: dict[Hashable, int] = {name: i for i, name in enumerate(embedding.names)}
    missing = [name for name in graph.names if name not in number]
    if missing:
        node_numbers([missing[0]], len(number), embedding.names, "graph")
    table = np.array([number[name] for name in graph.names], np.int32)
    return table[graph.sources], table[graph.targets]


def sample_nodes(total: int, wanted: np.ndarray, most: int) -> np.ndarray:
    """The numbers of `wanted` and of others drawn at random, `most` in all; of all nodes if they are few."""
    if total <= most:
        return np.arange(total)
    drawn = np.random.default_rng(0).choice(total, most, replace=False)
    return np.unique(np.concatenate([wanted, drawn])[: max(most, len(wanted))])


def _sample_edges(sources: np.ndarray, targets: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Of the edges between nodes that are shown (position ≥ 0), at most so many; no loops."""
    between = np.flatnonzero((sources >= 0) & (targets >= 0) & (sources != targets))
    if len(between) > most:
        between = np.sort(np.random.default_rng(0).choice(between, most, replace=False))
    return sources[between], targets[between]


@jax.jit
def look(model: Model, p: Any, q: Any) -> tuple[Any, Any]:
    """log-probability, and the number of the image of q (nearest: 0) that stands for it, of each pair."""

    def one(p: Point, q: Point) -> tuple[Any, Any]:
        separation = model.separation(p, q)
        log_prob = model.from_separation(separation)[0]
        if not model.likelihood.decays_in_time:
            return log_prob, 0
        parts = model.likelihood.log_prob(separation)
        unlikely = log_prob < math.log(LIKELY)
        return log_prob, jnp.where(unlikely, 0, jnp.argmax(parts) - parts.shape[-1] // 2)

    return jax.vmap(one)(p, q)


@jax.jit
def _likeliest(model: Model, points: Any) -> Any:
    everyone = jnp.arange(len(points))

    def one(i: Any) -> Any:
        scores = jax.vmap(model.log_prob, (None, 0))(points[i], points)
        return jnp.argmax(jnp.where(everyone == i, -jnp.inf, scores))

    return jax.lax.map(one, everyone, batch_size=min(64, len(points)))


def _likeliest_targets(model: Model, points: np.ndarray) -> np.ndarray:
    """The position of each node's likeliest target; −1 if there is nobody else."""
    return np.asarray(_likeliest(model, jnp.asarray(points))) if len(points) > 1 else np.array([-1])
