"""Spacetimes against Riemannian spaces, split by split, with a correction for many tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import timelike as tl
from paper.reports.tables import gathered
from paper.tasks import Result
from paper.training.link_prediction import TEST

#: The beginnings of the titles of rows without time, found with as many settings.
RIEMANNIAN = ("Euclidean", "Hyperboloid")
LEVEL = 0.05
#: Marks the comparison of a best model with a best model.
MARK = " °"


class Comparison(NamedTuple):
    """A paired test of the best spacetime against one rival."""

    dataset: str
    row: str
    column: str
    #: Whether the rival is the best of the Riemannian spaces, as the spacetime is of its kind.
    of_bests: bool
    test: tl.evaluation.PairedTest


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values: the smallest times the number of tests, the next times one less, …"""
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = adjusted[i] = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
    return adjusted


def comparisons(results: Iterable[Result]) -> list[Comparison]:
    """All tests of a data set, in every dimension: single runs first, then ensembles."""
    found, several = [], list(results)
    for members in (False, True):
        some = [r for r in several if ("members" in r.about) == members]
        for dim in sorted({r.about["dim"] for r in some}):
            found += _of_one_dimension([r for r in some if r.about["dim"] == dim])
    return found


def _of_one_dimension(results: Sequence[Result]) -> list[Comparison]:
    rivals = [r for r in results if r.about["title"].startswith(RIEMANNIAN)]
    times = [r for r in results if r not in rivals]
    if not rivals or not times:
        return []
    best, rival = (max(some, key=_validation) for some in (times, rivals))
    row = f"d = {best.about['dim']}, {best.about['title']} (best of {len(times)})"
    return [
        Comparison(
            best.about["dataset"],
            row,
            f"against {_plain(r)}",
            r is rival,
            tl.evaluation.paired_test(best.found["scores"], r.found["scores"]),
        )
        for r in rivals
        if len(best.found["scores"]) > 1 and best.about["splits"] == r.about["splits"]
    ]


def _validation(result: Result) -> float:
    """The mean validation AP."""
    return float(sum(result.found["valid"]) / len(result.found["valid"]))


def _plain(result: Result) -> str:
    """The title without what ensembles have in common."""
    return str(result.about["title"]).partition(",")[0]


def paired_table(tests: Sequence[Comparison], adjusted: Sequence[float]) -> str:
    """The gains of one data set, with the p-values before and after the correction."""
    if not tests:
        return ""
    cells = [
        (
            one.row,
            one.column,
            f"{one.test.median_difference:+.1f} ({one.test.wins} of {one.test.seeds}, "
            f"p = {one.test.permutation_p:.2g}, Holm {p:.2g}){MARK * one.of_bests}",
        )
        for one, p in zip(tests, adjusted, strict=True)
    ]
    text = (
        "The median gain of the spacetime that is best by validation, paired by split (exact sign-flip "
        f"test). {MARK.strip()}: the rival, too, is the best of its kind by validation; elsewhere a single "
        "model is compared with the best of several:"
    )
    return f"{text}\n\n{gathered(dict.fromkeys(column for _, column, _ in cells), cells)}"


def corrected(tests: Sequence[Comparison], adjusted: Sequence[float], names: dict[str, str]) -> str:
    """How many tests survive Holm's correction, and why those of overlapping splits should not be trusted."""
    if not tests:
        return ""
    left = [one for one, p in zip(tests, adjusted, strict=True) if p <= LEVEL]
    plain = sum(one.test.permutation_p <= LEVEL for one in tests)
    where = ", ".join(dict.fromkeys(names[one.dataset] for one in left))
    survive = f"{len(left)} of them survive ({where})" if left else "none of them survives"
    fewest = min(one.test.seeds for one in tests)
    return (
        f"{_directions(tests, names)}\n\n"
        f"Of these {len(tests)} tests, {plain} have p ≤ {LEVEL:g}; with Holm's correction for all of them "
        f"{survive}. With {fewest} splits no p-value is below {2 / 2**fewest:.2g}, so tests of so "
        "few splits cannot survive. The splits of a network overlap: two of them share, on average, "
        f"{100 * TEST:.0f} % of their test edges and {100 * (1 - TEST):.0f} % of the others, so their "
        "differences are not independent and the p-values are too small. Duplication-divergence has another "
        "graph for each split."
    )


def _directions(tests: Sequence[Comparison], names: dict[str, str]) -> str:
    """Best against best: where the spacetime is ahead on every split, on most, or behind."""
    kinds: dict[str, list[str]] = {"on every split": [], "in the median only": [], "not at all": []}
    for one in (one for one in tests if one.of_bests):
        ahead = "on every split" if one.test.wins == one.test.seeds else "in the median only"
        where = ahead if one.test.median_difference > 0 else "not at all"
        row = one.row.partition(" (best of")[0]
        kinds[where].append(f"{names[one.dataset]} {row} ({one.test.median_difference:+.1f})")
    words = [f"{what}: {'; '.join(some)}" for what, some in kinds.items() if some]
    return "Best against best, the spacetime is ahead\n\n" + "\n".join(f"- {one}." for one in words)
