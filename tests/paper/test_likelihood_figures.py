"""The figures of the paper that need no data."""

import numpy as np
import pytest

from paper.reports.likelihood_figures import disk_cone, tfd_heatmaps, wrapped_heatmaps


def test_half_contour_of_the_disk_figure_is_equation_26():
    tau1 = tau2 = 0.05
    figure = disk_cone(tau1, tau2, resolution=401)
    contour = figure.axes[0].collections[-1].get_paths()[0].vertices
    x, t = contour[contour[:, 1] > 0.02].T
    boundary = tau1 * np.log((3 - np.exp(-t / tau2)) / (1 + np.exp(-t / tau2))) + t**2
    np.testing.assert_allclose(np.abs(x), np.sqrt(boundary), atol=1e-3)


@pytest.mark.parametrize(("draw", "panels"), [(tfd_heatmaps, 6), (wrapped_heatmaps, 2)])
def test_figures_draw(draw, panels, tmp_path):
    figure = draw(resolution=31)
    figure.savefig(tmp_path / "figure.png")
    assert len(figure.axes) == panels + 1  # and one colour bar
