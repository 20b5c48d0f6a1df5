"""The tables of cyclic graphs: five models, four graphs, the paper's protocol and an honest one."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import timelike as tl
from paper.reports.epochs import MARK, best_and_last, burn_in_counts, in_burn_in
from paper.reports.tables import (
    against_riemannian,
    below_published,
    by_dimension,
    choices,
    flat,
    gathered,
    is_riemannian,
    markdown,
    trained_with,
)
from paper.table_rows import Row, load_rows
from paper.tasks import Options, Report, Result, Task
from paper.training.link_prediction import PROTOCOLS, load_split, tasks_of

ABOUT = "link prediction on graphs with cycles (the paper's main and full tables)"

DATA = {
    "duplication-divergence": "Duplication-divergence, one graph",
    "dream5:in-silico": "DREAM5 in silico",
    "dream5:ecoli": "DREAM5 E. coli",
    "dream5:yeast": "DREAM5 S. cerevisiae",
}
DREAM5 = tuple(name for name in DATA if name.startswith("dream5"))
CHOICES = {
    "paper": "The choice by test scores of the first seeds: the best score with each kind of training "
    "negatives, the settings, and the median best epoch (the first ten are burn-in):",
    "honest": "The choice by validation with the first seeds: the kind of training negatives where there are "
    "two, the settings, and the median best epoch:",
}


#: Simple methods, scored on the same pairs.
SIMPLE = (*(name for name in tl.estimator.UNTRAINED if name != "reachability"), "dot product")


def tasks(options: Options) -> Iterator[Task]:
    """The baselines without training, then every row."""
    rows = load_rows("cyclic")
    for row in {row.dataset: row for row in rows}.values():
        for negatives in row.more["negatives"]:
            yield _baseline_task(row, negatives, options)
    for row in rows:
        yield from tasks_of(row, options)


def _baseline_task(row: Row, negatives: str, options: Options) -> Task:
    graphs = row.more.get("graphs") or [None]
    about = {
        "title": "baselines", "dataset": row.dataset, "graphs": graphs, "negatives": negatives,
        "methods": list(SIMPLE),
    }  # fmt: skip
    name = f"{row.name.split('/')[0]}/baselines-{negatives}"
    return Task(
        name, about, functools.partial(_baselines, row.dataset, graphs[0], negatives, options.data_dir)
    )


def _baselines(dataset: str, graph: int | None, negatives: str, data_dir: str | None) -> dict[str, Any]:
    """Test AP in percent of the simple methods; those that are trained take their last epoch."""
    split = load_split(dataset, graph or 0, data_dir, negatives, validated=False)
    scores = tl.estimator.evaluate_baselines(split.train, split.test, names=SIMPLE)
    return {name: round(100 * score.average_precision, 2) for name, score in scores.items()}


def report(results: list[Result], folder: Path) -> Report:
    """A table for each graph, protocol and kind of non-edges, and a comparison with the targets."""
    runs = [r for r in results if r.about["title"] != "baselines"]
    order = {row.name: i for i, row in enumerate(load_rows("cyclic"))}
    runs.sort(key=lambda r: (order.get(r.about["row"], len(order)), r.about["dim"]))
    parts = [
        "# Graphs with cycles",
        "Average precision in percent, median ± standard deviation over seeds; published values in brackets. "
        f"{MARK.strip()} marks a score whose best epoch lies in the burn-in.",
    ]
    for dataset, title in DATA.items():
        some = [r for r in runs if r.about["dataset"] == dataset]
        if some:
            parts += [f"## {title}", *_tables(some)]
    if runs:
        parts += ["## Best epochs", burn_in_counts(runs), best_and_last(runs, DATA)]
    parts += [
        "## Simple methods",
        _baseline_table(results),
        _comparable(runs, degree_products(results)),
        "## Against the targets",
        _targets(runs, degree_products(results), best_simple(results)),
        _above_simple(runs, results),
    ]
    return Report("\n\n".join(filter(None, parts)), [flat(r) for r in runs])


def _tables(results: Sequence[Result]) -> Iterator[str]:
    for negatives in dict.fromkeys(r.about["negatives"] for r in results):
        for protocol, title in PROTOCOLS.items():
            some = [
                r for r in results if (r.about["protocol"], r.about["negatives"]) == (protocol, negatives)
            ]
            if some:
                seeds = sorted({r.about["seeds"] for r in some})
                yield f"{title}, {negatives} non-edges; {' or '.join(map(str, seeds))} seeds:"
                yield by_dimension(some, lambda result: MARK * in_burn_in(result))
                if any(r.found["tried"] for r in some):
                    yield CHOICES[protocol]
                    yield choices(some)


def _baseline_table(results: Sequence[Result]) -> str:
    found = [r for r in results if r.about["title"] == "baselines"]
    if not found:
        return "Not computed."
    names = list(found[0].found)
    body = [
        [DATA[r.about["dataset"]], r.about["negatives"], *(f"{r.found[name]:.1f}" for name in names)]
        for r in sorted(found, key=lambda r: list(DATA).index(r.about["dataset"]))
    ]
    return markdown(["graph", "non-edges", *names], body)


def _comparable(runs: Sequence[Result], degrees: Mapping[tuple[str, str], float]) -> str:
    """Why published scores on DREAM5 stand beside those against listed non-edges."""
    published = [
        r.about["published"][0] for r in runs if r.about["dataset"] in DREAM5 and r.about["published"]
    ]
    uniform = [degrees[key] for key in degrees if key[0] in DREAM5 and key[1] == "uniform"]
    if not published or not uniform or min(uniform) <= max(published):
        return ""
    return (
        f"Against uniform non-edges of DREAM5, the degree product alone scores {min(uniform):.1f} to "
        f"{max(uniform):.1f}, and no published score is above {max(published):.1f}. The paper does not say "
        "which pairs its non-edges are; its scores lie in the range of ours against listed ones."
    )


def degree_products(results: Sequence[Result]) -> dict[tuple[str, str], float]:
    """Test AP of the degree product, by data set and kind of non-edges."""
    found = (r for r in results if r.about["title"] == "baselines")
    return {(r.about["dataset"], r.about["negatives"]): r.found["degree product"] for r in found}


def best_simple(results: Sequence[Result]) -> dict[tuple[str, str], float]:
    """The highest test AP of a simple method, by data set and kind of non-edges."""
    found = (r for r in results if r.about["title"] == "baselines")
    return {_task(r): max(r.found.values()) for r in found}


def _targets(
    runs: Sequence[Result], degrees: Mapping[tuple[str, str], float], best: Mapping[tuple[str, str], float]
) -> str:
    """How many spacetimes reach what they are compared with; comparisons that lack a side are left out."""
    compared = [r for r in runs if r.about["published"]]
    spacetimes = [r for r in compared if not is_riemannian(r)]
    tables = [[r for r in compared if r.about["dataset"] == dataset] for dataset in DATA]
    low = below_published(compared)
    total, beaten = _together(tables)
    simple = [r for r in spacetimes if _task(r) in degrees]
    cheap, beaten_by = (
        [r for r in simple if r.found["median"] <= some[_task(r)]] for some in (degrees, best)
    )
    lines = [
        _count(len(spacetimes), len(low), "spacetime cells reach the published median minus its spread."),
        _count(total, len(beaten), "spacetime cells beat both Riemannian rows."),
        _count(len(simple), len(cheap), "spacetime cells beat the degree product, which needs no training."),
        _count(len(simple), len(beaten_by), "spacetime cells beat the best simple method (by test AP)."),
    ]
    for kind in ("uniform", "same_source"):
        same = [[r for r in (trained_with(kind, r) for r in table) if r] for table in tables]
        total, losing = _together(same)
        what = f"beat both Riemannian rows if every model trains with {kind} negatives (first seeds)."
        lines.append(_count(total, len(losing), what))
    parts = ["\n".join(filter(None, lines)) or "Too little was computed for a comparison."]
    if compared:
        parts.insert(0, "Cells with a published score (paper's protocol, listed non-edges on DREAM5):")
    named = {
        "Below the published median minus its spread": low,
        "Not above both Riemannian rows": beaten,
        "Not above the degree product": cheap,
    }
    for what, cells in named.items():
        if cells:
            parts += [f"{what}, d =", gathered(DATA.values(), (_place(r) for r in cells))]
    return "\n\n".join(parts)


def _above_simple(runs: Sequence[Result], results: Sequence[Result]) -> str:
    """How many spacetimes beat the degree product, and the best simple method of the same pairs."""
    degrees, best = degree_products(results), best_simple(results)
    if not degrees:
        return ""
    tables = [_above_table(runs, degrees, "the degree product")]
    if best != degrees:
        tables.append(_above_table(runs, best, "the best simple method (test AP)"))
    return "\n\n".join(tables)


def _above_table(runs: Sequence[Result], degrees: Mapping[tuple[str, str], float], what: str) -> str:
    """Counts by protocol and kind of non-edges."""
    body = []
    for protocol, title in PROTOCOLS.items():
        some = [r for r in runs if r.about["protocol"] == protocol and not is_riemannian(r)]
        line = [title]
        for listed in (True, False):
            own = [r for r in some if r.about["dataset"] in DREAM5 and _listed(r) == listed]
            line.append(_above(own, degrees))
        body.append([*line, _above([r for r in some if r.about["dataset"] not in DREAM5], degrees)])
    head = [f"above {what}", "DREAM5, listed", "DREAM5, uniform", "duplication-divergence"]
    return markdown(head, body)


def _above(runs: Sequence[Result], degrees: Mapping[tuple[str, str], float]) -> str:
    known = [r for r in runs if _task(r) in degrees]
    return f"{sum(r.found['median'] > degrees[_task(r)] for r in known)} of {len(known)}" if known else "–"


def _listed(result: Result) -> bool:
    return bool(result.about["negatives"] == "listed")


def _together(tables: Sequence[Sequence[Result]]) -> tuple[int, list[Result]]:
    """`against_riemannian`, added up over tables."""
    found = [against_riemannian(table) for table in tables]
    return sum(count for count, _ in found), [r for _, beaten in found for r in beaten]


def _count(total: int, missing: int, what: str) -> str:
    return f"- {total - missing} of {total} {what}" if total else ""


def _task(result: Result) -> tuple[str, str]:
    return result.about["dataset"], result.about["negatives"]


def _place(result: Result) -> tuple[str, str, int]:
    about = result.about
    return about["title"], DATA[about["dataset"]], about["dim"]
