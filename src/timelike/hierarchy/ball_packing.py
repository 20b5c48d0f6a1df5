"""Disjoint balls within balls: the exact nested cones of a tree."""

from __future__ import annotations

import dataclasses

import numpy as np

from timelike.hierarchy.condensation import ranges

#: Balls packed at a time; more are packed in groups, and then the groups.
GROUP = 32
#: Steps of the relaxation that packs a group.
STEPS = 60
#: Free space around every ball, in units of the smallest one.
GAP = 0.5
#: Pairs of balls held in memory at a time.
BLOCK = 1 << 21


@dataclasses.dataclass(frozen=True, eq=False)
class Balls:
    """Centres (n, space dimensions) and radii (n,) in units of the smallest ball; leaves have radius 0."""

    centres: np.ndarray
    radii: np.ndarray


def pack_tree(parent: np.ndarray, spaces: int, seed: int = 0, sizes: np.ndarray | None = None) -> Balls:
    """A ball for each node, within the ball of its `parent` and disjoint from those of its siblings.

    `parent[v]` is −1 for a root. `sizes` are the radii that the leaves occupy (None: 0). All margins are at
    least `GAP`/2, so the balls may be rounded to a precision in which that is more than a few units.
    """
    count = parent.size
    height = heights(parent)
    tree = _Tree(parent, spaces, seed, np.zeros(count) if sizes is None else sizes.astype(float))
    order = np.argsort(height, kind="stable")
    starts = np.searchsorted(height[order], np.arange(height.max(initial=0) + 2))
    for level in range(height.max(initial=0) + 1):
        nodes = order[starts[level] : starts[level + 1]]
        if level:
            tree.enclose(nodes)
        tree.rise(nodes)
    tree.enclose(np.array([count]))
    return tree.placed()


def heights(parent: np.ndarray) -> np.ndarray:
    """The number of edges of the longest path from each node down to a leaf."""
    height = np.zeros(parent.size, np.int32)
    waiting = np.bincount(parent[parent >= 0], minlength=parent.size)
    ready, level = np.flatnonzero(waiting == 0), 0
    while ready.size:
        height[ready] = level
        above = parent[ready]
        above = above[above >= 0]
        np.subtract.at(waiting, above, 1)
        ready, level = np.unique(above[waiting[above] == 0]), level + 1
    return height


class _Tree:
    """The packing under way: node `count` encloses the roots, and later ones are groups of balls."""

    def __init__(self, parent: np.ndarray, spaces: int, seed: int, sizes: np.ndarray) -> None:
        self.count, self.spaces = parent.size, spaces
        self.rng = np.random.default_rng(seed)
        self.radii = np.append(sizes, 0.0)
        above = np.where(parent < 0, parent.size, parent)
        self.order = np.argsort(above, kind="stable")
        self.starts = np.searchsorted(above[self.order], np.arange(parent.size + 2))
        self.rounds: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # (outer, inner, offsets)
        self.made = parent.size + 1

    def enclose(self, nodes: np.ndarray) -> None:
        """Pack the children of each node, and set its radius."""
        first, last = self.starts[nodes], self.starts[nodes + 1]
        inner, outer = self.order[ranges(first, last)], np.repeat(nodes, last - first)
        inner, outer = self._bundle(inner, outer)
        while inner.size:
            inner, outer = self._grouped(inner, outer)

    def rise(self, nodes: np.ndarray) -> None:
        """Leave a gap between each ball and what it holds."""
        self.radii[nodes] += np.where(self.starts[nodes + 1] > self.starts[nodes], GAP, 0)

    def _bundle(self, inner: np.ndarray, outer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Scatter the leaves of each node in a ball of radius ½ within one of radius 1."""
        leaf = self.radii[inner] == 0
        if not leaf.any():
            return inner, outer
        owners, which, sizes = np.unique(outer[leaf], return_inverse=True, return_counts=True)
        balls = self._new(np.ones(owners.size))
        self.rounds.append((balls[which], inner[leaf], scattered(sizes, self.spaces, self.rng) / 2))
        return np.append(inner[~leaf], balls), np.append(outer[~leaf], owners)

    def _grouped(self, inner: np.ndarray, outer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pack up to `GROUP` balls of each outer one, largest first; return the groups that are left."""
        order = np.lexsort((-self.radii[inner], outer))
        inner, outer = inner[order], outer[order]
        owners, first, total = np.unique(outer, return_index=True, return_counts=True)
        rank = np.arange(inner.size) - np.repeat(first, total)
        groups = -(-total // GROUP)
        head = np.cumsum(groups) - groups
        group = np.repeat(head, total) + rank // GROUP
        owner = np.repeat(owners, groups)
        done = np.repeat(groups == 1, groups)
        balls = owner.copy()
        balls[~done] = self._new(np.zeros(int((~done).sum())))
        offsets, radii = pack(self.radii[inner] + GAP / 2, group, self.spaces, self.rng)
        self.radii[balls] = radii
        self.rounds.append((balls[group], inner, offsets))
        return balls[~done], owner[~done]

    def _new(self, radii: np.ndarray) -> np.ndarray:
        self.radii = np.append(self.radii, radii)
        self.made += radii.size
        return np.arange(self.made - radii.size, self.made)

    def placed(self) -> Balls:
        """Centres from the outermost ball inwards."""
        centres = np.zeros((self.made, self.spaces))
        for outer, inner, offsets in reversed(self.rounds):
            centres[inner] = centres[outer] + offsets
        return Balls(centres[: self.count], self.radii[: self.count])


def scattered(sizes: np.ndarray, spaces: int, rng: np.random.Generator) -> np.ndarray:
    """For each group, `sizes[i]` different points of the unit ball, evenly spread over its shells."""
    total = int(sizes.sum())
    points = rng.standard_normal((total, spaces))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    rank = ranges(np.zeros_like(sizes), sizes) + 1
    alone = np.repeat(sizes == 1, sizes)
    return points * np.where(alone, 0, (rank / np.repeat(sizes, sizes)) ** (1 / spaces))[:, None]


def pack(
    radii: np.ndarray, group: np.ndarray, spaces: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Disjoint balls close together: the offset of each within its group, and the radius of each group.

    `group` numbers the groups from 0 and is sorted. Groups of similar size are packed at once.
    """
    sizes = np.bincount(group)
    first = np.cumsum(sizes) - sizes
    offsets, outer = np.zeros((radii.size, spaces)), np.zeros(sizes.size)
    outer[sizes == 1] = radii[first[sizes == 1]]
    width = 2 ** np.ceil(np.log2(np.maximum(sizes, 1))).astype(int)
    for wide in np.unique(width[sizes > 1]):
        chosen = np.flatnonzero((width == wide) & (sizes > 1))
        for block in np.array_split(chosen, -(-chosen.size * wide * wide // BLOCK)):
            column = np.arange(wide) < sizes[block][:, None]
            at = np.where(column, first[block][:, None] + np.arange(wide), 0)
            x, outer[block] = _relaxed(np.where(column, radii[at], 0), column, spaces, rng)
            offsets[at[column]] = x[column]
    return offsets, outer


def _relaxed(
    radii: np.ndarray, there: np.ndarray, spaces: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Pull the balls of each row to their centre, push overlapping ones apart, then leave no overlap."""
    scale = radii.max(axis=1)[:, None]
    r = radii / scale
    x = rng.standard_normal((*r.shape, spaces)) * there[:, :, None]
    x *= (r.sum(axis=1) ** (1 / spaces) / np.sqrt(spaces))[:, None, None]
    both = there[:, :, None] & there[:, None, :] & ~np.eye(r.shape[1], dtype=bool)
    want = np.where(both, r[:, :, None] + r[:, None, :], 0)
    share = np.where(both, r[:, None, :] / np.where(both, want, 1), 0)
    for step in range(STEPS):
        x *= 1 - 0.12 * (1 - step / STEPS)
        gram = np.einsum("gik,gjk->gij", x, x)
        square = np.einsum("gii->gi", gram)
        near = np.sqrt(np.maximum(square[:, :, None] + square[:, None, :] - 2 * gram, 1e-12))
        push = 0.6 * share * np.maximum(want - near, 0) / near
        x += push.sum(axis=2)[:, :, None] * x - np.einsum("gij,gjk->gik", push, x)
    near = np.linalg.norm(x[:, :, None] - x[:, None], axis=-1)
    stretch = np.max(np.where(both, want / np.maximum(near, 1e-12), 0), axis=(1, 2))
    x *= np.maximum(stretch, 0)[:, None, None]
    reach = np.where(there, np.linalg.norm(x, axis=2) + r, 0)
    for _ in range(STEPS):  # towards the centre of the smallest enclosing ball
        far = np.argmax(reach, axis=1)
        x -= 0.1 * np.take_along_axis(x, far[:, None, None], axis=1) * there[:, :, None]
        reach = np.where(there, np.linalg.norm(x, axis=2) + r, 0)
    return x * scale[:, :, None], reach.max(axis=1) * scale[:, 0]
