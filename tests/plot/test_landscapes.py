"""Pictures say what the formulas say."""

import sys

import jax.numpy as jnp
import numpy as np
import pytest

from timelike import Model, plot
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import AntiDeSitter, CylindricalMinkowski, Euclidean, Minkowski

SQUARE = (-1.0, 1.0, -1.0, 1.0)


def scene(manifold, **options):
    return plot.landscape(Model(manifold, TripleFermiDirac()), SQUARE, resolution=21, **options)


def test_landscape_is_the_model_on_a_grid():
    found = scene(Minkowski(3))
    q = jnp.array([found.t[15], found.x[4], 0.0])
    model = Model(Minkowski(3), TripleFermiDirac())
    np.testing.assert_allclose(found.prob[15, 4], model.prob(jnp.zeros(3), q), rtol=1e-5)
    assert found.extent == SQUARE


def test_landscape_around_another_event():
    here, there = scene(Minkowski(2)), scene(Minkowski(2), source=jnp.array([0.5, 0.0]))
    np.testing.assert_allclose(there.prob[5:], here.prob[:-5], rtol=1e-4, atol=1e-6)


def test_polar_chart_lies_on_anti_de_sitter_and_runs_to_the_future():
    ads = AntiDeSitter(3, radius=2.0)
    q = plot.polar_chart(ads)(jnp.float32(0.5), jnp.float32(0.3))
    assert ads.residual(q) < 1e-6
    time = ads.separation(ads.origin(), q).nearest.time[0]
    np.testing.assert_allclose(time, 2 * 0.5 * np.hypot(1, 0.3), rtol=1e-5)


@pytest.mark.parametrize(("manifold", "lines"), [(Minkowski(2), 1), (Euclidean(2), 0)])
def test_light_cone_only_where_there_is_one(manifold, lines):
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    plot.draw_light_cone(axes, scene(manifold))
    assert len(axes.collections) == lines


def test_wrapped_landscape_is_periodic():
    model = Model(CylindricalMinkowski(2, 4.0, images=10), TripleFermiDirac())
    found = plot.landscape(model, (-1, 1, -2, 2), resolution=9)
    np.testing.assert_allclose(found.prob[0], found.prob[-1], rtol=1e-5)


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"timelike\[plot\]"), plot.styled():
        pass
