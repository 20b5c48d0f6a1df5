"""Other descent directions on a quadric than the library's, and how often a direction goes uphill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import timelike as tl
from timelike.core import Manifold, Separation, child, static, struct
from timelike.manifolds import Quadric

Array = jax.Array
#: Longest step in the Euclidean norm, as in training.
MAX_STEP = 1.0


def one_projection(space: Quadric, p: Array, covector: Array) -> Array:
    """Π(df): the metric of the ambient space is Wick-rotated to the Euclidean one, then one projection."""
    return space.to_tangent(p, covector)


def pseudo_gradient(space: Quadric, p: Array, covector: Array) -> Array:
    """Π(G df), the gradient with respect to the indefinite metric; df·ζ = ⟨ζ, ζ⟩ may be negative."""
    flipped = jax.grad(lambda u: space.inner(p, u, covector))(covector) / space.radius**2
    return space.to_tangent(p, flipped)


def ambient_gradient(space: Quadric, p: Array, covector: Array) -> Array:
    """df itself, which is not tangent; the step projects the result back onto the surface."""
    return covector


#: The directions that `Redirected` numbers.
DIRECTIONS: tuple[Callable[[Quadric, Array, Array], Array], ...] = (
    one_projection,
    pseudo_gradient,
    ambient_gradient,
)


@struct
class Redirected(Manifold):
    """The quadric `space` with another `gradient`: `DIRECTIONS[direction]`. All else is that of `space`.

    With `ambient_gradient`, `step` is a straight line in the ambient space and a projection, no geodesic.
    """

    space: Quadric = child(Quadric)
    direction: int = static(choices=tuple(range(len(DIRECTIONS))))

    @property
    def dim(self) -> int:
        """That of `space`."""
        return self.space.dim

    @property
    def ambient_dim(self) -> int:
        """That of `space`."""
        return self.space.ambient_dim

    @property
    def signature(self) -> tuple[int, int]:
        """That of `space`."""
        return self.space.signature

    def origin(self) -> Array:
        """That of `space`."""
        return self.space.origin()

    def inner(self, p: Array, u: Array, v: Array) -> Array:
        """That of `space`."""
        return self.space.inner(p, u, v)

    def separation(self, p: Array, q: Array) -> Separation:
        """That of `space`."""
        return self.space.separation(p, q)

    def gradient(self, p: Array, covector: Array) -> Array:
        """The chosen direction; −ζ may point uphill."""
        return DIRECTIONS[self.direction](self.space, p, covector)

    def exp(self, p: Array, v: Array) -> Array:
        """That of `space`."""
        return self.space.exp(p, v)

    def step(self, p: Array, v: Array) -> Array:
        """That of `space`, or the projection of p + v."""
        if DIRECTIONS[self.direction] is ambient_gradient:
            return self.space.project(p + v)
        return self.space.step(p, v)

    def log(self, p: Array, q: Array) -> Array:
        """That of `space`."""
        return self.space.log(p, q)

    def project(self, p: Array) -> Array:
        """That of `space`."""
        return self.space.project(p)

    def to_tangent(self, p: Array, v: Array) -> Array:
        """That of `space`."""
        return self.space.to_tangent(p, v)

    def transport(self, p: Array, q: Array, v: Array) -> Array:
        """That of `space`."""
        return self.space.transport(p, q, v)

    def residual(self, p: Array) -> Array:
        """That of `space`."""
        return self.space.residual(p)

    def from_tangent_coordinates(self, coordinates: Array) -> Array:
        """That of `space`."""
        return self.space.from_tangent_coordinates(coordinates)


def batch(graph: tl.DiGraph, listed: bool, size: int, ratio: int, rng: np.random.Generator) -> np.ndarray:
    """Sources and targets of random training edges and of `ratio` non-edges for each, as two rows.

    A non-edge has any two ends or, if `listed`, a source that has edges, as in training.
    """
    edges = rng.integers(graph.num_edges, size=size)
    pool = np.unique(graph.sources) if listed else np.arange(graph.num_nodes)
    known = set(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    others: list[tuple[int, int]] = []
    while len(others) < size * ratio:
        s, t = int(rng.choice(pool)), int(rng.integers(graph.num_nodes))
        if s != t and (s, t) not in known:
            others.append((s, t))
    positives = np.stack([graph.sources[edges], graph.targets[edges]])
    return np.concatenate([positives, np.array(others).T], axis=1)


@jax.jit
def uphill(model: tl.Model, points: Array, pairs: Array, labels: Array, rate: Array) -> tuple[Array, Array]:
    """The share of the nodes of a batch that start uphill, and whether the step raises the batch's loss."""

    def loss(table: Array) -> Array:
        log_prob, log_prob_not = jax.vmap(model.log_probs)(table[pairs[0]], table[pairs[1]])
        return -jnp.sum(jnp.where(labels, log_prob, log_prob_not))

    space = model.manifold
    before, covectors = jax.value_and_grad(loss)(points)
    directions = jax.vmap(space.gradient)(points, covectors)
    norms = jnp.linalg.norm(directions, axis=1, keepdims=True)
    steps = -rate * jnp.minimum(1.0, MAX_STEP / jnp.maximum(rate * norms, 1e-30)) * directions
    zero = jnp.zeros_like(points)
    velocities = jax.vmap(lambda p, z, v: jax.jvp(lambda x: space.step(p, x), (z,), (v,))[1])(
        points, zero, -directions
    )
    touched = jnp.any(covectors != 0, axis=1)
    up = touched & (jnp.sum(covectors * velocities, axis=1) > 0)
    raised = loss(jax.vmap(space.step)(points, steps)) > before
    return jnp.sum(up) / jnp.sum(touched), raised


class Probe:
    """Watches the runs of a sweep and tries steps: after each of the first epochs, then after every tenth."""

    FIRST = 5

    def __init__(self, graph: tl.DiGraph, listed: bool, model: tl.Model, config: tl.Config, rate: float):
        self.graph, self.listed, self.model = graph, listed, model
        self.config, self.rate = config, rate
        self.rng = np.random.default_rng(0)
        self.found: dict[str, list[tuple[float, float]]] = {"first": [], "later": []}

    def __call__(self, rows: range, epoch: int, points: np.ndarray) -> None:
        """Try one batch for each run, at the learning rate of the next epoch."""
        if epoch > self.FIRST and epoch % 10:
            return
        config, ratio = self.config, 4
        rate = self.rate * (1 - (1 - config.final_rate) * epoch / max(config.epochs - 1, 1))
        rate *= 0.01 if epoch < config.burn_in else 1
        labels = np.arange(config.batch_size * (1 + ratio)) < config.batch_size
        for table in points:
            pairs = batch(self.graph, self.listed, config.batch_size, ratio, self.rng)
            share, raised = uphill(self.model, jnp.asarray(table), pairs, labels, rate)
            self.found["first" if epoch <= self.FIRST else "later"].append((float(share), float(raised)))

    def shares(self) -> dict[str, Any]:
        """Percentages in the first epochs and later: nodes sent uphill, and steps that raise the loss."""
        return {
            part: {"uphill": round(100 * up, 2), "raised": round(100 * raised, 2), "steps": len(tried)}
            for part, tried in self.found.items()
            for up, raised in [np.mean(tried, axis=0).tolist()]
        }
