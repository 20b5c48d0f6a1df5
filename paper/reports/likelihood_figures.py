"""The figures of the paper that need no data: the likelihood around an event, and the disk cone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.core import Model
from timelike.likelihoods import FermiDirac, TripleFermiDirac
from timelike.manifolds import AntiDeSitter, CylindricalMinkowski, Euclidean, Minkowski
from timelike.plot import Extent, draw_landscape, landscape, mark_event, panels, polar_chart, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def tfd_heatmaps(
    alphas: tuple[float, float, float] = (0.001, 0.02, 0.075),
    tau1: float = 0.15,
    tau2: float = 0.05,
    *,
    extent: Extent = (-1.5, 1.5, -1.5, 1.5),
    resolution: int = 301,
) -> Figure:
    """Figure 1 of the paper: F(p, q) around p at the origin, in two dimensions.

    A–C: the triple Fermi-Dirac function (eq. 15) in Minkowski spacetime for three values of α. F peaks
    (cross) in the near timelike future; the larger α, the nearer the peak. D: F₁ (eq. 16) alone does not
    distinguish past and future. E, F: F₁ and F in Euclidean space with coordinate 0 as time. The paper gives
    α = 0.001 for A and 0.075 for C; the other numbers are ours.
    """
    f1 = FermiDirac(tau1)
    tfd = [TripleFermiDirac(tau1, tau2, alpha) for alpha in alphas]
    shown = [
        *((Minkowski(2), f, rf"$\mathcal{{F}}$, Minkowski, $\alpha={f.alpha:g}$") for f in tfd),
        (Minkowski(2), f1, "$F_1$, Minkowski"),
        (Euclidean(2), f1, "$F_1$, Euclidean"),
        (Euclidean(2), tfd[-1], rf"$\mathcal{{F}}$, Euclidean, $\alpha={alphas[-1]:g}$"),
    ]
    scenes = [landscape(Model(m, f), extent, resolution=resolution) for m, f, _ in shown]
    with styled():
        figure, grid = panels(2, 3, width=5.6, height=3.8)
        for axes, scene, (_, f, title), letter in zip(grid.flat, scenes, shown, "ABCDEF", strict=True):
            image = draw_landscape(axes, scene, peak=isinstance(f, TripleFermiDirac))
            mark_event(axes)
            _title(axes, letter, title)
        _label_outer(grid)
        colour_bar(figure, image, grid)
    return figure


def wrapped_heatmaps(likelihood: TripleFermiDirac | None = None, *, resolution: int = 301) -> Figure:
    """The wrapped TFD (eq. 21) over one turn of time: A, cylindrical Minkowski; B, anti-de Sitter.

    The cylinder has C = 2π, the length of the circle of time at the origin of anti-de Sitter, so both
    panels agree near p. The top and the bottom of a panel are the same events.
    """
    likelihood = TripleFermiDirac(0.15, 0.05, 0.075) if likelihood is None else likelihood
    cylinder, ads = CylindricalMinkowski(2, 2 * np.pi), AntiDeSitter(2)
    extent = (-2.0, 2.0, -np.pi, np.pi)
    flat = landscape(Model(cylinder, likelihood), extent, resolution=resolution)
    curved = landscape(Model(ads, likelihood), extent, chart=polar_chart(ads), resolution=resolution)
    with styled():
        figure, grid = panels(1, 2, width=4.6, height=3.15)
        scenes = (flat, "cylindrical Minkowski", "$t$ (time)"), (curved, "anti-de Sitter", r"$\theta = t/r$")
        for axes, (scene, name, time), letter in zip(grid.flat, scenes, "AB", strict=True):
            image = draw_landscape(axes, scene, peak=True)
            mark_event(axes)
            _title(axes, letter, name)
            axes.set(xlabel="$x$ (space)", ylabel=time, yticks=[-np.pi, 0, np.pi])
            axes.set_yticklabels([r"$-\pi$", "0", r"$\pi$"])
        colour_bar(figure, image, grid)
    return figure


def disk_cone(tau1: float = 0.05, tau2: float = 0.05, *, reach: float = 1.0, resolution: int = 801) -> Figure:
    """The appendix figure: the region F ≥ ½ with α = r = 0, k = 1 (eq. 26), and the disk cone D ≤ T.

    Red: the contour F = ½ of the model. Blue: D = T, the order of Euclidean disk embeddings.
    """
    model = Model(Minkowski(2), TripleFermiDirac(tau1, tau2, alpha=0.0))
    scene = landscape(model, (-reach, reach, -0.2 * reach, reach), resolution=resolution)
    red, blue = "#b2182b", "#2166ac"
    with styled():
        figure, grid = panels(1, 1, width=3.3, height=2.3)
        axes = grid.flat[0]
        axes.contourf(scene.x, scene.t, scene.prob, levels=[0.5, 1.0], colors=[red], alpha=0.1)
        axes.contour(scene.x, scene.t, scene.prob, levels=[0.5], colors=[red], linewidths=1.2)
        axes.plot([-reach, 0, reach], [reach, 0, reach], color=blue, linewidth=1.2, dashes=(4, 1.5))
        mark_event(axes)
        axes.plot([], [], color=red, linewidth=1.2, label=r"$\mathcal{F}(p, q) = \frac{1}{2}$")
        axes.plot([], [], color=blue, linewidth=1.2, dashes=(4, 1.5), label="$D = T$")
        axes.legend(loc="lower right")
        axes.set(aspect="equal", xlim=scene.extent[:2], ylim=scene.extent[2:], yticks=[0, reach / 2, reach])
        axes.set(xlabel="$x$ (space)", ylabel="$t$ (time)")
    return figure


def colour_bar(figure: Figure, image: Any, grid: np.ndarray) -> None:
    """The scale of the probabilities, beside the axes."""
    bar = figure.colorbar(image, ax=grid, shrink=0.6, aspect=22, pad=0.02, ticks=[0, 0.5, 1])
    bar.set_label("probability", fontsize=8)
    bar.outline.set_linewidth(0.6)


def _title(axes: Axes, letter: str, title: str) -> None:
    axes.set_title(rf"$\bf{{{letter}}}$  {title}", loc="left", pad=4)


def _label_outer(grid: np.ndarray) -> None:
    """Label the axes of the outer panels only."""
    for axes in grid.flat:
        axes.set(xlabel="$x$ (space)", ylabel="$t$ (time)")
        axes.label_outer()
