"""The studies of toy graphs count what their results say."""

from pathlib import Path

import numpy as np
import pytest

from paper.runner.reproduction import load_results
from paper.studies import cycle, transitivity
from paper.training.toy_runs import Toy

RESULTS = Path(__file__).parents[2] / "paper" / "results"


@pytest.fixture(scope="module")
def rates():
    return load_results(RESULTS / "transitivity.json")


def test_figure_3_has_many_seeds_and_rates(rates):
    assert {r.about["alpha"] for r in rates} >= {0.001, 0.075}
    for r in rates:
        assert {0.02, 0.04, 0.08, 0.16, 0.32} <= {*r.about["rates"]}
        assert np.shape(r.found["nll"]) == (len(r.about["rates"]), r.about["seeds"])
        assert r.about["seeds"] >= 10


def test_a_claim_that_the_numbers_refute_does_not_hold(rates):
    turned = [r._replace(found={**r.found, "nll": (100 - np.array(r.found["nll"])).tolist()}) for r in rates]
    closure = [transitivity.report(some).partition("captures it better.*")[2] for some in (rates, turned)]
    assert "the claim holds" in closure[0].partition("\n")[0]
    assert "the claim does not hold" in closure[1].partition("\n")[0]


def test_the_picture_is_drawn(rates, tmp_path):
    transitivity.draw(rates, tmp_path)
    assert (tmp_path / "toys-rates.png").stat().st_size > 10_000


def test_an_even_guess_has_the_nll_of_log_2():
    toy = Toy.load("cycle")
    assert toy.edge.sum() == 5
    assert len(toy.non_edges) == 15
    assert toy.nll(np.full(20, 0.5)) == pytest.approx(20 * np.log(2))
    assert toy.nll(toy.edge.astype(float)) == 0


def test_random_settings_lie_in_their_ranges():
    settings = cycle.drawn(cycle.RANGES, 100)
    for name, (low, high) in cycle.RANGES.items():
        values = [one[name] for one in settings]
        assert low <= min(values) < max(values) <= high
    assert settings == cycle.drawn(cycle.RANGES, 100)
