"""Figures 2, 3 and 4 of the paper, from the results of the toy graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paper.runner.task_results import write_picture
from paper.tasks import Result

#: Picture → its panels, from left to right.
PICTURES = {
    "tripartite": ("tripartite/euclidean", "tripartite/minkowski"),
    "transitivity": ("chain/alpha-0.001", "chain/alpha-0.075", "closure/alpha-0.001", "closure/alpha-0.075"),
    "cycle": ("cycle/minkowski", "cycle/cylindrical-minkowski", "cycle/anti-de-sitter"),
}
TEXTS = {
    "tripartite": "Figure 2: two unlinked nodes (orange) with all neighbours in common.",
    "transitivity": "Figure 3: probabilities of all pairs of a chain and of its closure, for two α.",
    "cycle": "Figure 4: a five-node cycle in three spacetimes, and the probabilities of all pairs.",
}
EDGE, NON_EDGE, PAIR = "black", "#56B4E9", "#D55E00"
SPACES = {
    "euclidean": "Euclidean space",
    "minkowski": "Minkowski spacetime",
    "cylindrical-minkowski": "cylindrical Minkowski",
    "anti-de-sitter": "anti-de Sitter spacetime",
}


class View(NamedTuple):
    """The places of the nodes in a picture; `period` is the length of a circle of time."""

    time: np.ndarray
    space: np.ndarray
    period: float | None = None
    time_label: str = "time"
    space_label: str = "space"


def draw_toys(results: list[Result], folder: Path) -> list[str]:
    """Draw every picture whose results are complete, and return the Markdown that shows them."""
    known = {r.about["row"]: r for r in results}
    shown = [name for name, rows in PICTURES.items() if all(row in known for row in rows)]
    for name in shown:
        _draw(name, [known[row] for row in PICTURES[name]], folder / f"toys-{name}.png")
    return [f"![{TEXTS[name]}](toys-{name}.png)" for name in shown]


def _draw(name: str, results: list[Result], path: Path) -> None:
    from timelike.plot import PAGE, panels, styled

    count = len(results) + (name == "cycle")
    with styled():
        figure, grid = panels(1, count, width=PAGE, height=2.4)
        for axes, result in zip(grid.flat, results, strict=False):
            (_probabilities if name == "transitivity" else _events)(axes, result)
            axes.set_title(_title(name, result), loc="left", fontsize=7)
        if name == "cycle":
            _strips(grid.flat[-1], results)
        write_picture(path, figure)


def _title(name: str, result: Result) -> str:
    about, found = result.about, result.found
    space = SPACES[about["geometry"]]
    if name == "tripartite":
        return f"{space}\nunlinked pair: {found['pair']:.3f}"
    what = about["row"].split("/")[0] if name == "transitivity" else space
    alpha = f", α = {about['settings']['alpha']:g}" if name == "transitivity" else ""
    return f"{what}{alpha}\nNLL {found['nll']:.1f}"


def _events(axes: Any, result: Result) -> None:
    """Nodes in time and space with their edges; the unlinked pair of the tripartite graph in colour."""
    view = _view(result)
    edge = np.array(result.found["edge"])
    pairs = zip(np.array(result.found["sources"])[edge], np.array(result.found["targets"])[edge], strict=True)
    pair = np.arange(len(view.time)) < 2 if "pair" in result.found else np.zeros(len(view.time), bool)
    arrow = {"arrowstyle": "-|>", "color": "0.75", "linewidth": 0.5, "shrinkA": 2, "shrinkB": 2}
    for s, t in pairs:
        step = view.time[t] - view.time[s]
        turns = np.round(step / view.period) if view.period else 0.0
        if turns:  # the edge leaves at one end of time and enters at the other
            shift = turns * (view.period or 0.0)
            for at in (0.0, shift):
                ends = [view.time[s] + at, view.time[t] - shift + at]
                axes.plot(view.space[[s, t]], ends, color="0.75", linewidth=0.5, zorder=0)
        else:
            ends = [(view.space[i], view.time[i]) for i in (t, s)]
            axes.annotate("", *ends, arrowprops=arrow, zorder=0)
    for chosen, colour in ((~pair, EDGE), (pair, PAIR)):
        axes.scatter(view.space[chosen], view.time[chosen], s=12, color=colour, zorder=3)
    if not pair.any():
        for i, (x, t) in enumerate(zip(view.space, view.time, strict=True)):
            axes.annotate(str(i + 1), (x, t), (3, 3), textcoords="offset points", fontsize=6)
    if view.period:
        axes.set_ylim(-view.period / 2, view.period / 2)
    axes.margins(0.15)
    axes.set(xlabel=view.space_label, ylabel=view.time_label)


def _view(result: Result) -> View:
    """Flat coordinates, or (θ, σ) with sin σ = x/r on anti-de Sitter: light has slope ±1 in both."""
    x = np.array(result.found["points"], np.float32).astype(float)
    if result.about["geometry"] == "anti-de-sitter":
        theta, sigma = np.arctan2(-x[:, 1], x[:, 0]), np.arcsin(x[:, 2] / np.hypot(x[:, 0], x[:, 1]))
        return View(theta, sigma, 2 * np.pi, "time θ = t/r", "space σ = arcsin(x/r)")
    turn = result.about["settings"].get("circumference")
    time = x[:, 0] if turn is None else np.mod(x[:, 0] + turn / 2, turn) - turn / 2
    return View(time, x[:, 1], turn)


def _probabilities(axes: Any, result: Result) -> None:
    """The probability of every ordered pair against the number of steps between its nodes."""
    found = result.found
    steps, edge = np.array(found["targets"]) - np.array(found["sources"]), np.array(found["edge"])
    for chosen, colour, label in ((~edge, NON_EDGE, "non-edge"), (edge, EDGE, "edge")):
        axes.scatter(steps[chosen], np.array(found["prob"])[chosen], s=6, color=colour, label=label)
    axes.set(xlabel="steps along the chain", ylim=(-0.03, 1.03))
    if axes.get_subplotspec().is_first_col():
        axes.set_ylabel("probability")
        axes.legend(loc="upper left", fontsize=6, handletextpad=0.1)


def _strips(axes: Any, results: list[Result]) -> None:
    """The probabilities of all pairs on each manifold; edges in black."""
    for column, result in enumerate(results):
        edge, prob = np.array(result.found["edge"]), np.array(result.found["prob"])
        for chosen, colour, side in ((~edge, NON_EDGE, 0.12), (edge, EDGE, -0.12)):
            axes.scatter(np.full(chosen.sum(), column + side), prob[chosen], s=8, color=colour)
    axes.set_xticks(range(len(results)), ["Min.", "Cyl. Min.", "AdS"])
    axes.set(ylim=(-0.03, 1.03), ylabel="edge probability", xlim=(-0.5, len(results) - 0.5))
