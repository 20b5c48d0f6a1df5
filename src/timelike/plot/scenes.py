"""Layouts of an embedding as plain numbers, shared by matplotlib and plotly.

There are four: the spacetime `diagram`, the `rolled`-up surface in three dimensions, the `polar` picture of
anti-de Sitter space and the Poincaré `disk` of hyperbolic space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from timelike._util.checks import one_of
from timelike.core.manifold import Manifold
from timelike.embedding.embedding import Embedding
from timelike.manifolds.quadric import is_anti_de_sitter, is_hyperbolic
from timelike.plot.drawn_nodes import Selection
from timelike.plot.views import View, depth, half_turn, lost_note, main_directions, view_of, words_for, wrap

#: Points per curved path.
STEPS = 33

#: The whole time circle is shown if the nodes span at least this fraction of it.
MOST_OF_TIME = 0.8

#: Least aspect ratio of a diagram, either way.
SLIM = 0.6

#: This fraction of the nodes may lie outside a diagram if including them would enlarge it by this factor.
FAR, STRETCHED = 0.02, 0.5


class Scene(NamedTuple):
    """A picture in two or three coordinates.

    `at` holds the node positions. `paths` has one line per edge, or several if the edge leaves the diagram
    of a time circle and re-enters on the other side; `edge_of` maps lines to edges. `future` and `past`
    outline the light cones of the chosen nodes. `guides` are background lines, `marks` background texts.
    Axes are drawn only with `labels`. `half` is half the time circle. `cloud` has the positions of all nodes
    if `at` is only a sample of them.
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
    cloud: np.ndarray | None = None


Layout = Callable[[Embedding, Selection], Scene]

#: Outlines of light cones: future and past.
Cones = tuple[list[np.ndarray], list[np.ndarray]]


def diagram(embedding: Embedding, chosen: Selection) -> Scene:
    """Time up, space across; a time circle is cut open, and edges across the cut appear at both ends."""
    view, step = _view(embedding, chosen)
    everywhere = np.stack([view.space, view.time], axis=1)
    at = everywhere[chosen.nodes]
    start = at[chosen.sources]
    end = np.stack([at[chosen.targets, 0], start[:, 1] + step], axis=1)
    paths, edge_of = _copies(np.stack([start, end], axis=1), view.period)
    limits = _limits(everywhere, at[chosen.chosen], view)
    height = view.period / 2 if view.period is not None else 2 * np.ptp(limits, axis=1).max()

    def cone(node: int, way: int) -> Iterable[np.ndarray]:
        """|Δx| ≤ ±Δt, half a turn high or up to the edge of the picture."""
        triangle = at[node] + height * np.array([[0, 0], [1, way], [-1, way]])
        return _copies(triangle[None], view.period)[0]

    future, past = _cones(chosen.chosen if view.light else (), cone)
    notes = [*chosen.notes, *lost_note(view.lost)]
    if outside := np.count_nonzero(((everywhere < limits[:, 0]) | (everywhere > limits[:, 1])).any(axis=1)):
        notes.append(f"{outside:,} of {len(everywhere):,} nodes lie outside the picture")
    if view.period is not None and np.ptp(limits[1]) < view.period:
        notes.append(f"time: {np.ptp(limits[1]) / view.period:.0%} of the circle shown; the rest is empty")
    walls = () if view.wall is None else (-view.wall, view.wall)
    guides = [np.array([[side, limits[1, 0]], [side, limits[1, 1]]]) for side in walls]
    return Scene(
        at, paths, edge_of, limits, future, past, guides, labels=(view.space_label, view.time_label),
        light=view.light, half=view.period and view.period / 2, notes=notes,
        cloud=everywhere if chosen.everyone else None,
    )  # fmt: skip


def rolled(embedding: Embedding, chosen: Selection) -> Scene:
    """Time runs around the axis, space along it: a cylinder, or the hyperboloid of anti-de Sitter space."""
    view, step = _view(embedding, chosen)
    view = view._replace(time=view.time[chosen.nodes], space=view.space[chosen.nodes])
    assert view.period is not None
    half, curved = view.period / 2, view.wall is not None
    turn = np.pi / half

    def surface(space: np.ndarray, time: np.ndarray) -> np.ndarray:
        radius = 1 / np.cos(space) if curved else np.full_like(space, 1 / turn)
        along = np.tan(space) if curved else space
        return np.stack([radius * np.cos(turn * time), radius * np.sin(turn * time), along], axis=-1)

    paths = surface(*_between(chosen, view.space, view.time, step))
    reach = max(1.1 * np.abs(view.space).max(), 0.6 / turn)
    reach = min(reach, 1.4) if curved else reach  # the hyperboloid is infinite
    sides, circle = np.linspace(-reach, reach, 7), np.linspace(0, view.period, 61)
    guides = [surface(np.full_like(circle, x), circle) for x in sides]
    guides += [surface(np.linspace(-reach, reach, 21), np.full(21, t)) for t in circle[:-1:5]]

    def rays(node: int, way: int) -> Iterator[np.ndarray]:
        for side in (1, -1):
            run = np.linspace(0, min(half, reach - side * view.space[node]), 2 * STEPS)
            yield surface(view.space[node] + side * run, view.time[node] + way * run)

    future, past = _cones(chosen.chosen if view.light else (), rays)
    at, everything = surface(view.space, view.time), np.concatenate(guides)
    limits = np.stack([everything.min(axis=0), everything.max(axis=0)], axis=1)
    notes = [*chosen.notes, *lost_note(view.lost), "time runs around the axis, space along it"]
    return Scene(at, paths, np.arange(len(paths)), limits, future, past, guides, notes=notes)


def polar(embedding: Embedding, chosen: Selection) -> Scene:
    """Anti-de Sitter space (eqs. 7 and 8): the angle is time θ, the radius shows r = √(1 + |x|²).

    Both are exact in any dimension; only the direction in space is lost. The drawn radius is the proper
    distance arcosh r from the inner circle r = 1.
    """
    whole, step = _view(embedding, chosen)
    depths = depth(np.asarray(embedding.points, float))
    view = whole._replace(time=whole.time[chosen.nodes])
    deep = depths[chosen.nodes]
    deepest = max(1.08 * depths.max(), 0.2)
    hole = 0.45 * deepest

    def place(deep: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return (hole + deep)[..., None] * np.stack([np.cos(theta), np.sin(theta)], axis=-1)

    paths = place(*_between(chosen, deep, view.time, step))
    circle = np.linspace(0, 2 * np.pi, 121)
    outer = [r for r in _round_numbers(1.0, np.cosh(deepest)) if np.arccosh(r) > 0.3 * deepest]
    rings = [1.0, *outer[-1:]]
    guides = [place(np.full_like(circle, np.arccosh(r)), circle) for r in rings]
    edge = place(np.array([deepest * 1.13] * 4), np.arange(4) * np.pi / 2)
    marks = [(*xy, text) for xy, text in zip(edge.tolist(), ("0", "π/2", "π", "−π/2"), strict=True)]
    free = _widest_gap(view.time)
    marks += [(*place(np.arccosh(r), free).tolist(), f"r = {r:g}") for r in rings]

    def rays(node: int, way: int) -> Iterator[np.ndarray]:
        """Light rays outwards, and inwards through the centre: dθ = ±dσ, cos σ = 1/r."""
        sigma, end = np.arccos(1 / np.cosh([deep[node], deepest]))
        for target in (end, -end):
            along = np.linspace(sigma, target, 2 * STEPS)
            yield place(np.arccosh(1 / np.cos(along)), view.time[node] + way * np.abs(along - sigma))

    future, past = _cones(chosen.chosen, rays)
    size = 1.2 * (hole + deepest)
    return Scene(
        place(deep, view.time), paths, np.arange(len(paths)), np.array([[-size, size]] * 2),
        future, past, guides, marks,
        notes=[*chosen.notes, "angle: time θ; radius: spatial distance from the centre, in any direction"],
        cloud=place(depths, whole.time) if chosen.everyone else None,
    )  # fmt: skip


def _widest_gap(angles: np.ndarray) -> np.ndarray:
    """The middle of the longest arc without a node."""
    ordered = np.sort(angles)
    gaps = np.diff(ordered, append=ordered[:1] + 2 * np.pi)
    return ordered[np.argmax(gaps)] + gaps.max() / 2


def disk(embedding: Embedding, chosen: Selection) -> Scene:
    """Hyperbolic space as the Poincaré disk x/(1 + x₀) with the time coordinate up; edges are geodesics."""
    points = np.asarray(embedding.points, float)
    across, _, lost, _ = main_directions(points[:, 2:])
    x = np.stack([across, points[:, 1]], axis=1)
    every = np.concatenate([np.sqrt(1 + np.sum(x**2, axis=1, keepdims=True)), x], axis=1)
    full = every[chosen.nodes]

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
    notes = [*chosen.notes, *lost_note(lost), "edges are geodesics; circles: distance from the origin"]
    marks = [(0.0, -float(np.tanh(d / 2)), f"{d:g}") for d in rings]
    limits = np.array([[-size, size]] * 2)
    cloud = place(every) if chosen.everyone else None
    edges = place(lines), np.arange(len(lines))
    return Scene(at, *edges, limits, guides=guides, marks=marks, notes=notes, cloud=cloud)


#: Layouts by name, each with a test for the manifolds that support it.
LAYOUTS: dict[str, tuple[Layout, Callable[[Manifold], bool]]] = {
    "diagram": (diagram, lambda manifold: True),
    "rolled": (rolled, lambda manifold: half_turn(manifold) is not None),
    "polar": (polar, is_anti_de_sitter),
    "disk": (disk, is_hyperbolic),
}


def layouts_for(manifold: Manifold) -> list[str]:
    """The layouts that a manifold supports, the most suitable first."""
    fitting = [name for name, (_, fits) in LAYOUTS.items() if fits(manifold)]
    return sorted(fitting, key=lambda name: name not in ("polar", "disk"))


def layout_of(manifold: Manifold, kind: str = "auto") -> Layout:
    """The layout called `kind`, or for "auto" the most suitable one; raises if it does not fit."""
    fitting = layouts_for(manifold)
    kind = fitting[0] if kind == "auto" else kind
    one_of("kind", kind, fitting, f" for {words_for(manifold)}")
    return LAYOUTS[kind][0]


def _view(embedding: Embedding, chosen: Selection) -> tuple[View, np.ndarray]:
    """The view of all nodes, and Δt of every edge."""
    view = view_of(embedding.model.manifold, embedding.points)
    time = view.time[chosen.nodes]
    step = time[chosen.targets] - time[chosen.sources]
    if view.period is not None:
        step = wrap(step, view.period) + view.period * chosen.turns
    return view, step


def _between(
    chosen: Selection, across: np.ndarray, time: np.ndarray, step: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each edge in `STEPS` points: one coordinate from source to target, and time over Δt = `step`."""
    share = np.linspace(0, 1, STEPS)
    s, e = chosen.sources[:, None], chosen.targets[:, None]
    return across[s] + share * (across[e] - across[s]), time[s] + share * step[:, None]


def _cones(nodes: Iterable[int], outlines: Callable[[int, int], Iterable[np.ndarray]]) -> Cones:
    """The outlines of the future (way 1) and the past (−1) light cones of nodes."""
    future, past = ([line for node in nodes for line in outlines(node, way)] for way in (1, -1))
    return future, past


def _copies(paths: np.ndarray, period: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Each path shifted by whole periods to every place where part of it lies within ±period/2."""
    if period is None:
        return paths, np.arange(len(paths))
    low, high = paths[:, :, 1].min(axis=1), paths[:, :, 1].max(axis=1)
    copies, edges = [], []
    for turns in range(-3, 4):
        (seen,) = np.nonzero((low + turns * period < period / 2) & (high + turns * period > -period / 2))
        copies.append(paths[seen] + [0.0, turns * period])
        edges.append(seen)
    return np.concatenate(copies), np.concatenate(edges)


def _limits(at: np.ndarray, chosen: np.ndarray, view: View) -> np.ndarray:
    """[[left, right], [bottom, top]]: full width between walls, and only the used part of a time circle.

    A few outlying nodes, none of them `chosen`, may lie outside so that the rest is not drawn too small.
    """
    low, high = at.min(axis=0), at.max(axis=0)
    early = np.quantile(at, FAR / 2, axis=0, method="lower")  # nodes, no interpolation
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


def _round_numbers(low: float, high: float) -> list[float]:
    """One to three round numbers in (low, high]."""
    size = 10.0 ** np.floor(np.log10(high - low))
    for step in (size * k for k in (0.1, 0.2, 0.5, 1, 2, 5)):
        numbers = np.arange(np.floor(low / step) + 1, np.floor(high / step + 1e-9) + 1) * step
        if len(numbers) <= 3:
            break
    return [round(float(x), 6) for x in numbers]
