"""The best recipes that were found, with seeds and splits that no search has seen."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from timelike.reproduce import refit, wordnet
from timelike.reproduce.cyclic import DATA
from timelike.reproduce.refit import Case
from timelike.reproduce.row import Row, load_rows
from timelike.reproduce.tables import gathered, markdown, score
from timelike.reproduce.task import Options, Report, Result, Task
from timelike.reproduce.wordnet import Cell

ABOUT = "the best recipes that were found, on fresh seeds and splits"

#: Splits (or graphs) and seeds that --quick takes.
QUICK = 2
#: Rows to be beaten with the same number of settings.
RIEMANNIAN = ("Euclidean", "Hyperboloid")


def tasks(options: Options) -> Iterator[Task]:
    """WordNet cell by cell, then link prediction by data set, model and dimension."""
    for row in load_rows("best"):
        for dim in options.dims_of(row):
            if row.dataset == "wordnet":
                yield from _wordnet(row, dim, options)
            else:
                yield _link_prediction(row, dim, options)


def _wordnet(row: Row, dim: int, options: Options) -> Iterator[Task]:
    row = wordnet.shortened(row) if options.quick else row
    for percent in row.more["percents"]:
        cell = Cell(row, dim, percent, options.seeds_of(row), options.data_dir)
        name, target = row.name, row.more["target"]
        if "members" in row.more:
            cell = dataclasses.replace(cell, members=tuple(_members(cell, options)))
            name, target = f"{name}/d{dim}-{percent}", target[cell.case]
        about = {**wordnet.describe(cell), "dataset": "wordnet", "target": target}
        yield Task(name, about, functools.partial(wordnet.run, cell))


def _members(cell: Cell, options: Options) -> Iterator[Cell]:
    """The cells of the rows that have the members of this one, with seeds of their own."""
    more = cell.row.more
    wanted = [f"wordnet/{kind}-d{cell.dim}-{cell.percent}" for kind in more["members"]]
    for row in load_rows("best"):
        if row.name in wanted:
            row = wordnet.shortened(row) if options.quick else row
            row = dataclasses.replace(row, more={**row.more, "first_seed": more["first_seed"]})
            yield dataclasses.replace(cell, row=row, seeds=cell.seeds * more["each"])


def _link_prediction(row: Row, dim: int, options: Options) -> Task:
    first, count = row.more["first_seed"], options.seeds_of(row)
    splits = tuple(row.more["splits"])[: QUICK if options.quick else None]
    case = Case(row, dim, splits, tuple(range(first, first + count)), options.data_dir)
    return Task(f"{row.name}/d{dim}", refit.describe(case), functools.partial(refit.run, case))


def report(results: list[Result], folder: Path) -> Report:
    """WordNet, then a table for every graph, and what speaks for a spacetime on it."""
    order = [row.name for row in load_rows("best")]
    results = sorted(results, key=lambda r: (order.index(r.about["row"]), r.about["dim"]))
    hierarchy = [r for r in results if r.about["dataset"] == "wordnet"]
    parts = (
        ["# Best recipes", "## WordNet nouns", _wordnet_table(hierarchy)] if hierarchy else ["# Best recipes"]
    )
    for dataset, title in DATA.items():
        mine = [r for r in results if r.about["dataset"] == dataset]
        if mine:
            parts += [f"## {title.replace(', one graph', '')}", _graph_table(mine), _together(mine)]
            for members in (False, True):
                parts.append(_paired([r for r in mine if ("members" in r.about) == members]))
    return Report("\n\n".join(filter(None, parts)), [_flat(r) for r in results])


def _wordnet_table(results: Sequence[Result]) -> str:
    """One column for each dimension and share; the best published number, and what was aimed at."""
    cases = sorted({(r.about["dim"], r.about["percent"]) for r in results})
    body = []
    for title in dict.fromkeys(r.about["title"] for r in results):
        mine = {(r.about["dim"], r.about["percent"]): r for r in results if r.about["title"] == title}
        body.append([title, *(_with_target(mine.get(case), 2) for case in cases)])
        if any("together" in r.found for r in mine.values()):
            body.append([f"{title}, seeds together", *(_whole(mine.get(case)) for case in cases)])
    published = {(r.about["dim"], r.about["percent"]): r.about["published"] for r in results}
    body.append(["best published", *(_number(published[case]) for case in cases)])
    seeds = sorted({r.about["seeds"] for r in results})
    return (
        f"Test F1 in percent, median ± standard deviation over {' or '.join(map(str, seeds))} seeds; "
        "threshold and score by validation. Seeds together are the members of one model: it has the mean of "
        "their log-odds. Members of both kinds are runs with the cone and as many with TFD; each seed "
        "is another such model. In brackets: what was aimed at, in bold where it is reached.\n\n"
        + markdown(["", *(f"d = {dim}, {percent} %" for dim, percent in cases)], body)
    )


def _graph_table(results: Sequence[Result]) -> str:
    dims = sorted({r.about["dim"] for r in results})
    body = []
    for title in dict.fromkeys(r.about["title"] for r in results):
        mine = {r.about["dim"]: r for r in results if r.about["title"] == title}
        body.append([title, *(_with_target(mine.get(d), 1) for d in dims)])
    published = {r.about["dim"]: r.about["published"] for r in results if r.about["published"]}
    body.append(["best published", *(_number(published.get(d)) for d in dims)])
    what = "graphs" if results[0].about["dataset"] == "duplication-divergence" else "splits"
    counts = sorted({len(r.about["splits"]) for r in results})
    return (
        f"Test AP in percent, median ± standard deviation over {' or '.join(map(str, counts))} {what}, each "
        "the mean over seeds; in round brackets the mean over all. In square ones: what was aimed at.\n\n"
        + markdown(["", *(f"d = {d}" for d in dims)], body)
    )


def _together(results: Sequence[Result]) -> str:
    """What the mean probability of the runs of a split adds to one of them."""
    found = [r for r in results if "together" in r.found]
    if not found:
        return ""
    body = [
        [
            f"{r.about['title']}, d = {r.about['dim']}",
            f"{r.found['mean']:.1f}",
            f"{mean(r.found['together']):.1f}",
        ]
        for r in found
    ]
    return "The runs of a split taken together, by their mean probability:\n\n" + markdown(
        ["", "mean AP of one", f"of {len(found[0].about['seeds'])}"], body
    )


def _with_target(result: Result | None, digits: int) -> str:
    if result is None:
        return "–"
    found, target = result.found, result.about["target"]
    text = f"{found['median']:.{digits}f} ± {found['spread']:.{digits}f}"
    if digits == 1:
        text = f"{score(found)} ({found['mean']:.1f})"
    if target is None or result.about["title"].startswith(RIEMANNIAN):
        return text
    return f"**{text}** [{target:g}]" if found["median"] >= target else f"{text} [{target:g}]"


def _whole(result: Result | None) -> str:
    """The F1 of all seeds as one model."""
    if result is None or "together" not in result.found:
        return "–"
    found, target = result.found["together"], result.about["target"]
    return f"**{found:.2f}** [{target:g}]" if found >= target else f"{found:.2f} [{target:g}]"


def _number(published: list[float] | None) -> str:
    return f"{published[0]:.1f}" if published else "–"


def _paired(results: Sequence[Result]) -> str:
    """The best spacetime of each dimension, by validation, against spaces without time, split by split."""
    from timelike.evaluation.paired_tests import paired_test

    cells, rivals = [], [r for r in results if r.about["title"].startswith(RIEMANNIAN)]
    for dim in sorted({r.about["dim"] for r in rivals}):
        others = [r for r in results if r.about["dim"] == dim and r not in rivals]
        best = max(others, key=lambda r: sum(r.found["valid"]) / len(r.found["valid"]), default=None)
        for rival in (r for r in rivals if best and r.about["dim"] == dim):
            assert best is not None
            if len(best.found["scores"]) < 2 or best.about["splits"] != rival.about["splits"]:
                continue
            test = paired_test(best.found["scores"], rival.found["scores"])
            text = (
                f"{test.median_difference:+.1f} ({test.wins} of {test.seeds}, p = {test.permutation_p:.2g})"
            )
            cells.append((f"d = {dim}, {best.about['title']}", f"against {rival.about['title']}", text))
    if not cells:
        return ""
    columns = dict.fromkeys(column for _, column, _ in cells)
    text = "What the spacetime that is best by validation adds, split by split (p: all flips of signs):"
    return f"{text}\n\n{gathered(columns, cells)}"


def _flat(result: Result) -> dict[str, Any]:
    about, found = result.about, result.found
    return {
        **{name: about[name] for name in ("dataset", "title", "dim")},
        "percent": about.get("percent"),
        **{name: found[name] for name in ("median", "spread")},
        "target": about["target"],
        "published": about["published"][0] if about["published"] else None,
        "seconds": result.made["seconds"],
    }
