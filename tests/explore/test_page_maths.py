"""A page without a server computes the same numbers as Python and places nodes as matplotlib pictures do."""

import dataclasses

import numpy as np
import pytest
from browser import NEEDS_BROWSER, opened
from small_models import make

from timelike import Model
from timelike.baselines import TwistedTime, twisted_time
from timelike.embedding.embedding import Embedding
from timelike.explore.page import whole_page
from timelike.explore.shown_model import Picture
from timelike.plot.drawn_nodes import Selection
from timelike.plot.scenes import LAYOUTS

pytestmark = NEEDS_BROWSER

#: Every class of manifolds and every likelihood, not all combinations.
MODELS = [
    ("minkowski", "cone"),
    ("euclidean", "fermi-dirac"),
    ("cylindrical-minkowski", "triple-fermi-dirac"),
    ("cylindrical-minkowski", "cone"),
    ("cylindrical-euclidean", "law-lucas"),
    ("anti-de-sitter", "triple-fermi-dirac"),
    ("de-sitter", "law-lucas"),
    ("hyperboloid", "fermi-dirac"),
    ("sphere", "triple-fermi-dirac"),
    ("two-time-hyperboloid", "triple-fermi-dirac"),
]
#: The probabilities of all pairs.
TABLE = """(({ model }) => Array.from({ length: 25 }, (_, i) =>
  Array.from(model.scores(i, false), (score) => model.prob(score))))(timelike.source.models[0])"""


@pytest.mark.parametrize(("manifold", "likelihood"), [*MODELS, ("twisted-time", "twisted-time")])
def test_the_page_computes_what_python_does(context, tmp_path, manifold, likelihood, x64):
    """In double precision on both sides, to six digits and more."""
    if manifold == "twisted-time":
        model = make("minkowski", nodes=25, edges=40, dim=4)
        twisted = Model(twisted_time(4).manifold, TwistedTime(tau1=0.7, tau2=1.3, r=-0.4))
        model = model._replace(embedding=dataclasses.replace(model.embedding, model=twisted))
    else:
        model = make(manifold, likelihood, nodes=25, edges=40, dim=4)
    (file := tmp_path / "page.html").write_text(whole_page([model]), encoding="utf-8")
    page = opened(context, file.as_uri())
    found = page.evaluate(TABLE)
    page.close()
    e = model.embedding
    double = Embedding(e.model, e.points.astype(np.float64), e.names, {}, {}, e.calibration)
    pairs = np.array([(i, j) for i in range(25) for j in range(25) if i != j])
    expected = np.exp(double.log_prob_by_number(pairs[:, 0], pairs[:, 1]))
    np.testing.assert_allclose(np.array(found)[pairs[:, 0], pairs[:, 1]], expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("manifold", ["minkowski", "cylindrical-minkowski", "anti-de-sitter", "hyperboloid"])
def test_nodes_stand_where_the_pictures_for_print_have_them(context, tmp_path, manifold):
    model = make(manifold, nodes=25, edges=40, dim=4)
    (file := tmp_path / "page.html").write_text(whole_page([model]), encoding="utf-8")
    page = opened(context, file.as_uri())
    none = np.zeros(0, int)
    chosen = Selection(np.arange(25), none, none, none, none, np.array([3]), np.zeros((2, 25), int), [])
    for view in Picture(model).about()["views"]:
        if view not in LAYOUTS:
            continue
        scene = LAYOUTS[view][0](model.embedding, chosen)
        page.evaluate(f"timelike.setView('{view}')")
        at, future = page.evaluate(
            "(p => [Array.from(p.at), p.layout.cone(p.table, 3).future])(timelike.panes[0])"
        )
        wide = scene.at.shape[1]
        np.testing.assert_allclose(np.reshape(at, (-1, 3))[:, :wide], scene.at, atol=1e-4)
        if view == "rolled" and scene.future:
            ends = np.sort([line[-1][2] for line in future])
            np.testing.assert_allclose(ends, np.sort([line[-1][2] for line in scene.future]), atol=1e-4)
    page.close()
