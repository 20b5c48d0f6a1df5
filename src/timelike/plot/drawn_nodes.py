"""Selects the nodes and edges to draw: all of a small graph, a fixed sample of a large one."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from timelike._util.checks import instance
from timelike.core.manifold import Point
from timelike.core.model import Model
from timelike.embedding.embedding import EMBEDDING, Embedding
from timelike.graphs.digraph import DiGraph, node_numbers
from timelike.graphs.node_names import as_names

#: A less likely edge is drawn to the nearest image of its target, because no image dominates.
LIKELY = 0.1

#: Most nodes and edges drawn; more would overlap and make files too large to open.
NODES, EDGES = 4000, 4000

#: Nodes of highest degree that a sample includes.
HUBS = 20

#: Most edges drawn with arrow heads.
ARROWS = 150


class Selection(NamedTuple):
    """The nodes and edges of a picture.

    `nodes` holds node numbers in increasing order; `sources`, `targets` and `chosen` are positions in
    `nodes`. `prob` is the probability of each edge, calibrated if the embedding is. `turns` counts the
    turns of the time circle from the target's nearest image to the image that contributes most to the
    edge (0 for an unlikely edge). `chosen` are the nodes the user asked for, or else the node with the
    most edges. `degrees` holds out- and in-degrees in the whole graph.
    """

    nodes: np.ndarray
    sources: np.ndarray
    targets: np.ndarray
    prob: np.ndarray
    turns: np.ndarray
    chosen: np.ndarray
    degrees: np.ndarray
    notes: list[str]
    #: Whether the edges are those of a graph, so that nodes have roles in it.
    known: bool = True
    #: Numbers of all nodes, if only a sample is shown.
    everyone: int = 0
    #: The label of each edge, such as its sign.
    edge_labels: np.ndarray | None = None

    @property
    def by_degree(self) -> np.ndarray:
        """Positions of the nodes by decreasing degree."""
        return np.argsort(-self.degrees.sum(axis=0), kind="stable")


def select(
    embedding: Embedding,
    graph: DiGraph | None = None,
    nodes: Any = None,
    *,
    also: Any = None,
    edge_labels: Any = None,
    most_nodes: int = NODES,
    most_edges: int = EDGES,
) -> Selection:
    """Select nodes and edges: the edges of `graph`, or without a graph each node's most likely edge.

    `nodes` must be included, and `also`. The rest of a sample is random with a fixed seed.
    """
    instance("embedding", embedding, Embedding, EMBEDDING)
    model, total = embedding.score_model, len(embedding.points)
    if not total:
        raise ValueError("embedding has no nodes, so there is nothing to draw")
    wanted = np.zeros(0, np.int32)
    if nodes is not None:
        wanted = np.atleast_1d(node_numbers(nodes, total, embedding.names, "nodes"))
    sources, targets = edges_of(embedding, graph)
    degrees = np.stack([np.bincount(ends, minlength=total) for ends in (sources, targets)])
    if graph is not None and not len(wanted):
        wanted = np.atleast_1d(np.argmax(degrees.sum(axis=0)))
    extra = np.zeros(0, np.int32) if also is None else node_numbers(also, total, embedding.names, "labels")
    shown = _sample(total, np.append(wanted, extra), degrees, (sources, targets), most_nodes)
    notes = [] if len(shown) == total else [f"{len(shown):,} of {total:,} nodes shown"]
    position = np.full(total, -1)
    position[shown] = np.arange(len(shown))
    if edge_labels is not None:
        edge_labels = np.asarray(edge_labels, str)
        if len(edge_labels) != len(sources):
            raise ValueError(f"edge_labels has {len(edge_labels)} texts; the graph has {len(sources)} edges")
    if graph is None:
        sources = np.arange(len(shown)) if len(shown) > 1 else np.zeros(0, int)
        targets = np.asarray(_likeliest_targets(model, jnp.asarray(embedding.points[shown])))[sources]
        degrees[:, shown] = [np.bincount(ends, minlength=len(shown)) for ends in (sources, targets)]
        notes.append("edges: the most likely edge of each node")
    else:
        drawn = _sample_edges(position[sources], position[targets], most_edges)
        sources, targets = position[sources[drawn]], position[targets[drawn]]
        edge_labels = None if edge_labels is None else edge_labels[drawn]
        if len(sources) < graph.num_edges:
            notes.append(f"{len(sources):,} of {graph.num_edges:,} edges shown")
    ends = (embedding.points[shown[sources]], embedding.points[shown[targets]])
    log_prob, turns = (np.asarray(x) for x in score_edges(model, *map(jnp.asarray, ends)))
    prob = np.exp(embedding.calibrate(log_prob))
    of_shown = degrees[:, shown]
    chosen = position[wanted] if len(wanted) else np.atleast_1d(np.argmax(of_shown.sum(axis=0)))
    hidden = total if len(shown) < total else 0
    known = graph is not None
    return Selection(
        shown, sources, targets, prob, turns, chosen, of_shown, notes, known, hidden, edge_labels
    )


def edges_of(embedding: Embedding, graph: DiGraph | None) -> tuple[np.ndarray, np.ndarray]:
    """Sources and targets of the graph's edges as node numbers of the embedding.

    Nodes are matched by name if both have names.
    """
    if graph is None:
        return np.zeros(0, np.int32), np.zeros(0, np.int32)
    instance("graph", graph, DiGraph, "for example DiGraph.from_edges([(source, target), …])")
    if graph.names == embedding.names or graph.names is None or embedding.names is None:
        if graph.num_nodes != len(embedding.points):
            raise ValueError(
                f"graph has {graph.num_nodes} nodes but the embedding has {len(embedding.points)}; "
                "pass the embedded graph, or a graph with node names"
            )
        return graph.sources, graph.targets
    numbers = as_names(embedding.names).find(graph.names)
    if None in numbers:
        node_numbers([graph.names[numbers.index(None)]], len(embedding.points), embedding.names, "graph")
    table = np.array(numbers, np.int32)
    return table[graph.sources], table[graph.targets]


def _sample(
    total: int, wanted: np.ndarray, degrees: np.ndarray, ends: tuple[np.ndarray, np.ndarray], most: int
) -> np.ndarray:
    """The nodes to show: all, or the wanted ones, hubs, and the ends of random edges, `most` in total.

    Edges between random nodes would be too few to see anything.
    """
    if total <= most or not len(ends[0]):
        return sample_nodes(total, wanted, most)
    hubs = np.argsort(-degrees.sum(axis=0), kind="stable")[:HUBS]
    drawn = np.random.default_rng(0).choice(len(ends[0]), min(len(ends[0]), most), replace=False)
    often = np.stack([ends[0][drawn], ends[1][drawn]], axis=1).reshape(-1)
    _, first = np.unique(often, return_index=True)
    rest = np.random.default_rng(1).choice(total, most, replace=False)
    listed = np.concatenate([wanted, hubs, often[np.sort(first)], rest])
    _, first = np.unique(listed, return_index=True)
    return np.sort(listed[np.sort(first)][: max(most, len(wanted))])


def sample_nodes(total: int, wanted: np.ndarray, most: int) -> np.ndarray:
    """All nodes if there are at most `most`; otherwise `wanted` and a random sample, `most` in total."""
    if total <= most:
        return np.arange(total)
    drawn = np.random.default_rng(0).choice(total, most, replace=False)
    return np.unique(np.concatenate([wanted, drawn])[: max(most, len(wanted))])


def _sample_edges(sources: np.ndarray, targets: np.ndarray, most: int) -> np.ndarray:
    """At most `most` edges between shown nodes (position ≥ 0), without self-loops."""
    between = np.flatnonzero((sources >= 0) & (targets >= 0) & (sources != targets))
    if len(between) > most:
        between = np.sort(np.random.default_rng(0).choice(between, most, replace=False))
    return between


@jax.jit
def score_edges(model: Model, p: Any, q: Any) -> tuple[Any, Any]:
    """Of each pair: the log-probability, and the image of q (nearest: 0) that contributes most to it."""

    def score_edge(p: Point, q: Point) -> tuple[Any, Any]:
        separation = model.separation(p, q)
        log_prob = model.from_separation(separation)[0]
        if not model.likelihood.decays_in_time:
            return log_prob, 0
        parts = model.likelihood.log_prob(separation)
        unlikely = log_prob < math.log(LIKELY)
        return log_prob, jnp.where(unlikely, 0, jnp.argmax(parts) - parts.shape[-1] // 2)

    return jax.vmap(score_edge)(p, q)


@jax.jit
def _likeliest_targets(model: Model, points: Any) -> Any:
    """The position of each node's most likely target other than itself."""
    every = jnp.arange(len(points))

    def of_node(i: Any) -> Any:
        scores = jax.vmap(model.log_prob, (None, 0))(points[i], points)
        return jnp.argmax(jnp.where(every == i, -jnp.inf, scores))

    return jax.lax.map(of_node, every, batch_size=min(64, len(points)))
