"""Join geometry and evidence: cross-fitted on a small graph, on the held-out edges of a large one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from timelike._util.hardware import cores
from timelike._util.progress import announce
from timelike.embedding.embedding import Embedding
from timelike.embedding.trained_on import TrainedOn
from timelike.engine.padded_edges import Room
from timelike.estimator.ahead import Ahead, in_this_precision
from timelike.estimator.fit_plan import FitPlan
from timelike.estimator.made_again import kept_epoch, made
from timelike.evidence.expression import Expression
from timelike.evidence.joint import Joint
from timelike.evidence.learning import FEWEST, PARTS, Fold, combine
from timelike.evidence.node_features import NodeFeatures
from timelike.evidence.pair_columns import Evidence, Prepared
from timelike.evidence.structure import Structure
from timelike.evidence.whole_nodes import Part, alike, split_into_folds
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


@dataclasses.dataclass(frozen=True, eq=False)
class Folds:
    """The parts of a cross-fit: graphs without some edges each, and these edges; none of a large graph.

    `known` has all edges. `evidence` is prepared ahead of time for the graph of each fold. In this `room`,
    runs on the folds and on all edges share a compiled program.
    """

    known: DiGraph
    parts: tuple[Part, ...]
    evidence: tuple[Evidence, ...]
    room: Room | None

    @classmethod
    def of(cls, plan: FitPlan, graph: DiGraph, work: Ahead) -> Folds:
        """The folds of the training edges, a graph, and validation edges of a plan."""
        known = graph if plan.valid is None else TrainedOn(graph, plan.valid).known
        if known.num_edges > CROSS_FITTED:
            return cls(known, (), evidence_of(plan, known), None)
        evidence, seed = evidence_of(plan, known), plan.candidates[0].seed
        groups = groups_of(evidence, known, seed) if plan.outside else None
        parts = tuple(split_into_folds(known, PARTS, seed, groups))
        graphs = [part.graph for part in parts]
        room = Room.of([known, *graphs], plan.trained[0].config.negatives) if plan.trained else None
        begun = tuple(Begun(one, graphs, work) for one in evidence)
        return cls(known, parts, begun, room)


class Begun:
    """Evidence that is being prepared for some graphs."""

    def __init__(self, evidence: Evidence, graphs: Iterable[DiGraph], work: Ahead):
        self.evidence = evidence
        self._begun = [(graph, work.begin(evidence.prepare, graph)) for graph in graphs]

    def prepare(self, graph: DiGraph) -> Prepared:
        """What it says about the pairs of a graph, which is computed only once and then forgotten."""
        for i, (known, result) in enumerate(self._begun):
            if known is graph:
                del self._begun[i]
                return result()
        return self.evidence.prepare(graph)


def joined(
    plan: FitPlan, folds: Folds, validated: Embedding, final: Embedding, progress: bool | None
) -> Joint:
    """The joint model of `final` and the structure of all known edges.

    `validated` is the embedding that has not learned the validation edges.
    """
    seed, known = made(validated).seed, folds.known
    announce(progress, "learning how much geometry, paths and degrees each count", "joint")
    parts: Iterable[Fold] = _trained(validated, folds)
    if not folds.parts:
        assert plan.valid is not None
        s, t = plan.valid.positives.T
        held_out = DiGraph.from_arrays(s, t, known.num_nodes)
        graph = known.subgraph(~held_out.has_edges(known.sources, known.targets))
        parts = [Fold(graph, validated, plan.valid.positives)]
    evidence = tuple(one.evidence if isinstance(one, Begun) else one for one in folds.evidence)
    return Joint(final, known, evidence, combine(parts, known, folds.evidence, final, plan.valid, seed))


def evidence_of(plan: FitPlan, known: DiGraph) -> tuple[Evidence, ...]:
    """The structure of the graph, unless it is left out, and evidence from outside."""
    outside = [one.suited_to(known) if isinstance(one, Expression) else one for one in plan.outside]
    structure = [Structure().suited_to(known)] if plan.evidence.startswith("structure") else []
    return (*structure, *outside)


def groups_of(evidence: Iterable[Evidence], known: DiGraph, seed: int) -> np.ndarray:
    """Groups of targets with like profiles by the first evidence that has profiles; else each node alone."""
    for one in evidence:
        if isinstance(one, Expression | NodeFeatures):
            return alike(one.profiles(known), np.unique(known.targets), seed)
    return np.arange(known.num_nodes)


def _trained(embedding: Embedding, folds: Folds) -> Iterator[Fold]:
    """The folds, each with the chosen settings trained on the rest; all cores take part."""
    chosen = made(embedding, max(kept_epoch(embedding), 1))

    def trained(part: Part) -> Fold:
        try:
            geometry = chosen.embed(part.graph, progress=False, room=folds.room)
        except DivergedError as error:
            geometry = error.embedding
        geometry = dataclasses.replace(geometry, score=embedding.score)
        return Fold(part.graph, geometry, part.held_out, part.whole)

    yield from map(trained, folds.parts[:1])  # the program is compiled now
    with ThreadPoolExecutor(cores()) as pool:
        yield from pool.map(in_this_precision(trained), folds.parts[1:])
