"""Axioms of the separation and of the interface, for every geometry in `MANIFOLDS`."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from samples import (
    assert_close,
    each,
    frame,
    from_origin,
    kinds,
    nearest,
    number_fields,
    points,
    tangents,
    vectors,
    with_numbers,
)

#: Every method of points p, q and an ambient vector v, and its arguments.
METHODS = {
    "inner": "pvv",
    "separation": "pq",
    "distance": "pq",
    "gradient": "pv",
    "exp": "pv",
    "log": "pq",
    "transport": "pqv",
    "project": "p",
    "to_tangent": "pv",
    "residual": "p",
}
SAMPLES = {"p": lambda m: points(m, 0), "q": lambda m: points(m, 1), "v": lambda m: vectors(m, 0)}


def radius_in_time(m, p):
    """r of eq. 8 on a circle of time, where Δt_pq = r_q θ_pq; 1 if Δt does not depend on it."""
    circle = getattr(m, "kappa", 1) < 0 and m.negatives >= 2 and m.arc
    return np.hypot(p[:, 0], p[:, 1]) if circle else np.ones(len(p))


@pytest.mark.usefixtures("x64")
def test_interval_is_symmetric_and_time_antisymmetric(any_dim):
    m, p, q = any_dim, points(any_dim, 0), points(any_dim, 1)
    interval, time = nearest(m, p, q)
    interval_back, time_back = nearest(m, q, p)
    assert_close(interval, interval_back, 1e-12)
    assert_close(time / radius_in_time(m, q), -time_back / radius_in_time(m, p), 1e-12)


@pytest.mark.usefixtures("x64")
def test_a_point_has_no_separation_from_itself(any_dim):
    p = points(any_dim, 0)
    interval, time = nearest(any_dim, p, p)
    assert not interval.any()
    assert not time.any()


@pytest.mark.usefixtures("x64")
def test_images_are_evenly_spaced_around_the_nearest(any_dim):
    _, times = each("separation", any_dim, points(any_dim, 0), points(any_dim, 1))
    steps = np.diff(times, axis=1)
    assert times.shape[1] % 2 == 1
    assert (steps > 0).all()
    assert_close(steps, np.broadcast_to(steps[:, :1], steps.shape), 1e-12)
    assert (np.abs(times).argmin(axis=1) == times.shape[1] // 2).all()


def second_derivative(m, p, u, v):
    """∂²s²(p, exp_p(x))/∂u∂v at x = 0."""

    def along_u(x):
        return jax.jvp(lambda x: m.separation(p, m.exp(p, x)).nearest.interval[0], (x,), (u,))[1]

    return jax.jvp(along_u, (jnp.zeros_like(p),), (v,))[1]


@pytest.mark.usefixtures("x64")
def test_half_the_hessian_of_the_interval_is_the_metric(m):
    p = points(m, 0)
    u, v = (each("to_tangent", m, p, vectors(m, seed)) for seed in (0, 1))
    assert_close(each(second_derivative, m, p, u, v) / 2, each("inner", m, p, u, v), 1e-12)


@pytest.mark.usefixtures("x64")
def test_metric_has_the_declared_signature(any_dim):
    m, p = any_dim, points(any_dim, 0)
    bases = np.moveaxis(each(frame, m, p), 1, 0)
    metric = np.array([[each("inner", m, p, u, v) for u in bases] for v in bases])
    times, spaces = m.signature
    assert (np.sign(np.linalg.eigvalsh(np.moveaxis(metric, 2, 0))) == [-1] * times + [1] * spaces).all()


@pytest.mark.usefixtures("x64")
def test_first_tangent_coordinate_points_to_the_future(any_dim):
    t = np.linspace(-1e-4, 1e-4, 64)
    steps = np.zeros((64, any_dim.dim))
    origin = each(from_origin, any_dim, steps)
    steps[:, 0] = t
    later = each(from_origin, any_dim, steps)
    _, time = nearest(any_dim, origin, later)
    assert_close(time, t * getattr(any_dim, "radius", 1.0), 1e-11)


def separation_and_derivatives(m, p, q):
    near = m.separation(p, q).nearest
    slopes = jax.jacrev(lambda p, q: jnp.concatenate(m.separation(p, q)), (0, 1))(p, q)
    return near.interval, near.time, *slopes


@pytest.mark.usefixtures("x64")
def test_gradients_are_finite_where_formulas_are_singular(m):
    p = points(m, 0)
    others = {"itself": p, "far": points(m, 1)}
    if "lightlike" in kinds(m):
        others["light cone"] = each("exp", m, p, tangents(m, p, "lightlike"))
    if hasattr(m, "kappa"):
        others["antipode"] = -p
        others["beside the antipode"] = each("project", m, -p + 1e-4 * vectors(m, 0))
    for where, q in others.items():
        pair = p.astype("float32"), q.astype("float32")
        interval, time, *slopes = each(separation_and_derivatives, m, *pair)
        assert all(np.isfinite(x).all() for x in (interval, time, *slopes)), where
        assert where != "itself" or not (interval.any() or time.any())


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("method", METHODS)
def test_jit_is_eager_and_vmap_is_a_loop(plain, method):
    arguments = [SAMPLES[letter](plain) for letter in METHODS[method]]
    found = each(method, plain, *arguments)
    for row in range(3):
        alone = getattr(plain, method)(*(jnp.asarray(x[row]) for x in arguments))
        assert_close(jax.tree.map(lambda x, row=row: x[row], found), alone, 1e-12)


def dependent_on_numbers(m, p, q, v):
    return m.inner(p, v, v), m.separation(p, q), m.gradient(p, v), m.log(p, q), m.project(p)


@pytest.mark.usefixtures("x64")
def test_numbers_can_be_swept(plain):
    arguments = [SAMPLES[letter](plain)[0] for letter in "pqv"]
    values = [0.7, 1.0, 3.0]
    swept = jax.jit(jax.vmap(dependent_on_numbers, (0, None, None, None), axis_size=3))
    found = swept(with_numbers(plain, jnp.array(values)), *arguments)
    for row, value in enumerate(values):
        alone = dependent_on_numbers(with_numbers(plain, value), *map(jnp.asarray, arguments))
        assert_close(jax.tree.map(lambda x, row=row: x[row], found), alone, 1e-12)


@pytest.mark.usefixtures("x64")
def test_single_precision_stays_single(any_dim):
    x = jnp.ones(any_dim.ambient_dim, jnp.float32)
    for method, letters in METHODS.items():
        found = jax.eval_shape(getattr(any_dim, method), *(x for _ in letters))
        assert {leaf.dtype for leaf in jax.tree.leaves(found)} == {np.dtype("float32")}, method


@pytest.mark.usefixtures("x64")
def test_separation_scales_with_the_radius(quadric):
    p, q = points(quadric, 0), points(quadric, 1)
    tripled = dataclasses.replace(quadric, radius=3 * quadric.radius)
    one, three = (each("separation", m, p, q) for m in (quadric, tripled))
    assert_close(three.interval, 9 * one.interval, 1e-12)
    assert_close(three.time, 3 * one.time, 1e-12)


@pytest.mark.usefixtures("x64")
def test_cylinder_forgets_whole_turns(cylinder):
    p, q = points(cylinder, 0), points(cylinder, 1)
    separation = each("separation", cylinder, p, q)
    for turns in (-3, 1, 20):
        shift = turns * cylinder.circumference * np.eye(cylinder.dim)[0]
        assert_close(each("separation", cylinder, p + shift, q), separation, 1e-11)
        assert_close(each("separation", cylinder, p, q + shift), separation, 1e-11)
        assert_close(each("project", cylinder, p + shift), p, 1e-11)
        assert_close(each("log", cylinder, p, q + shift), each("log", cylinder, p, q), 1e-11)


@pytest.mark.usefixtures("x64")
def test_wide_cylinder_is_flat(cylinder):
    p, q = points(cylinder, 0), points(cylinder, 1)
    interval, time = nearest(with_numbers(cylinder, 1e6), p, q)
    flat = each("separation", cylinder.base, p, q)
    assert_close(interval, flat.interval[:, 0], 1e-14)
    assert_close(time, flat.time[:, 0], 1e-14)


def test_every_number_has_a_domain(m):
    assert len(jax.tree.leaves(m)) == len(number_fields(m))
