"""Work that begins ahead of time changes no result, loses no error, and ends with the fit."""

import dataclasses

import numpy as np
import pytest

import timelike as tl
from timelike.estimator import ahead
from timelike.estimator.carry_out import carry_out
from timelike.estimator.settings import FitOptions

GRAPH = tl.datasets.random_dag(30, 140, seed=0)
PLAN = tl.resolve(GRAPH, FitOptions(dim=3, epochs=3))


def test_errors_are_raised_where_the_result_is_needed():
    with ahead.ahead(PLAN) as work:
        result = work.begin(lambda: 1 / 0)
        assert work.begin(divmod, 7, 2)() == (3, 1)
        with pytest.raises(ZeroDivisionError):
            result()


@pytest.mark.parametrize("cores", [1, 2])
def test_there_are_threads_if_there_are_cores(monkeypatch, cores):
    monkeypatch.setattr(ahead, "cores", lambda: cores)
    assert (ahead.Ahead(PLAN).pool is None) == (cores == 1)


def test_a_large_graph_has_none(monkeypatch):
    monkeypatch.setattr(ahead, "FEW_EDGES", GRAPH.num_edges // 2)
    assert ahead.Ahead(PLAN).pool is None


def test_a_fit_is_the_same_without_threads(monkeypatch):
    assert len(PLAN.trained) > 1
    monkeypatch.setattr(ahead, "cores", lambda: 2)
    fast = carry_out(PLAN, progress=False)
    monkeypatch.setattr(ahead, "cores", lambda: 1)
    slow = carry_out(PLAN, progress=False)
    np.testing.assert_array_equal(fast.embedding.points, slow.embedding.points)
    pairs = np.arange(20), np.arange(20)[::-1]
    found = (one.joint.log_odds_by_number(*pairs) for one in (fast, slow))
    np.testing.assert_array_equal(*found)


def test_what_fails_while_it_warms_up_fails_in_the_run():
    broken = dataclasses.replace(PLAN.trained[0], variations=({"tau9": 1.0},))
    plan = dataclasses.replace(PLAN, candidates=(broken, *PLAN.trained[1:]))
    with pytest.raises((ValueError, TypeError), match="tau9"):
        carry_out(plan, progress=False)
