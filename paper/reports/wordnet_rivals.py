"""What stands beside our WordNet rows: methods without training, and the strongest published figures."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from paper.reports.tables import markdown
from paper.runner.reproduction import load_results
from paper.table_rows import ROWS, load_rows
from paper.tasks import Result

#: Dimension and share of the closure, in percent: a column of the tables.
Case = tuple[int, int]

UNTRAINED = ROWS.parent / "results" / "wordnet_untrained.json"
#: The untrained methods that stand in every table, the ceiling first.
SHOWN = ("Reachability", "Katz, paths of up to 4 edges", "Degree product")


def untrained() -> dict[int, Result]:
    """The stored results without training, by share of the closure."""
    results = load_results(UNTRAINED) if UNTRAINED.is_file() else []
    return {r.about["percent"]: r for r in results}


def untrained_lines(cases: Sequence[Case], digits: int = 1) -> list[list[str]]:
    """Lines of a table: test F1 of the methods without training, which have no dimension."""
    found = untrained()
    return [
        [
            f"{name}, no training",
            *(
                _number(found[p].found["methods"][name]["test"] if p in found else None, digits)
                for _, p in cases
            ),
        ]
        for name in SHOWN
    ]


def above_models(top: Mapping[Case, float]) -> str:
    """In which columns a method without training is above every model, given the best F1 of the models."""
    found, texts = untrained(), []
    for name in SHOWN:
        methods = {p: r.found["methods"][name]["test"] for p, r in found.items()}
        better = [case for case, f1 in top.items() if methods.get(case[1], 0.0) > f1]
        texts.append(f"{name} is above every model in {len(better)} of {len(top)} columns")
    return f"{'; '.join(texts)}."


def above_with_less(scores: Sequence[float]) -> str:
    """How many of our F1 with closure pairs a figure of another size beats without any."""
    best = _best([one for one in figures() if "size" in one], (0, 0))
    if best is None or not scores:
        return ""
    title, f1 = best
    return (
        f"A method may leave closure pairs unused: the {f1:.1f} of {title}, from direct edges alone, is also "
        f"above {sum(one < f1 for one in scores)} of our {len(scores)} scores from 10 % on, ensembles "
        "included."
    )


def figures() -> list[dict[str, Any]]:
    """The published figures: title, source, `size` where it is not d numbers, and F1 by column."""
    with open(ROWS / "published_wordnet.toml", "rb") as file:
        listed = tomllib.load(file)["figure"]
    rows = {row.name: row for row in load_rows("wordnet")}
    for one in listed:
        row = rows.get(one.get("row"))
        one["cases"] = {case: f1[0] for case, f1 in row.published.items()} if row else {}
    return listed


def published_f1(figure: dict[str, Any], case: Case) -> float | None:
    """The published F1 in a column; a figure of another size stands in the columns of every dimension."""
    dim, percent = case
    own = figure["cases"].get(f"{dim}, {percent}%")
    value = figure.get("percents", {}).get(str(percent), own)
    return None if value is None else float(value)


def best_published(cases: Sequence[Case]) -> list[list[str]]:
    """Lines of a table: the best published F1 with d numbers a node, and with anything else."""
    lines = []
    for same in (True, False):
        some = [one for one in figures() if ("size" not in one) == same]
        best = [_best(some, case) for case in cases]
        names = ", ".join(dict.fromkeys(title for title, _ in filter(None, best)))
        kind = "d numbers a node" if same else "another size"
        lines.append([f"best published, {kind}: {names}", *(_number(one and one[1]) for one in best)])
    return lines


def best_published_f1(case: Case) -> float | None:
    """The best published F1 of a column with d numbers a node, or None."""
    best = _best([one for one in figures() if "size" not in one], case)
    return best and best[1]


def _best(some: Sequence[dict[str, Any]], case: Case) -> tuple[str, float] | None:
    found = [(one["title"], f1) for one in some if (f1 := published_f1(one, case)) is not None]
    return max(found, key=lambda pair: pair[1], default=None)


def published_table(cases: Sequence[Case]) -> str:
    """The strongest published figures with their sources, and which of them is the best without closure."""
    listed = figures()
    body = []
    for one in listed:
        found = [published_f1(one, case) for case in cases]
        if any(f1 is not None for f1 in found):
            body.append([_sized(one), *map(_number, found)])
    sources = "\n".join(f"- {_sized(one)}: {one['source']}" for one in listed)
    table = markdown(["", *columns(cases)], body)
    return "\n\n".join(filter(None, [_lead(listed, cases), table, sources, _below_degrees(listed, cases)]))


def _sized(figure: dict[str, Any]) -> str:
    return f"{figure['title']}, {figure['size']}" if "size" in figure else str(figure["title"])


def _lead(listed: Sequence[dict[str, Any]], cases: Sequence[Case]) -> str:
    """The best published F1 without closure pairs, of any size and with d numbers a node."""
    tops = dict.fromkeys(filter(None, (_best(listed, case) for case in cases if case[1] == 0)))
    if not tops:
        return ""
    usual: dict[str, list[str]] = {}
    for dim, percent in cases:
        same = _best([one for one in listed if "size" not in one], (dim, percent))
        if percent == 0 and same:
            usual.setdefault(same[0], []).append(f"{same[1]:.1f} at d = {dim}")
    return (
        "Without closure pairs, the best published F1 is "
        f"{' and '.join(f'{f1:.1f} ({title})' for title, f1 in tops)}. With d numbers a node, it is "
        + "; ".join(f"{' and '.join(texts)}, by {title}" for title, texts in usual.items())
        + "."
    )


def _below_degrees(listed: Sequence[dict[str, Any]], cases: Sequence[Case]) -> str:
    """The published figures that the degree product beats."""
    found, texts = untrained(), []
    for one in listed:
        for dim, percent in cases:
            f1 = published_f1(one, (dim, percent))
            degrees = found[percent].found["methods"]["Degree product"]["test"] if percent in found else 0.0
            if f1 is not None and f1 < degrees:
                texts.append(f"{one['title']} at d = {dim}, {percent} %")
    return f"Published F1 below the degree product: {'; '.join(texts)}." if texts else ""


def columns(cases: Sequence[Case]) -> list[str]:
    """The heads of the columns."""
    return [f"d = {dim}, {percent} %" for dim, percent in cases]


def _number(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
