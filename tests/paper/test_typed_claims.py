"""Sentences that are typed between the tables of the results page, each with what the stored results say."""

import json
import re
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from paper.groups import cyclic, grid, wordnet
from paper.pages import BLOCK
from paper.reports.epochs import in_burn_in
from paper.reports.grid_conclusions import conclusions
from paper.reports.simple_rows import simple_scores
from paper.reports.tables import is_riemannian
from paper.reports.wordnet_training import is_low
from paper.runner.reproduction import load_results
from paper.studies import cost

RESULTS = Path(__file__).parents[2] / "paper" / "results"
PAGE = (Path(__file__).parents[2] / "docs" / "results.md").read_text("utf-8")
TYPED = " ".join(BLOCK.sub("", PAGE).split())


def stored(name):
    return load_results(RESULTS / f"{name}.json")


def cells(row):
    """The results of a row of the WordNet table."""
    return [r for r in stored("wordnet") if r.about["row"] == row]


def gap(result):
    """The distance from the published F1."""
    return result.found["median"] - result.about["published"][0]


def above_both_riemannian():
    """With whole grids at d = 10, the spacetimes that are above both Riemannian models, by test choice."""
    text = grid.report(stored("grid"), Path()).markdown
    return re.search(r"under the paper's protocol, (\d+) of \1 spacetimes are above", text)


def members():
    return json.loads((RESULTS / "members.json").read_text("utf-8"))


def wrong_more_often():
    """On which data sets the pairs with the larger spread are wrong more often, at equal probability."""
    return [one["wrong_at_equal_probability"][1] > one["wrong_at_equal_probability"][0] for one in members()]


def improved(score, sign):
    return [
        sign * (after - before)
        for one in members()
        for before, after in zip(one["alone"][score], one["together"][score], strict=True)
    ]


def compiling_share():
    """The share of compilation in the extrapolated time of all tables."""
    lines = re.findall(r"\| \d+ \| (\d+) \| (\d+) \|", cost.report(stored("cost")))
    compiling, training = np.sum(np.array(lines, float), axis=0)
    return compiling / (compiling + training)


def cyclic_cells(data, protocol, spacetimes):
    """The cells of the cyclic table with listed non-edges."""
    return [
        r
        for r in stored("cyclic")
        if r.about.get("protocol") == protocol
        and (r.about["dataset"], r.about["negatives"]) == (data, "listed")
        and is_riemannian(r) != spacetimes
    ]


def degrees_beat_most_spacetimes_of_in_silico():
    """Most cells are below the degree product, and many are best within the burn-in."""
    cells = cyclic_cells("dream5:in-silico", "paper", True)
    degrees = cyclic.degree_products(stored("cyclic"))["dream5:in-silico", "listed"]
    low = sum(r.found["median"] <= degrees for r in cells)
    return low > len(cells) / 2 and sum(map(in_burn_in, cells)) > len(cells) / 2


def recipes_beat_degrees():
    """The recipes' spacetimes of in silico are above the degree product of the same splits."""
    cells = [
        r
        for r in stored("best")
        if (r.about["dataset"], r.about["dim"]) == ("dream5:in-silico", 10) and not is_riemannian(r)
    ]
    degrees = simple_scores("dream5:in-silico", cells[0].about["splits"], "listed")["degree product"]
    return all(r.found["median"] > median(degrees) for r in cells)


def recipes_above_the_paper():
    """For each spacetime: is it above the published score, is it not grown, is it a good ensemble?"""
    for r in stored("best"):
        data = r.about["dataset"]
        if data == "wordnet" or not r.about["title"].startswith(("Euclidean", "Hyperboloid")):
            grown = data == "duplication-divergence"
            above = r.found["median"] > r.about["published"][0]
            yield above, not grown, grown and above and "members" in r.about


def riemannian_gaps():
    """Our Riemannian scores less the published ones, in the cyclic tables of DREAM5."""
    cells = [r for data in cyclic.DREAM5 for r in cyclic_cells(data, "paper", False)]
    return [gap(r) for r in cells if r.about["published"]]


def poincare_at_half():
    """Validation F1 at 50 % by (negatives, rate): of another parent and of both ends at 0.1, and at 0.3."""
    (found,) = (r.found["valid"] for r in stored("wordnet_poincare") if r.about["percent"] == 50)
    return found


CLAIMS = {
    "*Minkowski + TFD is above the paper in every column*": lambda: all(
        gap(r) > 0 for r in cells("minkowski")
    ),
    "pass its numbers only without closure pairs": lambda: all(
        (gap(r) > 0) == (r.about["percent"] == 0) for r in cells("minkowski-paper")
    ),
    "stays far below its published numbers": lambda: median(map(gap, cells("poincare-embedding"))) < -10,
    "negatives like those of the test, with either end replaced, matter most": lambda: (
        poincare_at_half()[1] - poincare_at_half()[0] > poincare_at_half()[1] - poincare_at_half()[2] > 0
    ),
    "*Entailment cones* miss their published numbers by most, of the three": lambda: (
        min(map(gap, cells("cones-authors")))
        < min(min(map(gap, cells(row))) for row in ("poincare-authors", "shadow-authors"))
    ),
    "their spacetimes are above the paper's numbers; on duplication-divergence, only ensembles are": lambda: (
        all(above == (known or ensemble) for above, known, ensemble in recipes_above_the_paper())
    ),
    "far better than the published ones": lambda: median(riemannian_gaps()) > 5,
    "On the listed negatives of in silico it beats most spacetimes here": (
        degrees_beat_most_spacetimes_of_in_silico
    ),
    "The [recipes below](#recipes-from-a-search) do better": recipes_beat_degrees,
    "it moves even the degree product on *E. coli* by several points": lambda: (
        np.ptp(simple_scores("dream5:ecoli", range(100, 106), "listed")["degree product"]) > 3
    ),
    "Errors are many times as frequent where the members disagree most": lambda: all(
        one["wrong_by_third_of_spread"][2] > 3 * one["wrong_by_third_of_spread"][0] for one in members()
    ),
    "the calibration error is about that of one member": lambda: all(
        abs(np.mean(one["alone"]["ece"]) - np.mean(one["together"]["ece"])) < 0.5 for one in members()
    ),
    "spacetimes are then above both Riemannian rows on every graph": above_both_riemannian,
    "Ranking and likelihood improve": lambda: (
        min(np.mean(improved("ap", 1)), np.mean(improved("nll", -1))) > 0
    ),
    "wrong slightly more often on two of the three data sets, and less often on one": lambda: (
        sum(wrong_more_often()) == 2 and len(wrong_more_often()) == 3
    ),
    "More than half of that is compilation": lambda: compiling_share() > 0.5,
    "an F1 above 97.5 from a quarter of the closure": lambda: all(
        r.found["test"] > 97.5
        for r in stored("wordnet_time")
        if "best recipe" in r.about["title"] and r.about["percent"] == 25
    ),
}


@pytest.mark.parametrize("sentence", CLAIMS)
def test_a_typed_sentence_holds_for_the_stored_results(sentence):
    assert sentence in TYPED, "gone from the page: remove it here too"
    assert CLAIMS[sentence]()


@pytest.mark.parametrize("words", ["### Conclusions", "### What helped"])
def test_conclusions_are_written_by_a_command(words):
    assert words not in TYPED
    assert words in PAGE


def test_the_conclusions_on_the_page_are_those_of_the_grids():
    text = grid.report(stored("grid"), Path()).markdown
    lines = text[text.index("## Conclusions") :].splitlines()[2:]
    assert len(lines) == 5
    assert all(line in PAGE for line in lines)
    assert conclusions([]) == ""


def test_marked_rows_of_wordnet_are_those_far_below_published():
    results = stored("wordnet")
    text = wordnet.report(results, Path()).markdown
    assert f"{sum(not is_low(r) for r in results if r.about['published'])} of" in text
