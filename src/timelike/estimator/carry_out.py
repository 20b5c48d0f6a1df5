"""Carry out a plan: train the candidates, keep the best by validation, calibrate, and train once more."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from timelike._util.progress import announce, stages
from timelike.embedding.embedding import Embedding
from timelike.embedding.trained_on import TrainedOn
from timelike.engine.padded_edges import Room
from timelike.estimator.ahead import Ahead, ahead
from timelike.estimator.candidate_scores import question_aps, with_valid_ap
from timelike.estimator.candidates import Candidate, Checkpoint, Trained
from timelike.estimator.fit_plan import FitPlan
from timelike.estimator.join import Folds, joined, why_not_joined
from timelike.estimator.made_again import kept_epoch, made
from timelike.estimator.read_off_candidates import NestedCones, ReadOff
from timelike.estimator.recipes import SMALL
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.pair_evaluation import best_threshold
from timelike.evidence.joint import Joint
from timelike.graphs.digraph import DiGraph
from timelike.hierarchy.condensation import closed
from timelike.io.edge_shards import AnyGraph
from timelike.training.checkpoint import beside
from timelike.training.cost_model import WORD, check_memory, check_room, check_span
from timelike.training.ensembles import ensemble
from timelike.training.training_loop import DivergedError

#: Once a candidate has this validation AP, the others are not tried: there is next to nothing to gain.
ENOUGH = 0.99
#: A graph is transitive if more than this share of its validation edges follow from its training edges.
TRANSITIVE = 0.5

#: If a trained geometry, its AP less `optimism`, lies this much below points that are read off the edges, no
#: further one is trained. On five graphs of the tuning half of the zoo, this changed no choice.
BEHIND = 0.05
#: The same for graphs with over `SMALL` edges, where each geometry has one run and takes longest. Geometries
#: lay within 0.03 of each other on three such graphs (R-MAT, blocks, citations), and no choice changed.
BEHIND_LARGE = 0.02

#: Bytes of the record of a run: its settings, and its history.
RECORD = 1 << 12

#: Trains one candidate of a plan: (plan, candidate, checkpoint, progress) → its embedding.
Train = Callable[[FitPlan, Candidate, Checkpoint, bool | None], Embedding]


class Outcome(NamedTuple):
    """The embedding, the edges that it learned, and the joint model; None if the geometry is alone."""

    embedding: Embedding
    graph: AnyGraph
    joint: Joint | None


def carry_out(
    plan: FitPlan, checkpoint: Checkpoint = None, progress: bool | None = None, train: Train | None = None
) -> Outcome:
    """Do what a plan says.

    `train` replaces `embed_candidate`, for example to train on many processes. `info` records the geometry,
    the reason for it, and a row per candidate.
    """
    check_runs(plan)
    with ahead(plan) as work, stages():
        return _carry_out(plan, checkpoint, progress, train, work)


def _carry_out(
    plan: FitPlan, checkpoint: Checkpoint, progress: bool | None, train: Train | None, work: Ahead
) -> Outcome:
    candidate, embedding, tried = choose(plan, checkpoint, progress, train or embed_candidate, work)
    reason = explain(candidate.geometry, plan.reasons["geometry"], tried)
    if plan.members > 1:
        embedding = with_members(embedding, plan, checkpoint, progress)
    if plan.valid is not None:
        if plan.score == "best":
            embedding = embedding.rescored(plan.valid)
        if plan.calibrate:
            embedding = embedding.calibrated(plan.valid)
    graph, validated = plan.graph, embedding
    alone, joint = why_not_joined(plan), None
    folds = None
    if not alone:
        graph = graph if isinstance(graph, DiGraph) else graph.in_memory()
        folds = Folds.of(plan, graph, work)
    if plan.refit and plan.valid is not None and plan.known is not None:
        room = None if folds is None else folds.room
        try:
            embedding = refit(embedding, plan.known, plan.valid, checkpoint, progress, room)
            graph = plan.known
        except DivergedError as error:
            reason += f"; not trained again with the validation edges: {error}"
    about = {"geometry": candidate.geometry, "reason": reason, "candidates": tried, "plan": plan.to_dict()}
    if plan.valid_negatives is not None:
        about["valid_negatives"] = plan.valid_negatives
    about["evidence"] = alone or plan.reasons["evidence"]
    embedding = dataclasses.replace(embedding, info={**embedding.info, **about})
    if folds is not None:
        joint = joined(plan, folds, validated, embedding, progress)
    return Outcome(embedding, graph, joint)


def check_runs(plan: FitPlan) -> None:
    """Raise a `ValueError` if the memory of this machine cannot hold the runs that are kept at once."""
    for one in plan.trained:
        check_memory(plan.graph, one.model, one.config)
        check_span(plan.graph.num_nodes, one.model.manifold.dim)
    ambient = max((one.model.manifold.ambient_dim for one in plan.candidates), default=1)
    table = WORD * plan.graph.num_nodes * ambient
    check_room(f"members is {plan.members:,}", f"{plan.members:,} tables", plan.members * (table + RECORD))
    check_room(f"seeds is {plan.seeds:,}", f"{plan.seeds:,} runs", plan.seeds * RECORD)


def choose(
    plan: FitPlan, checkpoint: Checkpoint, progress: bool | None, train: Train, work: Ahead
) -> tuple[Candidate, Embedding, list[dict[str, Any]]]:
    """Embed the candidates; return the one with the best validation AP, and a row about each.

    Programs are compiled while others run. Geometries that have no prospects are not trained.
    """
    tried: list[dict[str, Any]] = []
    best: tuple[float, Candidate, Embedding] | None = None
    compiles, hopeless = train is embed_candidate, False
    if compiles and not isinstance(plan.candidates[0], NestedCones):  # cones often leave nothing to train
        work.compile(plan.trained if plan.trained == plan.candidates else plan.trained[:1])
    for number, candidate in enumerate(plan.candidates, 1):
        name, count = candidate.geometry, len(plan.candidates)
        is_trained = isinstance(candidate, Trained)
        if best is not None and (best[0] + best[1].optimism >= ENOUGH or (hopeless and is_trained)):
            tried.append({"geometry": name, "valid_ap": None, "status": "not tried"})
            continue
        what = f"{candidate.doing} {name}" if count == 1 else f"trying {name}, geometry {number} of {count}"
        runs = candidate.runs * plan.seeds
        work.compiled(candidate)
        announce(progress, what if runs == 1 else f"{what}: the best of {runs} runs is kept", name)
        kept = beside(checkpoint, [name] * (count > 1))
        try:
            embedding = train(plan, candidate, kept, progress)
        except DivergedError:
            if number == count and best is None:
                raise
            tried.append({"geometry": name, "valid_ap": None, "status": "diverged"})
            continue
        if plan.asks_all:
            embedding = asked_all(embedding, plan)
        reached = embedding.info.get("questions_ap", embedding.info.get("valid_ap"))
        tried.append({"geometry": name, "valid_ap": reached, "status": "finished"})
        worth = -1.0 if reached is None else reached - candidate.optimism
        if is_trained and best is not None and isinstance(best[1], ReadOff):
            hopeless = worth < best[0] - (BEHIND if plan.graph.num_edges <= SMALL else BEHIND_LARGE)
        if best is None or worth > best[0]:
            best = (worth, candidate, embedding)
        if compiles and is_trained and not hopeless:
            work.compile(plan.trained)
    assert best is not None
    return best[1], best[2], tried


def asked_all(embedding: Embedding, plan: FitPlan) -> Embedding:
    """The embedding with its mean AP over the questions about validation edges: `info["questions_ap"]`.

    If nested cones are tried, and most validation edges follow from training edges, then so do other pairs
    that are no edges yet: none of these is asked about.
    """
    assert plan.valid is not None
    assert isinstance(plan.graph, DiGraph)
    known = TrainedOn(plan.graph, plan.valid).known
    if any(isinstance(one, NestedCones) for one in plan.candidates):
        implied = closed(plan.graph)
        if np.mean(implied.has_edges(*plan.valid.positives.T)) > TRANSITIVE:
            known = implied.with_edges(plan.valid.positives)
    reached = question_aps(embedding, known, plan.valid.positives, plan.candidates[0].seed)
    return dataclasses.replace(embedding, info={**embedding.info, "questions_ap": float(np.mean(reached))})


def embed_candidate(
    plan: FitPlan, candidate: Candidate, checkpoint: Checkpoint, progress: bool | None
) -> Embedding:
    """The best run of a candidate in this process."""
    return candidate.embed(plan.graph, plan.valid, plan.seeds, checkpoint, progress)


def explain(geometry: str, why: str, tried: list[dict[str, Any]]) -> str:
    """The choice in one sentence."""
    if len(tried) == 1:
        return f"{geometry}: {why}"
    scores = (
        f"{row['geometry']} " + (row["status"] if row["valid_ap"] is None else f"{row['valid_ap']:.3f}")
        for row in tried
    )
    return f"{geometry}: best validation AP of {', '.join(scores)}; from the graph alone: {why}"


def with_members(
    embedding: Embedding, plan: FitPlan, checkpoint: Checkpoint = None, progress: bool | None = None
) -> Embedding:
    """An ensemble of `plan.members`: the chosen run, and more runs of its settings with the following seeds.

    Runs that diverge are left out. The validation AP becomes that of the mean.
    """
    chosen, count = made(embedding), plan.members
    announce(progress, f"training the other members, {count - 1} more with the best settings", "members")
    seeds, kept = range(chosen.seed + 1, chosen.seed + count), beside(checkpoint, ["members"])
    graph: Any = plan.graph
    others = chosen.members(graph, seeds, plan.valid, kept, progress)
    if not others:
        raise DivergedError("all other members diverged: try a lower learning rate", 0, embedding)
    together = ensemble([embedding, *others])
    return together if plan.valid is None else with_valid_ap(together, plan.valid)


def refit(
    embedding: Embedding,
    graph: DiGraph,
    valid: LabelledPairs,
    checkpoint: Checkpoint = None,
    progress: bool | None = None,
    room: Room | None = None,
) -> Embedding:
    """Repeat the run on `graph`, which includes the validation edges, up to the epoch that validation chose.

    Members are trained again in one program, up to the median of their chosen epochs. Score, calibration and
    history stay those of the validated run. So does its threshold, which `info["refit"]` keeps with a digest
    of the validation pairs: edges that were learned cannot validate (`learned_since`). A single run shares a
    program with others in the same `room`.
    """
    members, last = embedding.info.get("members", []), kept_epoch(embedding)
    chosen, kept = made(embedding, last), beside(checkpoint, ["refit"])
    what = f"training again, with the validation edges too: {last} epochs"
    announce(progress, what if last else "placing again, with the validation edges too", "refit")
    if members:
        runs = chosen.members(graph, [one["seed"] for one in members], None, kept, progress)
        if len(runs) < len(members):
            raise DivergedError(f"{len(members) - len(runs)} of the members diverged", 0, embedding)
        again = ensemble(runs)
    else:
        again = chosen.embed(graph, checkpoint=kept, progress=progress, room=room)
    threshold, _ = best_threshold(embedding, valid)
    found = {"edges": graph.num_edges, "epochs": last, "threshold": threshold, "valid": valid.digest}
    info = {**embedding.info, "refit": found}
    return dataclasses.replace(
        embedding, model=again.model, points=again.points, others=again.others, info=info
    )
