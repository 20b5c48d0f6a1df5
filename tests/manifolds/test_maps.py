"""Axioms of the maps between points and tangent vectors, for every geometry in `MANIFOLDS`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from samples import assert_close, each, frame, kinds, nearest, points, tangents, vectors


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.usefixtures("x64")
def test_the_step_never_goes_uphill(m, dtype):
    p = np.resize(points(m, 0), (10_000, m.ambient_dim)).astype(dtype)
    covector = vectors(m, 0, 10_000).astype(dtype)
    gradient = each("gradient", m, p, covector)
    assert (np.sum(covector * gradient, axis=1) > 0).all()
    assert_close(each("to_tangent", m, p, gradient), gradient, 200 * np.finfo(dtype).eps)


@pytest.mark.usefixtures("x64")
def test_the_gradient_of_a_riemannian_space_is_the_raised_covector(m):
    p, covector = points(m, 0), vectors(m, 0)
    gradient = each("gradient", m, p, covector)
    for axis in np.moveaxis(each(frame, m, p), 1, 0):
        along, rate = each("inner", m, p, gradient, axis), np.sum(covector * axis, axis=1)
        # In an indefinite metric the raised covector may point uphill and is not used.
        assert m.signature[0] or np.allclose(along, rate, rtol=0, atol=1e-12)


@pytest.mark.usefixtures("x64")
def test_ten_thousand_steps_stay_on_the_surface(m):
    noise = vectors(m, 0, 10_000)
    for dtype in ("float32", "float64"):
        end, off = walk(m, m.origin().astype(dtype), noise.astype(dtype))
        assert end.dtype == dtype
        assert np.linalg.norm(end - m.origin()) > 0.1
        assert off <= 8 * np.finfo(dtype).eps  # 1e-6 and 2e-15: rounding errors do not accumulate


@jax.jit
def walk(m, p, noise):
    """The end of a random walk, and the largest residual on the way."""

    def step(p, noise):
        # Projection lengthens a vector by a factor of up to |p|².
        p = m.exp(p, m.to_tangent(p, 0.1 * noise / jnp.sum(p * p)))
        return p, m.residual(p)

    end, residuals = jax.lax.scan(step, p, noise)
    return end, residuals.max()


def velocity_at_start(m, p, v):
    return jax.jvp(lambda v: m.exp(p, v), (jnp.zeros_like(v),), (v,))


@pytest.mark.usefixtures("x64")
def test_exp_starts_at_the_point_with_the_given_velocity(m):
    p, v = points(m, 0), each("to_tangent", m, points(m, 0), vectors(m, 0))
    assert_close(each(velocity_at_start, m, p, v), (p, v), 1e-13)


@pytest.mark.usefixtures("x64")
def test_exp_covers_the_length_of_its_velocity_and_log_inverts_it(any_dim):
    m, p = any_dim, points(any_dim, 0)
    for kind in kinds(m):
        v = tangents(m, p, kind)
        square = each("inner", m, p, v, v)
        sign = np.where(np.abs(square) < 1e-11, 0, np.sign(square))
        assert (sign == {"timelike": -1, "lightlike": 0, "spacelike": 1}[kind]).all()
        q = each("exp", m, p, v)
        assert_close(each("residual", m, q), np.zeros(len(q)), 1e-14)
        interval, _ = nearest(m, p, q)
        assert_close(interval, square, 1e-12)
        assert_close(each("log", m, p, q), v, 1e-11)


@pytest.mark.usefixtures("x64")
def test_the_geodesic_joins_its_ends_at_constant_speed(m):
    p = points(m, 0)
    for kind in kinds(m):
        q = each("exp", m, p, tangents(m, p, kind))
        start, middle, end = (each("geodesic", m, p, q, np.full(len(p), t)) for t in (0.0, 0.5, 1.0))
        assert_close(start, p, 1e-14)
        assert_close(each("project", m, end), each("project", m, q), 1e-11)
        (half, _), (whole, _) = nearest(m, p, middle), nearest(m, p, q)
        assert_close(half, whole / 4, 1e-12)


@pytest.mark.usefixtures("x64")
def test_log_is_nan_if_no_geodesic_exists(quadric):
    p = points(quadric, 0)
    assert np.isnan(each("log", quadric, p, -p)).all()


@pytest.mark.usefixtures("x64")
def test_transport_is_parallel(any_dim):
    m, p = any_dim, points(any_dim, 0)
    u, v = (each("to_tangent", m, p, vectors(m, seed)) for seed in (0, 1))
    for kind in kinds(m):
        q = each("exp", m, p, tangents(m, p, kind))
        u_at_q, v_at_q = (each("transport", m, p, q, x) for x in (u, v))
        assert_close(each("to_tangent", m, q, u_at_q), u_at_q, 1e-12)
        assert_close(each("inner", m, q, u_at_q, v_at_q), each("inner", m, p, u, v), 1e-12)
        assert_close(each("transport", m, q, p, u_at_q), u, 1e-12)
        assert_close(each("transport", m, p, q, each("log", m, p, q)), -each("log", m, q, p), 1e-11)
    assert_close(each("transport", m, p, p, u), u, 1e-13)


@pytest.mark.usefixtures("x64")
def test_project_keeps_points_and_corrects_drift(any_dim):
    m, p = any_dim, points(any_dim, 0)
    assert_close(each("project", m, p), p, 1e-14)
    once = each("project", m, p + 0.01 * vectors(m, 0))
    assert_close(each("residual", m, once), np.zeros(len(p)), 1e-14)
    assert_close(each("project", m, once), once, 1e-14)
    assert_close(once, p, 0.2)


@pytest.mark.usefixtures("x64")
def test_to_tangent_is_a_projection_onto_the_frame(any_dim):
    m, p = any_dim, points(any_dim, 0)
    once = each("to_tangent", m, p, vectors(m, 0))
    assert_close(each("to_tangent", m, p, once), once, 1e-13)
    for axis in np.moveaxis(each(frame, m, p), 1, 0):
        assert_close(each("to_tangent", m, p, axis), axis, 1e-13)


def test_init_is_a_reproducible_small_patch(plain):
    m = plain
    keys = jax.random.split(jax.random.key(7), 32)
    p = np.stack([m.init(key) for key in keys])
    offset = p - np.asarray(m.origin())
    assert p.dtype == m.origin().dtype == np.float32
    assert (p[0] == m.init(keys[0])).all()
    assert len(np.unique(p, axis=0)) == len(keys)
    assert np.abs(offset).max() <= 0.0101
    assert (offset.max(axis=0) > 0.005).sum() == (offset.min(axis=0) < -0.005).sum() == m.dim
    assert each("residual", m, p).max() < 1e-6
    with jax.enable_x64(True):
        assert jax.eval_shape(m.init, keys[0]).dtype == np.float64
