"""Minkowski events for a hierarchy: a descendant lies in the future light cone of each of its ancestors.

A ball with centre x and radius ρ is the event (t, x) = (−ρ, x). A ball contains another if the event of the
other lies in its future light cone: |x − x′| ≤ ρ − ρ′ = t′ − t.
"""

from __future__ import annotations

import numpy as np

from timelike._util.checks import one_of, whole_number
from timelike.graphs.digraph import DiGraph
from timelike.hierarchy.ball_packing import Balls, pack_tree
from timelike.hierarchy.condensation import closure
from timelike.hierarchy.described import Hierarchy, hierarchy_of

#: float32 holds the margins of the packing up to this radius; beyond it the points are float64.
FLOAT32_RADIUS = 1e6
DTYPES = ("auto", "float32", "float64")


def nested_cones(
    graph: DiGraph | Hierarchy, dim: int = 5, *, seed: int = 0, dtype: str = "auto"
) -> np.ndarray:
    """Events in Minkowski(dim), a row (t, x₁, …) per node of the graph, in units of the smallest ball.

    s → t is an edge, or follows from edges, if t lies in the future light cone of s. This is exact if no node
    has several parents. The nodes of a cycle share an event. `dtype` "auto" takes float32 if it can hold the
    depth and the number of children, that is a largest radius of at most `FLOAT32_RADIUS`, else float64.
    """
    spaces = whole_number("dim", dim, 3, note=", time included") - 1
    one_of("dtype", dtype, DTYPES)
    tree = graph if isinstance(graph, Hierarchy) else hierarchy_of(graph)
    balls = pack_tree(first_parents(tree), spaces, seed)
    return events(balls, tree, dtype)


def events(balls: Balls, tree: Hierarchy, dtype: str = "auto") -> np.ndarray:
    """The event of each node of the graph; time runs backwards if edges point from child to parent."""
    if dtype == "auto":
        dtype = "float32" if balls.radii.max(initial=0) <= FLOAT32_RADIUS else "float64"
    time = balls.radii if tree.upward else -balls.radii
    return np.column_stack([time, balls.centres])[tree.order.component].astype(dtype)


def first_parents(tree: Hierarchy) -> np.ndarray:
    """For each node its parent with the most ancestors, −1 for a top."""
    order = tree.order
    reach = closure(order.parents, order.children, order.count)
    above = tree.depth if reach is None else np.bincount(reach.indices, minlength=order.count)
    rising = np.argsort(above[order.parents], kind="stable")
    parent = np.full(order.count, -1, np.int64)
    parent[order.children[rising]] = order.parents[rising]
    return parent
