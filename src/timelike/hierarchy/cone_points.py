"""Minkowski events for a hierarchy: a descendant lies in the future light cone of each of its ancestors.

A ball with centre x and radius ρ is the event (t, x) = (−ρ, x). A ball contains another if the event of the
other lies in its future light cone: |x − x′| ≤ ρ − ρ′ = t′ − t.
"""

from __future__ import annotations

import numpy as np

from timelike._util.checks import one_of, whole_number
from timelike.graphs.digraph import DiGraph
from timelike.hierarchy.ball_packing import pack_tree
from timelike.hierarchy.condensation import Acyclic
from timelike.hierarchy.cores import Core, core_of, first_parents, related_keys
from timelike.hierarchy.described import Hierarchy, hierarchy_of
from timelike.hierarchy.false_cones import clearances
from timelike.hierarchy.shared_descendants import Schedule, Shared, moved

#: float32 holds the margins of the packing up to this coordinate, in units of the smallest ball.
FLOAT32_REACH = 1e6
#: The largest coordinate of a hierarchy with several parents, in the same units.
REACH = {"float32": 3e5, "float64": 1e8}
DTYPES = ("auto", *REACH)


def nested_cones(
    graph: DiGraph | Hierarchy,
    dim: int = 5,
    *,
    steps: int | None = None,
    seed: int = 0,
    dtype: str = "auto",
) -> np.ndarray:
    """Events in Minkowski(dim), a row (t, x₁, …) per node of the graph, in units of the smallest ball.

    s → t is an edge, or follows from edges, if t lies in the future light cone of s. This is exact if no node
    has several parents. Nodes with several parents and their ancestors move in `steps` gradient steps (None:
    by their number, 300 to 2,000) until few pairs are wrong. The nodes of a cycle share an event. `dtype`
    "auto" takes float32 if it can hold the depth and the number of children, else float64.
    """
    spaces = whole_number("dim", dim, 3, note=", time included") - 1
    if steps is not None:
        whole_number("steps", steps, 0)
    one_of("dtype", dtype, DTYPES)
    tree = graph if isinstance(graph, Hierarchy) else hierarchy_of(graph)
    parents = np.bincount(tree.order.children, minlength=tree.order.count)
    simple = not np.any(parents > 1)
    events = _of_tree(tree.order, spaces, seed) if simple else _of_core(tree, spaces, steps, seed, dtype)
    if tree.upward:
        events[:, 0] *= -1
    if dtype == "auto":
        dtype = "float32" if np.abs(events).max(initial=0) <= FLOAT32_REACH else "float64"
    return events[tree.order.component].astype(dtype)


def _of_tree(order: Acyclic, spaces: int, seed: int) -> np.ndarray:
    """Disjoint balls: exact, without a gradient step."""
    parent = np.full(order.count, -1, np.int64)
    parent[order.children] = order.parents
    balls = pack_tree(parent, spaces, seed)
    return np.column_stack([-balls.radii, balls.centres])


def _of_core(tree: Hierarchy, spaces: int, steps: int | None, seed: int, dtype: str) -> np.ndarray:
    """Move the core, then put the trees that hang from it into what room their balls have."""
    core = core_of(tree.order, spaces, seed)
    related = related_keys(core.edges, core.count)
    above = np.zeros(core.count)
    if related is not None:
        above += np.bincount(related % core.count, minlength=core.count)
    balls = pack_tree(first_parents(core.edges, core.count, above), spaces, seed)
    events = np.column_stack([-balls.radii, balls.centres]) / balls.radii.max()
    if related is not None:
        shared = Shared(core.edges, related, core.mass)
        events = moved(events, shared, Schedule(shared.steps if steps is None else steps), seed)
    return _hung(core, events, REACH["float32" if dtype == "auto" else dtype])


def _hung(core: Core, events: np.ndarray, reach: float) -> np.ndarray:
    """Events of all nodes: hanging trees scaled to the room that their balls have."""
    events = events * (reach / np.abs(events).max())
    room = np.ones(core.count)
    holding = np.flatnonzero(core.sizes > 0)
    room[holding] = clearances(events, holding) / 2.1 / core.sizes[holding]
    scale = np.clip(room, 0.3, 0.01 * reach / core.sizes.max(initial=1))
    every = np.zeros((core.holder.size, events.shape[1]))
    every[core.nodes] = events[: core.nodes.size]
    inner = np.flatnonzero(core.holder >= 0)
    ball = core.holder[inner]
    hung = np.column_stack([core.sizes[ball] - core.trees.radii[inner], core.trees.centres[inner]])
    every[inner] = events[ball] + hung * scale[ball][:, None]
    return every
