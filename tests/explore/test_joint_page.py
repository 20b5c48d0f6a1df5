"""With a joint model the page shows its lists, spreads, reasons and measured precision."""

import numpy as np
import pytest
from browser import NEEDS_BROWSER, opened, serving

import timelike as tl
from timelike.explore.answers import Answers
from timelike.explore.page import whole_page
from timelike.explore.shown_model import Shown


@pytest.fixture(scope="module")
def fitted() -> tl.SpacetimeEmbedding:
    rng = np.random.default_rng(0)
    likely = np.where((np.arange(50)[:, None] % 2 == 0) & (np.arange(50) % 2 == 1), 0.25, 0.01)
    edges = np.argwhere((rng.random((50, 50)) < likely) & ~np.eye(50, dtype=bool))
    graph = tl.DiGraph.from_edges([(f"gene{s}", f"gene{t}") for s, t in edges])
    quick = {"dim": 3, "epochs": 5, "learning_rate": 0.03, "baselines": "none", "progress": False}
    return tl.SpacetimeEmbedding("minkowski", **quick).fit(graph)


@pytest.fixture(scope="module")
def joint_shown(fitted) -> Shown:
    return Shown("joint", fitted.embedding_, fitted.known_, joint=fitted.joint_)


def test_the_numbers_are_those_of_the_joint_model(fitted, joint_shown):
    answers = Answers(joint_shown)
    number = answers.number("gene3")
    found = answers.node(number, 8)
    for side, end, rank in (("targets", 1, fitted.top_targets), ("sources", 0, fitted.top_sources)):
        expected = rank("gene3", 8)
        assert [row["name"] for row in found[side]["new"]] == [row[end] for row in expected]
        np.testing.assert_allclose([row["p"] for row in found[side]["new"]], [row[2] for row in expected])
        np.testing.assert_allclose(
            [row["spread"] for row in found[side]["new"]], [row[3] for row in expected]
        )
    pair = answers.pair(number, answers.number("gene8"))
    assert pair["forward"]["p"] == pytest.approx(fitted.joint_.prob("gene3", "gene8"))
    assert pair["backward"]["p"] == pytest.approx(fitted.joint_.prob("gene8", "gene3"))
    base, reasons = fitted.why("gene3", "gene8")
    assert pair["forward"]["joint"]["base"] == base
    assert [row["group"] for row in pair["forward"]["joint"]["reasons"]] == [row.group for row in reasons]
    best = [(row["source"]["name"], row["target"]["name"]) for row in answers.likeliest(5)]
    assert best == [row[:2] for row in fitted.top_edges(5)]
    assert answers.picture.about()["joint"]["precision"] == fitted.joint_.precision_at(100)


def test_known_edges_are_judged_as_if_unknown(fitted, joint_shown):
    answers = Answers(joint_shown)
    number = answers.number(fitted.known_.names[int(fitted.known_.sources[0])])
    known = answers.node(number, 8)["targets"]["known"]
    source = [answers.name(number)] * len(known)
    np.testing.assert_allclose(
        [row["p"] for row in known], fitted.joint_.prob(source, [row["name"] for row in known])
    )
    assert all(row["known"] for row in known)


def test_a_page_of_its_own_has_the_geometry_alone(joint_shown):
    assert '"joint": null' in whole_page([joint_shown])


class TestInABrowser:
    pytestmark = NEEDS_BROWSER

    def test_a_node_an_edge_and_the_model(self, context, fitted, joint_shown):
        with serving([joint_shown]) as server:
            page = opened(context, server.address)
            assert "% in validation" in page.inner_text("#model")
            page.fill("#find", "gene3")
            page.press("#find", "Enter")
            page.wait_for_selector("#likely-targets .row")
            assert page.is_checked("#only-new")
            shown = page.locator("#likely-targets .row .p").all_inner_texts()
            best = fitted.top_targets("gene3", 20)
            assert [float(text.split(" ± ")[0]) for text in shown] == [
                pytest.approx(row.probability, rel=6e-3) for row in best
            ]
            assert all(" ± " in text for text in shown)
            page.evaluate("timelike.check('gene3', 'gene8')")
            page.wait_for_selector("table.reasons tr")
            rows = page.locator("table.reasons tr").evaluate_all(
                "rows => rows.map(r => [r.dataset.group, Number(r.dataset.value)])"
            )
            assert rows == [
                [row.group, pytest.approx(row.contribution)] for row in fitted.why("gene3", "gene8")[1]
            ]
            assert page.problems == []
            page.close()
