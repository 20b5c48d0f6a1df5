"""The page in a real browser: actions, displays and user errors."""

import re

import numpy as np
import pytest
from browser import NEEDS_BROWSER, opened, serving
from small_models import CALIBRATION, made_to_differ, make

from timelike.explore.page import whole_page

pytestmark = NEEDS_BROWSER

ROWS = (
    "rows => rows.map(row => [row.dataset.name, Number(row.dataset.p), row.querySelector('.p').textContent])"
)

#: Where node 7 is on the screen, and which node is picked there.
SPOT = """() => {
  const pane = timelike.panes[0], box = pane.ink.getBoundingClientRect(), { width, height } = pane.size();
  const m = pane.matrix, x = ((m[0] * pane.at[21] + m[12]) / 2 + 0.5) * width;
  const y = (0.5 - (m[5] * pane.at[22] + m[13]) / 2) * height;
  return [box.left + x, box.top + y, pane.pick(x, y)];
}"""
#: How many colours the picture has.
COLOURS = """() => {
  const canvas = timelike.panes[0].toCanvas(), { width, height } = canvas, seen = new Set();
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
  for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) + (data[i + 1] << 8) + data[i + 2]);
  return seen.size;
}"""


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


def until(page, expression):
    """Wait until a script returns true; the page's own policy forbids evaluating text."""
    for _ in range(600):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"never became true: {expression}")


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
    assert page.is_checked("#only-new")  # predictions are asked for
    for exclude in (known, None):
        if exclude is None:
            page.uncheck("#only-new")
        targets = [(p.target, p.probability) for p in embedding.top_targets("gene3", 20, exclude=exclude)]
        sources = [(p.source, p.probability) for p in embedding.top_sources("gene3", 20, exclude=exclude)]
        for side, expected in (("targets", targets), ("sources", sources)):
            found = listed(page, side)
            assert [row[0] for row in found] == [name for name, _ in expected]
            np.testing.assert_allclose([row[1] for row in found], [p for _, p in expected], rtol=1e-6)
            np.testing.assert_allclose([number(row[2]) for row in found], [p for _, p in expected], rtol=5e-3)


def test_an_edge_is_checked(page, shown):
    embedding = shown[0].embedding
    page.click("#tab-pair")
    page.fill("#source", "gene3")
    page.fill("#target", "gene8")
    page.press("#target", "Enter")
    page.wait_for_selector(".way.main")
    shown_values = [number(x) for x in page.locator(".way .value").all_inner_texts()]
    expected = [embedding.prob("gene3", "gene8"), embedding.prob("gene8", "gene3")]
    np.testing.assert_allclose(shown_values, expected, rtol=5e-3)
    assert CALIBRATION.edges == 50  # the model is calibrated, so the page shows the raw probability too
    assert "before calibration" in page.inner_text(".way.main")
    assert re.search(r"\d+(st|nd|rd|th) of [\d,]+ possible targets of gene3", page.inner_text(".way.main"))
    rows = page.locator("table.why tr").evaluate_all(
        "rows => rows.map(r => [r.dataset.name, Number(r.dataset.value)])"
    )
    found = dict(rows)
    assert list(found) == ["s²", "Δt", "F₁", "F₂", "F₃", "F"]
    assert found["F"] == pytest.approx((found["F₁"] * found["F₂"] * found["F₃"]) ** (1 / 3), rel=1e-5)
    page.click(".swap")
    until(page, "document.querySelector('.way.main .ends').textContent.startsWith('gene8')")


def test_a_wrong_name_is_answered_with_three_near_ones(page):
    search(page, "gene3x")
    page.wait_for_selector("#node .wrong")
    assert "'gene3x'" in page.inner_text("#node .wrong")
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
    page.problems.clear()  # the browser logs status 404 itself


def test_a_click_chooses_and_a_drag_moves(page):
    page.evaluate("timelike.setView('diagram')")
    page.wait_for_timeout(300)
    x, y, nearest = page.evaluate(SPOT)
    page.mouse.click(x, y)
    until(page, "timelike.panes[0].chosen !== null")
    assert page.evaluate("timelike.panes[0].chosen.id") == nearest
    before = page.evaluate("timelike.panes[0].camera.x")
    page.mouse.move(300, 400)
    page.mouse.down()
    page.mouse.move(400, 420, steps=4)
    page.mouse.up()
    assert page.evaluate("timelike.panes[0].camera.x") < before
    scale = page.evaluate("timelike.panes[0].camera.scale")
    page.mouse.wheel(0, -300)
    until(page, f"timelike.panes[0].camera.scale > {scale}")


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
    for theme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'; timelike.recolour()")
        for view in page.evaluate("timelike.views"):
            page.evaluate(f"timelike.setView('{view}')")
            assert page.evaluate(COLOURS) > 50
    page.evaluate("document.documentElement.dataset.theme = 'light'; timelike.recolour()")


SEEN = """() => {
  const pane = timelike.panes[0], { width, height } = pane.size(), m = pane.matrix, out = [];
  for (let i = 0; i < pane.at.length; i += 3) {
    const p = [...pane.at.subarray(i, i + 3), 1];
    const [x, y, , w] = [0, 1, 2, 3].map((r) => p.reduce((sum, v, c) => sum + m[4 * c + r] * v, 0));
    out.push([(x / w + 1) / 2 * width, (1 - y / w) / 2 * height]);
  }
  return [width, height, out];
}"""


def test_all_nodes_are_in_view_and_no_word_lies_over_them(page):
    for view in page.evaluate("timelike.views"):
        page.evaluate(f"timelike.setView('{view}')")
        page.wait_for_timeout(200)
        width, height, places = page.evaluate(SEEN)
        x, y = np.array(places).T
        assert x.min() >= 0
        assert x.max() <= width
        assert y.min() >= 0
        assert y.max() <= height
    picture, caption = (page.locator(name).bounding_box() for name in (".picture", "figcaption"))
    assert caption["y"] >= picture["y"] + picture["height"]


def test_what_is_under_the_pointer_stays_there_when_zooming_in_3d(page):
    page.evaluate("timelike.setView('space')")
    page.wait_for_timeout(200)
    box = page.locator(".picture").bounding_box()
    x, y = page.evaluate(SEEN)[2][7]
    page.mouse.move(box["x"] + x, box["y"] + y)
    lens = page.evaluate("timelike.panes[0].camera.lens")
    page.mouse.wheel(0, -400)
    until(page, f"timelike.panes[0].camera.lens > {lens}")
    page.wait_for_timeout(200)
    np.testing.assert_allclose(page.evaluate(SEEN)[2][7], [x, y], atol=4)  # the pointer has whole pixels


def test_the_checked_edge_is_drawn(page):
    page.evaluate("timelike.check('gene3', 'gene8')")
    until(page, "timelike.panes[0].pair?.target.name === 'gene8'")
    page.evaluate("timelike.chooseNothing()")
    assert page.evaluate("timelike.panes[0].pair") is None


def test_a_model_without_time_says_so(context):
    with serving([make("euclidean", "fermi-dirac")]) as server:
        page = opened(context, server.address)
        assert page.inner_text("#views button:first-child") == "Plane"
        assert "no direction" in page.inner_text("figcaption")
        page.evaluate("timelike.check('gene3', 'gene8')")
        page.wait_for_selector("table.why")
        assert "light cone" not in page.inner_text("#pair")
        assert page.problems == []
        page.close()


def test_colours(page):
    for label in ("degree", "component", "time"):
        page.select_option("#colour", label=label)
        until(page, f"document.querySelector('.legend b').textContent === '{label}'")


def test_the_replay_ends_at_the_model(page):
    page.evaluate("timelike.replay.show(0)")
    until(page, "timelike.panes[0].table !== timelike.panes[0].home")
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
    assert b">time</text>" in files["svg"]  # the legend
    best = shown[0].embedding.top_targets("gene3", 1, exclude=shown[0].known)[0]
    line = files["tsv"].decode().splitlines()[1].split("\t")
    assert line[:2] == [best.source, best.target]
    assert float(line[2]) == pytest.approx(best.probability, rel=1e-6)
    assert b'id="data"' in files["html"]


def test_two_models_are_linked(context, shown):
    shown = [shown[0], make("anti-de-sitter", title="B", edges=90)]
    with serving(shown) as server:
        page = opened(context, server.address)
        assert page.locator(".pane").count() == 2
        search(page, "gene3")
        page.wait_for_selector(".node-name")
        assert page.evaluate("timelike.panes.map(p => p.chosen.name)") == ["gene3", "gene3"]
        page.click(".segments.wide button:nth-child(2)")
        expected = shown[1].embedding.top_targets("gene3", 20, exclude=shown[1].known)
        np.testing.assert_allclose(
            [row[1] for row in listed(page, "targets")], [p.probability for p in expected], rtol=1e-6
        )
        page.evaluate("timelike.check('gene3', 'gene8')")
        page.wait_for_selector(".way.main >> nth=1")
        values = [number(x) for x in page.locator(".way.main .value").all_inner_texts()]
        np.testing.assert_allclose(values, [s.embedding.prob("gene3", "gene8") for s in shown], rtol=5e-3)
        assert page.problems == []
        page.close()


def test_a_stopped_server_is_said(context, shown):
    with serving(shown[:1]) as server:
        page = opened(context, server.address)
    search(page, "gene3")
    page.wait_for_selector("#status.stopped")
    assert "The server has stopped" in page.inner_text("#status")
    page.close()


@pytest.mark.parametrize(("kind", "side"), [("inner", "sources"), ("outer", "targets")])
def test_a_page_of_its_own_ranks_as_the_model_does(context, tmp_path, kind, side):
    shown = made_to_differ(make("minkowski"), kind)
    (file := tmp_path / "page.html").write_text(whole_page([shown]), encoding="utf-8")
    page = opened(context, file.as_uri())
    search(page, "gene7")
    page.wait_for_selector(f"#likely-{side} .row")
    found = {row[0]: row[1] for row in listed(page, side)}
    for best in getattr(shown.embedding, f"top_{side}")("gene7", 20, exclude=shown.known):
        assert found[getattr(best, side[:-1])] == pytest.approx(best.probability, rel=1e-5)
    assert found.keys() <= {f"gene{i}" for i in range(20)}
    page.close()


def test_a_page_of_its_own_needs_no_server(context, shown, tmp_path):
    (file := tmp_path / "page.html").write_text(whole_page(shown[:1]), encoding="utf-8")
    page = opened(context, file.as_uri())
    search(page, "gene3")
    page.wait_for_selector("#likely-targets .row")
    expected = shown[0].embedding.top_targets("gene3", 20, exclude=shown[0].known)
    assert [row[0] for row in listed(page, "targets")] == [p.target for p in expected]
    np.testing.assert_allclose(
        [row[1] for row in listed(page, "targets")], [p.probability for p in expected], rtol=1e-5
    )
    page.evaluate("timelike.check('gene3', 'gene8')")
    page.wait_for_selector(".way.main")
    value = number(page.locator(".way.main .value").inner_text())
    assert value == pytest.approx(shown[0].embedding.prob("gene3", "gene8"), rel=5e-3)
    search(page, "gene3x")
    page.wait_for_selector("#node .wrong button")
    assert page.problems == []
    page.close()


def test_a_tablet_sees_all_of_it(context, one):
    tablet = context.browser.new_context(has_touch=True)
    page = opened(tablet, one.address)
    for width, height in ((1280, 720), (1024, 768), (768, 1024)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(200)
        found = page.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.scrollHeight,"
            " document.querySelector('.pane').clientHeight, document.querySelector('#panel').clientWidth]"
        )
        assert found[0] <= width
        assert found[1] <= height
        assert min(found[2:]) > 250
    assert page.problems == []
    tablet.close()
