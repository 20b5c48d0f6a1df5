"""Fold new nodes into a trained embedding: learn their points and keep all others fixed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from timelike._util.checks import show
from timelike.core.hashed_random import below
from timelike.core.model import Model
from timelike.core.struct import with_scaled
from timelike.embedding import exact_ranking
from timelike.embedding.new_children import place_children
from timelike.engine.batch_step import batch_loss
from timelike.engine.config import Config
from timelike.engine.optimizers import OPTIMIZERS, Step, heating, schedule, update_rows
from timelike.engine.sampling import EdgeTable
from timelike.engine.table_rows import get_rows, get_state, put_rows, put_state, sum_repeated
from timelike.graphs.digraph import DiGraph
from timelike.graphs.node_names import as_names

#: The most edges, in each direction, that decide where a new node starts.
START_EDGES = 32
#: The fields of a `Config` that may change without recompiling.
PACE = ("learning_rate", "final_rate", "anneal", "clip", "seed")


class Lesson(NamedTuple):
    """Training data of the new nodes: a table of known edges, the edges that teach, and the old points."""

    table: EdgeTable
    ids: Int[Array, "lessons"]
    old: Float[Array, "old ambient"]


def fold(
    model: Model,
    tables: Sequence[np.ndarray],
    names: Sequence[Hashable] | None,
    edges: Iterable[tuple],
    config: Config | None,
    info: dict[str, Any],
) -> tuple[list[np.ndarray], Sequence[Hashable] | None, dict[str, int]]:
    """The points in each table and the names, with new nodes at the end, and the numbers of additions.

    A new node starts at the known point where its edges would be likeliest. Training then follows `train`,
    with negatives that join the node to random nodes in both directions. New children in nested cones need no
    training.
    """
    first = len(tables[0])
    graph = _graph(edges, first, names)
    _check_joined(graph, first)
    if "boundary" in info and config is None:
        placed = [place_children(points, graph, bool(info["upward"])) for points in tables]
        grown = [np.concatenate([a, b]) for a, b in zip(tables, placed, strict=True) if b is not None]
        if len(grown) == len(tables):
            added = {"nodes": graph.num_nodes - first, "edges": graph.num_edges}
            return grown, _labelled(graph, names), added
    config = config or _settings(info)
    table, ids = EdgeTable.build(graph), np.flatnonzero(np.maximum(graph.sources, graph.targets) >= first)
    plan = (config.epochs, min(config.batch_size, ids.size), config.burn_in, config.negatives.total)
    pace = {name: getattr(config, name) for name in PACE}
    grown = []
    for points in tables:
        lesson = Lesson(table, jnp.asarray(ids), jnp.asarray(points))
        start = _start(model, points, graph, config)
        learned = np.asarray(_train(model, lesson, start, pace, plan, config.optimizer), points.dtype)
        model.manifold.check_points(learned, "the new points")
        grown.append(np.concatenate([points, learned]))
    return grown, _labelled(graph, names), {"nodes": graph.num_nodes - first, "edges": int(ids.size)}


def _graph(edges: Iterable[tuple], nodes: int, names: Sequence[Hashable] | None) -> DiGraph:
    """The edges over old and new nodes, old nodes first."""
    graph = DiGraph.from_edges(edges, range(nodes) if names is None else names)
    if graph.num_nodes == nodes:
        raise ValueError("edges names no new node; every node in it is already embedded")
    if names is not None:
        return graph
    added = sorted(graph.names[nodes:], key=str)  # type: ignore[index]
    if set(added) != set(range(nodes, graph.num_nodes)):
        raise ValueError(
            f"edges has the new nodes {', '.join(map(str, added[:3]))}; without names, number new nodes from "
            f"{nodes} on, without gaps"
        )
    number = np.array(graph.names)  # nodes are in order of appearance; map them back to their own numbers
    return DiGraph.from_arrays(
        number[graph.sources], number[graph.targets], graph.num_nodes, weights=graph.weights
    )


def _labelled(graph: DiGraph, names: Sequence[Hashable] | None) -> Sequence[Hashable] | None:
    """The names of old and new nodes; old ones keep their labels."""
    labels = None if names is None else as_names(names).labels
    if labels is None or graph.names is None:
        return graph.names
    return graph.names.labelled([*labels, *[""] * (graph.num_nodes - len(labels))])


def _check_joined(graph: DiGraph, nodes: int) -> None:
    """Raise an error unless a path joins every new node to a known one; its position would be arbitrary."""
    from scipy.sparse.csgraph import connected_components

    parts = connected_components(graph.adjacency(), directed=False)[1]
    apart = np.flatnonzero(~np.isin(parts[nodes:], parts[:nodes]))
    if apart.size:
        named = ", ".join(show(graph.name(nodes + i)) for i in apart[:3])
        raise ValueError(f"edges joins {named} to no node of the embedding; check how the names are spelt")


def _settings(info: dict[str, Any]) -> Config:
    """The config of the embedding's own training, where `info` has it."""
    try:
        return Config.from_dict(info.get("config", {}))
    except (TypeError, ValueError) as error:
        raise ValueError(f'info["config"] cannot be used ({error}); pass config to add_nodes') from None


def _start(model: Model, points: np.ndarray, graph: DiGraph, config: Config) -> Array:
    """For each new node, the known point that maximises the likelihood of its edges with known nodes.

    A node without edges to known nodes starts near the origin.
    """
    first, columns = len(points), jnp.asarray(np.ascontiguousarray(points.T))
    starts = []
    for node in range(first, graph.num_nodes):
        total: Any = 0.0
        for end, other in ((graph.sources, graph.targets), (graph.targets, graph.sources)):
            incoming = end is graph.sources
            for known in other[(end == node) & (other < first)][:START_EDGES]:
                scores = exact_ranking.of_node(model, columns, int(known), incoming=incoming)
                total = total + np.asarray(scores)
        if np.ndim(total):
            starts.append(points[np.argmax(total)])
        else:
            key = jax.random.fold_in(jax.random.key(config.seed), node)
            starts.append(jax.jit(type(model.manifold).init)(model.manifold, key, config.init_scale))
    return jnp.asarray(np.stack(starts), columns.dtype)


@partial(jax.jit, static_argnames=("plan", "optimizer"))
def _train(
    model: Model,
    lesson: Lesson,
    start: Float[Array, "new ambient"],
    pace: dict[str, float],
    plan: tuple[int, int, int, int],
    optimizer: str,
) -> Float[Array, "new ambient"]:
    """Train on the new edges; the scan carries only the new points."""
    epochs, batch, burn_in, negatives = plan
    rule = OPTIMIZERS[optimizer]()
    steps = -(-lesson.ids.size // batch)

    def epoch(carry: tuple, number: Array) -> tuple[tuple, None]:
        key = jax.random.fold_in(jax.random.key(pace["seed"]), number)
        now = number.astype(start.dtype)
        rate = pace["learning_rate"] * schedule(now, epochs, burn_in, pace["final_rate"])
        stride = Step(rate, jnp.asarray(pace["clip"]))
        warm = with_scaled(model, "tau", heating(now, epochs, pace["anneal"]))
        keys = jax.random.split(key, 1 + steps)
        padding = (0, steps * batch - lesson.ids.size)
        order = jnp.pad(jax.random.permutation(keys[0], lesson.ids), padding, constant_values=-1)

        def step(carry: tuple, at: tuple) -> tuple[tuple, None]:
            which, step_key = at
            nodes, use, weights = _examples(step_key, lesson, which, negatives)
            return _move(warm, rule, stride, lesson.old, carry, nodes, use, weights), None

        return jax.lax.scan(step, carry, (order.reshape(steps, batch), keys[1:]))

    slots = jnp.zeros(start.shape[0], jnp.int32)
    (points, _, _), _ = jax.lax.scan(epoch, (start, rule.init(start), slots), jnp.arange(epochs))
    return points


def _examples(key: Key[Array, ""], lesson: Lesson, ids: Array, negatives: int) -> tuple[Array, Array, Array]:
    """Nodes (sources, then targets), whether each pair counts, and weights: (pairs, batch), positives first.

    The negatives of an edge join its new end to random nodes, as source or as target. −1 is padding.
    """
    table, first = lesson.table, lesson.old.shape[0]
    s, t, weights = table.edges(ids)
    coins, nodes_key = jax.random.split(key)
    other = below(nodes_key, (negatives, ids.size), table.num_nodes)
    coin = below(coins, other.shape, 4)
    new = jnp.where((t < first) | ((s >= first) & (coin < 2)), s, t)
    a, b = jnp.where(coin % 2 == 0, new, other), jnp.where(coin % 2 == 0, other, new)
    good = ~table.contains(a, b) & (a != b)
    sources, targets = jnp.concatenate([s[None], a]), jnp.concatenate([t[None], b])
    use = jnp.concatenate([jnp.ones((1, ids.size), bool), good]) & (ids >= 0)
    nodes = jnp.concatenate([jnp.where(use, x, table.num_nodes).reshape(-1) for x in (sources, targets)])
    return nodes, use, weights


def _move(
    model: Model, rule: Any, step: Step, old: Array, carry: tuple, nodes: Array, use: Array, weights: Array
) -> tuple:
    """Move the new points among `nodes` by one step, as in training; old points count as padding."""
    points, state, slots = carry
    new = (nodes >= old.shape[0])[:, None]
    local = jnp.where(new[:, 0], nodes - old.shape[0], points.shape[0])
    rows = jnp.where(new, get_rows(points, local), get_rows(old, nodes))
    _, covectors = batch_loss(model, jnp.where(use, weights, 0.0).astype(rows.dtype), rows)
    slots, own, covectors = sum_repeated(slots, local, jnp.where(new, covectors, 0))
    rows = rows if own.shape[0] < points.shape[0] else points
    rows, new_state, norms = update_rows(model.manifold, rule, step, rows, covectors, get_state(state, own))
    return put_rows(points, own, rows, norms), put_state(state, own, new_state, norms), slots
