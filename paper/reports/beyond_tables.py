"""Tables of descent directions, times and signatures, and the sentences that their numbers support."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

import numpy as np

from paper.reports.tables import markdown
from paper.tasks import Result

DATA = {
    "duplication-divergence": "duplication-divergence",
    "dream5:ecoli": "*E. coli*",
    "dream5:in-silico": "in silico",
}
#: Title of a table → the kind of its tasks, and its rows: stored title → shown title.
TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "Descent directions on anti-de Sitter": (
        "descent",
        {
            "double projection": "double projection, $\\Pi G\\Pi G\\,df$ (eq. 11)",
            "one projection": "one projection of the Wick-rotated gradient, $\\Pi\\,df$",
            "pseudo gradient": "pseudo-Riemannian gradient, $\\Pi G\\,df$",
            "ambient gradient": "projected Euclidean descent, $df$",
        },
    ),
    "Times on anti-de Sitter": (
        "space",
        {"anti-de Sitter": "arc length $r\\theta$ (the paper)", "anti-de Sitter, angle": "angle $\\theta$"},
    ),
    "Other signatures": (
        "space",
        {
            "anti-de Sitter": "anti-de Sitter (1, 9)",
            "anti-de Sitter, projected": "anti-de Sitter by projected Euclidean descent (1, 9)",
            "two-time hyperboloid": "two-time hyperboloid (2, 8)",
            "de Sitter": "de Sitter (1, 9)",
            "Minkowski": "Minkowski (1, 9)",
            "hyperboloid": "hyperboloid (0, 10)",
        },
    ),
}
SIMPLE = ("degree product", "L3 normalised", "dot product")
BEST = "best simple method"

#: AP by graph: (data set, seed) → validation and test.
Scores = dict[tuple[str, int], tuple[float, float]]


def scores(results: Sequence[Result], kind: str, title: str) -> Scores:
    """Mean AP over seeds on every graph."""
    return {
        (r.about["dataset"], r.about["split"]): (
            float(np.mean(r.found["valid"])),
            float(np.mean(r.found["test"])),
        )
        for r in results
        if (r.about.get("kind"), r.about["title"]) == (kind, title)
    }


def simple_scores(results: Sequence[Result]) -> dict[str, Scores]:
    """AP of some simple methods, and on every graph that of the method with the best validation AP."""
    found: dict[str, Scores] = {name: {} for name in (*SIMPLE, BEST)}
    for r in results:
        if r.about["title"] == "simple methods":
            valid, test = r.found["valid"], r.found["test"]
            best = max(valid, key=valid.__getitem__)
            for row, name in {**dict(zip(SIMPLE, SIMPLE, strict=True)), BEST: best}.items():
                if name in valid:
                    found[row][r.about["dataset"], r.about["split"]] = valid[name], test[name]
    return {name: some for name, some in found.items() if some}


def sections(results: Sequence[Result]) -> Iterator[str]:
    """Heading, table and sentences of every comparison."""
    simple = simple_scores(results)
    for heading, (kind, titles) in TABLES.items():
        models = {title: scores(results, kind, title) for title in titles}
        if any(not _of(found, data, 1) for found in models.values() for data in DATA):
            continue  # not computed yet
        yield f"## {heading}"
        yield _table(simple, {titles[title]: found for title, found in models.items()})
        if kind == "descent":
            yield _steps(results, titles)
            said = [_against_first(models, titles), _uphill(results, titles)]
        elif len(models) == 2:
            said = [_against_first(models, titles)]
        else:
            said = [_leaders(models, titles)]
        yield " ".join([*said, _against_simple(models, titles, simple[BEST]), _edges(results, kind, titles)])


def _table(simple: dict[str, Scores], models: dict[str, Scores]) -> str:
    """Validation and test AP, mean over graphs; ± the standard deviation over graphs."""
    top = {data: max(_mean(found, data, 1) for found in models.values()) for data in DATA}
    body = []
    for title, found in {**simple, **models}.items():
        line = [title]
        for data in DATA:
            test = _of(found, data, 1)
            text = f"{np.mean(test):.1f} ± {np.std(test):.1f}"
            bold = title in models and np.mean(test) == top[data]
            line += [f"{_mean(found, data, 0):.1f}", f"**{text}**" if bold else text]
        body.append(line)
    head = [f"{name}, {part}" for name in DATA.values() for part in ("validation", "test")]
    return markdown(["AP in %", *head], body)


def _steps(results: Sequence[Result], titles: dict[str, str]) -> str:
    """For every direction, the chosen learning rates and where its steps lead."""
    body = []
    for title, shown in titles.items():
        line = [shown]
        for data in DATA:
            rates = [r.found["settings"]["learning_rate"] for r in _directed(results, title, data)]
            line.append(" to ".join(f"{rate:g}" for rate in sorted({min(rates), max(rates)})))
        for share, part in itertools.product(("uphill", "raised"), ("first", "later")):
            line.append(f"{_share(results, title, part, share):.1f}")
        body.append(line)
    head = ["", *(f"learning rate, {name}" for name in DATA.values())]
    for what in ("nodes sent uphill, %", "steps that raise the loss, %"):
        head += [f"{what}, first epochs", f"{what}, later"]
    return markdown(head, body)


def _share(results: Sequence[Result], title: str, part: str, share: str) -> float:
    return float(np.mean([r.found[part][share] for r in _directed(results, title)]))


def _directed(results: Sequence[Result], title: str, data: str | None = None) -> list[Result]:
    same = [r for r in results if (r.about.get("kind"), r.about["title"]) == ("descent", title)]
    return [r for r in same if data in (None, r.about["dataset"])]


def _of(found: Scores, data: str, part: int) -> list[float]:
    return [score[part] for (name, _), score in found.items() if name == data]


def _mean(found: Scores, data: str, part: int) -> float:
    return float(np.mean(_of(found, data, part)))


def _plain(shown: str) -> str:
    """A title without its formula, equation or signature."""
    return re.sub(r"(, \$.*| \(.*?\))", "", shown)


def _gains(one: Scores, other: Scores) -> np.ndarray:
    """Differences of test AP on the graphs that both have."""
    return np.array([one[key][1] - other[key][1] for key in one if key in other])


def _against_first(models: dict[str, Scores], titles: dict[str, str]) -> str:
    """Wins and mean difference of every other row against the first one."""
    (first, base), *others = models.items()
    parts = []
    for title, found in others:
        gains = _gains(found, base)
        mean, low, high = (f"{x:+.1f}".replace("-", "−") for x in (gains.mean(), gains.min(), gains.max()))
        parts.append(
            f"{(gains > 0).sum()} times with {_plain(titles[title])} ({mean} on average, {low} to {high})"
        )
    than = _plain(titles[first])
    return f"On {len(base)} graphs and splits, test AP is higher than with {than} {_listed(parts)}."


def _uphill(results: Sequence[Result], titles: dict[str, str]) -> str:
    """The share of nodes sent uphill after the first epochs, over all graphs."""
    parts = [
        f"{_share(results, title, 'later', 'uphill'):.1f} % with {_plain(shown)}"
        for title, shown in titles.items()
    ]
    return f"After the first epochs, the share of nodes sent uphill is {_listed(parts)}."


def _leaders(models: dict[str, Scores], titles: dict[str, str]) -> str:
    """The best row of every data set by mean test AP, and how the others do against AdS."""
    best = [
        f"{_plain(titles[max(models, key=lambda title: _mean(models[title], data, 1))])} on {name}"
        for data, name in DATA.items()
    ]
    return f"The highest mean test AP belongs to {_listed(best)}. {_against_first(models, titles)}"


def _against_simple(models: dict[str, Scores], titles: dict[str, str], simple: Scores) -> str:
    """Wins against the simple method that validation chooses: over all graphs, and on each data set."""
    parts = []
    for title, found in models.items():
        wins = [[found[key][1] > simple[key][1] for key in found if key[0] == data] for data in DATA]
        each = _listed([f"{sum(won)} of {len(won)}" for won in wins])
        parts.append(f"{each} to {_plain(titles[title])}")
    return f"On {_listed(list(DATA.values()))}, the best simple method loses {'; '.join(parts)}."


def _edges(results: Sequence[Result], kind: str, titles: dict[str, str]) -> str:
    """What the searches chose from, and how many ended at the smallest or largest learning rate."""
    some = [r for r in results if r.about.get("kind") == kind and r.about["title"] in titles]
    rates = [sorted({run["learning_rate"] for run in r.about["runs"]}) for r in some]
    chosen = [r.found["settings"]["learning_rate"] for r in some]
    low = sum(one == tried[0] for one, tried in zip(chosen, rates, strict=True))
    high = sum(one == tried[-1] for one, tried in zip(chosen, rates, strict=True))
    grids = [f"{len(one)} learning rates from {one[0]:g} to {one[-1]:g}" for one in rates]
    where = _listed(list(dict.fromkeys(grids)))
    if not low + high:
        return f"None of {len(some)} searches over {where} ended at an edge."
    return f"Of {len(some)} searches over {where}, {low} chose the smallest rate and {high} the largest."


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
