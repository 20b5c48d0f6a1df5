"""The pictures of `architecture.py`: rooms by level, and a path of calls in lanes."""

from collections.abc import Iterable

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

#: Colour → rooms: foundations, data, learning, use.
FAMILIES = {
    "#dfe3e8": ("_util", "core", "likelihoods", "manifolds", "baselines"),
    "#d6e6f2": ("graphs", "io", "datasets", "evaluation"),
    "#f9ddc7": (
        "engine",
        "embedding",
        "training",
        "estimator",
        "distributed",
        "evidence",
        "hierarchy",
        "spectral",
    ),
    "#dcebd2": ("plot", "explore", "serve", "cli"),
}
LEGEND = dict(zip(FAMILIES, ("mathematics", "data", "learning", "use"), strict=True))
#: Where a room stands on the map: data to the left, use to the right; others in the middle.
COLUMNS = {
    "evidence": -3.3,
    **dict.fromkeys(("evaluation", "datasets", "io", "distributed"), -2.5),
    "estimator": -2.2,
    **dict.fromkeys(("graphs", "spectral"), -1.2),
    **dict.fromkeys(("core", "plot", "training"), 1.2),
    **dict.fromkeys(("likelihoods", "engine", "explore", "serve"), 2.5),
    "hierarchy": 3.3,
}
INK, LINE, RED = "#222222", "#8a929b", "#b2182b"
#: Lanes of a path, from left to right.
LANES = (
    "estimator",
    "io",
    "evaluation",
    "training",
    "engine",
    "core",
    "manifolds",
    "likelihoods",
    "embedding",
    "evidence",
)


def _colour(room: str) -> str:
    return next((colour for colour, rooms in FAMILIES.items() if room in rooms), "#eeeeee")


def _box(axes, x: float, y: float, text: str, width: float, colour: str, size: float = 9, **font) -> None:
    height = 0.46
    axes.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.1",
            facecolor=colour,
            edgecolor=LINE,
            linewidth=0.8,
            zorder=3,
        )
    )
    axes.text(x, y, text, ha="center", va="center", fontsize=size, color=INK, zorder=4, **font)


def _arrow(axes, start: tuple[float, float], end: tuple[float, float], bend: float = 0, **style) -> None:
    look = {"color": LINE, "linewidth": 1, "arrowstyle": "-|>", "mutation_scale": 9} | style
    axes.add_patch(
        FancyArrowPatch(
            start, end, connectionstyle=f"arc3,rad={bend}", shrinkA=0, shrinkB=0, zorder=2, **look
        )
    )


def _axes(width: float, height: float, xlim: tuple[float, float], ylim: tuple[float, float]):
    figure = Figure((width, height), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=xlim, ylim=ylim)
    axes.set_axis_off()
    return figure, axes


def draw_rooms(graph: dict[str, list[str]], shown: dict[str, list[str]], level: dict[str, int]) -> Figure:
    """Rooms by level, the foundations at the bottom; an arrow points to what a room imports."""
    top = max(level.values())
    figure, axes = _axes(7.5, 0.72 * (top + 1) + 0.5, (-4.3, 4.3), (-1, top + 0.4))
    place = {room: (COLUMNS.get(room, 0), level[room]) for room in graph}
    for room, (x, y) in place.items():
        _box(axes, x, y, room, 1.5, _colour(room), family="monospace")
        for other in shown[room]:
            ox, oy = place[other]
            _arrow(axes, (x, y - 0.23), (ox, oy + 0.23))
    for i, (colour, label) in enumerate(LEGEND.items()):
        x = -2.9 + 1.95 * i
        axes.plot([x - 0.45], [-0.7], "s", color=colour, markeredgecolor=LINE, markersize=8)
        axes.text(x - 0.25, -0.7, label, va="center", fontsize=8.5, color=INK)
    return figure


def draw_path(calls: Iterable[tuple[str, str]], says: dict[str, str]) -> Figure:
    """Calls from top to bottom, each in the lane of its room, with what comes out of it."""
    steps = [(*landmark.split(":"), caller) for landmark, caller in calls]
    entered = {module.split(".")[0] for module, _, _ in steps} | {caller for _, _, caller in steps}
    used = [room for room in LANES if room in entered]
    lane = {room: i for i, room in enumerate(used)}
    wide, row, words, top = 0.5, 0.36, 3.45, 0.95  # in inches, like all places below
    right, bottom = wide * (len(used) - 1) + 0.32, -row * len(steps) - 0.05
    left = -0.28
    figure, axes = _axes(right + words - left, top - bottom, (left, right + words), (bottom, top))
    for room, x in ((room, wide * i) for room, i in lane.items()):
        axes.add_patch(Rectangle((x - 0.07, bottom), 0.14, 0.1 - bottom, color=_colour(room), zorder=0))
        axes.text(
            x, 0.16, room, rotation=50, rotation_mode="anchor", fontsize=8, family="monospace", color=INK
        )
    for number, (module, function, caller) in enumerate(steps):
        x, y = wide * lane[module.split(".")[0]], -row * (number + 0.5)
        if caller in lane and wide * lane[caller] != x:
            start = wide * lane[caller]
            axes.plot([start], [y], "o", color=LINE, markersize=3, zorder=2)
            _arrow(axes, (start, y), (x - (0.09 if x > start else -0.09), y))
        axes.plot([x], [y], "o", color=RED, markersize=11, zorder=3)
        axes.text(x, y, str(number + 1), color="white", ha="center", va="center", fontsize=7, zorder=4)
        axes.text(right, y + 0.07, function, fontsize=8, va="center", family="monospace", color=INK)
        axes.text(right, y - 0.08, says[f"{module}:{function}"], fontsize=8, va="center", color="#5b636b")
    return figure
