"""Baselines beside a model: heuristics of the graph, and a Euclidean embedding trained for a few seconds."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from timelike._util.checks import show
from timelike.embedding.embedding import Embedding
from timelike.engine.config import Config
from timelike.estimator.carry_out import refit
from timelike.estimator.recipes import recipe, shortened
from timelike.evaluation.heuristics import DegreeProduct, Katz, common_neighbours
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.pair_evaluation import Evaluation, evaluate
from timelike.evaluation.splits import Split
from timelike.graphs.digraph import DiGraph
from timelike.training.training_loop import train

#: Most edges, counted once per epoch, that train the Euclidean baseline.
VISITS = 5_000_000

Say = Callable[[str], None]


def euclidean(
    graph: DiGraph,
    dim: int = 10,
    config: Config | None = None,
    valid: LabelledPairs | None = None,
    progress: bool | None = None,
    say: Say = lambda text: None,
) -> Embedding:
    """A Euclidean embedding with the undirected Fermi-Dirac likelihood.

    Without a config it follows the recipe, with seed 0. On a large graph it trains for fewer epochs, then on
    fewer edges, at most `VISITS` edges in all; `say` reports how much.
    """
    model, full = recipe("euclidean", dim, graph=graph)
    if config is None:
        graph, config = _cut_short(graph, full, say)
    return train(graph, model, config, valid=valid, progress=progress)


def _cut_short(graph: DiGraph, config: Config, say: Say) -> tuple[DiGraph, Config]:
    """The run, cut to the epochs and edges that `VISITS` allows."""
    epochs = min(config.epochs, max(1, VISITS // graph.num_edges))
    part, edges = graph, f"{graph.num_edges:,} edges"
    if graph.num_edges > VISITS:
        chosen = np.random.default_rng(0).choice(graph.num_edges, VISITS, replace=False, shuffle=False)
        part, edges = graph.subgraph(chosen), f"{VISITS:,} of {edges}"
    cut = f" of {config.epochs}: the graph is large" if epochs < config.epochs or part is not graph else ""
    say(f"training the Euclidean baseline on {edges}, epochs: {epochs}{cut}")
    return part, shortened(config, epochs)


#: The one list of baselines: name → a function that builds one from the training graph and validation pairs,
#: and reports slow steps.
BASELINES: dict[str, Callable[[DiGraph, LabelledPairs | None, Say], Any]] = {
    "degree product": lambda graph, *_: DegreeProduct(graph),
    "common neighbours": lambda graph, *_: common_neighbours(graph),
    "Katz": lambda graph, *_: Katz(graph),
    "Euclidean": lambda graph, valid, say: euclidean(graph, valid=valid, say=say),
}

#: Baselines without training: seconds even for large graphs.
UNTRAINED = ("degree product", "common neighbours", "Katz")


def evaluate_baselines(
    graph: DiGraph,
    pairs: Split | LabelledPairs,
    *,
    valid: LabelledPairs | None = None,
    known: DiGraph | None = None,
    learned: DiGraph | None = None,
    names: Collection[str] = UNTRAINED,
    say: Say = lambda text: None,
) -> dict[str, Evaluation]:
    """Build baselines from the training graph and evaluate each like a model, with the same arguments.

    `learned` is the graph with the validation edges, if the model was refitted with them: then the baselines
    are too. `names` are some of `BASELINES`; `say` reports slow steps.
    """
    unknown = [name for name in names if name not in BASELINES]
    if unknown:
        raise ValueError(f"names has {show(unknown[0])}; baselines are {', '.join(BASELINES)}")
    watched = getattr(pairs, "valid", valid) if valid is None else valid
    found = {}
    for name in names:
        before = BASELINES[name](graph, watched, say)
        after = before if learned is None else _made_again(name, before, learned, watched, say)
        found[name] = evaluate(after, pairs, valid=valid, known=known, validated=before)
    return found


def _made_again(name: str, before: Any, learned: DiGraph, valid: LabelledPairs | None, say: Say) -> Any:
    """The same baseline from all edges; a trained one only if that is cheap."""
    if name in UNTRAINED:
        return BASELINES[name](learned, None, say)
    if valid is None or learned.num_edges * before.info["best_epoch"] > VISITS:
        return before
    return refit(before, learned, valid, progress=False)
