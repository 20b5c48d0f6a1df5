"""The demonstration behind `timelike demo`: a graph with cycles, in a spacetime and in Euclidean space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timelike.core.model import Model
from timelike.datasets import duplication_divergence
from timelike.engine.config import Config
from timelike.evaluation.splits import split_edges
from timelike.graphs.digraph import DiGraph
from timelike.likelihoods import FermiDirac, TripleFermiDirac
from timelike.manifolds import CylindricalMinkowski, Euclidean
from timelike.plot import panels, styled
from timelike.plot.views import wrap
from timelike.training.sweeps import Sweep, sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The paper's settings for duplication-divergence graphs, in d = 10.
CIRCUMFERENCE = 10.0
SPACETIME = Model(CylindricalMinkowski(10, CIRCUMFERENCE), TripleFermiDirac(0.4, 0.07, 0.09))
BASELINE = Model(Euclidean(10), FermiDirac(0.4))

#: Four non-edges for every held-out edge: what guessing scores.
RANDOM = 0.2


class Demonstration(NamedTuple):
    """The graph, its training part, and both models trained from several seeds."""

    graph: DiGraph
    train: DiGraph
    spacetime: Sweep
    euclidean: Sweep

    def scores(self) -> dict[str, list[float]]:
        """Test average precision of every seed, at the epoch that validation chose."""
        runs = {"cylindrical Minkowski + TFD": self.spacetime, "Euclidean + FD": self.euclidean}
        return {name: [row["test_ap"] for row in run.rows] for name, run in runs.items()}


def demonstrate(seeds: int) -> Demonstration:
    """Embed a duplication-divergence graph; 15 % of its edges are held out, 10 % of the rest validate."""
    graph = duplication_divergence(seed=17)
    split = split_edges(graph, valid=0.085, test=0.15)

    def run(model: Model) -> Sweep:
        config = Config(epochs=120)
        return sweep(split.train, model, config, seeds=seeds, valid=split.valid, test=split.test)

    return Demonstration(graph, split.train, run(SPACETIME), run(BASELINE))


def picture(result: Demonstration) -> Figure:
    """The spacetime on the left, unrolled; the scores on the right."""
    with styled():
        figure, grid = panels(1, 2, width=6.8, height=3.4)
        _draw_events(figure, grid[0, 0], result)
        _draw_scores(grid[0, 1], result.scores())
    return figure


def _draw_events(figure: Figure, axes: Axes, result: Demonstration) -> None:
    """Nodes at (main direction of space, time); training edges in grey, each node's likeliest as an arrow."""
    embedding = result.spacetime.best
    space = embedding.points[:, 1:] - embedding.points[:, 1:].mean(axis=0)
    main, strength, _ = np.linalg.svd(space, full_matrices=False)
    x, t = main[:, 0] * strength[0], wrap(embedding.points[:, 0], CIRCUMFERENCE)
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
    axes.set_title("Each node and its likeliest edge", loc="left")
    figure.colorbar(quiver, ax=axes, label="edge probability", aspect=30)


def _draw_scores(axes: Axes, scores: dict[str, list[float]]) -> None:
    for row, values in enumerate(scores.values()):
        axes.plot(values, np.full(len(values), row), "o", ms=4, mfc="none", color="black")
        axes.plot([np.median(values)] * 2, [row - 0.2, row + 0.2], color="tab:red", lw=2)
    axes.axvline(RANDOM, color="grey", lw=0.8, ls="--")
    axes.text(RANDOM + 0.01, 0.5, "guessing", color="grey", va="center")
    axes.set(xlim=(0, 1), ylim=(-0.6, 1.6), xlabel="average precision on held-out edges")
    axes.set_yticks(range(len(scores)), [name.replace(" + ", "\n+ ") for name in scores])
    axes.set_title("One circle per seed, median in red", loc="left")
