"""Repeats: medians by hand, paired tests by their definitions."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timelike.evaluation.paired_tests import paired_test, summarise

ROWS = [
    {"model": name, "seed": seed, "ap": value, "note": "x", "f1": None if seed == 2 else value / 2}
    for name, values in {"a": [0.1, 0.4, 0.2, 0.3], "b": [0.7]}.items()
    for seed, value in enumerate(values)
]


def test_summary():
    table = summarise(ROWS)
    assert [(row["model"], row["metric"], row["seeds"]) for row in table] == [
        ("a", "ap", 4),
        ("a", "f1", 3),
        ("b", "ap", 1),
        ("b", "f1", 1),
    ]
    assert table[0] == pytest.approx(
        {"model": "a", "metric": "ap", "median": 0.25, "q25": 0.175, "q75": 0.325, "iqr": 0.15, "seeds": 4}
    )
    assert table[1]["median"] == pytest.approx(0.15)
    assert table[2]["iqr"] == 0


def test_summary_by_several_columns():
    rows = [{**row, "data": data} for row in ROWS for data in ("x", "y")]
    assert len(summarise(rows, by=("data", "model"))) == 8
    with pytest.raises(ValueError, match=r"rows\[1\]: seed 0 .*twice for a"):
        summarise(rows)
    with pytest.raises(ValueError, match=r"rows\[0\] has no 'geometry'.* model, seed, ap"):
        summarise(rows, by=("geometry",))


def flips(difference):
    """All sign patterns: the share with a mean as far from 0."""
    patterns = np.array(list(itertools.product([-1, 1], repeat=len(difference))))
    return np.mean(np.abs(patterns @ difference) >= abs(sum(difference)) - 1e-9)


def signed_ranks(difference):
    """All sign patterns of the ranks: the share with a rank sum as far from the middle."""
    ranks = np.argsort(np.argsort(np.abs(difference))) + 1
    patterns = np.array(list(itertools.product([-1, 1], repeat=len(difference))))
    return np.mean(np.abs(patterns @ ranks) >= abs(np.sign(difference) @ ranks))


@settings(max_examples=40)
@given(st.lists(st.integers(-(10**6), 10**6).filter(bool), min_size=2, max_size=9, unique_by=abs))
def test_p_values_by_enumeration(difference):
    difference = np.array(difference) / 1e6
    found = paired_test(difference, np.zeros(len(difference)))
    assert found.permutation_p == pytest.approx(flips(difference))
    assert found.wilcoxon_p == pytest.approx(signed_ranks(difference))
    assert found.sign_p == pytest.approx(flips(np.sign(difference)))
    assert found.median_difference == np.median(difference)
    assert found.low <= found.median_difference <= found.high


def test_by_seed_not_by_order():
    a = {0: 0.5, 1: 0.6, 2: 0.9}
    b = {2: 0.8, 0: 0.4, 1: 0.5}
    found = paired_test(a, b)
    assert found.median_difference == pytest.approx(0.1)
    assert (found.wins, found.losses, found.seeds) == (3, 0, 3)
    assert found.permutation_p == 0.25  # the least that three seeds can give
    assert found.to_dict()["sign_p"] == 0.25


def test_equal_models():
    found = paired_test([0.5] * 8, [0.5] * 8)
    assert (found.wilcoxon_p, found.sign_p, found.permutation_p) == (1, 1, 1)
    assert found.low == found.high == 0


def test_ties_and_zeros_raise_no_warning():
    assert 0 < paired_test([1, 2, 3, 4, 5], [0, 1, 2, 3, 5]).wilcoxon_p <= 0.125


def test_many_seeds():
    """20 seeds: a difference is found, none is found in noise, and the same seed gives the same numbers."""
    rng = np.random.default_rng(0)
    base, noise = rng.normal(size=(2, 20))
    found = paired_test(base + 1 + 0.1 * noise, base)
    assert max(found.permutation_p, found.wilcoxon_p, found.sign_p) < 1e-3
    assert 0.9 < found.low < 1 < found.high < 1.1
    assert found == paired_test(base + 1 + 0.1 * noise, base)
    assert paired_test(base + noise - noise.mean(), base).permutation_p > 0.9


def test_the_interval_covers_the_median():
    """95 % intervals of 15 normal differences cover the true median in about 38 of 40 cases."""
    rng = np.random.default_rng(0)
    hits = sum(
        t.low <= 0 <= t.high for t in (paired_test(rng.normal(size=15), np.zeros(15)) for _ in range(100))
    )
    assert 88 <= hits <= 100


@pytest.mark.parametrize(
    ("a", "b", "options", "says"),
    [
        ({0: 1.0, 1: 2.0}, {0: 1.0, 3: 2.0}, {}, "seed 1 "),
        ([1.0], [2.0], {}, "a has shape (1,) and b (1,)"),
        ([1.0, 2.0], [2.0], {}, "a has shape (2,) and b (1,)"),
        ([1.0, np.nan], [2.0, 1.0], {}, "not finite"),
        ([1.0, 2.0], [2.0, 1.0], {"level": 95}, "level is 95"),
        ([1.0, 2.0], [2.0, 1.0], {"seed": -1}, "seed is -1"),
    ],
)
def test_mistakes(a, b, options, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        paired_test(a, b, **options)
