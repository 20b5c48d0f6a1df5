"""The paper's hyperparameter grids, all combinations: are its bold values the best?"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from paper.groups.cyclic import DATA, DREAM5, best_simple
from paper.reports.grid_conclusions import conclusions
from paper.reports.tables import markdown, score
from paper.runner.reproduction import load_results
from paper.table_rows import Row, load_rows, product
from paper.tasks import Options, Report, Result, Task
from paper.training.link_prediction import PROTOCOLS, TRIALS, Case, describe, scores, sweep_case

ABOUT = "the paper's hyperparameter grids on the cyclic graphs: are its bold values the best?"

#: The results with the simple methods on the same splits.
CYCLIC = Path(__file__).parents[1] / "results" / "cyclic.json"
#: The default dimension.
DIM = 10
#: The largest number of runs side by side in a task, which is one program.
LANES = 256
TITLES = {"paper": "Paper's protocol", "honest": "Honest protocol"}
SYMBOLS = {
    "circumference": "C", "tau": "τ", "tau1": "τ₁", "tau2": "τ₂", "r": "r", "learning_rate": "λ", "alpha": "α"
}  # fmt: skip
TEXT = (
    "Average precision in percent, median over {seeds} seeds: the paper's bold values → the best of the "
    "grid. Paper's protocol: the test score chooses the epoch and the values, which flatters the winner of a "
    "whole grid. Honest protocol: a tenth of the training edges chooses them. From several bold combinations "
    "the same rule takes the best. `best` names the values that are not bold; `rank` is that of the bold "
    "values; the last column is the correlation of validation and test AP over the settings of the grid."
)


BEST = (
    "Every model with the best settings of its whole grid and the better kind of training negatives, chosen "
    "by the rule of the protocol; median ± standard deviation over seeds."
)


def tasks(options: Options) -> Iterator[Task]:
    """The pieces of every grid, under both protocols and with each kind of training negatives."""
    for row in load_rows("cyclic"):
        if whole_grid(row) == row.bold():  # nothing to choose
            continue
        non_edges, kinds = next(iter(row.more["negatives"].items()))
        seeds = options.seeds or (1 if options.quick else TRIALS)
        for dim in options.dims_of(row) if options.dims else (DIM,):
            for kind, protocol in itertools.product(kinds, PROTOCOLS):
                case = Case.of(row, dim, protocol, non_edges, options)._replace(seeds=seeds)
                yield from _pieces(case, kind)


def _pieces(case: Case, kind: str) -> Iterator[Task]:
    """Tasks with programs of the same shape; the last one repeats settings of the one before."""
    grid = whole_grid(case.row)
    total = len(product(grid))
    size = min(total, max(1, LANES // case.seeds))
    for number, start in enumerate(range(0, total, size)):
        first = min(start, total - size)
        about = {
            **describe(case),
            **{"training_negatives": kind, "grid": grid, "bold": case.row.bold()},
            **{"first": first, "size": size, "published": case.row.published.get(str(case.dim))},
        }
        del about["candidates"]
        name = f"{case.row.name}/d{case.dim}-{case.protocol}-{kind}-{number}"
        yield Task(name, about, functools.partial(run, case, kind, first, size))


def whole_grid(row: Row) -> dict[str, list[float]]:
    """All values that the paper tried, and the settings that it did not vary."""
    return {name: row.grid.get(name, values) for name, values in row.candidates().items()}


def run(case: Case, kind: str, first: int, size: int) -> dict[str, list[float]]:
    """For each setting: median AP over seeds, its spread, and the median merit."""
    settings = product(whole_grid(case.row))[first : first + size]
    seeded = [{**one, "seed": seed} for one in settings for seed in range(case.seeds)]
    runs = [scores(case, row) for row in sweep_case(case, case.graphs[0], kind, seeded)]
    by_setting = [runs[i : i + case.seeds] for i in range(0, len(runs), case.seeds)]
    return {
        "scores": [round(median(r["score"] for r in some), 2) for some in by_setting],
        "spreads": [round(float(np.std([r["score"] for r in some])), 2) for some in by_setting],
        "merits": [round(100 * median(r["merit"] for r in some), 2) for some in by_setting],
    }


class Tried(NamedTuple):
    """One combination of a grid."""

    settings: dict[str, float]
    score: float
    spread: float
    merit: float


class Searched(NamedTuple):
    """A grid under one protocol with one kind of training negatives, best first."""

    about: dict[str, Any]
    tried: list[Tried]

    @classmethod
    def of(cls, pieces: Sequence[Result]) -> Searched:
        """The results of all pieces, each setting once."""
        about = pieces[0].about
        settings = product(about["grid"])
        found = {}
        for piece in pieces:
            columns = (piece.found[name] for name in ("scores", "spreads", "merits"))
            for number, one in enumerate(zip(*columns, strict=True), piece.about["first"]):
                found[number] = Tried(settings[number], *one)
        return cls(about, sorted(found.values(), key=lambda one: -one.merit))

    @property
    def best(self) -> Tried:
        """The combination with the highest merit."""
        return self.tried[0]

    @property
    def bold(self) -> Tried | None:
        """The best of the paper's bold combinations; None while its piece is missing."""
        return next((one for one in self.tried if not self.other(one)), None)

    def other(self, one: Tried) -> dict[str, float]:
        """The values of a combination that are not bold."""
        return {name: x for name, x in one.settings.items() if x not in self.about["bold"][name]}

    @property
    def agreement(self) -> float:
        """The correlation of merit and test score."""
        merits, found = ([getattr(one, name) for one in self.tried] for name in ("merit", "score"))
        return float(np.corrcoef(merits, found)[0, 1])

    @property
    def varied(self) -> list[str]:
        """The names of the settings that the grid varies."""
        return [name for name, values in self.about["grid"].items() if len(values) > 1]


def report(results: list[Result], folder: Path) -> Report:
    """For each graph, the bold and the best values under both protocols; how often they agree."""
    order = [row.name for row in load_rows("cyclic")]

    def place(about: dict[str, Any]) -> tuple:
        other = about["training_negatives"] != "uniform"
        return order.index(about["row"]), about["dim"], other, about["protocol"], about["seeds"]

    ordered = sorted(results, key=lambda r: place(r.about))
    pieces = itertools.groupby(ordered, key=lambda r: place(r.about))
    grids = [grid for grid in (Searched.of(list(some)) for _, some in pieces) if grid.bold]
    seeds = " or ".join(map(str, sorted({grid.about["seeds"] for grid in grids})))
    parts = ["# Hyperparameter grids", TEXT.format(seeds=seeds)]
    for dataset, title in DATA.items():
        some = [grid for grid in grids if grid.about["dataset"] == dataset]
        if some:
            parts += [f"## {title}", _table([grid for grid in some if grid.about["dim"] == DIM] or some)]
    if grids:
        parts += ["## Are the bold values the best?", _summary(grids), _agreement(grids)]
        parts += ["## The best of every model", BEST, *(_models(grids, protocol) for protocol in PROTOCOLS)]
        parts += ["## Conclusions", conclusions(grids)]
    return Report("\n\n".join(parts), [_flat(grid) for grid in grids])


def _table(grids: Sequence[Searched]) -> str:
    """A line for each model, dimension and kind of training negatives; columns for both protocols."""
    lines: dict[tuple, dict[str, Searched]] = {}
    for grid in grids:
        key = tuple(grid.about[name] for name in ("title", "dim", "training_negatives"))
        lines.setdefault(key, {})[grid.about["protocol"]] = grid
    body = []
    for (title, dim, kind), by_protocol in lines.items():
        some = next(iter(by_protocol.values()))
        bold = ", ".join(f"{SYMBOLS[n]} {_either(some.about['bold'][n])}" for n in some.varied)
        cells = [cell for name in PROTOCOLS for cell in _cells(by_protocol.get(name))]
        honest = by_protocol.get("honest")
        body.append([title, str(dim), kind, bold, *cells, f"{honest.agreement:.2f}" if honest else "–"])
    head = ["", "d", "training negatives", "bold"]
    head += [f"{protocol}: {what}" for protocol in PROTOCOLS for what in ("AP", "rank", "best")]
    return markdown([*head, "validation ~ test"], body)


def _cells(grid: Searched | None) -> list[str]:
    if grid is None or grid.bold is None:
        return ["–", "–", "–"]
    bold, best, total = grid.bold, grid.best, len(product(grid.about["grid"]))
    gain = f"{bold.score:.1f} → {best.score:.1f} ({best.score - bold.score:+.1f})"
    missing = "" if len(grid.tried) == total else f", {total - len(grid.tried)} missing"
    rank = f"{1 + grid.tried.index(bold)} of {len(grid.tried)}{missing}"
    return [gain, rank, _show(grid.other(best)) or "the bold ones"]


def _either(values: Sequence[float]) -> str:
    return " or ".join(f"{value:g}" for value in values)


def _show(settings: dict[str, float]) -> str:
    return ", ".join(f"{SYMBOLS[name]} {value:g}" for name, value in settings.items())


def _summary(grids: Sequence[Searched]) -> str:
    """The gain of the best over the bold values, by protocol."""
    lines = []
    for protocol in PROTOCOLS:
        some = [(grid, grid.bold) for grid in grids if grid.about["protocol"] == protocol and grid.bold]
        if some:
            gains = [grid.best.score - bold.score for grid, bold in some]
            again = sum(bold == grid.best for grid, bold in some)
            near = sum(grid.best.score - bold.score <= bold.spread for grid, bold in some)
            lines.append(
                f"- {TITLES[protocol]}, {len(some)} grids: the bold values are the best in {again}. The best "
                f"gains {median(gains):+.1f} points in the median ({min(gains):+.1f} to {max(gains):+.1f}); "
                f"in {near} grids, the gain is within the spread of the bold values over seeds."
            )
    return "\n".join(lines)


def _agreement(grids: Sequence[Searched]) -> str:
    """For each setting, how often the best of a grid has a bold value, and how often a random one would."""
    body = []
    for name, symbol in SYMBOLS.items():
        varying = [grid for grid in grids if name in grid.varied]
        if not varying:
            continue
        cells = []
        for protocol in PROTOCOLS:
            some = [grid for grid in varying if grid.about["protocol"] == protocol]
            cells.append(f"{sum(name not in grid.other(grid.best) for grid in some)} of {len(some)}")
        chance = [len(grid.about["bold"][name]) / len(grid.about["grid"][name]) for grid in varying]
        body.append([symbol, *cells, f"{100 * sum(chance) / len(chance):.0f} %"])
    head = ["", *(f"{protocol}: the best has a bold value" for protocol in PROTOCOLS), "at random"]
    return markdown(head, body)


def _models(grids: Sequence[Searched], protocol: str) -> str:
    """A table with graphs and dimensions as rows and the best of every model as columns."""
    cells: dict[tuple[str, int], dict[str, Tried]] = {}
    for grid in grids:
        if grid.about["protocol"] == protocol:
            line = cells.setdefault((grid.about["dataset"], grid.about["dim"]), {})
            known = line.get(grid.about["title"], grid.best)
            line[grid.about["title"]] = max(known, grid.best, key=lambda one: one.merit)
    titles = list(dict.fromkeys(row.title for row in load_rows("cyclic")))
    simple, body = best_simple(load_results(CYCLIC)) if CYCLIC.is_file() else {}, []
    for (dataset, dim), line in cells.items():
        top = max(one.score for one in line.values())
        shown = {
            title: score({"median": one.score, "spread": one.spread}, one.score == top)
            for title, one in line.items()
        }
        best = simple.get((dataset, "listed" if dataset in DREAM5 else "uniform"))
        body.append([f"{DATA[dataset]}, d = {dim}", *(shown.get(title, "–") for title in titles)])
        body[-1].append(f"{best:.1f}" if best else "–")
    return markdown([TITLES[protocol], *titles, "best simple method (test AP)"], body)


def _flat(grid: Searched) -> dict[str, Any]:
    about, best, bold = grid.about, grid.best, grid.bold
    assert bold is not None
    names = ("dataset", "title", "dim", "protocol", "training_negatives", "seeds")
    return {
        **{name: about[name] for name in names},
        "tried": len(grid.tried),
        **{"bold_rank": 1 + grid.tried.index(bold), "bold_ap": bold.score, "bold_spread": bold.spread},
        **{"best_ap": best.score, "best_spread": best.spread},
        "bold": " ".join(f"{name}={bold.settings[name]:g}" for name in grid.varied),
        "best": " ".join(f"{name}={best.settings[name]:g}" for name in grid.varied),
    }
