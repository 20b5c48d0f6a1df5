"""The page in a real browser: what a reader does, sees and gets wrong."""

import json
import re

import numpy as np
import pytest
from browser import browsing, chromium, opened, serving
from small_models import CALIBRATION, make

from timelike.embedding import Embedding
from timelike.explore.page import whole_page
from timelike.explore.shown import Picture
from timelike.plot.scenes import LAYOUTS
from timelike.plot.selection import Selection

CHROMIUM = chromium()
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]

ROWS = "rows => rows.map(row => [row.dataset.name, Number(row.dataset.p), row.querySelector('.p').textContent])"


@pytest.fixture(scope="module")
def context():
    with browsing(CHROMIUM) as found:
        yield found


@pytest.fixture(scope="module")
def one(shown):
    with serving(shown[:1]) as server:
        yield server


@pytest.fixture
def page(context, one):
    found = opened(context, one.address)
    yield found
    assert found.problems == []
    found.close()


def search(page, text):
    page.fill("#find", text)
    page.press("#find", "Enter")


def listed(page, side):
    return page.locator(f"#likely-{side} .row").evaluate_all(ROWS)


def number(text):
    return float(text.replace("−", "-"))


def test_search_completes_and_selects(page, shown):
    page.fill("#find", "GENE1")
    page.wait_for_selector("#find-list li")
    assert page.locator("#find-list li").all_inner_texts()[:2] == ["gene1", "gene10"]
    page.press("#find", "ArrowDown")
    page.press("#find", "ArrowDown")
    page.press("#find", "Enter")
    assert page.inner_text(".node-name") == "gene10"
    assert page.evaluate("timelike.panes[0].chosen.name") == "gene10"


def test_the_predicted_lists_are_those_of_python(page, shown):
    embedding, known = shown[0].embedding, shown[0].known
    search(page, "gene3")
    page.wait_for_selector("#likely-targets .row")
    for exclude in (None, known):
        if exclude is not None:
            page.check("#only-new")
        targets = [(p.target, p.probability) for p in embedding.top_targets("gene3", 20, exclude)]
        sources = [(p.source, p.probability) for p in embedding.top_sources("gene3", 20, exclude)]
        for side, expected in (("targets", targets), ("sources", sources)):
            found = listed(page, side)
            assert [row[0] for row in found] == [name for name, _ in expected]
            np.testing.assert_allclose([row[1] for row in found], [p for _, p in expected], rtol=1e-6)
            np.testing.assert_allclose([number(row[2]) for row in found], [p for _, p in expected], rtol=1e-5)


def test_an_edge_is_checked(page, shown):
    embedding = shown[0].embedding
    page.click("#tab-pair")
    page.fill("#source", "gene3")
    page.fill("#target", "gene8")
    page.click(".pair .main")
    page.wait_for_selector(".way.main")
    shown_values = [number(x) for x in page.locator(".way .value").all_inner_texts()]
    expected = [embedding.prob("gene3", "gene8"), embedding.prob("gene8", "gene3")]
    np.testing.assert_allclose(shown_values, expected, rtol=1e-5)
    assert CALIBRATION.edges == 50  # the model is calibrated, and the page says what it was before
    assert "before calibration" in page.inner_text(".way.main")
    assert re.search(r"\d+(st|nd|rd|th) of [\d,]+ possible targets of gene3", page.inner_text(".way.main"))
    rows = page.locator("table.why tr").evaluate_all("rows => rows.map(r => [r.dataset.name, Number(r.dataset.value)])")
    found = dict(rows)
    assert list(found) == ["s²", "Δt", "F₁", "F₂", "F₃", "F"]
    assert found["F"] == pytest.approx((found["F₁"] * found["F₂"] * found["F₃"]) ** (1 / 3), rel=1e-5)
    page.click(".swap")
    page.wait_for_function("document.querySelector('.way.main .ends').textContent.startsWith('gene8')")


def test_a_wrong_name_is_answered_with_three_near_ones(page):
    search(page, "gene3x")
    page.wait_for_selector("#node .wrong")
    assert "there is no node 'gene3x'" in page.inner_text("#node .wrong")
    near = page.locator("#node .wrong button")
    assert near.count() == 3
    name = near.first.inner_text()
    near.first.click()
    page.wait_for_selector(".node-name")
    assert page.inner_text(".node-name") == name
    page.click("#tab-pair")
    page.fill("#source", "gene1")
    page.fill("#target", "nobody")
    page.press("#target", "Enter")
    page.wait_for_selector("#pair .wrong")
    page.problems.clear()  # the browser notes the answer 404 itself


def test_a_click_chooses_and_a_drag_moves(page):
    page.evaluate("timelike.setView('diagram')")
    page.wait_for_timeout(300)
    spot = """() => { const pane = timelike.panes[0], box = pane.ink.getBoundingClientRect(), { width, height } = pane.size();
      const m = pane.matrix, x = pane.at[3 * 7], y = pane.at[3 * 7 + 1];
      return [box.left + ((m[0] * x + m[12]) / 2 + 0.5) * width, box.top + (0.5 - (m[5] * y + m[13]) / 2) * height]; }"""
    x, y = page.evaluate(spot)
    nearest = page.evaluate("([x, y]) => { const b = timelike.panes[0].ink.getBoundingClientRect(); return timelike.panes[0].pick(x - b.left, y - b.top); }", [x, y])
    page.mouse.click(x, y)
    page.wait_for_function("timelike.panes[0].chosen !== null")
    assert page.evaluate("timelike.panes[0].chosen.id") == nearest
    before = page.evaluate("timelike.panes[0].camera.x")
    page.mouse.move(300, 400)
    page.mouse.down()
    page.mouse.move(400, 420, steps=4)
    page.mouse.up()
    assert page.evaluate("timelike.panes[0].camera.x") < before
    scale = page.evaluate("timelike.panes[0].camera.scale")
    page.mouse.wheel(0, -300)
    page.wait_for_function(f"timelike.panes[0].camera.scale > {scale}")


def test_keys(page):
    page.locator(".pane").first.focus()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "find"
    page.keyboard.press("Escape")
    page.locator(".pane").first.focus()
    theme = page.evaluate("document.documentElement.dataset.theme")
    page.keyboard.press("d")
    assert page.evaluate("document.documentElement.dataset.theme") != theme
    page.keyboard.press("d")
    page.keyboard.press("2")
    assert page.get_attribute("#views button:nth-child(2)", "aria-pressed") == "true"
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#keys").is_visible()
    page.keyboard.press("l")
    assert not page.is_checked("#labels")


def test_the_picture_is_drawn_in_every_view_and_theme(page):
    pixels = """() => { const c = timelike.panes[0].toCanvas().canvas, d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
      const seen = new Set(); for (let i = 0; i < d.length; i += 4) seen.add((d[i] << 16) + (d[i + 1] << 8) + d[i + 2]); return seen.size; }"""
    for theme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'; timelike.recolour()")
        for view in page.evaluate("timelike.views"):
            page.evaluate(f"timelike.setView('{view}')")
            assert page.evaluate(pixels) > 50
    page.evaluate("document.documentElement.dataset.theme = 'light'; timelike.recolour()")


def test_colours(page):
    for label in ("degree", "component", "time"):
        page.select_option("#colour", label=label)
        page.wait_for_function(f"document.querySelector('.legend b').textContent === '{label}'")


def test_the_replay_ends_at_the_model(page):
    page.evaluate("timelike.replay.show(0)")
    page.wait_for_function("timelike.panes[0].table !== timelike.panes[0].home")
    first = page.evaluate("Array.from(timelike.panes[0].table)")
    page.evaluate("timelike.replay.show(2)")
    last, home = page.evaluate("[Array.from(timelike.panes[0].table), Array.from(timelike.panes[0].home)]")
    np.testing.assert_allclose(last, home, atol=1e-6)
    assert np.abs(np.array(first) - home).max() > 0.1
    assert page.inner_text("#epoch-shown") == "epoch 3 of 3"


def test_exports(page, tmp_path, shown):
    search(page, "gene3")
    page.wait_for_selector(".node-name")
    files = {}
    for kind in ("png", "svg", "tsv", "html"):
        page.click("#export summary")
        with page.expect_download() as download:
            page.click(f"#export-{kind}")
        download.value.save_as(tmp_path / f"out.{kind}")
        files[kind] = (tmp_path / f"out.{kind}").read_bytes()
    assert files["png"].startswith(b"\x89PNG")
    assert len(files["png"]) > 10_000
    assert files["svg"].count(b"<circle") >= 60
    best = shown[0].embedding.top_targets("gene3", 1, shown[0].known)[0]
    line = files["tsv"].decode().splitlines()[1].split("\t")
    assert line[:2] == [best.source, best.target]
    assert float(line[2]) == pytest.approx(best.probability, rel=1e-6)
    assert b'id="data"' in files["html"]


def test_two_models_are_linked(context, shown):
    with serving(shown) as server:
        page = opened(context, server.address)
        assert page.locator(".pane").count() == 2
        search(page, "gene3")
        page.wait_for_selector(".node-name")
        assert page.evaluate("timelike.panes.map(p => p.chosen.name)") == ["gene3", "gene3"]
        page.click(".segments.wide button:nth-child(2)")
        expected = shown[1].embedding.top_targets("gene3", 20)
        np.testing.assert_allclose([row[1] for row in listed(page, "targets")], [p.probability for p in expected], rtol=1e-6)
        page.evaluate("timelike.check('gene3', 'gene8')")
        page.wait_for_selector(".way.main >> nth=1")
        values = [number(x) for x in page.locator(".way.main .value").all_inner_texts()]
        np.testing.assert_allclose(values, [s.embedding.prob("gene3", "gene8") for s in shown], rtol=1e-5)
        assert page.problems == []
        page.close()


def test_a_stopped_server_is_said(context, shown):
    with serving(shown[:1]) as server:
        page = opened(context, server.address)
    search(page, "gene3")
    page.wait_for_selector("#status.stopped")
    assert "The server has stopped" in page.inner_text("#status")
    page.close()


def test_a_page_of_its_own_needs_no_server(context, shown, tmp_path):
    (file := tmp_path / "page.html").write_text(whole_page(shown[:1]), encoding="utf-8")
    page = opened(context, file.as_uri())
    search(page, "gene3")
    page.wait_for_selector("#likely-targets .row")
    expected = shown[0].embedding.top_targets("gene3", 20)
    assert [row[0] for row in listed(page, "targets")] == [p.target for p in expected]
    np.testing.assert_allclose([row[1] for row in listed(page, "targets")], [p.probability for p in expected], rtol=1e-5)
    page.evaluate("timelike.check('gene3', 'gene8')")
    page.wait_for_selector(".way.main")
    value = number(page.locator(".way.main .value").inner_text())
    assert value == pytest.approx(shown[0].embedding.prob("gene3", "gene8"), rel=1e-5)
    search(page, "gene3x")
    page.wait_for_selector("#node .wrong button")
    assert page.problems == []
    page.close()


MODELS = [
    ("minkowski", "triple-fermi-dirac"), ("minkowski", "cone"), ("minkowski", "law-lucas"), ("euclidean", "fermi-dirac"),
    ("cylindrical-minkowski", "cone"), ("cylindrical-euclidean", "law-lucas"), ("anti-de-sitter", "triple-fermi-dirac"),
    ("de-sitter", "triple-fermi-dirac"), ("hyperboloid", "fermi-dirac"), ("sphere", "triple-fermi-dirac"),
    ("two-time-hyperboloid", "triple-fermi-dirac"),
]  # fmt: skip


@pytest.mark.parametrize(("manifold", "likelihood"), MODELS)
def test_the_page_computes_what_python_does(context, tmp_path, manifold, likelihood, x64):
    """In double precision on both sides, to six digits and more."""
    model = make(manifold, likelihood, nodes=25, edges=40, dim=4)
    (file := tmp_path / "page.html").write_text(whole_page([model]), encoding="utf-8")
    page = opened(context, file.as_uri())
    found = page.evaluate("(m => Array.from({ length: 25 }, (_, i) => Array.from(m.scores(i, false), s => m.prob(s))))(timelike.source.models[0].model)")
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
        at, future = page.evaluate("(p => [Array.from(p.at), p.layout.cone(p.table, 3).future])(timelike.panes[0])")
        wide = scene.at.shape[1]
        np.testing.assert_allclose(np.reshape(at, (-1, 3))[:, :wide], scene.at, atol=1e-4)
        if view == "rolled" and scene.future:
            ends = np.sort([line[-1][2] for line in future])
            np.testing.assert_allclose(ends, np.sort([line[-1][2] for line in scene.future]), atol=1e-4)
    page.close()


def test_a_tablet_sees_all_of_it(shown, one):
    with browsing(CHROMIUM, has_touch=True) as context:
        page = opened(context, one.address)
        for width, height in ((1280, 720), (1024, 768), (768, 1024)):
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(200)
            sizes = page.evaluate("[document.documentElement.scrollWidth, document.querySelector('.pane').clientHeight, document.querySelector('#panel').clientWidth]")
            assert sizes[0] <= width
            assert sizes[1] > 250
            assert sizes[2] > 250
        assert json.dumps(page.problems) == "[]"
