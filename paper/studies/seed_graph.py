"""Duplication-divergence graphs that grow from a directed 3-cycle, or from a complete graph of three nodes.

python -m paper.studies.seed_graph [--out OUT]    # measure what is missing, then print the tables

The paper begins with "a fully connected directed 3-node graph". That may mean either; the rows of the tables
take the cycle. Measured are the share of reciprocal edges, and the AP of every model of the cyclic tables
with both, in ten dimensions, with batches of 2 as for the paper's spacetimes.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence

import numpy as np

import timelike as tl
from paper.reports.simple_rows import beside
from paper.reports.tables import is_riemannian, markdown, score
from paper.studies import measuring
from paper.table_rows import load_rows
from paper.tasks import Options, Result, Task
from paper.training.link_prediction import PROTOCOLS, Case, describe, run

#: Start of the growth → title, and the first seeds that grow exactly the paper's 1,026 edges.
STARTS = {
    "cycle": ("3-cycle (our rows)", (307, 1213, 1910, 3333, 4402, 5610)),
    "complete": ("complete, six edges", (268, 4138, 4673, 5806, 5839, 5861)),
}
DIM, BATCH_SIZE, SEEDS = 10, 2, 2
#: The number of graphs whose edges are counted.
GROWN = 200


def tasks(data_dir: str | None) -> Iterator[Task]:
    """For each start: the edges of many graphs, and every model under both protocols."""
    for start, (_, graphs) in STARTS.items():
        about = {"start": start, "grown": GROWN, "graphs": list(graphs)}
        yield Task(f"{start}/edges", about, functools.partial(edges, start, graphs))
        for row in load_rows("cyclic"):
            if row.dataset == "duplication-divergence":
                row = dataclasses.replace(
                    row,
                    dataset=f"{row.dataset}:{start}",
                    batch_size=BATCH_SIZE,
                    seeds=SEEDS,
                    more={**row.more, "graphs": list(graphs)},
                )
                for protocol in PROTOCOLS:
                    case = Case.of(row, DIM, protocol, "uniform", Options(data_dir=data_dir))
                    name = f"{start}/{row.geometry}-{protocol}"
                    yield Task(name, {"start": start, **describe(case)}, functools.partial(run, case))


def edges(start: str, graphs: Sequence[int]) -> dict[str, list[float]]:
    """The number of edges and the share of reciprocal ones of many graphs, and the share of those trained."""
    grown = [tl.datasets.duplication_divergence(seed, start=start) for seed in range(GROWN)]
    trained = [tl.datasets.duplication_divergence(seed, start=start) for seed in graphs]
    return {
        "edges": [graph.num_edges for graph in grown],
        "reciprocal": [reciprocal(graph) for graph in grown],
        "trained": [reciprocal(graph) for graph in trained],
    }


def reciprocal(graph: tl.DiGraph) -> float:
    """The share of edges whose reverse is an edge too."""
    return round(float(np.mean(graph.has_edges(graph.targets, graph.sources))), 4)


def report(results: list[Result]) -> str:
    """The edges of both kinds of graphs, the AP of every model, and what changes between them."""
    grown = {r.about["start"]: r.found for r in results if "grown" in r.about}
    runs = [r for r in results if "grown" not in r.about]
    body = [
        [title, _range(grown[start]["edges"]), _range(100 * np.array(grown[start]["reciprocal"]), " %")]
        for start, (title, _) in STARTS.items()
    ]
    first = runs[0]
    text = (
        f"AP in percent, median ± standard deviation over {len(first.about['graphs'])} graphs of 1,026 edges "
        f"with {first.about['seeds']} seeds each, d = {first.about['dim']}, batches of "
        f"{first.about['batch_size']}; in brackets, the paper's for its one graph:"
    )
    parts = [
        f"Edges of {GROWN} graphs of each kind, median (lowest to highest):",
        markdown(["seed graph", "edges", "reciprocal"], body),
        text,
        _models(runs),
        _difference(runs, grown),
    ]
    return "\n\n".join(parts)


def _range(values: Sequence[float] | np.ndarray, unit: str = "") -> str:
    return f"{np.median(values):.4g}{unit} ({min(values):.4g} to {max(values):.4g})"


def _models(runs: Sequence[Result]) -> str:
    """Models as rows; a column for each protocol and seed graph."""
    cell = {_key(r): r for r in runs}
    body = []
    for title in _titles(runs):
        line = [title]
        for protocol, start in _columns():
            result = cell[title, protocol, start]
            known = result.about["published"]
            line.append(score(result.found) + (f" [{known[0]:.1f}]" if known else ""))
        body.append(line)
    head = [f"{protocol}: {STARTS[start][0]}" for protocol, start in _columns()]
    return markdown(["", *head], body)


def _columns() -> list[tuple[str, str]]:
    return [(protocol, start) for protocol in PROTOCOLS for start in STARTS]


def _titles(runs: Sequence[Result]) -> list[str]:
    known = {r.about["title"] for r in runs}
    return [row.title for row in load_rows("cyclic")[: len(known)]]


def _key(result: Result) -> tuple[str, str, str]:
    return result.about["title"], result.about["protocol"], result.about["start"]


def _difference(runs: Sequence[Result], grown: dict[str, dict[str, list[float]]]) -> str:
    """The margin of the best spacetime over the best Riemannian space, and the distance to the paper."""
    lines = []
    for start, (title, _) in STARTS.items():
        some = [r for r in runs if r.about["start"] == start]
        words = [_margin(some, protocol) for protocol in PROTOCOLS]
        gaps = [abs(r.found["median"] - r.about["published"][0]) for r in some if r.about["published"]]
        share, trained = (100 * np.median(grown[start][name]) for name in ("reciprocal", "trained"))
        lines.append(
            f"- {title}: {share:.0f} % of the edges are reciprocal in the median ({trained:.0f} % in the "
            f"graphs of 1,026 edges). The best spacetime beats the best Riemannian space by "
            f"{' and '.join(words)}. "
            f"Over the {len(gaps)} models, the mean distance to the published medians is {np.mean(gaps):.1f} "
            f"points. {_simple(start, some)}".rstrip()
        )
    return "\n".join(lines)


def _simple(start: str, runs: Sequence[Result]) -> str:
    """The simple methods on the graphs of one kind."""
    dataset = f"duplication-divergence{':complete' * (start == 'complete')}"
    return beside(dataset, STARTS[start][1], "uniform", [r.found["median"] for r in runs])


def _margin(runs: Sequence[Result], protocol: str) -> str:
    some = sorted((r for r in runs if r.about["protocol"] == protocol), key=lambda r: -r.found["median"])
    time, flat = (next(r for r in some if is_riemannian(r) == kind) for kind in (False, True))
    points = time.found["median"] - flat.found["median"]
    return f"{points:.1f} points ({protocol} protocol, {time.about['title']})"


if __name__ == "__main__":
    measuring.measure("seed_graph", __doc__, tasks, report)
