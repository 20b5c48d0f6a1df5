"""Figure 3 over learning rates and seeds: which α suits a chain, and which its transitive closure?

python -m paper.studies.transitivity [--out OUT]    # measure what is missing, then print the tables

The paper shows one run for each α and does not give its learning rate. Temperatures are those of the rows in
`rows/toys`. The paper's claims are: a small α captures the closure better, and on the chain it gives the
non-edges higher probabilities.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paper.reports.tables import markdown
from paper.runner.task_results import write_picture
from paper.studies import measuring
from paper.table_rows import product
from paper.tasks import Result, Task
from paper.training.toy_runs import K, Toy, probabilities

GRAPHS = {"chain": "ten-node chain", "transitive-chain": "its transitive closure"}
#: The paper's two values, then the default of `TripleFermiDirac` and that of our five-node cycle.
SMALL, LARGE = 0.001, 0.075
ALPHAS = (SMALL, LARGE, 0.06, 0.25)
RATES = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)
SEEDS, EPOCHS = 20, 600
FIXED = {"tau1": 0.075, "tau2": 0.07, "k": K}
COLOURS = {SMALL: "#D55E00", LARGE: "#0072B2"}


def tasks(data_dir: str | None) -> Iterator[Task]:
    """A task for each graph and α."""
    for graph, alpha in ((graph, alpha) for graph in GRAPHS for alpha in ALPHAS):
        about: dict[str, Any] = {"graph": graph, "alpha": alpha, "rates": list(RATES), "seeds": SEEDS}
        about |= {"epochs": EPOCHS, "settings": FIXED}
        yield Task(f"{graph}-{alpha:g}", about, functools.partial(run, about))


def run(about: dict[str, Any]) -> dict[str, Any]:
    """For each learning rate and seed: NLL, and the mean probability of the non-edges."""
    toy = Toy.load(about["graph"])
    grid = product({"learning_rate": about["rates"], "seed": list(range(about["seeds"]))})
    runs = [{**about["settings"], "alpha": about["alpha"], **one} for one in grid]
    probs = probabilities(toy, "minkowski", "triple-fermi-dirac", runs, about["epochs"])
    measured = {
        "nll": [round(toy.nll(p), 2) for p in probs],
        "non_edges": [round(float(p[~toy.edge].mean()), 4) for p in probs],
    }
    size = about["seeds"]
    return {name: [x[i : i + size] for i in range(0, len(x), size)] for name, x in measured.items()}


class Cells:
    """The runs of one graph by α: arrays with a row for each learning rate and a column for each seed."""

    def __init__(self, results: Sequence[Result], graph: str) -> None:
        some = [r for r in results if r.about["graph"] == graph]
        self.rates: list[float] = some[0].about["rates"]
        self.nll = {r.about["alpha"]: np.array(r.found["nll"]) for r in some}
        self.non_edges = {r.about["alpha"]: np.array(r.found["non_edges"]) for r in some}
        self.alphas = [alpha for alpha in ALPHAS if alpha in self.nll]

    def best(self, alpha: float) -> int:
        """The index of the learning rate with the lowest median NLL."""
        return int(np.argmin(np.median(self.nll[alpha], axis=1)))


def report(results: list[Result]) -> str:
    """The text of the claims, and a table of NLL for each graph."""
    seeds, epochs = results[0].about["seeds"], results[0].about["epochs"]
    parts = [
        f"NLL over all ordered pairs, median (lowest to highest) of {seeds} seeds, {epochs} epochs. Bold: "
        "the best learning rate of an α. The paper has α = 0.001 and 0.075."
    ]
    for graph, title in GRAPHS.items():
        cells = Cells(results, graph)
        head = [f"{title}, learning rate", *(f"α = {alpha:g}" for alpha in cells.alphas)]
        body = [
            [f"{rate:g}", *(_cell(cells, alpha, i) for alpha in cells.alphas)]
            for i, rate in enumerate(cells.rates)
        ]
        parts.append(markdown(head, body))
    parts.append(_claims(Cells(results, "chain"), Cells(results, "transitive-chain")))
    parts.append(
        "![Figure 3 over learning rates: median NLL of α = 0.001 and 0.075, all seeds as points, the range "
        "between them shaded.](toys-rates.png)"
    )
    return "\n\n".join(parts)


def _cell(cells: Cells, alpha: float, i: int) -> str:
    text = _range(cells.nll[alpha][i])
    return f"**{text}**" if i == cells.best(alpha) else text


def _short(value: float) -> str:
    return f"{value:.3g}" if value < 999.5 else f"{value:.0f}"


def _claims(chain: Cells, closure: Cells) -> str:
    """How much of the paper's two claims holds, counted over learning rates and seeds."""
    lines = (
        f"- *Closure: a small α captures it better.* {_lower(closure)}",
        f"- *Chain: a small α gives the non-edges higher probabilities.* {_higher(chain)}",
        f"- *Chain: a large α fits it better,* as the two claims suggest. {_lower(chain, LARGE, SMALL)}",
    )
    return "\n".join(("What remains of the paper's claims:", "", *lines))


def _lower(cells: Cells, one: float = SMALL, other: float = LARGE) -> str:
    """At how many rates, and in how many pairs of runs with one seed, `one` has the lower NLL."""
    a, b = cells.nll[one], cells.nll[other]
    rates = [r for r, x, y in zip(cells.rates, np.median(a, 1), np.median(b, 1), strict=True) if x < y]
    low, high = (a[cells.best(one)], b[cells.best(other)])
    verdict = "holds" if np.median(low) < np.median(high) else "does not hold"
    return (
        f"α = {one:g} has a lower median NLL than α = {other:g} at {_of(rates, cells.rates)}, and in "
        f"{np.sum(a < b)} of {a.size} pairs of runs. With the best rate of each, the claim {verdict}: "
        f"α = {one:g} reaches {_range(low)} at {cells.rates[cells.best(one)]:g}, α = {other:g} "
        f"{_range(high)} at {cells.rates[cells.best(other)]:g}."
    )


def _higher(cells: Cells) -> str:
    """At how many rates the small α gives non-edges a higher mean probability."""
    a, b = (np.median(cells.non_edges[alpha], 1) for alpha in (SMALL, LARGE))
    rates = [rate for rate, x, y in zip(cells.rates, a, b, strict=True) if x > y]
    i, j = cells.best(SMALL), cells.best(LARGE)
    verdict = "holds" if a[i] > b[j] else "does not hold"
    return (
        f"The median of their mean probability is higher with α = {SMALL:g} at {_of(rates, cells.rates)}. "
        f"With the best rate of each, the claim {verdict}: {a[i]:.3f} with α = {SMALL:g} at "
        f"{cells.rates[i]:g}, {b[j]:.3f} with α = {LARGE:g} at {cells.rates[j]:g}."
    )


def _of(rates: Sequence[float], all_rates: Sequence[float]) -> str:
    named = f" ({', '.join(f'{rate:g}' for rate in rates)})" if 0 < len(rates) < len(all_rates) else ""
    return f"{len(rates)} of {len(all_rates)} learning rates{named}"


def _range(values: np.ndarray) -> str:
    return f"{_short(np.median(values))} ({_short(values.min())} to {_short(values.max())})"


def draw(results: list[Result], folder: Path) -> None:
    """NLL against the learning rate for the paper's two α: the median, every seed, and their range."""
    from timelike.plot import PAGE, panels, styled

    with styled():
        figure, grid = panels(1, len(GRAPHS), width=PAGE, height=2.8)
        for axes, (graph, title) in zip(grid.flat, GRAPHS.items(), strict=True):
            cells = Cells(results, graph)
            for alpha, colour in COLOURS.items():
                _curve(axes, cells, alpha, colour)
            axes.set(xscale="log", yscale="log", xlabel="learning rate")
            axes.set_xticks(cells.rates, [f"{rate:g}" for rate in cells.rates], fontsize=6)
            axes.minorticks_off()
            axes.set_title(title, loc="left")
        grid.flat[0].set_ylabel("NLL of all pairs")
        grid.flat[0].legend(loc="upper left", fontsize=6)
        write_picture(folder / "toys-rates.png", figure)


def _curve(axes: Any, cells: Cells, alpha: float, colour: str) -> None:
    values, rates = cells.nll[alpha], np.array(cells.rates)
    shift = 0.97 if alpha == SMALL else 1.03  # so that the points of both α stay apart
    axes.fill_between(rates, values.min(1), values.max(1), color=colour, alpha=0.15, linewidth=0)
    axes.plot(rates, np.median(values, 1), color=colour, label=f"α = {alpha:g}", linewidth=1)
    where = np.repeat(shift * rates, values.shape[1])
    axes.scatter(where, values.ravel(), s=3, color=colour, alpha=0.6, linewidths=0)


if __name__ == "__main__":
    measuring.measure("transitivity", __doc__, tasks, report, draw)
