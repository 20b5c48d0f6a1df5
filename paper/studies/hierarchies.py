"""Random trees and DAGs by a default fit of the geometry alone; with wrong edges, by nested cones.

python -m paper.studies.hierarchies [--out OUT]    # measure what is missing, then print the tables

Node i has a random earlier node as its parent, and a second one with a given probability. A tenth of the
pairs that these edges imply is for validation, another for the test; each comes with ten negatives, five with
another source and five with another target. The light cone itself is the threshold. Reachability over the
same edges is the ceiling without wrong edges; with them, reachability over the right ones is.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np

import timelike as tl
from paper.reports.tables import markdown
from paper.studies import measuring
from paper.tasks import Result, Task
from timelike.datasets import transitive_closure
from timelike.evaluation import LabelledPairs, metrics

SECOND = (0.0, 0.1, 0.25, 0.5)
#: Shares of the implied pairs that are given beside 5 % of wrong edges, and kinds of these.
SHARES, WRONG = (0.0, 0.25, 0.5), ("added", "replaced", "reversed")
#: Seeds for each number of nodes, and with wrong edges. The method was tuned on seeds 0 to 2.
SEEDS = {100: (10, 11, 12, 13, 14), 1000: (10, 11, 12, 13, 14), 10_000: (10,)}
NOISY, NOISY_SEEDS = 1000, (10, 11, 12)
#: The most pairs of a test.
MOST = 20_000


def tasks(data_dir: str | None) -> Iterator[Task]:
    """Graphs of all sizes without wrong edges; some with a part of the closure and with wrong ones."""
    for seed, second, share, wrong in itertools.product(NOISY_SEEDS, (0.0, 0.1), SHARES, WRONG):
        yield _task(NOISY, second, share, wrong, seed)
    for nodes, seeds in SEEDS.items():
        for second, seed in itertools.product(SECOND, seeds):
            yield _task(nodes, second, 0.0, "none", seed)


def _task(nodes: int, second: float, share: float, wrong: str, seed: int) -> Task:
    about = {"nodes": nodes, "second": second, "share": share, "wrong": wrong, "seed": seed}
    name = f"{nodes}-{second:g}-{share:g}-{wrong}/{seed}"
    return Task(name, about, functools.partial(measure, nodes, second, share, wrong, seed))


def measure(nodes: int, second: float, share: float, wrong: str, seed: int) -> dict[str, Any]:
    """F1 in percent: of a default fit, and of reachability over all edges and over the right ones."""
    rng = np.random.default_rng([seed, 1])
    basic = grown(nodes, second, rng)
    closure = transitive_closure(basic)
    implied = closure.pairs[~basic.has_edges(*closure.pairs.T)]
    implied = implied[rng.permutation(len(implied))]
    part = min(max(len(implied) // 10, 1), MOST)
    valid, test = (
        LabelledPairs.build(x, others(x, closure, rng)) for x in (implied[:part], implied[part : 2 * part])
    )
    right = basic.with_edges(implied[2 * part :][: int(share * len(implied))])
    right, graph = spoiled(right, closure, wrong, rng)
    begun = time.process_time()
    geometry = "auto" if wrong == "none" else "nested-cones"
    model = tl.SpacetimeEmbedding(geometry, evidence="none", baselines="none", seed=seed, progress=False)
    embedding = model.fit(graph, valid=valid).embedding_
    seconds = time.process_time() - begun
    s, t, labels = (np.asarray(x) for x in test)
    threshold = embedding.boundary
    if threshold is None:
        scores = embedding.log_prob_by_number(np.asarray(valid.sources), np.asarray(valid.targets))
        threshold = metrics.best_f1_threshold(scores, np.asarray(valid.labels))
    ours = metrics.f1(embedding.log_prob_by_number(s, t), labels, threshold)
    reached = {
        name: metrics.f1(transitive_closure(one).has_edges(s, t).astype(float), labels, 0.5)
        for name, one in (("all", graph), ("right", right))
    }
    found = {"f1": ours, **reached}
    found = {name: round(100 * value, 2) for name, value in found.items()}
    return {
        **found,
        "geometry": model.geometry_,
        "dim": embedding.points.shape[1],
        "seconds": round(seconds, 1),
    }


def grown(nodes: int, second: float, rng: np.random.Generator) -> tl.DiGraph:
    """A random recursive tree in which a share of the nodes has a second parent; nodes are shuffled."""
    child, name = np.arange(1, nodes), rng.permutation(nodes)
    parents = [(rng.random(child.size) * child).astype(int) for _ in range(2)]
    more = rng.random(child.size) < second
    ends = np.concatenate([parents[0], parents[1][more]]), np.concatenate([child, child[more]])
    return tl.DiGraph.from_arrays(name[ends[0]], name[ends[1]], nodes)


def others(pairs: np.ndarray, closure: tl.DiGraph, rng: np.random.Generator) -> np.ndarray:
    """Five pairs with another source and five with another target for each, where there are any."""
    found = []
    for end in (0, 1):
        drawn = np.repeat(pairs, 5, axis=0)
        todo = np.arange(len(drawn))
        for _ in range(100):
            drawn[todo, end] = rng.integers(0, closure.num_nodes, todo.size)
            wrong = (drawn[todo, 0] == drawn[todo, 1]) | closure.has_edges(*drawn[todo].T)
            todo = todo[wrong]
        found.append(np.delete(drawn, todo, axis=0))
    return np.concatenate(found)


def spoiled(
    right: tl.DiGraph, closure: tl.DiGraph, wrong: str, rng: np.random.Generator
) -> tuple[tl.DiGraph, tl.DiGraph]:
    """The right edges that are left, and these with the wrong ones, a twentieth of the edges."""
    if wrong == "none":
        return right, right
    chosen = rng.permutation(right.num_edges)[: right.num_edges // 20]
    new = right.pairs[chosen][:, ::-1]
    if wrong != "reversed":
        new = rng.integers(0, right.num_nodes, (2 * chosen.size, 2))
        new = new[(new[:, 0] != new[:, 1]) & ~closure.has_edges(*new.T)][: chosen.size]
    if wrong != "added":
        right = right.subgraph(np.delete(np.arange(right.num_edges), chosen))
    return right, right.with_edges(new)


def report(results: list[Result]) -> str:
    """Graphs without wrong edges, then those with them: medians over seeds, and the lowest in brackets."""
    clean = [r for r in results if r.about["wrong"] == "none"]
    body = [
        [
            f"{nodes:,}",
            f"{len(_of(clean, nodes=nodes, second=0.0))}",
            *(_cell(_of(clean, nodes=nodes, second=second)) for second in SECOND),
        ]
        for nodes in sorted({r.about["nodes"] for r in clean})
    ]
    slowest, ceiling = (choose(r.found[x] for r in clean) for choose, x in ((max, "seconds"), (min, "all")))
    head = ["nodes (columns: parents per node)", "graphs", *(f"{1 + second:g} per node" for second in SECOND)]
    noisy = [r for r in results if r.about["wrong"] != "none"]
    parts = [
        f"Test F1 in percent, median of the graphs (lowest); reachability has {ceiling:.1f} on all of them. "
        f"The slowest fit took {slowest:.0f} s of processor time.",
        markdown(head, body),
        f"With 5 % of the edges wrong: {NOISY:,} nodes, median of {len({r.about['seed'] for r in noisy})} "
        "graphs, geometry `nested-cones`. In brackets: reachability over all edges, and over the right ones, "
        "which nobody knows.",
    ]
    body = []
    for second, share in itertools.product((0.0, 0.1), SHARES):
        cells = [_of(noisy, second=second, share=share, wrong=wrong) for wrong in WRONG]
        body.append([f"{1 + second:g}", f"{share:.0%}", *map(_noisy_cell, cells)])
    parts.append(markdown(["parents per node", "of the closure", *(f"edges {w}" for w in WRONG)], body))
    return "\n\n".join(parts)


def _of(results: list[Result], **about: Any) -> list[Result]:
    return [r for r in results if all(r.about[name] == value for name, value in about.items())]


def _cell(results: list[Result]) -> str:
    values = [r.found["f1"] for r in results]
    return f"{median(values):.1f} ({min(values):.1f})" if values else "–"


def _noisy_cell(results: list[Result]) -> str:
    if not results:
        return "–"
    ours, every, right = (median(r.found[name] for r in results) for name in ("f1", "all", "right"))
    return f"{ours:.1f} [{every:.1f}, {right:.1f}]"


if __name__ == "__main__":
    measuring.measure("hierarchies", __doc__, tasks, report)
