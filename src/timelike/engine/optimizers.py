"""Pseudo-Riemannian steps: optax transformations of tangent vectors, then the exponential map.

A step sees only the table rows that a batch touches. `Manifold.gradient` turns each row's covector into a
tangent vector, which is clipped, passed through an optax transformation, projected to the tangent space and
followed along the geodesic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float

from timelike.core.manifold import Manifold
from timelike.core.reductions import once, total

Rows = Float[Array, "rows ambient"]

#: The one list of optimisers: name → optax transformation of gradients into directions.
OPTIMIZERS: dict[str, Callable[[], optax.GradientTransformation]] = {
    "sgd": optax.identity,
    "adam": lambda: optax.scale_by_adam(b1=0.9, b2=0.999, eps=1e-8),
    "dense-adam": lambda: optax.scale_by_adam(b1=0.9, b2=0.99, eps=1e-8),
    "adagrad": lambda: optax.scale_by_rss(initial_accumulator_value=0.1, eps=1e-7),
}

#: Optimisers that move every node in every step: nodes outside the batch have gradient 0, drift on and
#: forget. A step costs a pass over the table.
DENSE = ("dense-adam",)

#: Longest tangent step (Euclidean norm); longer ones are shortened. On a quadric, cosh and sinh of a long
#: step overflow, and no linearisation holds that far.
MAX_STEP = 1.0


#: Adam learns the numbers of the model on the real line, at this share of the points' learning rate.
NUMBERS_RATE = 0.25


class Learned(NamedTuple):
    """Numbers of the model that are learned along with the points, mapped to the real line."""

    reals: dict[str, Float[Array, ""]]
    optimizer: Any

    @classmethod
    def start(cls, reals: dict[str, Array]) -> Learned:
        """Start with fresh moments."""
        return cls(reals, optax.scale_by_adam().init(reals))

    @property
    def finite(self) -> Bool[Array, ""]:
        """Whether all numbers are finite."""
        return jnp.isfinite(jnp.stack([jnp.zeros(()), *self.reals.values()])).all()

    def step(self, gradient: dict[str, Array], rate: Array) -> Learned:
        """One step of Adam."""
        direction, optimizer = optax.scale_by_adam().update(gradient, self.optimizer)
        return Learned(
            {name: x - NUMBERS_RATE * rate * direction[name] for name, x in self.reals.items()}, optimizer
        )


class Step(NamedTuple):
    """What an update needs besides the rows; the numbers may be traced and vmapped."""

    learning_rate: Float[Array, ""]
    clip: Float[Array, ""]


def schedule(epoch: Array, epochs: Array | int, burn_in: Array | int, final: Array | float = 0.25) -> Array:
    """The factor on the learning rate: linear from 1 to `final` over all epochs.

    The first `burn_in` epochs have a hundredth of that.
    """
    progress = epoch / jnp.maximum(epochs - 1, 1)
    return jnp.where(epoch < burn_in, 0.01, 1.0) * (1 - (1 - final) * progress)


#: Share of the epochs after which temperatures have reached their value.
ANNEALED = 0.6


def heating(epoch: Array, epochs: Array | int, anneal: Array | float) -> Array:
    """The factor on the temperatures: falls from `anneal` to 1, by the same ratio in every epoch."""
    return anneal ** jnp.maximum(1 - epoch / (ANNEALED * epochs), 0.0)


def update_rows(
    manifold: Manifold,
    optimizer: optax.GradientTransformation,
    step: Step,
    points: Rows,
    covectors: Rows,
    state: Any,
) -> tuple[Rows, Any, Float[Array, "rows"]]:
    """One pseudo-Riemannian step of every row: (new points, new optimiser rows, gradient norms)."""
    gradients = jax.vmap(manifold.gradient)(points, covectors)
    norms = _norms(gradients)
    clipped = shorten(norms, step.clip)
    if not jax.tree.leaves(state):  # the direction is the gradient, already tangent and of known norm
        size = step.learning_rate * clipped
        size *= shorten(size * norms, MAX_STEP)
        tangents = -once(size)[:, None] * gradients
        return jax.vmap(manifold.step)(points, tangents), state, norms
    directions, state = optimizer.update(once(clipped)[:, None] * gradients, state, points)
    tangents = -step.learning_rate * jax.vmap(manifold.to_tangent)(points, directions)
    tangents = once(shorten(_norms(tangents), MAX_STEP))[:, None] * tangents
    new_points = jax.vmap(manifold.step)(points, tangents)
    if isinstance(state, optax.ScaleByAdamState):  # the first moment is a tangent vector
        state = state._replace(mu=jax.vmap(manifold.transport)(points, new_points, state.mu))
    return new_points, state, norms


def _norms(vectors: Rows) -> Float[Array, "rows"]:
    return jnp.sqrt(total(vectors * vectors))


def shorten(norms: Float[Array, "rows"], longest: Array | float) -> Float[Array, "rows"]:
    """The factors that make vectors of these norms no longer than `longest`."""
    return jnp.minimum(1.0, longest / jnp.maximum(norms, 1e-30))
