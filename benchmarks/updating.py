"""Updates beside fits: time and AP for 1 % new edges, chains of updates, and a graph in time.

AP counts on all four questions; the worst of the four decides.
"""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import timelike as tl
from benchmarks.harness import Line, Options
from timelike.evaluation import metrics
from timelike.evaluation.questions import question_pairs

#: New edges of an update, as a share of all; updates of a chain.
SHARE, CHAIN = 0.01, 50
QUIET: dict[str, Any] = {"baselines": "none", "progress": False, "geometry": "minkowski"}


#: Generated graphs by name; chains of updates are run on the small ones.
SMALL: dict[str, Callable[[int], tl.DiGraph]] = {
    "duplication-divergence, 400 nodes": lambda seed: tl.datasets.duplication_divergence(seed, nodes=400),
    "random DAG, 400 nodes": lambda seed: tl.datasets.random_dag(400, 4_000, seed=seed),
}
LARGE: dict[str, Callable[[int], tl.DiGraph]] = {
    "random DAG, 10,000 nodes": lambda seed: tl.datasets.random_dag(10_000, 100_000, seed=seed),
}


def run(options: Options) -> list[Line]:
    lines = []
    seeds = range(1 if options.quick else 3)
    for name, make in {**SMALL, **({} if options.quick else LARGE)}.items():
        for evidence in ("none", "structure"):
            rows = [one_percent(make(seed), seed, evidence) for seed in seeds]
            ratio, points = (statistics.median(row[key] for row in rows) for key in ("ratio", "points"))
            what = f"{name}, {'geometry' if evidence == 'none' else 'joint'}, 1 % new edges"
            lines += [
                Line.at_least(20, f"{what}: CPU time of a fit over that of an update", ratio, "×", rows=rows),
                Line.at_most(1, f"{what}: AP of a fit minus that of the updated model", points, "points"),
            ]
        if name in LARGE:
            continue
        rows = [chain(make(seed), seed) for seed in seeds]
        points = statistics.median(row["lost"] for row in rows)
        lines.append(
            Line.at_most(2, f"{name}: AP lost by {CHAIN} updates of 1 %", points, "points", rows=rows)
        )
    rows = [in_time(seed) for seed in seeds]
    points = statistics.median(row["lost"] for row in rows)
    lines.append(Line.at_most(1, "growing graph, last tenth in time: AP lost", points, "points", rows=rows))
    return lines


def one_percent(graph: tl.DiGraph, seed: int, evidence: str) -> dict[str, Any]:
    """A fit with all training edges beside a fit without 1 % of them and an update."""
    split = tl.split_edges(graph, 0, 0.15, seed)
    new = np.zeros(split.train.num_edges, bool)
    new[np.random.default_rng(seed).choice(len(new), max(1, round(SHARE * len(new))), replace=False)] = True
    options = {**QUIET, "evidence": evidence}
    old, _ = timed(lambda: tl.SpacetimeEmbedding(**options).fit(split.train.subgraph(~new)))
    anew, fit_seconds = timed(lambda: tl.SpacetimeEmbedding(**options).fit(split.train))
    add = split.train.subgraph(new)
    _, first = timed(lambda: copy.copy(old).update(add))  # with compilation, which the fits did too
    updated, again = timed(lambda: copy.copy(old).update(add))
    questions = question_pairs(graph, split.test.positives, seed)
    found = {
        name: answered(model, questions)
        for name, model in {"old": old, "fit": anew, "update": updated}.items()
    }
    return {
        "edges": split.train.num_edges,
        "fit_cpu_seconds": fit_seconds,
        "update_cpu_seconds": first,
        "update_compiled_cpu_seconds": again,
        "ratio": fit_seconds / first,
        "ap": found,
        "points": lost(found["fit"], found["update"]),
        "drift": updated.embedding_.info["updates"][-1],
    }


def chain(graph: tl.DiGraph, seed: int) -> dict[str, Any]:
    """Half of the edges at first, then 50 updates of 1 %, beside one fit with all of them."""
    split = tl.split_edges(graph, 0, 0.15, seed)
    questions = question_pairs(graph, split.test.positives, seed)
    pairs = np.random.default_rng(seed).permutation(split.train.pairs)
    options = {**QUIET, "evidence": "none"}

    def of(part: np.ndarray) -> tl.DiGraph:
        return tl.DiGraph.from_arrays(*part.T, split.train.num_nodes)

    half = len(pairs) // 2
    model = tl.SpacetimeEmbedding(**options).fit(of(pairs[:half]))
    before = answered(model, questions)
    for part in np.array_split(pairs[half:], CHAIN):
        model.update(of(part))
    anew = tl.SpacetimeEmbedding(**options).fit(split.train)
    after, fitted = (answered(one, questions) for one in (model, anew))
    return {"before": before, "update": after, "fit": fitted, "lost": lost(fitted, after)}


def in_time(seed: int) -> dict[str, Any]:
    """A graph whose nodes arrive one after the other: predict its last tenth from the first nine.

    A fit on eight tenths and an update with the ninth, beside a fit on all nine.
    """
    graph = tl.datasets.duplication_divergence(seed, nodes=400)
    when = np.maximum(graph.sources, graph.targets)  # nodes are numbered as they arrive
    graph = tl.DiGraph.from_arrays(*graph.pairs.T, graph.num_nodes, times=when.astype(float))
    order = np.argsort(graph.times, kind="stable")
    cut = [int(share * graph.num_edges) for share in (0.8, 0.9)]
    first, ninth, last = np.split(order, cut)
    questions = question_pairs(graph, graph.pairs[last], seed)
    options = {**QUIET, "evidence": "none"}
    model = tl.SpacetimeEmbedding(**options).fit(graph.subgraph(first)).update(graph.subgraph(ninth))
    anew = tl.SpacetimeEmbedding(**options).fit(graph.subgraph(np.concatenate([first, ninth])))
    fitted, updated = (answered(one, questions) for one in (anew, model))
    return {"fit": fitted, "update": updated, "lost": lost(fitted, updated)}


def answered(model: tl.SpacetimeEmbedding, questions: dict[str, Any]) -> dict[str, float]:
    """AP on each question, in points."""
    found = {}
    for kind, pairs in questions.items():
        scores = model.answers_.log_odds_by_number(np.asarray(pairs.sources), np.asarray(pairs.targets))
        found[kind] = 100 * metrics.average_precision(scores, np.asarray(pairs.labels))
    return found


def lost(fitted: dict[str, float], updated: dict[str, float]) -> float:
    """The points that are lost on the worst question."""
    return max(fitted[kind] - updated[kind] for kind in fitted)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """The result, and the seconds of CPU, which other programs disturb least."""
    start = time.process_time()
    found = work()
    return found, time.process_time() - start
