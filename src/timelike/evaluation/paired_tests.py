"""Repeated runs: their median and spread as a table, and a paired test between two models."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from timelike._util.checks import show, whole_number

#: Resamples of the bootstrap; sign flips are all tried while there are at most as many.
RESAMPLES = 10_000


def summarise(
    rows: Iterable[Mapping[str, Any]], by: Sequence[str] = ("model",), seed: str = "seed"
) -> list[dict[str, Any]]:
    """One row for each group and metric: median, q25, q75, iqr, seeds.

    `rows` has one mapping per run, such as `{"model": name, "seed": 3, **evaluation.to_dict()}`; every
    other number in it is a metric. Ready for `polars.DataFrame` or `pandas.DataFrame`. A metric that
    is missing (None or NaN) in a run does not count there, and `seeds` says how many did. A seed that
    comes twice in a group is an error: it would count double.
    """
    groups: dict[tuple, dict[Hashable, Mapping[str, Any]]] = {}
    for i, row in enumerate(rows):
        missing = [name for name in (*by, seed) if name not in row]
        if missing:
            raise ValueError(f"rows[{i}] has no {missing[0]!r}; it has {', '.join(map(str, row))}")
        group = groups.setdefault(tuple(row[name] for name in by), {})
        if row[seed] in group:
            where = ", ".join(str(row[name]) for name in by)
            raise ValueError(
                f"rows[{i}]: {seed} {row[seed]!r} comes twice for {where}; add to `by` what differs"
            )
        group[row[seed]] = row
    return [
        {**dict(zip(by, key, strict=True)), "metric": metric, **_spread(values)}
        for key, runs in groups.items()
        for metric, values in _columns(runs.values(), {*by, seed}).items()
    ]


def _columns(runs: Iterable[Mapping[str, Any]], without: set[str]) -> dict[str, list[float]]:
    columns: dict[str, list[float]] = {}
    for row in runs:
        for name, value in row.items():
            number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
            if number and name not in without and value == value:
                columns.setdefault(name, []).append(float(value))
    return columns


def _spread(values: list[float]) -> dict[str, float | int]:
    low, middle, high = (float(x) for x in np.quantile(values, (0.25, 0.5, 0.75)))
    return {"median": middle, "q25": low, "q75": high, "iqr": high - low, "seeds": len(values)}


@dataclasses.dataclass(frozen=True)
class PairedTest:
    """What speaks for a difference a − b between two models over the same seeds. p-values are two-sided."""

    #: The median of the differences, and its bootstrap interval by seed.
    median_difference: float
    low: float
    high: float
    #: In how many seeds a is better, and in how many b is.
    wins: int
    losses: int
    seeds: int
    #: Wilcoxon's signed-rank test.
    wilcoxon_p: float
    #: The sign test: only who won.
    sign_p: float
    #: The mean difference against all flips of signs (a random 10,000 from 14 seeds on).
    permutation_p: float

    def to_dict(self) -> dict[str, float | int]:
        """Plain values."""
        return dataclasses.asdict(self)


def paired_test(
    a: Mapping[Hashable, float] | Sequence[float] | np.ndarray,
    b: Mapping[Hashable, float] | Sequence[float] | np.ndarray,
    level: float = 0.95,
    seed: int = 0,
) -> PairedTest:
    """Compare two models by their scores: mappings from seed (or split) to score, or lists in one order.

    Only the same seeds on the same splits are comparable, so both must have the same ones. No test
    can find p < 2/2ⁿ from n seeds: 6 are the least for 5 %.
    """
    from scipy import stats

    whole_number("seed", seed)
    if not 0 < level < 1:
        raise ValueError(f"level is {show(level)}; it must lie between 0 and 1, such as 0.95")
    difference = _differences(a, b)
    wins, losses = int(np.sum(difference > 0)), int(np.sum(difference < 0))
    low, high = _bootstrap(difference, level, seed)
    return PairedTest(
        median_difference=float(np.median(difference)),
        low=low,
        high=high,
        wins=wins,
        losses=losses,
        seeds=len(difference),
        wilcoxon_p=_wilcoxon(difference),
        sign_p=float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0,
        permutation_p=_permutation(difference, seed),
    )


def _differences(a: Any, b: Any) -> np.ndarray:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        alone = sorted(map(str, a.keys() ^ b.keys()))
        if alone:
            raise ValueError(f"seed {alone[0]} has a score in one model only; both need the same seeds")
        a, b = [a[key] for key in a], [b[key] for key in a]
    x, y = np.asarray(a, float), np.asarray(b, float)
    if x.shape != y.shape or x.ndim != 1 or len(x) < 2:
        raise ValueError(f"a has shape {x.shape} and b {y.shape}; both need the same two or more seeds")
    if not np.isfinite(x - y).all():
        raise ValueError("a score is not finite; leave out that seed in both models, and say so")
    return x - y


def _bootstrap(difference: np.ndarray, level: float, seed: int) -> tuple[float, float]:
    """The percentile interval of the median, seeds drawn with replacement."""
    drawn = np.random.default_rng([seed, 0]).integers(0, len(difference), (RESAMPLES, len(difference)))
    low, high = np.quantile(np.median(difference[drawn], axis=1), ((1 - level) / 2, (1 + level) / 2))
    return float(low), float(high)


def _wilcoxon(difference: np.ndarray) -> float:
    """Exact up to 13 seeds also with ties; seeds without a difference are left out."""
    from scipy import stats

    real = difference[difference != 0]
    return float(stats.wilcoxon(real).pvalue) if len(real) else 1.0


def _permutation(difference: np.ndarray, seed: int) -> float:
    """The share of sign patterns whose mean is at least as far from 0 (rounding aside)."""
    n, rng = len(difference), np.random.default_rng([seed, 1])
    every = 2**n <= RESAMPLES
    bits = np.arange(2**n)[:, None] >> np.arange(n) & 1 if every else rng.integers(0, 2, (RESAMPLES, n))
    sums = np.abs((2 * bits - 1) @ difference)
    extreme = np.sum(sums >= abs(difference.sum()) * (1 - 1e-12))
    return float(extreme / len(sums) if every else (extreme + 1) / (len(sums) + 1))
