"""The best recipes of our searches, on seeds and splits that no search used."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from paper.groups import wordnet
from paper.groups.cyclic import DATA
from paper.groups.wordnet import Cell
from paper.reports.paired_comparisons import RIEMANNIAN, comparisons, corrected, holm, paired_table
from paper.reports.simple_rows import beside
from paper.reports.tables import markdown, score
from paper.reports.what_helped import what_helped
from paper.reports.wordnet_rivals import (
    above_models,
    above_with_less,
    best_published,
    columns,
    untrained_lines,
)
from paper.reports.wordnet_training import training_table
from paper.table_rows import Row, load_rows
from paper.tasks import Options, Report, Result, Task
from paper.training import refit_with_validation
from paper.training.refit_with_validation import Case

ABOUT = "the best recipes of our searches, on fresh seeds and splits"

#: The number of splits, or graphs, that --quick takes.
QUICK = 2


#: What angle brackets mean.
SIZES = (
    "In angle brackets: the coordinates of a node in all members of an ensemble (members × d); a single "
    "model has d."
)
#: Marks numbers that no command of this repository computed.
MARK = " ‡"


def tasks(options: Options) -> Iterator[Task]:
    """A task for each cell of WordNet, and for each data set, model and dimension of link prediction."""
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
    """The cells whose runs are the members of this one's ensembles, with seeds of their own."""
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
    run = functools.partial(refit_with_validation.run, case)
    return Task(f"{row.name}/d{dim}", refit_with_validation.describe(case), run)


def report(results: list[Result], folder: Path) -> Report:
    """A table for WordNet and for every graph, and a comparison of spacetimes with Riemannian spaces."""
    order = [row.name for row in load_rows("best")]
    results = sorted(results, key=lambda r: (order.index(r.about["row"]), r.about["dim"]))
    hierarchy = [r for r in results if r.about["dataset"] == "wordnet"]
    parts = ["# Best recipes", _marked(results)]
    if hierarchy:
        parts += ["## WordNet nouns", _wordnet_table(hierarchy)]
    names = {dataset: title.replace(", one graph", "") for dataset, title in DATA.items()}
    graphs = {name: [r for r in results if r.about["dataset"] == name] for name in names}
    tests = [test for some in graphs.values() for test in comparisons(some)]
    adjusted = holm([one.test.permutation_p for one in tests])
    for dataset, some in graphs.items():
        if some:
            own = [i for i, one in enumerate(tests) if one.dataset == dataset]
            parts += [f"## {names[dataset]}", _graph_table(some), _together(some)]
            parts.append(paired_table([tests[i] for i in own], [adjusted[i] for i in own]))
    if tests:
        parts += ["## How sure the gains are", corrected(tests, adjusted, names)]
    parts += ["## What helped", what_helped(results)]
    return Report("\n\n".join(filter(None, parts)), [_flat(r) for r in results])


def from_search(result: Result) -> bool:
    """Whether the last stage of a search computed the result, not a command that can be run again."""
    return not result.made["command"].startswith(("python -m ", "timelike "))


def _marked(results: Sequence[Result]) -> str:
    """What the mark means, and how many rows have it."""
    count = sum(map(from_search, results))
    if not count:
        return ""
    return (
        f"{MARK.strip()}: {count} of the {len(results)} results were computed by the last stage of a search. "
        "The programs of these searches are not in the repository, so no command repeats how they arrived at "
        "the settings; `timelike reproduce best` trains the recipes again. The other results come from that "
        "command, with recipes of the same searches."
    )


def _wordnet_table(results: Sequence[Result]) -> str:
    """One column for each dimension and share of the closure; the best published value and our target."""
    cases = sorted({(r.about["dim"], r.about["percent"]) for r in results})
    body = []
    for title in dict.fromkeys(r.about["title"] for r in results):
        line = {(r.about["dim"], r.about["percent"]): r for r in results if r.about["title"] == title}
        body.append([title, *(_with_target(line.get(case), 2) for case in cases)])
        if any("together" in r.found for r in line.values()):
            body.append([f"{title}, ensemble of the seeds", *(_ensemble(line.get(case)) for case in cases)])
    body += [*untrained_lines(cases, 2), *best_published(cases)]
    seeds = sorted({r.about["seeds"] for r in results})
    return (
        f"Test F1 in percent, median ± standard deviation over {' or '.join(map(str, seeds))} seeds; "
        "validation chooses the threshold and the score. An ensemble of the seeds has the mean of their "
        "log-odds. Ensembles of both kinds have equally many members with the cone and with TFD; "
        f"each seed is another ensemble. In brackets: our target, in bold where it is reached. {SIZES}\n\n"
        f"{markdown(['', *columns(cases)], body)}\n\n{_against_others(results)}\n\n"
        f"{_wordnet_training(results)}"
    )


def _against_others(results: Sequence[Result]) -> str:
    """How our best scores compare with methods without training, and with other representations."""
    top: dict[tuple[int, int], float] = {}
    helped = []
    for r in results:
        case = (r.about["dim"], r.about["percent"])
        own = [r.found[name] for name in ("median", "together") if name in r.found]
        top[case] = max(top.get(case, 0.0), *own)
        helped += own if case[1] else []
    return f"{above_models(top)} {above_with_less(helped)}"


def _wordnet_training(results: Sequence[Result]) -> str:
    """How the single models were trained; an ensemble has the training of its members."""
    single = [r for r in results if "members" not in r.about["more"]]
    searched = next(row for row in load_rows("best") if row.dataset == "wordnet").open["tried"]
    return (
        "Training of the single models, and of the members of ensembles. A search by validation F1 compared "
        f"the settings of each cell; all take the last epoch:\n\n{training_table(single, searched)}"
    )


def _graph_table(results: Sequence[Result]) -> str:
    dims = sorted({r.about["dim"] for r in results})
    body = []
    for title in dict.fromkeys(r.about["title"] for r in results):
        line = {r.about["dim"]: r for r in results if r.about["title"] == title}
        body.append([title, *(_with_target(line.get(d), 1) for d in dims)])
    published = {r.about["dim"]: r.about["published"] for r in results if r.about["published"]}
    body.append(["best published", *(_number(published.get(d)) for d in dims)])
    what = "graphs" if results[0].about["dataset"] == "duplication-divergence" else "splits"
    counts = sorted({len(r.about["splits"]) for r in results})
    about = results[0].about
    kind = "uniform" if about["dataset"] == "duplication-divergence" else "listed"
    simple = beside(about["dataset"], about["splits"], kind, [r.found["median"] for r in results])
    return (
        f"Test AP in percent, median ± standard deviation over {' or '.join(map(str, counts))} {what}, each "
        "the mean over seeds. In parentheses: the mean over all; in square brackets: our target."
        f"{f' {SIZES}' if any('members' in r.about for r in results) else ''}\n\n"
        + "\n\n".join(filter(None, [markdown(["", *(f"d = {d}" for d in dims)], body), simple]))
    )


def _together(results: Sequence[Result]) -> str:
    """The AP of the mean probability of the runs of a split, beside the mean AP of one run."""
    several = [r for r in results if "together" in r.found]
    if not several:
        return ""
    body = [
        [
            f"{r.about['title']}, d = {r.about['dim']}",
            f"{r.found['mean']:.1f}",
            f"{mean(r.found['together']):.1f}{size(r, ensemble=True)}",
        ]
        for r in several
    ]
    return "The mean probability of all runs of a split:\n\n" + markdown(
        ["", "mean AP of one run", f"AP of {len(several[0].about['seeds'])} runs"], body
    )


def _with_target(result: Result | None, digits: int) -> str:
    if result is None:
        return "–"
    found, target = result.found, result.about["target"]
    text = f"{found['median']:.{digits}f} ± {found['spread']:.{digits}f}"
    if digits == 1:
        text = f"{score(found)} ({found['mean']:.1f})"
    text += MARK * from_search(result) + size(result)
    if target is None or result.about["title"].startswith(RIEMANNIAN):
        return text
    return f"**{text}** [{target:g}]" if found["median"] >= target else f"{text} [{target:g}]"


def _ensemble(result: Result | None) -> str:
    """The F1 of the ensemble of all seeds."""
    if result is None or "together" not in result.found:
        return "–"
    found, target = result.found["together"], result.about["target"]
    coordinates = size(result, ensemble=True)
    return f"{f'**{found:.2f}**' if found >= target else f'{found:.2f}'}{coordinates} [{target:g}]"


def members_of(result: Result, ensemble: bool) -> int:
    """The number of members behind a score: of an ensemble row, or of the ensemble of all seeds."""
    about = result.about
    if about["dataset"] == "wordnet":
        own = len(about["more"]["members"]) * about["more"]["each"] if "members" in about["more"] else 1
        return int(about["seeds"] if ensemble else own)
    return len(about["seeds"]) if ensemble else int(about.get("members", 1))


def size(result: Result, ensemble: bool = False) -> str:
    """How many coordinates a node has in all members together; nothing for a single model."""
    members, dim = members_of(result, ensemble), result.about["dim"]
    return f" ⟨{members} × {dim} = {members * dim}⟩" if members > 1 else ""


def _number(published: list[float] | None) -> str:
    return f"{published[0]:.1f}" if published else "–"


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
