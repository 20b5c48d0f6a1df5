"""Baselines beside a model: counts on the graph, its singular vectors, and two small trained models."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from timelike._util.progress import bar
from timelike.embedding.embedding import Embedding
from timelike.engine.config import Config
from timelike.engine.negatives import Negatives
from timelike.estimator.baseline_names import UNTRAINED, baseline_names
from timelike.estimator.carry_out import refit
from timelike.estimator.fit_plan import FitPlan
from timelike.estimator.recipes import negatives_like, negatives_of, recipe, shortened
from timelike.evaluation.heuristics import (
    DegreeProduct,
    Reachability,
    Remembered,
    Svd,
    TimesOutDegree,
    reciprocity,
)
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.metrics import average_precision
from timelike.evaluation.pair_evaluation import Evaluation, evaluate, score_pairs
from timelike.evaluation.path_counts import WORK, Katz, common_neighbours, l3
from timelike.evaluation.splits import Split
from timelike.graphs.digraph import DiGraph
from timelike.training.training_loop import train

#: Most edges, counted once per epoch, that train a baseline.
VISITS = 2_000_000

#: Most validation pairs that choose a baseline's threshold and rank.
VALID_PAIRS = 20_000

#: Ranks of the singular value decomposition that validation chooses from; on a large graph the first two.
RANKS, LARGE = (4, 16, 64), 10**6

#: Coordinates of the trained baselines to choose from: of a point, and of each of a node's two vectors.
DIMS = {"euclidean": (10,), "dot-product": (32, 100)}

Say = Callable[[str], None]
Builder = Callable[[DiGraph, LabelledPairs | None, Say], Any]


def _quiet(text: str) -> None:
    """Say nothing."""


def trained(geometry: str) -> Builder:
    """A builder of a model that is trained for a few seconds, with seed 0.

    Validation chooses its dimensions, and between uniform negatives and those that a fit would learn from. On
    a large graph it tries the first choice only and trains for fewer epochs, then on fewer edges, at most
    `VISITS` edges in all; it says how much.
    """

    def build(graph: DiGraph, valid: LabelledPairs | None = None, say: Say = _quiet) -> Embedding:
        kinds, dims = [Negatives(uniform=4)], DIMS[geometry]
        if valid is not None and (other := _as_in_a_fit(valid, graph)) != kinds[0]:
            kinds.append(other)
        if valid is None or graph.num_edges > LARGE:
            kinds, dims = kinds[-1:], dims[:1]
        runs = []
        for dim, negatives in itertools.product(dims, kinds):
            model, config = recipe(geometry, dim, graph=graph)
            part, config = _cut_short(geometry, graph, config, say)
            config = dataclasses.replace(config, negatives=negatives)
            runs.append(train(part, model, config, valid=valid, progress=False))
        return max(runs, key=lambda run: run.info.get("valid_ap", 0.0))

    return build


def _as_in_a_fit(valid: LabelledPairs, graph: DiGraph) -> Negatives:
    """The negatives with which a model is trained for such validation pairs."""
    like = negatives_like(valid, graph)
    return negatives_of(next(iter(like.counts))) or like


def _cut_short(geometry: str, graph: DiGraph, config: Config, say: Say) -> tuple[DiGraph, Config]:
    """The run, cut to the epochs and edges that `VISITS` allows."""
    epochs = min(config.epochs, max(1, VISITS // graph.num_edges))
    part, edges = graph, f"{graph.num_edges:,} edges"
    if graph.num_edges > VISITS:
        chosen = np.random.default_rng(0).choice(graph.num_edges, VISITS, replace=False, shuffle=False)
        part, edges = graph.subgraph(chosen), f"{VISITS:,} of {edges}"
    if epochs < config.epochs or part is not graph:
        cut = f"{epochs} of {config.epochs} epochs"
        say(f"the baseline {geometry} is trained on {edges} for {cut}: the graph is large")
    return part, shortened(config, epochs)


def _svd(graph: DiGraph, valid: LabelledPairs | None, say: Say) -> Svd:
    """The decomposition with the best validation AP: normalised or not, and its rank."""
    allowed = RANKS[:2] if graph.num_edges > LARGE else RANKS
    ranks = [rank for rank in allowed if rank < graph.num_nodes] or [1]
    if valid is None:
        return Svd(graph, min(16, ranks[-1]))
    whole = [Svd(graph, ranks[-1], normalised) for normalised in (True, False)]
    tried = [svd.cut(rank) for svd in whole for rank in ranks]
    labels = np.asarray(valid.labels)
    return max(tried, key=lambda svd: average_precision(score_pairs(svd, *valid[:2]), labels))


def _reachability(graph: DiGraph, valid: LabelledPairs | None, say: Say) -> Reachability | None:
    """Reachability in an acyclic graph whose nodes have few ancestors or descendants."""
    from scipy.sparse.csgraph import connected_components

    if connected_components(graph.adjacency(), connection="strong")[0] < graph.num_nodes:
        return None
    scorer, nodes = Reachability(graph), np.arange(graph.num_nodes)
    visits = scorer.visits(nodes, nodes)[0].sum()
    return scorer if visits <= WORK else None


@functools.lru_cache(maxsize=2)  # the graphs without and with validation edges
def _l3(graph: DiGraph) -> Remembered:
    """Normalised L3, the same object for all baselines of a graph until `evaluate_baselines` is done."""
    return Remembered(l3(graph))


#: The one list of baselines: name → a function that builds one from the training graph and validation pairs,
#: and reports what it leaves out. It returns None if the baseline does not apply to such a graph.
BASELINES: dict[str, Builder] = {
    "degree product": lambda graph, *_: DegreeProduct(graph),
    "common neighbours": lambda graph, *_: common_neighbours(graph),
    "L3": lambda graph, *_: l3(graph, normalised=False),
    "L3 normalised": lambda graph, *_: _l3(graph),
    "L3 × out-degree": lambda graph, *_: TimesOutDegree(graph, _l3(graph)),
    "Katz": lambda graph, *_: Katz(graph),
    "reciprocity": lambda graph, *_: reciprocity(graph),
    "reachability": _reachability,
    "SVD": _svd,
    "dot product": trained("dot-product"),
    "Euclidean": trained("euclidean"),
}


def evaluate_baselines(
    graph: DiGraph,
    pairs: Split | LabelledPairs,
    *,
    valid: LabelledPairs | None = None,
    known: DiGraph | None = None,
    learned: DiGraph | None = None,
    names: str | Collection[str] = UNTRAINED,
    say: Say = _quiet,
    questions: Mapping[str, LabelledPairs] | None = None,
) -> dict[str, Evaluation]:
    """Build baselines from the training graph and evaluate each like a model, with the same arguments.

    `learned` is the graph with the validation edges, if the model was refitted with them: then the baselines
    are too. `names` are some of `BASELINES`, or "all" or "untrained". Those that do not apply to the graph
    are left out. `say` reports what is sampled. Of many validation pairs, a random sample chooses thresholds
    and ranks.
    """
    if isinstance(pairs, Split):
        pairs.check_nodes(graph, "pairs")
    names = baseline_names(names)
    watched = getattr(pairs, "valid", valid) if valid is None else valid
    watched = None if watched is None or not len(watched.labels) else watched.sample(VALID_PAIRS)
    found, followed = {}, {}
    try:
        for name in bar(names, "baselines", unit="baseline"):
            before = BASELINES[name](graph, watched, say)
            if before is None:
                continue
            after = before if learned is None else _with_all_edges(name, before, learned, watched, say)
            found[name] = evaluate(
                after, pairs, valid=watched, known=known, validated=before, questions=questions
            )
            followed[name] = getattr(after, "neighbours", None)
    finally:
        _l3.cache_clear()  # it holds the graphs
    said = ", ".join(f"{name} {size}" for name, size in followed.items() if size is not None)
    if said:
        say(f"the graph is large: paths follow a random sample of each node's neighbours, at most {said}")
    return found


def compared(embedding: Embedding, plan: FitPlan) -> Embedding:
    """The embedding with the validation AP of the plan's baselines in `info["baselines"]`."""
    if not plan.baselines or plan.valid is None or not isinstance(plan.graph, DiGraph):
        return embedding
    pairs = plan.valid.sample(VALID_PAIRS)
    found = evaluate_baselines(plan.graph, pairs, valid=pairs, names=plan.baselines)
    scores = {name: one.average_precision for name, one in found.items()}
    return dataclasses.replace(embedding, info={**embedding.info, "baselines": scores})


def _with_all_edges(name: str, before: Any, learned: DiGraph, valid: LabelledPairs | None, say: Say) -> Any:
    """The same baseline from all edges; a trained one only if that is cheap."""
    if isinstance(before, Svd):
        return Svd(learned, before.rank, before.normalised)
    if name in UNTRAINED:
        return BASELINES[name](learned, None, say) or before
    if valid is None or learned.num_edges * before.info["best_epoch"] > VISITS:
        return before
    return refit(before, learned, valid, progress=False)
