"""Do training negatives that suit the graph find more held-out edges than uniform ones?

python -m paper.studies.question [--out OUT]    # measure what is missing, then print the table

15 % of the edges are held out, and as many of the likeliest missing edges are looked up among them.
`SpacetimeEmbedding()` draws the negatives that suit the graph, `settings="general"` draws any two nodes.
Every graph is also reversed, so that few nodes are targets.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from statistics import median
from typing import Any

import timelike as tl
from paper.reports.tables import markdown
from paper.studies import measuring
from paper.tasks import Result, Task

GRAPHS = ("dream5:in-silico", "dream5:ecoli", "dream5:yeast", "wordnet:mammals")
#: The search for the defaults used other splits.
SPLITS = (10, 11, 12)
#: Kind of negatives, as stored → settings of the estimator, and heading.
ASKED = {"what suits the graph": None, "any two nodes": "general"}
HEADINGS = {"what suits the graph": "suited", "any two nodes": "uniform"}


def tasks(data_dir: str | None) -> Iterator[Task]:
    """Every graph in both directions, with both kinds of negatives, on every split."""
    for name, turned, asked, seed in itertools.product(GRAPHS, (False, True), ASKED, SPLITS):
        about: dict[str, Any] = {"graph": name, "turned": turned, "asked": asked, "split": seed}
        where = f"{name.replace(':', '-')}/{'turned' if turned else 'as-it-is'}-{ASKED[asked]}-{seed}"
        yield Task(where, about, functools.partial(measure, data_dir=data_dir, **about))


def measure(graph: str, turned: bool, asked: str, split: int, data_dir: str | None) -> dict[str, Any]:
    """The share of held-out edges among the likeliest, and how often an edge scores above its reverse."""
    known = tl.datasets.load(graph, data_dir=data_dir)
    if turned:
        known = tl.DiGraph.from_arrays(known.targets, known.sources, known.num_nodes, known.names)
    parts = tl.split_edges(known, valid=0, test=0.15, seed=split)
    found = tl.SpacetimeEmbedding(settings=ASKED[asked], seed=split, evidence="none", progress=False).fit(
        parts.train
    )
    hidden = {(known.name(s), known.name(t)) for s, t in parts.test.positives}
    hits = sum((edge.source, edge.target) in hidden for edge in found.top_edges(len(hidden)))
    info = found.embedding_.info
    return {
        "hits": hits / len(hidden),
        "direction": tl.evaluate(found.embedding_, parts).direction_accuracy,
        "geometry": found.geometry_,
        "best_epoch": info["best_epoch"],
        "protocol": info["valid_negatives"],
    }


def report(results: list[Result]) -> str:
    """A row for each graph and direction: medians over splits."""
    cells: dict[tuple, dict[str, list[Result]]] = {}
    for result in results:
        key = (result.about["graph"], result.about["turned"])
        cells.setdefault(key, {}).setdefault(result.about["asked"], []).append(result)
    order = sorted(cells, key=lambda key: (key[1], GRAPHS.index(key[0])))
    body = []
    for name, turned in order:
        by_kind = cells[name, turned]
        row = [name + (", reversed" if turned else ""), by_kind[next(iter(ASKED))][0].found["protocol"]]
        for what, asked in itertools.product(("hits", "direction"), ASKED):
            row.append(f"{100 * median(r.found[what] for r in by_kind[asked]):.1f}")
        body.append(row)
    head = ["graph", "suited negatives", *(f"held-out edges found (%), {HEADINGS[asked]}" for asked in ASKED)]
    return markdown([*head, *(f"correct direction (%), {HEADINGS[asked]}" for asked in ASKED)], body)


if __name__ == "__main__":
    measuring.measure("question", __doc__, tasks, report)
