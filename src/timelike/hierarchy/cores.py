"""A hierarchy in two: the core, where nodes share descendants, and the trees that hang from it."""

from __future__ import annotations

import dataclasses

import numpy as np

from timelike.hierarchy.ball_packing import Balls, pack_tree
from timelike.hierarchy.condensation import Acyclic, closure


@dataclasses.dataclass(frozen=True, eq=False)
class Core:
    """The nodes with several parents, their ancestors, and one more node for each set of hanging trees.

    Core node i < `nodes.size` is node `nodes[i]` of the hierarchy. `edges` (n, 2) join core nodes.
    `holder[v]` is the core node whose ball holds v, a node of a hanging tree (−1: v is in the core); it lies
    at `trees.centres[v]` within that ball, whose radius is `sizes[holder]`. `mass` counts the nodes held.
    """

    nodes: np.ndarray
    edges: np.ndarray
    holder: np.ndarray
    trees: Balls
    sizes: np.ndarray
    mass: np.ndarray

    @property
    def count(self) -> int:
        """The number of core nodes."""
        return self.sizes.size


def core_of(order: Acyclic, spaces: int, seed: int) -> Core:
    """Divide a hierarchy, and pack the trees that hang from its core."""
    inside = _shared_or_above(order)
    nodes = np.flatnonzero(inside)
    number = np.cumsum(inside) - 1
    top, down = order.parents, order.children
    both, hanging = inside[down], inside[top] & ~inside[down]
    edges = np.stack([number[top[both]], number[down[both]]], axis=1)
    above = np.unique(number[top[hanging]])
    has_children = np.bincount(edges[:, 0], minlength=nodes.size) > 0
    split = has_children[above]  # these need a node of their own for what hangs from them
    ball_of = np.full(nodes.size, -1, np.int64)
    ball_of[above[~split]] = above[~split]
    ball_of[above[split]] = nodes.size + np.arange(split.sum())
    edges = np.concatenate([edges, np.stack([above[split], ball_of[above[split]]], axis=1)])
    count = nodes.size + int(split.sum())
    free = ~inside & (np.bincount(down, minlength=order.count) == 0)  # whole trees apart from the core
    count += int(free.any())
    parent, balls = _forest(order, inside, number, ball_of, count)
    parent[np.flatnonzero(free)] = parent.size - 1
    packed = pack_tree(parent, spaces, seed)
    at = np.full(count, -1)
    at[balls] = order.count + np.arange(balls.size)
    sizes = np.where(at < 0, 0.0, packed.radii[at])
    top_of = _roots(parent)
    held = top_of[: order.count] >= order.count
    holder = np.full(order.count, -1, np.int64)
    holder[held] = balls[top_of[: order.count][held] - order.count]
    centres = packed.centres[: order.count] - packed.centres[top_of[: order.count]]
    mass = np.bincount(holder[held], minlength=count) + (np.arange(count) < nodes.size)
    return Core(nodes, edges, holder, Balls(centres, packed.radii[: order.count]), sizes, mass)


def _shared_or_above(order: Acyclic) -> np.ndarray:
    """Whether each node has several parents or an ancestor of it has none in the hanging trees."""
    inside = np.bincount(order.children, minlength=order.count) > 1
    while True:
        more = order.parents[inside[order.children]]
        if inside[more].all():
            return inside
        inside[more] = True


def _forest(
    order: Acyclic, inside: np.ndarray, number: np.ndarray, ball_of: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Parents in the hanging trees, whose roots hang from balls; balls are numbered after the nodes."""
    last = np.append(ball_of, count - 1)
    balls = np.flatnonzero(np.isin(np.arange(count), last))
    place = np.full(count, -1, np.int64)
    place[balls] = order.count + np.arange(balls.size)
    parent = np.full(order.count + balls.size, -1, np.int64)
    hangs = ~inside[order.children]
    top, down = order.parents[hangs], order.children[hangs]
    parent[down] = np.where(inside[top], place[ball_of[number[top]]], top)
    return parent, balls


def _roots(parent: np.ndarray) -> np.ndarray:
    """The root above each node, by pointer doubling."""
    root = np.where(parent < 0, np.arange(parent.size), parent)
    while True:
        higher = root[root]
        if np.array_equal(higher, root):
            return root
        root = higher


def first_parents(edges: np.ndarray, count: int, above: np.ndarray) -> np.ndarray:
    """For each node its parent with the most `above` it, −1 for a top."""
    rising = np.argsort(above[edges[:, 0]], kind="stable")
    parent = np.full(count, -1, np.int64)
    parent[edges[rising, 1]] = edges[rising, 0]
    return parent


def related_keys(edges: np.ndarray, count: int) -> np.ndarray | None:
    """Sorted keys a·count + d of all pairs of ancestor and descendant; None if there are too many."""
    reach = closure(edges[:, 0], edges[:, 1], count)
    if reach is None:
        return None
    rows = np.repeat(np.arange(count, dtype=np.int64), np.diff(reach.indptr))
    return np.sort(rows * count + reach.indices)
