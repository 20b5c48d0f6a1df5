"""Probability landscapes around an event of a model or a node of an embedding."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from timelike._util.checks import instance
from timelike.core.manifold import Manifold, Point, Scalar
from timelike.core.model import Model
from timelike.embedding.calibration import Calibration
from timelike.embedding.embedding import EMBEDDING, Embedding
from timelike.graphs.digraph import node_numbers
from timelike.manifolds.quadric import is_anti_de_sitter
from timelike.plot.drawn_nodes import NODES, sample_nodes
from timelike.plot.style import COLOURS, COLUMN, SMALL, finish, probability_bar, say_below, short, styled
from timelike.plot.views import half_turn, lost_note, main_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: A map from two coordinates (t, x), time first, to a point.
Chart = Callable[[Scalar, Scalar], Point]

#: (x_min, x_max, t_min, t_max), as in matplotlib.
Extent = tuple[float, float, float, float]


class Landscape(NamedTuple):
    """Edge probability and interval from one point p to a grid of points q; rows are times."""

    x: np.ndarray
    t: np.ndarray
    prob: np.ndarray
    interval: np.ndarray

    @property
    def extent(self) -> Extent:
        """The corners of the grid."""
        return float(self.x[0]), float(self.x[-1]), float(self.t[0]), float(self.t[-1])


def flat_chart(manifold: Manifold) -> Chart:
    """(t, x) ↦ t e₀ + x e₁: time and the first direction of space in flat coordinates."""
    return lambda t, x: manifold.origin().at[0].set(t).at[1].set(x)


def polar_chart(manifold: Manifold) -> Chart:
    """(θ, x) ↦ (r cos θ, −r sin θ, x), r = √(1 + x²): anti-de Sitter (eqs. 7 and 8), θ = 0 at the origin.

    At every x, −π ≤ θ ≤ π covers the time circle, whose length in the paper's time (eq. 9) is 2πr.
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
    calibration: Calibration | None = None,
) -> Landscape:
    """F̃(p, q) and s² for p = `source` (default: the origin) and q on a grid of `chart`.

    `chart` maps (t, x) to a point (default: `flat_chart`; use `polar_chart` for anti-de Sitter space).
    `resolution` is the number of grid points per side of `extent`. With the `calibration` of an
    embedding, the probabilities are calibrated.
    """
    p = model.manifold.origin() if source is None else source
    chart = flat_chart(model.manifold) if chart is None else chart
    x = np.linspace(extent[0], extent[1], resolution, dtype=np.float32)
    t = np.linspace(extent[2], extent[3], resolution, dtype=np.float32)

    def at(t: Scalar, x: Scalar) -> tuple[Scalar, Scalar]:
        q = chart(t, x)
        return model.log_prob(p, q), model.manifold.separation(p, q).nearest.interval[0]

    grid = jax.jit(jax.vmap(jax.vmap(at, (None, 0)), (0, None)))
    log_prob, interval = (np.asarray(values) for values in grid(jnp.asarray(t), jnp.asarray(x)))
    log_prob = log_prob if calibration is None else calibration.log_prob(log_prob)
    return Landscape(x, t, np.exp(log_prob), interval)


def draw_landscape(axes: Axes, scene: Landscape, *, cone: bool = True, peak: bool = False) -> Any:
    """Draw the probabilities as colours and return the image.

    `cone` adds the light cone s² = 0, if there is one; `peak` marks the largest probability with a cross.
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
    """Draw the null lines s² = 0; draws nothing in a Riemannian space, where only p itself is null."""
    if np.nanmin(scene.interval) < 0 < np.nanmax(scene.interval):
        style = {"colors": "0.15", "linewidths": 0.5, **style}
        axes.contour(scene.x, scene.t, scene.interval, levels=[0.0], **style)


def mark_event(axes: Axes, x: float = 0.0, t: float = 0.0, name: str = "$p$") -> None:
    """Mark an event with a labelled dot."""
    axes.plot(x, t, "o", color="black", markersize=3, zorder=5)
    axes.annotate(name, (x, t), (-3, -9), textcoords="offset points", ha="center")


def node_landscape(
    embedding: Embedding,
    node: Any,
    *,
    resolution: int = 201,
    width: float = COLUMN,
    theme: str = "light",
    ax: Any = None,
) -> Figure:
    """F̃(p, ·) on a plane through a node's event p, spanned by time and the main direction of space.

    The axes are normal coordinates: the event at (t, x) is exp_p(t T + x X), where T is the time
    direction at p and X the direction of space along which the other nodes vary most, seen from p. Light
    has slope 1. Other nodes are placed by log_p and filled with their own probability, which differs from
    the background if they lie off the plane. Nodes that no geodesic reaches are omitted.
    """
    instance("embedding", embedding, Embedding, EMBEDDING)
    model, points = embedding.score_model, jnp.asarray(embedding.points)
    number = int(node_numbers(node, len(points), embedding.names, "node").reshape(-1)[0])
    p = points[number]
    shown = sample_nodes(len(points), np.array([number]), NODES)
    others = points[shown[shown != number]]
    frame = frame_at(model.manifold, p, others)
    reach = _reach(model.manifold, frame.at)
    basis = jnp.asarray(frame.basis, points.dtype)
    scene = landscape(
        model, (-reach, reach, -reach, reach), source=p, resolution=resolution,
        calibration=embedding.calibration,
        chart=lambda t, x: model.manifold.exp(p, t * basis[0] + x * basis[1]),
    )  # fmt: skip
    log_prob = np.asarray(jax.jit(jax.vmap(model.log_prob, (None, 0)))(p, others))
    with styled(theme):
        from timelike.plot.pictures import axes_for

        figure, axes, new = axes_for(ax, width, width)
        image = draw_landscape(axes, scene)
        look: dict[str, Any] = {"cmap": COLOURS, "vmin": 0, "vmax": 1, "edgecolors": "black", "zorder": 3}
        prob = np.exp(embedding.calibrate(log_prob))
        axes.scatter(*frame.at.T[::-1], s=9, c=prob, linewidths=0.4, **look)
        axes.plot(0, 0, "o", color="black", markersize=4, zorder=4)
        box = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.8}
        look = {
            "va": "top",
            "fontsize": SMALL,
            "color": "black",
            "bbox": box,
            "zorder": 5,
            "parse_math": False,
        }
        axes.annotate(short(embedding.name(number)), (0, 0), (5, -5), textcoords="offset points", **look)
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach))
        axes.set(xlabel="space from the node", ylabel="time from the node")
        notes = [f"{len(shown):,} of {len(points):,} nodes shown"] if len(shown) < len(points) else []
        notes += [*lost_note(frame.lost), "node fill: the node's own probability as a target"]
        probability_bar(figure, embedding, image, axes)
        finish(figure, notes) if new else say_below(axes, notes)
    return figure


def model_landscape(model: Model, *, width: float = COLUMN, theme: str = "light", ax: Any = None) -> Figure:
    """F̃(p, ·) around the origin p of a model without points, on the plane of time and one direction."""
    chart = polar_chart if is_anti_de_sitter(model.manifold) else flat_chart
    reach = min(2.0, half_turn(model.manifold) or np.inf)
    scene = landscape(model, (-reach, reach, -reach, reach), chart=chart(model.manifold))
    with styled(theme):
        from timelike.plot.pictures import axes_for

        figure, axes, new = axes_for(ax, width, width)
        image = draw_landscape(axes, scene)
        mark_event(axes)
        axes.set(xlabel="space from $p$", ylabel="time from $p$")
        bar = figure.colorbar(image, ax=axes, shrink=0.6, aspect=22, pad=0.02, ticks=[0, 0.5, 1])
        bar.set_label("edge probability")
        bar.outline.set_linewidth(0.5)
        if new:
            finish(figure, [])
    return figure


def _reach(manifold: Manifold, at: np.ndarray) -> float:
    """Half the side of the landscape: contains 90 % of the nodes, and at most one turn of the time circle."""
    far = np.abs(at[np.isfinite(at).all(axis=1)]).max(axis=1, initial=0)
    reach = 1.15 * float(np.quantile(far, 0.9)) if len(far) and far.any() else 1.0
    return min(reach, half_turn(manifold) or np.inf)


class Frame(NamedTuple):
    """Unit tangent vectors at p along time and the main direction of space, and other points in this basis.

    `at` has a row (t, x) per point, NaN if no geodesic from p reaches it. `lost` is the fraction of the
    variance in the remaining directions of space.
    """

    basis: np.ndarray
    at: np.ndarray
    lost: float


def frame_at(manifold: Manifold, p: Point, others: Any) -> Frame:
    """The frame (T, X) at p: T = grad Δt(p, ·) points to the future, X ⟂ T is the main direction of log_p.

    With a basis b of the tangent space and g_ij = g(b_i, b_j), the gradient is Σ g^ij dt(b_j) b_i.
    """
    spanning, slope, logs = (np.asarray(x, float) for x in _seen_from(manifold, p, jnp.asarray(others)))
    basis = np.linalg.svd(spanning)[2][: manifold.dim]
    metric = np.asarray(_gram(manifold, p, jnp.asarray(basis, p.dtype)), float)
    raised = np.linalg.solve(metric, basis @ slope)
    length = raised @ metric @ raised
    time = np.sign(length) * raised / np.sqrt(np.abs(length))
    # Orthonormal directions of space: eigenvectors of the metric on the complement of T.
    dual = metric @ time
    rest = np.linalg.svd(dual[None])[2][1:]
    sizes, turned = np.linalg.eigh(rest @ metric @ rest.T)
    space = (turned / np.sqrt(np.abs(sizes))).T @ rest
    components = logs @ np.linalg.pinv(basis)
    t = components @ dual * np.sign(length)
    x = components @ metric @ space.T * np.sign(sizes)
    axes, shares = main_axes(x[np.isfinite(t)])
    axis, lost = axes[:, 0], max(0.0, 1 - float(shares[0]))
    across = axis @ space @ basis
    if len(across) and across[np.argmax(np.abs(across))] < 0:  # fix the sign
        axis, across = -axis, -across
    return Frame(np.stack([time @ basis, across]), np.stack([t, x @ axis], axis=1), lost)


@jax.jit
def _seen_from(manifold: Manifold, p: Any, others: Any) -> tuple[Any, Any, Any]:
    """Vectors spanning the tangent space at p, the differential of time at p, and log_p of the others."""
    spanning = jax.vmap(manifold.to_tangent, (None, 0))(p, jnp.eye(manifold.ambient_dim, dtype=p.dtype))
    slope = jax.grad(lambda q: manifold.separation(p, q).nearest.time[0])(p)
    return spanning, slope, jax.vmap(manifold.log, (None, 0))(p, others)


@jax.jit
def _gram(manifold: Manifold, p: Any, basis: Any) -> Any:
    inner = jax.vmap(jax.vmap(manifold.inner, (None, None, 0)), (None, 0, None))
    return inner(p, basis, basis)
