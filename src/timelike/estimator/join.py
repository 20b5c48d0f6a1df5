"""Join geometry and evidence: cross-fitted on a small graph, on the held-out edges of a large one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from timelike._util.progress import announce
from timelike.embedding.embedding import Embedding
from timelike.estimator.candidates import kept_epoch, made
from timelike.estimator.fit_plan import FitPlan
from timelike.evidence.expression import Expression
from timelike.evidence.joint import Joint
from timelike.evidence.learning import FEWEST, PARTS, Fold, combine, split_into_folds
from timelike.evidence.pair_columns import Evidence
from timelike.evidence.structure import Structure
from timelike.graphs.digraph import DiGraph
from timelike.training.training_loop import DivergedError

#: Graphs with more edges are not cross-fitted: the validation edges are held out of geometry and evidence.
CROSS_FITTED = 20_000

#: Graphs with more nodes than this per edge consist of isolated nodes.
ISOLATED = 20


def why_not_joined(plan: FitPlan) -> str:
    """The reason why this plan's model is geometry alone; empty if it is not."""
    if plan.evidence == "none":
        return plan.reasons["evidence"]
    edges = plan.graph.num_edges + (0 if plan.valid is None else len(plan.valid.positives))
    if edges < FEWEST:
        return f"geometry alone: {edges} edges are too few to learn how much other evidence counts"
    if plan.graph.num_edges == plan.graph.num_nodes * (plan.graph.num_nodes - 1):
        return "geometry alone: the graph has all possible edges, so there are no non-edges to learn from"
    if plan.graph.num_nodes > ISOLATED * edges:
        return "geometry alone: nearly all nodes have no edges, so there is nothing to count about them"
    if edges > CROSS_FITTED and plan.valid is None:
        return "geometry alone: no edges are held out to learn how much other evidence counts"
    return ""


def joined(
    plan: FitPlan, validated: Embedding, final: Embedding, known: DiGraph, progress: bool | None
) -> Joint:
    """The joint model of `final` and the structure of all `known` edges.

    `validated` is the embedding that has not learned the validation edges.
    """
    seed = made(validated).seed
    announce(progress, "learning how much geometry, paths and degrees each count")
    folds = _folds(validated, known, seed)
    if known.num_edges > CROSS_FITTED:
        assert plan.valid is not None
        assert isinstance(plan.graph, DiGraph)
        folds = iter([Fold(plan.graph, validated, plan.valid.positives)])
    evidence = evidence_of(plan, known)
    return Joint(final, known, evidence, combine(folds, known, evidence, plan.valid, seed))


def evidence_of(plan: FitPlan, known: DiGraph) -> tuple[Evidence, ...]:
    """The structure of the graph, unless it is left out, and evidence from outside."""
    outside = [one.suited_to(known) if isinstance(one, Expression) else one for one in plan.outside]
    structure = [Structure().suited_to(known)] if plan.evidence.startswith("structure") else []
    return (*structure, *outside)


def _folds(embedding: Embedding, known: DiGraph, seed: int) -> Iterator[Fold]:
    """Folds of the edges, each with the chosen settings trained on the rest."""
    chosen = made(embedding, max(kept_epoch(embedding), 1))
    for graph, held_out in split_into_folds(known, PARTS, seed):
        try:
            geometry = chosen.embed(graph, progress=False)
        except DivergedError as error:
            geometry = error.embedding
        yield Fold(graph, dataclasses.replace(geometry, score=embedding.score), held_out)
