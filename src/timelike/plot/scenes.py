"""A picture as plain numbers, the same for paper and screen: positions, paths of edges, light cones.

Four ways to lay out an embedding: the spacetime `diagram`, the `rolled` surface in three dimensions,
the `polar` picture of anti-de Sitter and the Poincaré `disk` of hyperbolic space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from timelike.core.manifold import Manifold
from timelike.embedding.embedding import Embedding
from timelike.manifolds.quadric import is_anti_de_sitter, is_hyperbolic
from timelike.plot.drawn_nodes import Selection
from timelike.plot.views import View, half_turn, lost_note, main_directions, view_of, words_for, wrap

#: Points along a path that is not straight.
STEPS = 33

#: A circle of time is shown as a whole if its nodes use so much of it.
MOST_OF_TIME = 0.8

#: A diagram is at least so wide for its height, and so high for its width.
SLIM = 0.6

#: This share of the nodes may lie outside of a diagram, on a side where it would grow by so much with them.
FAR, STRETCHED = 0.02, 0.5


class Scene(NamedTuple):
    """What to draw, in two or three coordinates.

    `at` are the nodes. `paths` has one line per edge, and more where an edge leaves a picture of a
    circle of time and comes in again on the other side; `edge_of` says whose. `future` and `past`
    are the outlines of the chosen nodes' light cones. `guides` are lines of the background, `marks`
    words at a place of it. Without `labels` there are no axes. `half` is half the circle of time.
    """

    at: np.ndarray
    paths: np.ndarray
    edge_of: np.ndarray
    limits: np.ndarray
    future: Sequence[np.ndarray] = ()
    past: Sequence[np.ndarray] = ()
    guides: Sequence[np.ndarray] = ()
    marks: Sequence[tuple[float, float, str]] = ()
    labels: tuple[str, str] | None = None
    light: bool = False
    half: float | None = None
    notes: Sequence[str] = ()


Layout = Callable[[Embedding, Selection], Scene]


def diagram(embedding: Embedding, chosen: Selection) -> Scene:
    """Time up, space across; a circle of time is cut open, and edges over the cut are drawn at both ends."""
    view, step = _view(embedding, chosen)
    at = np.stack([view.space, view.time], axis=1)
    start = at[chosen.sources]
    end = np.stack([at[chosen.targets, 0], start[:, 1] + step], axis=1)
    paths, edge_of = _copies(np.stack([start, end], axis=1), view.period)
    limits = _limits(at, at[chosen.chosen], view)
    cones = [_triangles(at[i], view, limits) for i in chosen.chosen] if view.light else []
    notes = _notes(view.lost, chosen)
    if outside := np.count_nonzero(((at < limits[:, 0]) | (at > limits[:, 1])).any(axis=1)):
        notes.append(f"{outside} of {len(at):,} nodes lie outside")
    if view.period is not None and np.ptp(limits[1]) < view.period:
        notes.append(f"time: {np.ptp(limits[1]) / view.period:.0%} of the circle shown, no node in the rest")
    guides = []
    if view.wall is not None:
        guides = [np.array([[side, limits[1, 0]], [side, limits[1, 1]]]) for side in (-view.wall, view.wall)]
    return Scene(
        at, paths, edge_of, limits,
        future=[outline for future, _ in cones for outline in future],
        past=[outline for _, past in cones for outline in past],
        guides=guides, labels=(view.space_label, view.time_label),
        light=view.light, half=view.period and view.period / 2, notes=notes,
    )  # fmt: skip


def rolled(embedding: Embedding, chosen: Selection) -> Scene:
    """Time around, space along the axis: a cylinder, or the hyperboloid of anti-de Sitter."""
    view, step = _view(embedding, chosen)
    assert view.period is not None
    turn, curved = 2 * np.pi / view.period, view.wall is not None

    def surface(space: np.ndarray, time: np.ndarray) -> np.ndarray:
        radius = 1 / np.cos(space) if curved else np.full_like(space, 1 / turn)
        along = np.tan(space) if curved else space
        return np.stack([radius * np.cos(turn * time), radius * np.sin(turn * time), along], axis=-1)

    share = np.linspace(0, 1, STEPS)
    s, e = chosen.sources[:, None], chosen.targets[:, None]
    across = view.space[s] + share * (view.space[e] - view.space[s])
    paths = surface(across, view.time[s] + share * step[:, None])
    reach = max(1.1 * np.abs(view.space).max(), 0.6 / turn)
    reach = min(reach, 1.4) if curved else reach  # of a surface without end
    sides, circle = np.linspace(-reach, reach, 7), np.linspace(0, view.period, 61)
    guides = [surface(np.full_like(circle, x), circle) for x in sides]
    guides += [surface(np.linspace(-reach, reach, 21), np.full(21, t)) for t in circle[:-1:5]]
    rays: dict[int, list[np.ndarray]] = {1: [], -1: []}
    for node in chosen.chosen if view.light else ():
        for way in (1, -1):
            for side in (1, -1):
                run = np.linspace(0, min(view.period / 2, reach - side * view.space[node]), 2 * STEPS)
                rays[way].append(surface(view.space[node] + side * run, view.time[node] + way * run))
    at, everything = surface(view.space, view.time), np.concatenate(guides)
    limits = np.stack([everything.min(axis=0), everything.max(axis=0)], axis=1)
    words = [*_notes(view.lost, chosen), "time runs around, space along the axis"]
    return Scene(
        at, paths, np.arange(len(paths)), limits, rays[1], rays[-1], guides, light=view.light, notes=words
    )


def polar(embedding: Embedding, chosen: Selection) -> Scene:
    """Anti-de Sitter by eqs. 7 and 8: the angle is time θ, the radius tells r = √(1 + |x|²).

    Both are exact in any dimension; what is not seen is the direction in space. The radius drawn is
    the proper distance arcosh r from the circle r = 1, which is the inner one.
    """
    view, step = _view(embedding, chosen)
    points = np.asarray(embedding.points, float)[chosen.nodes]
    depth = np.arccosh(np.maximum(np.hypot(points[:, 0], points[:, 1]), 1))
    deepest = max(1.08 * depth.max(), 0.2)
    hole = 0.45 * deepest

    def place(depth: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return (hole + depth)[..., None] * np.stack([np.cos(theta), np.sin(theta)], axis=-1)

    share = np.linspace(0, 1, STEPS)
    s, e = chosen.sources[:, None], chosen.targets[:, None]
    paths = place(depth[s] + share * (depth[e] - depth[s]), view.time[s] + share * step[:, None])
    circle = np.linspace(0, 2 * np.pi, 121)
    outer = [r for r in _round_numbers(1.0, np.cosh(deepest)) if np.arccosh(r) > 0.3 * deepest]
    rings = [1.0, *outer[-1:]]
    guides = [place(np.full_like(circle, np.arccosh(r)), circle) for r in rings]
    edge = place(np.array([deepest * 1.13] * 4), np.arange(4) * np.pi / 2)
    marks = [(*xy, text) for xy, text in zip(edge.tolist(), ("0", "π/2", "π", "−π/2"), strict=True)]
    free = _widest_gap(view.time)
    marks += [(*place(np.arccosh(r), free).tolist(), f"r = {r:g}") for r in rings]
    cones = [_polar_rays(depth[i], view.time[i], deepest, place) for i in chosen.chosen]
    size = 1.2 * (hole + deepest)
    words = [*chosen.notes, "angle: time θ; radius: distance in space from the centre, any direction"]
    return Scene(
        place(depth, view.time), paths, np.arange(len(paths)), np.array([[-size, size]] * 2),
        [ray for future, _ in cones for ray in future], [ray for _, past in cones for ray in past],
        guides, marks, notes=words,
    )  # fmt: skip


def _polar_rays(
    depth: float, theta: float, deepest: float, place: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Light from a node outwards, and inwards through the centre: dθ = ±dσ, cos σ = 1/r."""
    sigma, end = np.arccos(1 / np.cosh(depth)), np.arccos(1 / np.cosh(deepest))
    both: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for rays, way in zip(both, (1, -1), strict=True):
        for target in (end, -end):
            along = np.linspace(sigma, target, 2 * STEPS)
            rays.append(place(np.arccosh(1 / np.cos(along)), theta + way * np.abs(along - sigma)))
    return both


def _widest_gap(angles: np.ndarray) -> np.ndarray:
    """The middle of the longest arc of the circle without a node."""
    ordered = np.sort(angles)
    gaps = np.diff(ordered, append=ordered[:1] + 2 * np.pi)
    return ordered[np.argmax(gaps)] + gaps.max() / 2


def disk(embedding: Embedding, chosen: Selection) -> Scene:
    """Hyperbolic space as the Poincaré disk x/(1 + x₀), the time coordinate up; edges are geodesics."""
    points = np.asarray(embedding.points, float)
    found = main_directions(points[:, 2:])
    x = np.stack([found.space, points[:, 1]], axis=1)[chosen.nodes]
    full = np.concatenate([np.sqrt(1 + np.sum(x**2, axis=1, keepdims=True)), x], axis=1)

    def place(p: np.ndarray) -> np.ndarray:
        return p[..., 1:] / (1 + p[..., :1])

    share = np.linspace(0, 1, STEPS)[:, None]
    s, e = full[chosen.sources][:, None], full[chosen.targets][:, None]
    lines = s + share * (e - s)
    lines /= np.sqrt(lines[..., :1] ** 2 - np.sum(lines[..., 1:] ** 2, axis=-1, keepdims=True))
    at, circle = place(full), np.linspace(0, 2 * np.pi, 181)
    size = min(1.04, 1.1 * np.linalg.norm(at, axis=1).max() + 0.01)
    rings = _round_numbers(0.0, 2 * np.arctanh(min(0.999, 0.98 * size)))[-2:]
    rim = np.stack([np.cos(circle), np.sin(circle)], axis=1)
    guides = [rim * np.tanh(d / 2) for d in rings] + ([rim] if size > 1 else [])
    words = [
        *_notes(found.lost, chosen),
        "edges are geodesics; circles: distance from the origin",
    ]
    marks = [(0.0, -float(np.tanh(d / 2)), f"{d:g}") for d in rings]
    limits = np.array([[-size, size]] * 2)
    return Scene(at, place(lines), np.arange(len(lines)), limits, guides=guides, marks=marks, notes=words)


#: The layouts by name, each with the manifolds that have it.
LAYOUTS: dict[str, tuple[Layout, Callable[[Manifold], bool]]] = {
    "diagram": (diagram, lambda manifold: True),
    "rolled": (rolled, lambda manifold: half_turn(manifold) is not None),
    "polar": (polar, is_anti_de_sitter),
    "disk": (disk, is_hyperbolic),
}


def layout_of(manifold: Manifold, kind: str = "auto") -> Layout:
    """The layout of this name, or the one that suits the manifold best; a `ValueError` if it has no such."""
    fitting = [name for name, (_, fits) in LAYOUTS.items() if fits(manifold)]
    if kind == "auto":
        kind = next((name for name in ("polar", "disk") if name in fitting), "diagram")
    if kind not in fitting:
        raise ValueError(
            f"kind is {kind!r}, a view that {words_for(manifold)} does not have; it has {', '.join(fitting)}"
        )
    return LAYOUTS[kind][0]


def _view(embedding: Embedding, chosen: Selection) -> tuple[View, np.ndarray]:
    """The view of the nodes that are shown (the main direction is that of all), and Δt of every edge."""
    view = view_of(embedding.model.manifold, embedding.points)
    view = view._replace(time=view.time[chosen.nodes], space=view.space[chosen.nodes])
    step = view.time[chosen.targets] - view.time[chosen.sources]
    if view.period is not None:
        step = wrap(step, view.period) + view.period * chosen.turns
    return view, step


def _notes(lost: float, chosen: Selection) -> list[str]:
    return [*chosen.notes, *filter(None, [lost_note(lost)])]


def _copies(paths: np.ndarray, period: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Each path, shifted by whole periods to wherever a part of it lies between −period/2 and period/2."""
    if period is None:
        return paths, np.arange(len(paths))
    low, high = paths[:, :, 1].min(axis=1), paths[:, :, 1].max(axis=1)
    found = []
    for turns in range(-3, 4):
        (seen,) = np.nonzero((low + turns * period < period / 2) & (high + turns * period > -period / 2))
        found.append((paths[seen] + [0.0, turns * period], seen))
    return np.concatenate([p for p, _ in found]), np.concatenate([i for _, i in found])


def _limits(at: np.ndarray, chosen: np.ndarray, view: View) -> np.ndarray:
    """[[left, right], [bottom, top]], not too slim; all between walls, of a circle of time what is used.

    Few nodes, none of the `chosen`, may lie outside, where they would make the rest small.
    """
    low, high = at.min(axis=0), at.max(axis=0)
    early = np.quantile(at, FAR / 2, axis=0, method="lower")  # nodes, nothing between them
    late = np.quantile(at, 1 - FAR / 2, axis=0, method="higher")
    within = np.concatenate([[early, late], chosen])
    first, last = within.min(axis=0), within.max(axis=0)
    most = STRETCHED * (last - first) if view.period is None else [STRETCHED * (last - first)[0], np.inf]
    low, high = np.where(first - low > most, first, low), np.where(high - last > most, last, high)
    size = np.maximum(high - low, [SLIM * (high - low)[1], SLIM * (high - low)[0]])
    half = np.maximum(0.56 * size, 1e-3)
    middle = (low + high) / 2
    if view.period is not None and 2 * half[1] > MOST_OF_TIME * view.period:
        middle[1], half[1] = 0.0, view.period / 2
    limits = np.stack([middle - half, middle + half], axis=1)
    if view.wall is not None:
        limits[0] = (-1.02 * view.wall, 1.02 * view.wall)
    return limits


def _triangles(apex: np.ndarray, view: View, limits: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The future and the past light cone |Δx| ≤ ±Δt, half a turn high or to the edge of the picture."""
    height = view.period / 2 if view.period is not None else 2 * np.ptp(limits, axis=1).max()
    both = []
    for way in (1.0, -1.0):
        triangle = apex + height * np.array([[0.0, 0.0], [1.0, way], [-1.0, way]])
        both.append(list(_copies(triangle[None], view.period)[0]))
    return both[0], both[1]


def _round_numbers(low: float, high: float) -> list[float]:
    """One to three round numbers above `low`, up to `high`."""
    size = 10.0 ** np.floor(np.log10(high - low))
    for step in (size * k for k in (0.1, 0.2, 0.5, 1, 2, 5)):
        numbers = np.arange(np.floor(low / step) + 1, np.floor(high / step + 1e-9) + 1) * step
        if len(numbers) <= 3:
            break
    return [round(float(x), 6) for x in numbers]
