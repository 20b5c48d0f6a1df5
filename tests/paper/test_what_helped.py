"""The findings about the best recipes follow from the stored results, and change with them."""

from pathlib import Path

import pytest

from paper.reports.what_helped import what_helped
from paper.runner.reproduction import load_results

STORED = load_results(Path(__file__).parents[2] / "paper" / "results" / "best.json")
PAGE = (Path(__file__).parents[2] / "docs" / "results.md").read_text("utf-8")


def test_the_page_has_the_findings_of_the_stored_results():
    for line in what_helped(STORED).splitlines():
        assert line in PAGE


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda r: (
                {"without_valid": [101.0] * len(r.found["scores"])} if "without_valid" in r.found else {}
            ),
            "raises the mean test AP of 0 of 55 cells",
        ),
        (lambda r: {"median": 0.0}, "above in 0 of 8"),
        (lambda r: {"median": 100.0}, "0 of 46 single spacetime models miss"),
        (lambda r: {"together": 0.0} if r.about["dataset"] == "wordnet" else {}, "one kind in 6 of 6 cells"),
        (
            lambda r: (
                {"ranked_by": ["likelihood"] * len(r.found["ranked_by"])} if "ranked_by" in r.found else {}
            ),
            "0 of 6 cells of Minkowski + cone from 10 % on",
        ),
    ],
)
def test_other_results_say_other_things(change, words):
    other = [r._replace(found={**r.found, **change(r)}) for r in STORED]
    assert words not in what_helped(STORED)
    assert words in what_helped(other)


def test_nothing_is_said_without_results():
    assert what_helped([]) == ""
