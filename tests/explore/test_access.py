"""Addresses that can be shared, the Enter key, and what axe says of the page to people who cannot see it."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from browser import NEEDS_BROWSER, opened, serving

pytestmark = NEEDS_BROWSER

#: Findings by rule: how serious, and where.
AXE = """async () => (await axe.run()).violations.map(found =>
  [found.impact, found.id, found.nodes.slice(0, 3).map(node => node.html.slice(0, 200))])"""


@pytest.fixture(scope="module")
def one(shown):
    with serving(shown[:1]) as server:
        yield server


def axe() -> str:
    """The script, of the file TIMELIKE_AXE or of axe-core-python."""
    if file := os.environ.get("TIMELIKE_AXE"):
        return Path(file).read_text()
    if (found := find_spec("axe_core_python")) is None:
        pytest.skip("axe-core-python is not installed")
    return Path(next(iter(found.submodule_search_locations)), "axe.min.js").read_text()


def serious(page) -> list:
    return [found for found in page.evaluate(AXE) if found[0] in ("serious", "critical")]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(context, one, theme):
    page = opened(context, one.address)
    if page.evaluate("document.documentElement.dataset.theme") != theme:
        page.click("#theme")
    page.evaluate(axe())
    page.wait_for_selector("#model .row")
    assert serious(page) == []
    page.evaluate("timelike.choose('gene3')")
    page.wait_for_selector("#likely-targets .row")
    assert serious(page) == []
    page.evaluate("timelike.check('gene3', 'gene8')")
    page.wait_for_selector(".way.main")
    assert serious(page) == []
    page.fill("#find", "gene")
    page.wait_for_selector("#find-list li")
    page.press("#find", "ArrowDown")
    assert serious(page) == []
    page.close()


def test_enter_takes_the_only_suggestion(context, one):
    page = opened(context, one.address)
    for typed, name in (("gene4", "gene4"), ("GENE39", "gene39")):
        page.fill("#find", typed)
        page.press("#find", "Enter")
        page.wait_for_function("name => document.querySelector('.node-name')?.textContent === name", arg=name)
    page.close()


def test_an_address_brings_back_what_was_shown(context, one):
    page = opened(context, one.address)
    views = page.evaluate("timelike.views")
    page.evaluate("view => timelike.setView(view)", views[1])
    colours = page.locator("#colour option").all_inner_texts()
    page.select_option("#colour", label=colours[1])
    page.evaluate("timelike.choose('gene3')")
    page.wait_for_selector("#likely-targets .row")
    address = page.url
    assert "node=gene3" in address
    page.close()
    page = opened(context, address)
    assert page.inner_text(".node-name") == "gene3"
    assert page.evaluate("timelike.view") == views[1]
    assert page.evaluate("timelike.panes[0].scale.label") == colours[1]
    page.evaluate("timelike.check('gene3', 'gene8')")
    page.wait_for_selector(".way.main")
    address = page.url
    page.close()
    page = opened(context, address)
    assert page.inner_text(".way.main .ends").startswith("gene3 → gene8")
    assert page.problems == []
    page.close()
