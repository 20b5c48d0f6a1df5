"""`timelike demo`: a graph with cycles in a spacetime and in Euclidean space."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import timelike as tl
from timelike._util.atomic_files import replacing
from timelike._util.checks import output_path, whole_number
from timelike.cli.options import Json
from timelike.cli.printing import print_json

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from timelike.training.sweeps import Sweep

#: File endings, and so formats, of pictures.
PICTURES = (".png", ".pdf", ".svg")

#: Circumference of the time circle, as in the paper.
CIRCUMFERENCE = 10.0

#: Average precision of a random ranking: there are four negatives per held-out edge.
RANDOM = 0.2


@dataclasses.dataclass(frozen=True)
class Demo:
    """Embed a small graph with cycles in a spacetime and in Euclidean space, and compare the two.

    Example: timelike demo --out demo.png
    """

    out: Path = Path("demo.png")
    """Picture to write; its ending (.png, .pdf, .svg) is the format."""

    seeds: int = 5
    """Number of random starts."""

    json: Json = False

    def run(self) -> None:
        """Train both models, write the picture and print the scores."""
        output_path("--out", self.out, PICTURES)
        whole_number("--seeds", self.seeds, 1)
        result = demonstrate(self.seeds)
        with replacing(self.out) as part:
            picture(result).savefig(part, dpi=160)
        scores = {name: round(median(values), 4) for name, values in result.scores().items()}
        if self.json:
            graph = {"nodes": result.graph.num_nodes, "edges": result.graph.num_edges}
            summary = {"average_precision": scores, "random": RANDOM, "seeds": self.seeds, "graph": graph}
            print_json({"version": tl.__version__, **summary, "picture": str(self.out)})
            return
        print(f"Duplication-divergence graph with cycles: {result.graph}")
        print(f"Average precision on held-out edges, median of {self.seeds} seeds:")
        for name, score in scores.items():
            print(f"  {name:<30}{score:.3f}")
        print(f"  {'a random ranking':<30}{RANDOM:.3f}")
        print(f"Picture: {self.out}")


class Demonstration(NamedTuple):
    """The graph, its training edges, and both models, trained from several seeds."""

    graph: tl.DiGraph
    train: tl.DiGraph
    spacetime: Sweep
    euclidean: Sweep

    def scores(self) -> dict[str, list[float]]:
        """Average precision on the test edges for every seed, at the epoch that validation chose."""
        runs = {"cylindrical Minkowski + TFD": self.spacetime, "Euclidean + FD": self.euclidean}
        return {name: [row["test_ap"] for row in run.rows] for name, run in runs.items()}


def demonstrate(seeds: int) -> Demonstration:
    """Embed a duplication-divergence graph with the paper's settings in d = 10.

    The test takes 15 % of the edges, validation 10 % of the rest.
    """
    from timelike.likelihoods import FermiDirac, TripleFermiDirac
    from timelike.manifolds import CylindricalMinkowski, Euclidean

    graph = tl.datasets.duplication_divergence(seed=17)
    split = tl.split_edges(graph, valid=0.085, test=0.15)
    spacetime = tl.Model(CylindricalMinkowski(10, CIRCUMFERENCE), TripleFermiDirac(0.4, 0.07, 0.09))

    def run(model: tl.Model) -> Sweep:
        config = tl.Config(epochs=120)
        return tl.sweep(split.train, model, config, seeds=seeds, valid=split.valid, test=split.test)

    return Demonstration(graph, split.train, run(spacetime), run(tl.Model(Euclidean(10), FermiDirac(0.4))))


def picture(result: Demonstration) -> Figure:
    """Draw the unrolled spacetime on the left and the scores on the right."""
    with tl.plot.styled():
        figure, grid = tl.plot.panels(1, 2, width=6.8, height=3.4)
        _draw_events(figure, grid[0, 0], result)
        _draw_scores(grid[0, 1], result.scores())
    return figure


def _draw_events(figure: Figure, axes: Axes, result: Demonstration) -> None:
    """Nodes at (main direction of space, time), training edges in grey, arrows for the likeliest edges."""
    import numpy as np

    from timelike.plot.views import view_of, wrap

    embedding = result.spacetime.best
    view = view_of(embedding.model.manifold, embedding.points)
    x, t = view.space, view.time
    s, e = result.train.sources, result.train.targets
    probability, step = embedding.prob(s, e), wrap(t[e] - t[s], CIRCUMFERENCE)
    axes.plot([x[s], x[e]], [t[s], t[s] + step], color="0.88", lw=0.4, zorder=0)
    order = np.argsort(-probability)
    likeliest = order[np.unique(s[order], return_index=True)[1]]
    of, to = s[likeliest], e[likeliest]
    arrows: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.005, "headwidth": 4}
    vectors = (x[of], t[of], x[to] - x[of], step[likeliest], probability[likeliest])
    quiver = axes.quiver(*vectors, cmap="viridis_r", clim=(0, 1), **arrows)
    axes.scatter(x, t, s=7, color="black", zorder=3, linewidths=0)
    axes.set(xlabel="space (main direction)", ylabel="time")
    axes.set_title("Each node and its most likely edge", loc="left")
    figure.colorbar(quiver, ax=axes, label="edge probability", aspect=30)


def _draw_scores(axes: Axes, scores: dict[str, list[float]]) -> None:
    """One circle per seed, the median as a red line."""
    for row, values in enumerate(scores.values()):
        axes.plot(values, [row] * len(values), "o", ms=4, mfc="none", color="black")
        axes.plot([median(values)] * 2, [row - 0.2, row + 0.2], color="tab:red", lw=2)
    axes.axvline(RANDOM, color="grey", lw=0.8, ls="--")
    axes.text(RANDOM + 0.01, 0.5, "random ranking", color="grey", va="center")
    axes.set(xlim=(0, 1), ylim=(-0.6, 1.6), xlabel="average precision on held-out edges")
    axes.set_yticks(range(len(scores)), [name.replace(" + ", "\n+ ") for name in scores])
    axes.set_title("One circle per seed, median in red", loc="left")
