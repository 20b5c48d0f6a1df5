"""The ablation of metric, topology and likelihood, on ten duplication-divergence graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from paper.reports.simple_rows import beside
from paper.reports.tables import by_dimension, flat, markdown
from paper.runner.task_results import write_picture
from paper.table_rows import load_rows
from paper.tasks import Options, Report, Result, Task
from paper.training.link_prediction import PROTOCOLS, tasks_of

ABOUT = "seven combinations of manifold and likelihood on ten duplication-divergence graphs (box plots)"

#: Ingredient → (row with it, row without it).
CONTRIBUTIONS = {
    "circle of time, Minkowski": ("m7", "m5"),
    "circle of time, Euclidean": ("m4", "m1"),
    "negative intervals, on a line": ("m5", "m1"),
    "negative intervals, on a circle": ("m7", "m4"),
    "direction (TFD instead of FD), Euclidean": ("m1", "m3"),
}


#: Ingredient → the pairs of rows that add it to a model without it; the most complete model comes first.
INGREDIENTS = {
    "direction (TFD instead of FD)": (("m1", "m3"),),
    "negative intervals": (("m7", "m4"), ("m5", "m1")),
    "the circle of time": (("m7", "m5"), ("m4", "m1")),
}
#: What the paper names as arguably the biggest contributor.
BIGGEST = "the circle of time"
DIM = 10


def tasks(options: Options) -> Iterator[Task]:
    """The tasks of every row of the ablation."""
    for row in load_rows("ablation"):
        yield from tasks_of(row, options)


def report(results: list[Result], folder: Path) -> Report:
    """A table for each protocol, the gain from each ingredient, and box plots."""
    results.sort(key=lambda r: (r.about["row"], r.about["dim"]))
    parts = [
        "# Ablation",
        "Duplication-divergence graphs with exactly the paper's 1,026 edges. Average precision in percent, "
        "median ± standard deviation over graphs and seeds; in brackets, the paper's for its one graph.",
    ]
    for protocol, title in PROTOCOLS.items():
        some = [r for r in results if r.about["protocol"] == protocol]
        if some:
            runs = len(some[0].found["scores"])
            graphs = len(set(some[0].found["graphs"]))
            parts += [f"## {title}", f"{runs} runs on {graphs} graphs:", by_dimension(some)]
            parts += [
                _simple(some),
                "The gain from each ingredient: median over graphs, and on how many graphs it helps.",
                _gains(some),
                _ranking(some),
            ]
            _boxes(some, title, folder / f"ablation-{protocol}.png")
            parts.append(f"![Box plots: {title}.](ablation-{protocol}.png)")
    return Report("\n\n".join(filter(None, parts)), [flat(r) for r in results])


def _simple(results: Sequence[Result]) -> str:
    """The simple methods on the same graphs."""
    graphs = dict.fromkeys(results[0].found["graphs"])
    return beside("duplication-divergence", graphs, "uniform", [r.found["median"] for r in results])


def _by_graph(result: Result) -> np.ndarray:
    """The median score of each graph."""
    graphs, scores = np.array(result.found["graphs"]), np.array(result.found["scores"])
    return np.array([np.median(scores[graphs == graph]) for graph in np.unique(graphs)])


def _gains(results: Sequence[Result]) -> str:
    cell = {(r.about["row"], r.about["dim"]): _by_graph(r) for r in results}
    dims = sorted({r.about["dim"] for r in results})
    body = []
    for ingredient, (having, lacking) in CONTRIBUTIONS.items():
        line = [f"{ingredient} ({having.upper()} − {lacking.upper()})"]
        for dim in dims:
            if (having, dim) in cell and (lacking, dim) in cell:
                gain = cell[having, dim] - cell[lacking, dim]
                line.append(f"{np.median(gain):+.1f} ({np.sum(gain > 0)}/{len(gain)})")
            else:
                line.append("–")
        body.append(line)
    return markdown(["", *(f"d = {dim}" for dim in dims)], body)


def _ranking(results: Sequence[Result]) -> str:
    """The ingredients by their largest gain, and whether that agrees with the paper."""
    cell = {r.about["row"]: _by_graph(r) for r in results if r.about["dim"] == DIM}
    gains = {
        name: [float(np.median(cell[a] - cell[b])) for a, b in pairs if a in cell and b in cell]
        for name, pairs in INGREDIENTS.items()
    }
    if not all(gains.values()):
        return ""
    order = sorted(gains, key=lambda name: -max(gains[name]))
    named = (f"{name} ({' or '.join(f'{gain:+.1f}' for gain in gains[name])})" for name in order)
    text = f"By their largest gain at d = {DIM}: {', then '.join(named)}. A second value is the gain without "
    text += "the other ingredient."
    place = 1 + order.index(BIGGEST)
    claim = 'The paper calls the S¹ topology "arguably the biggest contributor"'
    return f"{text} {claim}; here {BIGGEST} comes {('first', 'second', 'third')[place - 1]}" + (
        "." if place == 1 else ", so this ablation contradicts it."
    )


def _boxes(results: Sequence[Result], title: str, path: Path) -> None:
    """One panel for each dimension, one box for each model."""
    from timelike.plot import PAGE, panels, styled

    dims = sorted({r.about["dim"] for r in results})
    with styled():
        figure, grid = panels(1, len(dims), width=PAGE, height=2.4)
        for axes, dim in zip(grid.flat, dims, strict=True):
            models = [r for r in results if r.about["dim"] == dim]
            boxes = [r.found["scores"] for r in models]
            axes.boxplot(boxes, widths=0.6, medianprops={"color": "#D55E00"}, flierprops={"markersize": 2})
            axes.set_xticks(range(1, len(models) + 1), [r.about["row"].upper() for r in models], fontsize=6)
            axes.set_title(f"d = {dim}", loc="left")
        scores = [score for r in results for score in r.found["scores"]]
        for axes in grid.flat:
            axes.set_ylim(min(scores) - 2, max(scores) + 2)
        grid.flat[0].set_ylabel("average precision (%)")
        figure.suptitle(title, fontsize=9)
        write_picture(path, figure)
