"""Circles close together in a plane, by the front chain of Wang et al. (CHI 2006)."""

from __future__ import annotations

import numpy as np

#: Space between circles, and the rim of a circle around those that it holds, in units of its own radius.
APART, RIM = 0.06, 0.09
#: Steps towards the centre of the smallest enclosing circle.
STEPS = 300


def packed(parent: np.ndarray, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centres (n, 2) and radii of nested circles: those of the children of each node within its own.

    `parent[v]` is −1 for a root, and `level[v]` counts the edges above v. Those that hold none
    have radius 1.
    """
    children: list[list[int]] = [[] for _ in range(parent.size + 1)]
    for node, above in enumerate(parent.tolist()):
        children[above].append(node)  # those of −1 come last
    radii, offsets = np.ones(parent.size + 1), np.zeros((parent.size + 1, 2))
    down = np.argsort(level, kind="stable").tolist()
    for node in [*reversed(down), parent.size]:
        if inner := sorted(children[node], key=lambda v: -radii[v]):
            spots = siblings((radii[inner] * (1 + APART)).tolist())
            offsets[inner], outer = enclosed(spots, radii[inner])
            radii[node] = outer * (1 + RIM)
    for node in down:
        if parent[node] >= 0:
            offsets[node] += offsets[parent[node]]
    return offsets[:-1], radii[:-1]


def siblings(radii: list[float]) -> np.ndarray:
    """Centres of disjoint circles, each against two before it, near the middle."""
    count = len(radii)
    spots = [(0.0, 0.0)] * count
    if count > 1:
        spots[0], spots[1] = (-radii[1], 0.0), (radii[0], 0.0)
    if count > 2:
        spots[2] = _touching(1, 0, 2, spots, radii)
    after, before = {0: 1, 1: 2, 2: 0}, {1: 0, 2: 1, 0: 2}
    a, b, c = 0, 1, 3
    while c < count:
        spots[c] = _touching(a, b, c, spots, radii)
        hit = _hit(a, b, c, spots, radii, after, before)
        if hit is not None:
            ahead, node = hit
            a, b = (a, node) if ahead else (node, b)
            after[a], before[b] = b, a
            continue
        after[a], before[c], after[c], before[b] = c, a, b, c
        best, a, at = np.inf, c, c
        while True:
            near = _distance(at, after[at], spots, radii)
            if near < best:
                best, a = near, at
            at = after[at]
            if at == c:
                break
        b, c = after[a], c + 1
    return np.array(spots)


def _touching(
    b: int, a: int, c: int, spots: list[tuple[float, float]], radii: list[float]
) -> tuple[float, float]:
    """Where circle c touches circles a and b."""
    (ax, ay), (bx, by) = spots[a], spots[b]
    dx, dy = bx - ax, by - ay
    square = dx * dx + dy * dy
    far_a, far_b = (radii[a] + radii[c]) ** 2, (radii[b] + radii[c]) ** 2
    along = (square + far_a - far_b) / (2 * square)
    across = max(far_a / square - along * along, 0.0) ** 0.5
    return ax + along * dx - across * dy, ay + along * dy + across * dx


def _hit(
    a: int,
    b: int,
    c: int,
    spots: list[tuple[float, float]],
    radii: list[float],
    after: dict[int, int],
    before: dict[int, int],
) -> tuple[bool, int] | None:
    """The circle of the front chain nearest along it that c overlaps, and whether it lies ahead of b."""
    j, k, ahead, behind = after[b], before[a], radii[b], radii[a]
    while True:
        forward = ahead <= behind
        node = j if forward else k
        dx, dy = spots[node][0] - spots[c][0], spots[node][1] - spots[c][1]
        if node not in (a, b) and (radii[node] + radii[c]) * (1 - 1e-6) > (dx * dx + dy * dy) ** 0.5:
            return forward, node
        if forward:
            ahead, j = ahead + radii[j], after[j]
        else:
            behind, k = behind + radii[k], before[k]
        if j == after[k]:
            return None


def _distance(a: int, b: int, spots: list[tuple[float, float]], radii: list[float]) -> float:
    """How far from the middle two neighbours of the front chain touch, squared."""
    (ax, ay), (bx, by), both = spots[a], spots[b], radii[a] + radii[b]
    x, y = (ax * radii[b] + bx * radii[a]) / both, (ay * radii[b] + by * radii[a]) / both
    return x * x + y * y


def enclosed(spots: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, float]:
    """The circles moved so that the circle around them has its centre at the origin, and its radius."""
    spots = spots.copy()
    for step in range(STEPS if len(spots) > 1 else 0):
        far = np.argmax(np.hypot(*spots.T) + radii)
        spots -= spots[far] / (step + 2)
    if len(spots) == 1:
        spots[:] = 0
    return spots, float(np.max(np.hypot(*spots.T) + radii))
