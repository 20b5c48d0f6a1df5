"""Repeated runs: medians with their spread as a table, and a paired test of two models."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from timelike._util.checks import show, whole_number

#: Bootstrap resamples, and the largest number of sign flips: fewer are enumerated, more are sampled.
RESAMPLES = 10_000


def summarise(
    rows: Iterable[Mapping[str, Any]], by: Sequence[str] = ("model",), seed: str = "seed"
) -> list[dict[str, Any]]:
    """One row per group and metric: median, q25, q75, iqr, seeds.

    `rows` has one mapping per run, such as `{"model": name, "seed": 3, **evaluation.to_dict()}`; every other
    number in it is a metric. The result suits `polars.DataFrame` and `pandas.DataFrame`. A run without a
    metric (None or NaN) does not count for it; `seeds` is the number of runs that count. A seed that occurs
    twice in a group is an error, because it would count double.
    """
    groups: dict[tuple, dict[str, list[float]]] = {}
    counted = set()
    for i, row in enumerate(rows):
        missing = [name for name in (*by, seed) if name not in row]
        if missing:
            raise ValueError(f"rows[{i}] has no {missing[0]!r}; it has {', '.join(map(str, row))}")
        key = tuple(row[name] for name in by)
        if (key, row[seed]) in counted:
            where = ", ".join(map(str, key))
            raise ValueError(
                f"rows[{i}]: {seed} {row[seed]!r} occurs twice for {where}; add to `by` what differs"
            )
        counted.add((key, row[seed]))
        metrics = groups.setdefault(key, {})
        for name, value in row.items():
            number = isinstance(value, Real) and not isinstance(value, bool)
            if number and name not in (*by, seed) and value == value:
                metrics.setdefault(name, []).append(float(value))
    summary = []
    for key, metrics in groups.items():
        for metric, values in metrics.items():
            low, middle, high = (float(x) for x in np.quantile(values, (0.25, 0.5, 0.75)))
            spread = {"median": middle, "q25": low, "q75": high, "iqr": high - low, "seeds": len(values)}
            summary.append({**dict(zip(by, key, strict=True)), "metric": metric, **spread})
    return summary


@dataclasses.dataclass(frozen=True)
class PairedTest:
    """The evidence for a difference a − b between two models over the same seeds; two-sided p-values."""

    #: The median difference and its percentile bootstrap interval over seeds.
    median_difference: float
    low: float
    high: float
    #: The number of seeds where a is better, and where b is better.
    wins: int
    losses: int
    seeds: int
    #: Wilcoxon's signed-rank test, without the seeds that tie; exact up to 13 seeds.
    wilcoxon_p: float
    #: The sign test, which uses wins and losses only.
    sign_p: float
    #: The mean difference against all sign flips; from 14 seeds on, against 10,000 random ones.
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
    """Compare two models by their scores: mappings from seed (or split) to score, or lists in the same order.

    Scores are comparable only for the same seeds on the same splits, so both models need the same ones. With
    n seeds no p-value is below 2/2ⁿ: reaching 5 % takes at least 6.
    """
    from scipy import stats

    whole_number("seed", seed)
    if not 0 < level < 1:
        raise ValueError(f"level is {show(level)}; it must lie between 0 and 1, such as 0.95")
    difference = _differences(a, b)
    real = difference[difference != 0]
    wins = int(np.sum(real > 0))
    often: dict[str, Any] = {"n_resamples": RESAMPLES, "vectorized": True}
    draws = {"method": "percentile", "random_state": np.random.default_rng([seed, 0]), **often}
    interval = stats.bootstrap((difference,), np.median, confidence_level=level, **draws).confidence_interval
    draws = {"permutation_type": "samples", "random_state": np.random.default_rng([seed, 1]), **often}
    flips = stats.permutation_test((difference,), np.mean, **draws)
    return PairedTest(
        median_difference=float(np.median(difference)),
        low=float(interval.low),
        high=float(interval.high),
        wins=wins,
        losses=len(real) - wins,
        seeds=len(difference),
        wilcoxon_p=float(stats.wilcoxon(real).pvalue) if len(real) else 1.0,
        sign_p=float(stats.binomtest(wins, len(real)).pvalue) if len(real) else 1.0,
        permutation_p=float(flips.pvalue),
    )


def _differences(a: Any, b: Any) -> np.ndarray:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        unpaired = sorted(map(str, a.keys() ^ b.keys()))
        if unpaired:
            raise ValueError(f"seed {unpaired[0]} has a score in one model only; both need the same seeds")
        a, b = [a[key] for key in a], [b[key] for key in a]
    x, y = np.asarray(a, float), np.asarray(b, float)
    if x.shape != y.shape or x.ndim != 1 or len(x) < 2:
        raise ValueError(f"a has shape {x.shape} and b {y.shape}; both need the same two or more seeds")
    if not np.isfinite(x - y).all():
        raise ValueError("a score is not finite; leave that seed out of both models, and report it")
    return x - y
