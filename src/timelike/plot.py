"""Pictures: the probability landscape around an event, and the figures of the paper.

Every function returns a matplotlib `Figure`, or draws into axes that it is given; nothing is shown
or saved. Matplotlib is an extra, loaded when a picture is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from timelike.likelihoods import FermiDirac, TripleFermiDirac
from timelike.manifolds import AntiDeSitter, CylindricalMinkowski, Euclidean, Minkowski
from timelike.manifolds.base import Manifold, Point, Scalar
from timelike.model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: A map from two coordinates (t, x), time first, to a point.
Chart = Callable[[Scalar, Scalar], Point]

#: (x_min, x_max, t_min, t_max), as matplotlib has it.
Extent = tuple[float, float, float, float]

#: Blue to red for 0 to 1, pale at ½; told apart by lightness too.
COLOURS = "coolwarm"

STYLE: dict[str, Any] = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "axes.linewidth": 0.6,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.direction": "out",
    "ytick.direction": "out",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "savefig.dpi": 200,
}


class Landscape(NamedTuple):
    """Edge probability and interval from one point p to a grid of points q: rows are times."""

    x: np.ndarray
    t: np.ndarray
    prob: np.ndarray
    interval: np.ndarray

    @property
    def extent(self) -> Extent:
        """The corners of the grid."""
        return float(self.x[0]), float(self.x[-1]), float(self.t[0]), float(self.t[-1])


def flat_chart(manifold: Manifold) -> Chart:
    """(t, x) ↦ t e₀ + x e₁: the plane of time and the first direction of space, for flat coordinates."""

    def chart(t: Scalar, x: Scalar) -> Point:
        return manifold.origin().at[0].set(t).at[1].set(x)

    return chart


def polar_chart(manifold: Manifold) -> Chart:
    """(θ, x) ↦ (r cos θ, −r sin θ, x), r = √(1 + x²): anti-de Sitter by eqs. 7 and 8, θ from the origin.

    The whole circle of time is −π ≤ θ ≤ π at every x; in the paper's time (eq. 9) it is 2πr long.
    """

    def chart(theta: Scalar, x: Scalar) -> Point:
        r = jnp.sqrt(1 + x**2)
        return manifold.origin().at[0].set(r * jnp.cos(theta)).at[1].set(-r * jnp.sin(theta)).at[2].set(x)

    return chart


def landscape(
    model: Model,
    extent: Extent = (-2.0, 2.0, -2.0, 2.0),
    *,
    source: Point | None = None,
    chart: Chart | None = None,
    resolution: int = 201,
) -> Landscape:
    """F̃(p, q) and s² for p = `source` (the origin unless given) and q on a grid of `chart`.

    `chart` maps (t, x) to a point; it is `flat_chart` unless given, on anti-de Sitter use
    `polar_chart`. `resolution` is the number of grid points along either side of `extent`.
    """
    p = model.manifold.origin() if source is None else source
    chart = flat_chart(model.manifold) if chart is None else chart
    x = np.linspace(extent[0], extent[1], resolution, dtype=np.float32)
    t = np.linspace(extent[2], extent[3], resolution, dtype=np.float32)

    def at(t: Scalar, x: Scalar) -> tuple[Scalar, Scalar]:
        q = chart(t, x)
        return model.prob(p, q), model.manifold.separation(p, q).nearest.interval[0]

    grid = jax.jit(jax.vmap(jax.vmap(at, (None, 0)), (0, None)))
    prob, interval = grid(jnp.asarray(t), jnp.asarray(x))
    return Landscape(x, t, np.asarray(prob), np.asarray(interval))


def draw_landscape(axes: Axes, scene: Landscape, *, cone: bool = True, peak: bool = False) -> Any:
    """Draw the probabilities as colours and return the image.

    `cone` draws the light cone s² = 0 as thin lines, where there is one; `peak` marks the largest
    probability with a cross.
    """
    image = axes.imshow(
        scene.prob, cmap=COLOURS, vmin=0, vmax=1, origin="lower", extent=scene.extent,
        interpolation="bilinear", aspect="equal",
    )  # fmt: skip
    if cone:
        draw_light_cone(axes, scene)
    if peak:
        row, column = np.unravel_index(np.nanargmax(scene.prob), scene.prob.shape)
        axes.plot(scene.x[column], scene.t[row], "x", color="white", markersize=4.5, markeredgewidth=1)
    return image


def draw_light_cone(axes: Axes, scene: Landscape, **style: Any) -> None:
    """Draw the null lines s² = 0; nothing in a Riemannian space, where only p itself is null."""
    if np.nanmin(scene.interval) < 0 < np.nanmax(scene.interval):
        style = {"colors": "0.15", "linewidths": 0.5, **style}
        axes.contour(scene.x, scene.t, scene.interval, levels=[0.0], **style)


def mark_event(axes: Axes, x: float = 0.0, t: float = 0.0, name: str = "$p$") -> None:
    """A dot with its name."""
    axes.plot(x, t, "o", color="black", markersize=3, zorder=5)
    axes.annotate(name, (x, t), (-3, -9), textcoords="offset points", ha="center")


def tfd_heatmaps(
    alphas: tuple[float, float, float] = (0.001, 0.02, 0.075),
    tau1: float = 0.15,
    tau2: float = 0.05,
    *,
    extent: Extent = (-1.5, 1.5, -1.5, 1.5),
    resolution: int = 301,
) -> Figure:
    """Figure 1 of the paper: F(p, q) around p at the origin, in two dimensions.

    A–C: the triple Fermi-Dirac function (eq. 15) in Minkowski spacetime for three α: F peaks
    (cross) in the near timelike future, and the larger α the nearer. D: F₁ (eq. 16) alone cannot
    tell past from future. E, F: F₁ and F in Euclidean space, where coordinate 0 plays time. The
    paper gives α = 0.001 for A and 0.075 for C; the other numbers are ours.
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
        _colour_bar(figure, image, grid)
    return figure


def wrapped_heatmaps(likelihood: TripleFermiDirac | None = None, *, resolution: int = 301) -> Figure:
    """The wrapped TFD (eq. 21) over one turn of time: A, cylindrical Minkowski; B, anti-de Sitter.

    The cylinder has C = 2π, the length of the circle of time at the origin of anti-de Sitter, so
    the two are equal near p. Top and bottom of each panel are the same events.
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
        _colour_bar(figure, image, grid)
    return figure


def disk_cone(tau1: float = 0.05, tau2: float = 0.05, *, reach: float = 1.0, resolution: int = 801) -> Figure:
    """The appendix figure: where F ≥ ½ with α = r = 0, k = 1 (eq. 26), against the disk cone D ≤ T.

    Red, the contour F = ½ of the model itself; blue, D = T, the order of Euclidean disk embeddings.
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


@contextmanager
def styled() -> Iterator[None]:
    """The package's look, for this block alone."""
    matplotlib = _matplotlib()
    with matplotlib.rc_context(STYLE):
        yield


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError('pictures need matplotlib: pip install "timelike[plot]"') from error
    return matplotlib


def panels(rows: int, columns: int, *, width: float, height: float) -> tuple[Figure, np.ndarray]:
    """A figure of inches `width` × `height`, free of pyplot's global state, and its axes as an array."""
    from matplotlib.figure import Figure

    figure = Figure((width, height), layout="compressed")
    return figure, figure.subplots(rows, columns, squeeze=False)


def _title(axes: Axes, letter: str, title: str) -> None:
    axes.set_title(rf"$\bf{{{letter}}}$  {title}", loc="left", pad=4)


def _label_outer(grid: np.ndarray) -> None:
    """Axis names and numbers on the outer panels only."""
    for axes in grid.flat:
        axes.set(xlabel="$x$ (space)", ylabel="$t$ (time)")
        axes.label_outer()


def _colour_bar(figure: Figure, image: Any, grid: np.ndarray) -> None:
    bar = figure.colorbar(image, ax=grid, shrink=0.6, aspect=22, pad=0.02, ticks=[0, 0.5, 1])
    bar.set_label("probability")
    bar.outline.set_linewidth(0.6)
