"""What helped the best recipes, in sentences whose every number is computed from their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import mean
from typing import Any

import numpy as np

from paper.reports.paired_comparisons import RIEMANNIAN
from paper.reports.wordnet_rivals import best_published_f1
from paper.tasks import Result

#: The end of the title of a row with many runs together.
TOGETHER = ", 20 runs together"


def what_helped(results: Sequence[Result]) -> str:
    """A list of findings; those without results are left out."""
    hierarchy = [r for r in results if r.about["dataset"] == "wordnet"]
    graphs = [r for r in results if r.about["dataset"] != "wordnet"]
    parts: list[tuple[Callable[[Sequence[Result]], Iterator[str]], list[Result]]] = [
        (validation_edges, graphs),
        (runs_together, graphs),
        (seeds_on_wordnet, hierarchy),
        (both_kinds, hierarchy),
        (ranking, hierarchy),
        (targets, [*results]),
        (published, hierarchy),
    ]
    return "\n".join(f"- {text}" for part, some in parts for text in part(some))


def validation_edges(results: Sequence[Result]) -> Iterator[str]:
    """The same runs with and without a second training on the validation edges."""
    gains = [
        mean(r.found.get("test", r.found["scores"])) - mean(r.found["without_valid"])
        for r in results
        if "without_valid" in r.found
    ]
    if gains:
        yield (
            "*Training once more with the validation edges*, for the chosen number of epochs, raises the "
            f"mean test AP of {sum(gain > 0 for gain in gains)} of {len(gains)} cells of link prediction "
            f"({_span(gains)} points, {mean(gains):+.1f} on average)."
        )


def runs_together(results: Sequence[Result]) -> Iterator[str]:
    """Ensembles of different settings against the best recipe, and of three seeds against one."""
    single = {(r.about["dataset"], r.about["dim"], r.about["title"]): r for r in results}
    words = []
    for r in results:
        title = r.about["title"].removesuffix(TOGETHER)
        alone = single.get((r.about["dataset"], r.about["dim"], title))
        if title != r.about["title"] and alone:
            words.append(f"{r.found['mean'] - alone.found['mean']:+.1f} ({title})")
    if words:
        yield (
            "*Many runs together.* The mean probability of 20 runs with different settings, the best by "
            "validation, against the best recipe on duplication-divergence, mean test AP: "
            f"{', '.join(words)}."
        )
    seeds: dict[int, list[float]] = {}
    for r in results:
        if "together" in r.found and "members" not in r.about:
            seeds.setdefault(r.about["dim"], []).append(mean(r.found["together"]) - r.found["mean"])
    if seeds:
        each = [f"{mean(gains):+.1f} points at d = {dim} ({_span(gains)})" for dim, gains in seeds.items()]
        yield f"*Several seeds together* add, on average over the cells that have them, {' and '.join(each)}."


def seeds_on_wordnet(results: Sequence[Result]) -> Iterator[str]:
    """The ensemble of the seeds of a cell against the median of its single runs."""
    gains: dict[tuple[str, bool], list[float]] = {}
    for r in results:
        if "together" in r.found:
            key = r.about["title"], r.about["percent"] == 0
            gains.setdefault(key, []).append(r.found["together"] - r.found["median"])
    if gains:
        each = [f"{_span(some)} with {title} {_share(bare)}" for (title, bare), some in gains.items()]
        yield f"*Ensembles of seeds on WordNet* change F1 by {', '.join(each)}."


def both_kinds(results: Sequence[Result]) -> Iterator[str]:
    """Ensembles of two likelihoods against the ensembles of seeds of either."""
    together: dict[tuple[int, int], list[float]] = {}
    for r in results:
        if "together" in r.found:
            together.setdefault(_case(r), []).append(r.found["together"])
    mixed = [r for r in results if "members" in r.about["more"] and _case(r) in together]
    if mixed:
        gains = {_case(r): r.found["median"] - max(together[_case(r)]) for r in mixed}
        won = [f"{percent} % at d = {dim}" for (dim, percent), gain in gains.items() if gain > 0]
        yield (
            "*Ensembles of both kinds* have a higher F1 than the better ensemble of one kind in "
            f"{len(won)} of {len(mixed)} cells ({_span(list(gains.values()))})"
            f"{': ' + ', '.join(won) if won else ''}."
        )


def ranking(results: Sequence[Result]) -> Iterator[str]:
    """Where validation ranks by another score than the trained likelihood."""
    groups: dict[tuple[str, bool], list[bool]] = {}
    for r in results:
        if "members" not in r.about["more"]:
            key = r.about["title"], r.about["percent"] == 0
            other = [one != "likelihood" for one in r.found["ranked_by"]]
            groups.setdefault(key, []).append(sum(other) > len(other) / 2)
    if groups:
        each = [
            f"{sum(some)} of {len(some)} cells of {title} {_share(bare)}"
            for (title, bare), some in groups.items()
        ]
        yield (
            "*Ranking.* Validation prefers another score than the trained likelihood, such as the cone, for "
            f"most runs in {', '.join(each)}."
        )


def targets(results: Sequence[Result]) -> Iterator[str]:
    """The single spacetime models that miss our target, and whether an ensemble of the column reaches it."""
    single: list[tuple[Any, float, float]] = []
    ensembles: dict[Any, float] = {}
    for r in results:
        if r.about["target"] is None or r.about["title"].startswith(RIEMANNIAN):
            continue
        column = r.about["dataset"], r.about["dim"], r.about.get("percent")
        several = "members" in r.about or "members" in r.about.get("more", {})
        if not several:
            single.append((column, r.found["median"], r.about["target"]))
        together = r.found["median"] if several else np.mean(r.found.get("together", 0.0))
        ensembles[column] = max(ensembles.get(column, 0.0), float(together))
    missed = [(column, target) for column, found, target in single if found < target]
    reached = sum(ensembles[column] >= target for column, target in missed)
    if single:
        yield (
            f"*Targets.* {len(missed)} of {len(single)} single spacetime models miss our target; an ensemble "
            f"of the same column reaches it for {reached} of them."
        )


def published(results: Sequence[Result]) -> Iterator[str]:
    """The best single model of every WordNet column against the best published one with d numbers a node."""
    best: dict[tuple[int, int], float] = {}
    for r in results:
        if "members" not in r.about["more"]:
            best[_case(r)] = max(best.get(_case(r), 0.0), r.found["median"])
    rivals = {case: f1 for case in best if (f1 := best_published_f1(case)) is not None}
    if rivals:
        gaps = [best[case] - f1 for case, f1 in rivals.items()]
        yield (
            "*Against published figures with d numbers a node*, the best single model of a WordNet column is "
            f"above in {sum(gap > 0 for gap in gaps)} of {len(gaps)} ({_span(gaps)} points)."
        )


def _share(bare: bool) -> str:
    return "without closure pairs" if bare else "from 10 % on"


def _case(result: Result) -> tuple[int, int]:
    return result.about["dim"], result.about["percent"]


def _span(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:+.1f} to {high:+.1f}" if len(values) > 1 else f"{low:+.1f}"
