"""No NaN or infinity, and float32 as accurate as rounding allows, over millions of random pairs.

Every entry of `MANIFOLDS` and `LIKELIHOODS` is covered. All likelihoods share one compiled function per
manifold: the sum of their log-probabilities, and each of its gradients, is finite only if every term is.
"""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from quick_compiling import QUICKLY  # what draws pairs and references; the tested code is as for users

from timelike.core.model import Model
from timelike.core.numerics import squared_arc_slope
from timelike.core.struct import POSITIVE, UNIT
from timelike.likelihoods import LIKELIHOODS, Cone
from timelike.manifolds import MANIFOLDS, Cylinder, Quadric

DIM = 4
EPSILON = float(np.finfo(np.float32).eps)
#: Rounding errors, in units of ε, in a sum of squared differences; each operation contributes ½: the
#: difference (twice, because it is squared), its square, and the addition of each further coordinate (there
#: are at most DIM + 1 coordinates).
ROUNDINGS = (3 + DIM) / 2
DRAWS = 24  # uniform random numbers for one pair, and the same number for its models


class Draws:
    """A vector of uniform random numbers, handed out piece by piece."""

    def __init__(self, numbers):
        self.numbers, self.used = numbers, 0

    def __call__(self, count=None):
        self.used += count or 1
        assert self.used <= DRAWS
        taken = self.numbers[self.used - (count or 1) : self.used]
        return taken if count else taken[0]


def random_numbers(manifold, u, coldest):
    """The manifold and every likelihood with random parameters: temperatures from `coldest` to 3."""

    def draw(kind):
        domains = {f.name: f.metadata["domain"] for f in dataclasses.fields(kind)}
        uniform = u(len(domains))
        positive = jnp.maximum(3 * (coldest / 3) ** (1.1 * uniform), coldest)
        share, real = jnp.clip(1.1 * uniform - 0.05, 0, 1), uniform - 0.5
        pick = {id(POSITIVE): positive, id(UNIT): share}
        return kind(**{name: pick.get(id(d), real)[i] for i, (name, d) in enumerate(domains.items())})

    size = jnp.exp(3 * u() - 1)
    sized = jax.tree.map(lambda _: size, manifold)  # the only number of a manifold is a length
    return sized, [draw(kind) for kind in LIKELIHOODS.values()]


def log_probs(manifold, likelihoods, p, q):
    """log p and log(1 − p) by every likelihood."""
    separation = manifold.separation(p, q)
    return jnp.asarray([Model(manifold, x).from_separation(separation) for x in likelihoods])


def vector(manifold, u):
    return 2 * u(manifold.ambient_dim) - 1


def point(manifold, ambient):
    """The projection of an ambient vector; in hyperbolic space, onto the upper sheet."""
    if isinstance(manifold, Quadric) and (manifold.negatives, manifold.kappa) == (1, -1):
        ambient = ambient.at[0].set(1)  # `project` computes its value from the others
    return manifold.project(ambient)


def start(manifold, u):
    return point(manifold, 10 ** (3 * u() - 2) * vector(manifold, u))


def coincident(manifold, u):
    p = start(manifold, u)
    return p, p


def null(manifold, u):
    """q = p + v, where v = e₁ + λe₂ is null (or as close to null as the metric allows)."""
    p = start(manifold, u)
    e1, e2 = (manifold.to_tangent(p, vector(manifold, u)) for _ in range(2))
    a, b, c = (manifold.inner(p, *pair) for pair in ((e2, e2), (e1, e2), (e1, e1)))
    root = jnp.sqrt(jnp.maximum(b * b - a * c, 0))
    return p, point(manifold, p + e1 + (root - b) / jnp.where(a == 0, 1, a) * e2)


def nearly_null(manifold, u):
    p, q = null(manifold, u)
    return p, point(manifold, q + 10 ** (-6 * u() - 2) * vector(manifold, u))


def antipodal(manifold, u):
    """q = −p, or half a turn away on a cylinder; half of the pairs slightly perturbed."""
    p = start(manifold, u)
    q = p.at[0].add(manifold.circumference / 2) if isinstance(manifold, Cylinder) else -p
    off = jnp.where(u() < 0.5, 0, 10 ** (-6 * u() - 1))
    return p, point(manifold, q + off * vector(manifold, u))


def far(manifold, u):
    return tuple(point(manifold, 1e3 * vector(manifold, u)) for _ in range(2))


def degenerate(manifold, u):
    """Some coordinates 0 or near underflow; on the axis of the circle of time if possible."""
    on_axis = isinstance(manifold, Quadric) and manifold.negatives >= 3
    small = slice(0, 2) if on_axis else slice(2, None)
    vectors = [vector(manifold, u).at[small].multiply(10 ** (-50 * u())) for _ in range(2)]
    return tuple(point(manifold, v) for v in vectors)


def anywhere(manifold, u):
    """Coordinates up to about 10."""
    return tuple(point(manifold, 10 * vector(manifold, u)) for _ in range(2))


REGIMES = (coincident, null, nearly_null, antipodal, far, degenerate, anywhere)


@partial(jax.jit, compiler_options=QUICKLY)
def random_pairs(manifold, regime, rows, coldest):
    """Pairs of a regime (by its index) and temperatures down to `coldest`, as arguments of `log_probs`."""

    def one(row):
        sized, likelihoods = random_numbers(manifold, Draws(row[DRAWS:]), coldest)
        pair = jax.lax.switch(regime, [lambda f=f: f(sized, Draws(row[:DRAWS])) for f in REGIMES])
        return sized, likelihoods, *pair

    return jax.vmap(one)(rows)


@jax.jit
def count_bad(*arguments):
    """Number of pairs with a log-probability or a gradient that is not finite."""
    total = jax.value_and_grad(lambda *one: log_probs(*one).sum(), (0, 1, 2, 3))
    results = jax.tree.leaves(jax.vmap(total)(*arguments))
    finite = [jnp.isfinite(x).reshape(len(x), -1).all(axis=1) for x in results]
    return (~jnp.stack(finite).all(axis=0)).sum()


@pytest.fixture(scope="module")
def rows():
    """Uniform random numbers for 131,072 pairs."""
    return jax.random.uniform(jax.random.key(0), (2**17, 2 * DRAWS))


@pytest.mark.parametrize("name", MANIFOLDS)
def test_everything_is_finite(name, rows):
    """More than 10⁶ pairs of each regime over the two flat spaces, two cylinders and five quadrics."""
    manifold = MANIFOLDS[name](DIM)
    bad = [int(count_bad(*random_pairs(manifold, i, rows, 1e-3))) for i in range(len(REGIMES))]
    assert not any(bad), {regime.__name__: count for regime, count in zip(REGIMES, bad, strict=True)}


def rounding_of_interval(manifold, p, q):
    """The change of s², in units of ε, if the squares of the coordinates change by a relative ε.

    Flat: |Δx|² + Δt² (of the farthest image). Quadrics: |p|² + |q|² in z = κ⟨p, q⟩, times |ds²/dz|, which
    grows to 1/√δ within δ = ε(|p|² + |q|²) of the antipode.
    """
    if not isinstance(manifold, Quadric):
        return jnp.sum((q - p) ** 2) + jnp.max(manifold.separation(p, q).time ** 2)
    size = jnp.sum(p**2) + jnp.sum(q**2)
    u, w = manifold._arc_arguments(p, q)
    near = EPSILON * size
    return manifold.radius**2 * size * squared_arc_slope(u, jnp.where(w > -near, jnp.maximum(w, near), w))


def squares(likelihood, separation):
    """An additional rounded term: the cone adds Δt² to the interval."""
    return jnp.max(separation.time**2) if isinstance(likelihood, Cone) else 0.0


def temperature(likelihood, separation):
    """The least change of s² that changes the logit by 1."""
    if not isinstance(likelihood, Cone):
        return likelihood.tau1 if hasattr(likelihood, "tau1") else likelihood.tau
    square = jnp.maximum(separation.interval + separation.time**2, 0)  # the slope of a root is ½/root
    return likelihood.tau1 * jnp.minimum(1, 2 * jnp.sqrt(square.min() + likelihood.tau1**2))


logs = jax.jit(jax.vmap(lambda *arguments: log_probs(*arguments)[:, 0]))


@partial(jax.jit, compiler_options=QUICKLY)
@jax.vmap
def with_conditioning(manifold, likelihoods, p, q):
    """log p by every likelihood, and the effect of rounding on its logit (s² − r)/τ, in units of ε."""
    separation, rounding = manifold.separation(p, q), rounding_of_interval(manifold, p, q)
    logits = [(rounding + squares(x, separation)) / temperature(x, separation) for x in likelihoods]
    return log_probs(manifold, likelihoods, p, q)[:, 0], 1 + jnp.stack(logits)


@pytest.mark.parametrize(("regime", "share"), [(anywhere, 0.005), (nearly_null, 0.08)])
@pytest.mark.parametrize("name", MANIFOLDS)
def test_float32_agrees_with_float64(name, regime, share, rows):
    """To 1e-4 of log p, or to `ROUNDINGS` ε times its conditioning if that is more, as near the light cone.

    There s² is a small difference of large squares. At most a fraction `share` of all pairs needs this.
    """
    single = random_pairs(MANIFOLDS[name](DIM), REGIMES.index(regime), rows, 0.01)
    got = logs(*single)
    with jax.enable_x64(True):
        want, rounding = with_conditioning(*jax.tree.map(lambda x: jnp.asarray(x, jnp.float64), single))
    got, want, rounding = (np.asarray(x, float) for x in (got, want, rounding))
    error, relative = abs(got - want), 1e-4 * abs(want) + np.finfo(np.float32).tiny
    conditioned = ROUNDINGS * EPSILON * rounding
    assert (error <= np.where(conditioned > relative, relative + conditioned, relative)).all()
    assert (error > relative).mean() <= share
