"""The page of the zoo: tables in Markdown from stored results."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from benchmarks.zoo import summary
from benchmarks.zoo.halves import HALVES, graphs_of, half_of
from benchmarks.zoo.questions import QUESTIONS
from benchmarks.zoo.results import ALONE, SIMPLE, STORED, Arms, unpack
from timelike.estimator.baseline_names import UNTRAINED

Results = Mapping[tuple[str, int], Mapping[str, Any]]

#: Column titles of the questions.
TITLES = {
    "uniform": "any two nodes",
    "same_source": "same source",
    "same_target": "same target",
    "reversed": "turned round",
    "all": "all",
}
FIGURES = ("direction", "ece_density", "ece_four", "top_stated", "top_adjusted", "top_right", "seconds")

#: The command behind the stored results.
COMMAND = "python -m benchmarks.zoo --half all --seeds {seeds} --evidence none --out RESULTS"
INTRODUCTION = """\
Average precision (AP, in %) on 15 % hidden edges; 4 non-edges to each hidden edge, 1 for turned edges. A cell
is one question about one graph, a mean over its seeds. The best simple method of a cell is the one with the
highest mean AP **on these very test pairs**: this choice is kind to the simple methods. A cell counts as good
if the model is at most 0.5 points below it. `{command}` computes everything.
"""


def page(arms: Arms, graphs: Collection[str], command: str) -> str:
    """The tables about the results that concern these graphs."""
    simple = _of_graphs(arms.get(SIMPLE, {}), graphs)
    parts = [INTRODUCTION.format(command=command), _division(), _of_simple(simple)]
    for arm in sorted(set(arms) - {SIMPLE}):
        found = _of_graphs(arms[arm], graphs)
        usable = {
            key: one for key, one in found.items() if "error" not in one and _same(one, simple.get(key))
        }
        parts += [f"## {arm}", _arm(usable, simple), _left_out(found, usable, graphs)]
    return "\n\n".join(part for part in parts if part) + "\n"


def documented() -> str:
    """What the documentation shows: all stored results."""
    arms = unpack(STORED)
    known = {graph for found in arms.values() for graph, _ in found}
    graphs = [name for half in HALVES for name in graphs_of(half) if name in known]
    seeds = len({seed for found in arms.values() for _, seed in found})
    made = _made(one for found in arms.values() for one in found.values())
    return f"{page(arms, graphs, COMMAND.format(seeds=seeds))}\n{made}\n"


def summarised(arms: Arms, half: str = "test") -> str:
    """A default fit on one half of the zoo in a few lines: means over graphs, and where it loses."""
    simple = _of_graphs(arms.get(SIMPLE, {}), graphs_of(half))
    found = _of_graphs(arms.get("default", {}), graphs_of(half))
    found = {key: one for key, one in found.items() if "error" not in one and _same(one, simple.get(key))}
    if not found:
        return ""
    fit = {key: one["answers"] for key, one in found.items()}
    alone = {key: one["answers"] for key, one in arms.get(ALONE, {}).items() if key in found}
    methods = _methods(simple, fit, None)
    cells, others = (summary.cells_of(one, methods, QUESTIONS) for one in (fit, alone))
    lost = "; ".join(
        f"{one.graph}, {TITLES[one.question]} ({_signed(one.margin)} to {one.method})"
        for one in cells
        if not one.good
    )
    seeds, graphs = len({seed for _, seed in found}), len({graph for graph, _ in found})
    text = (
        f"{graphs} graphs with {seeds} seed{'s' * (seeds > 1)} each, AP in %. The best simple method of "
        f"a graph and question is the best of {len(methods)} **on these very test pairs**, which favours it. "
        f"At least as good: at most {100 * summary.SLACK:g} points below it. Below: {lost or 'none'}."
    )
    made = _made([*found.values(), *simple.values()])
    return f"{_means(cells, others)}\n\n{text}\n\n{made} `{COMMAND.format(seeds=seeds)}` makes them.\n"


def _means(cells: Sequence[summary.Cell], alone: Sequence[summary.Cell]) -> str:
    """Means over graphs for each question: the fit, the best simple method, the geometry alone."""
    heads = [
        "mean over graphs",
        "default fit",
        "best simple method",
        "geometry alone",
        "fit at least as good",
    ]
    lines = [f"| {' | '.join(heads)} |", "|---|" + "--:|" * 4]
    for question in (*QUESTIONS, "all"):
        here, there = ([c for c in some if question in (c.question, "all")] for some in (cells, alone))
        scores = [_mean(c.model for c in here), _mean(c.best for c in here), _mean(c.model for c in there)]
        good = f"{sum(c.good for c in here)} of {len(here)}"
        lines.append(f"| {' | '.join([TITLES[question], *map(_percent, scores), good])} |")
    return "\n".join(lines)


def _mean(values: Iterable[float]) -> float:
    return statistics.fmean(listed) if (listed := list(values)) else math.nan


def _made(results: Iterable[Mapping[str, Any]]) -> str:
    """When and where results were computed."""
    listed = list(results)
    dates = sorted({one["date"] for one in listed if "date" in one}) or ["on an unknown date"]
    cores = sorted({one["cores"] for one in listed if "cores" in one})
    where = f" on {' or '.join(map(str, cores))} CPU cores" if cores else ""
    return f"Made {' to '.join(dict.fromkeys((dates[0], dates[-1])))}{where}."


def _of_graphs(found: Results, graphs: Collection[str]) -> dict[tuple[str, int], Mapping[str, Any]]:
    """The results on these graphs, in their order."""
    return {key: found[key] for name in graphs for key in sorted(found) if key[0] == name}


def _division() -> str:
    """Which graphs are in which half."""
    lines = ["| half | graphs |", "|---|---|"]
    lines += [f"| {half} | {', '.join(graphs_of(half))} |" for half in HALVES]
    return "\n".join(lines)


def _arm(found: Results, simple: Results) -> str:
    """The tables of one arm."""
    answers = {key: one["answers"] for key, one in found.items()}
    blocks = []
    for half in HALVES:
        part = {key: value for key, value in answers.items() if half_of(key[0]) == half}
        if not part:
            continue
        rows = []
        for title, names in (("best simple method", None), ("best untrained count", UNTRAINED)):
            methods = _methods(simple, part, names)
            kinds = {title: summary.cells_of(part, methods, QUESTIONS)}
            seeds = summary.one_seed_each(part)
            if len(seeds) > 1:
                elsewhere = summary.cells_of(part, methods, QUESTIONS, True)
                each = [cell for one in seeds for cell in summary.cells_of(one, methods, QUESTIONS)]
                kinds |= {f"{title}, chosen on the other seeds": elsewhere, f"{title}, seed by seed": each}
            rows += [(kind, summary.tallies(cells, QUESTIONS)) for kind, cells in kinds.items()]
        blocks += [f"### {half} half", _tallies(rows), _cells(part, simple, found)]
    return "\n\n".join(blocks)


def _tallies(rows: Sequence[tuple[str, dict[str, summary.Tally]]]) -> str:
    heads = [f"{TITLES[name]}: good cells, margin" for name in (*QUESTIONS, "all")]
    lines = [f"| against the | {' | '.join(heads)} |", "|---|" + "--:|" * len(heads)]
    for title, tallies in rows:
        shown = [
            f"{one.good}/{one.cells} ({_percent(one.share)} %), {_signed(one.margin)}"
            for one in tallies.values()
        ]
        lines.append(f"| {title} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _cells(answers: summary.Answers, simple: Results, found: Results) -> str:
    """One row per graph: the model beside the best simple method on each question, and other figures."""
    cells = summary.cells_of(answers, _methods(simple, answers, None), QUESTIONS)
    by_place = {(cell.graph, cell.question): cell for cell in cells}
    heads = ["graph", *(TITLES[name] for name in QUESTIONS), "direction", "ECE at density, at 4:1"]
    heads += ["top 100: stated, restated, right", "s"]
    lines = [f"| {' | '.join(heads)} |", "|---|" + "--:|" * (len(heads) - 1)]
    for graph in dict.fromkeys(name for name, _ in answers):
        results = [{**one["answers"], **one} for (name, _), one in found.items() if name == graph]
        mean = summary.means(results, FIGURES)
        row = [
            graph,
            *(_cell(by_place.get((graph, name))) for name in QUESTIONS),
            _percent(mean["direction"]),
        ]
        row.append(f"{_plain(mean['ece_density'])}, {_plain(mean['ece_four'])}")
        row.append(", ".join(_plain(mean[name]) for name in ("top_stated", "top_adjusted", "top_right")))
        lines.append(f"| {' | '.join([*row, _plain(mean['seconds'], 1)])} |")
    return "\n".join(lines)


def _of_simple(simple: Results) -> str:
    """The graphs, and the AP of every simple method on uniform non-edges."""
    if not simple:
        return ""
    names = list(dict.fromkeys(name for one in simple.values() for name in one.get("methods", {})))
    heads = ["graph", "half", "nodes", "edges", "reciprocity", "not asked", *names]
    lines = ["## Graphs and simple methods", "AP on any two nodes.", ""]
    lines += [f"| {' | '.join(heads)} |", "|---|---|" + "--:|" * 3 + "---|" + "--:|" * len(names)]
    for graph in dict.fromkeys(name for name, _ in simple):
        listed = [one for (name, _), one in simple.items() if name == graph]
        fact = summary.means([one["facts"] for one in listed], ("nodes", "edges", "reciprocity"))
        refused = sorted({TITLES[kind] for one in listed for kind in one["not_asked"]})
        scores = [summary.means(_answers(listed, name), ["uniform"])["uniform"] for name in names]
        row = [
            graph,
            half_of(graph),
            f"{fact['nodes']:,.0f}",
            f"{fact['edges']:,.0f}",
            _plain(fact["reciprocity"]),
        ]
        lines.append(f"| {' | '.join([*row, ', '.join(refused), *map(_percent, scores)])} |")
    return "\n".join(lines)


def _left_out(found: Results, usable: Results, graphs: Collection[str]) -> str:
    """Graphs without results, results that failed or lack simple methods, and questions not asked."""
    lines = [f"- {name}: no result" for name in graphs if not any(key[0] == name for key in found)]
    for (name, seed), one in found.items():
        if "error" in one:
            lines.append(f"- {name}, seed {seed}: {one['error'].splitlines()[0]}")
        elif (name, seed) not in usable:
            lines.append(f"- {name}, seed {seed}: no simple methods on the same graph")
    reasons = {
        (name, kind): why for (name, _), one in usable.items() for kind, why in one["not_asked"].items()
    }
    lines += [f"- {name}, {TITLES[kind]}: not asked ({why})" for (name, kind), why in reasons.items()]
    return "\n".join(["Left out:", "", *lines]) if lines else ""


def _methods(
    simple: Results, answers: summary.Answers, names: Iterable[str] | None
) -> dict[str, summary.Answers]:
    """Simple method → its answers to what the model answered."""
    part = {key: simple[key]["methods"] for key in answers}
    known = dict.fromkeys(name for methods in part.values() for name in methods)
    return {
        name: {key: methods.get(name, {}).get("answers", {}) for key, methods in part.items()}
        for name in known
        if names is None or name in names
    }


def _answers(results: Iterable[Mapping[str, Any]], name: str) -> list[Mapping[str, float]]:
    return [one.get("methods", {}).get(name, {}).get("answers", {}) for one in results]


def _same(one: Mapping[str, Any], other: Mapping[str, Any] | None) -> bool:
    """Whether there are simple methods on exactly this graph."""
    return other is not None and "methods" in other and one["facts"]["digest"] == other["facts"]["digest"]


def _cell(cell: summary.Cell | None) -> str:
    if cell is None:
        return "–"
    text = f"{100 * cell.model:.1f} / {100 * cell.best:.1f} ({cell.method})"
    return text if cell.good else f"**{text}**"


def _percent(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{100 * value:.1f}"


def _signed(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:+.1f}"


def _plain(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
