"""Try a few geometries and keep the one that tells held-out edges from non-edges best.

Then nothing that is known need be left out: `refit` trains it again, with the validation edges.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from timelike._util.progress import announce
from timelike.core.model import Model
from timelike.embedding.embedding import Embedding
from timelike.engine.config import Config
from timelike.engine.table_storage import storable
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.metrics import average_precision
from timelike.evaluation.pair_evaluation import best_threshold, score_pairs
from timelike.graphs.description import SYMMETRIC, Description
from timelike.graphs.digraph import DiGraph
from timelike.training.checkpoint import Checkpointing, beside
from timelike.training.ensembles import ensemble, train_members
from timelike.training.sweeps import sweep
from timelike.training.training_loop import DivergedError, train

#: Graphs with more edges are trained once, in the geometry that their description suggests.
MOST_EDGES = 10**6

Recipe = Callable[[str], tuple[Model, Config]]
Runs = list[dict[str, float]]


class Task(NamedTuple):
    """What every candidate is trained on, and what is to be varied where that can be validated."""

    graph: DiGraph
    valid: LabelledPairs | None
    vary: Callable[[str, Model, Config], Runs]
    seeds: int
    checkpoint: Checkpointing | str | os.PathLike | None
    progress: bool | None


class Choice(NamedTuple):
    """The best candidate, and a row for each that was tried."""

    geometry: str
    embedding: Embedding
    tried: list[dict[str, Any]]


#: What trains candidates (by name, with their recipes, for a task) and keeps the best, as `choose` does.
Choose = Callable[[list[str], Recipe, Task], Choice]


def candidates(description: Description) -> list[str]:
    """Geometries worth a trial on such a graph, the most promising first."""
    if description.reciprocity >= SYMMETRIC:
        kinds = ["euclidean", "hyperboloid"]
    else:
        kinds = ["minkowski", "cylindrical-minkowski", "anti-de-sitter"]
    return [description.geometry, *(name for name in kinds if name != description.geometry)]


def storable_among(names: list[str], recipe: Recipe) -> list[str]:
    """Those whose points may lie in memory as their configs say: in 16 bits only flat ones."""
    built = ((name, *recipe(name)) for name in names)
    return [name for name, model, config in built if storable(config.tables, model.manifold)]


def choose(names: list[str], recipe: Recipe, task: Task) -> Choice:
    """Train the candidates and keep the one with the best validation AP."""
    tried: list[dict[str, Any]] = []
    best: tuple[float, str, Embedding] | None = None
    for number, name in enumerate(names, 1):
        model, config = recipe(name)
        try:
            runs = [] if task.valid is None else task.vary(name, model, config)
            announce(task.progress, _heading(name, number, len(names), max(1, len(runs)) * task.seeds))
            embedding = _train(model, config, task, runs, name if len(names) > 1 else "")
        except DivergedError:
            if name == names[-1] and best is None:
                raise
            tried.append({"geometry": name, "valid_ap": None, "status": "diverged"})
            continue
        found = embedding.info.get("valid_ap")
        tried.append({"geometry": name, "valid_ap": found, "status": "finished"})
        if best is None or (found is not None and found > best[0]):
            best = (-1.0 if found is None else found, name, embedding)
    assert best is not None
    return Choice(best[1], best[2], tried)


def _heading(name: str, number: int, names: int, runs: int) -> str:
    what = f"training in {name}" if names == 1 else f"trying {name}, geometry {number} of {names}"
    return what if runs == 1 else f"{what}: the best of {runs} runs is kept"


def explain(geometry: str, why: str, tried: list[dict[str, Any]]) -> str:
    """The choice in one sentence."""
    if len(tried) == 1:
        return f"{geometry}: {why}"
    scores = (
        f"{row['geometry']} " + (row["status"] if row["valid_ap"] is None else f"{row['valid_ap']:.3f}")
        for row in tried
    )
    return f"{geometry}: best validation AP of {', '.join(scores)}; from the graph alone: {why}"


def with_members(embedding: Embedding, count: int, task: Task) -> Embedding:
    """An ensemble of `count`: the chosen run, and others of its settings with the seeds after its own.

    Those that diverge are left out. The validation AP becomes that of the mean.
    """
    config = Config.from_dict(embedding.info["config"])
    announce(task.progress, f"training the other members, {count - 1} more with the best settings")
    others = train_members(
        task.graph,
        embedding.model,
        config,
        range(config.seed + 1, config.seed + count),
        task.valid,
        beside(task.checkpoint, ["members"]),
        task.progress,
    )
    if not others:
        raise DivergedError("all other members diverged: try a lower learning rate", 0, embedding)
    found = ensemble([embedding, *others])
    if task.valid is None:
        return found
    scores = score_pairs(found, task.valid.sources, task.valid.targets)
    reached = average_precision(scores, np.asarray(task.valid.labels))
    return dataclasses.replace(found, info={**found.info, "valid_ap": reached})


def refit(
    embedding: Embedding,
    graph: DiGraph,
    valid: LabelledPairs,
    checkpoint: Checkpointing | str | os.PathLike | None = None,
    progress: bool | None = None,
) -> Embedding:
    """The same run on `graph`, validation edges included, until the epoch that they chose.

    Members are trained again in one program, until the median of the epochs that were chosen for them.
    Score, calibration and history stay those of the run that was validated, and so does the threshold that
    its validation pairs give, kept in `info["refit"]` with a digest of these pairs: an edge that was learned
    tells nothing about such things any more (`evaluation.learned_since`).
    """
    members = embedding.info.get("members", [])
    last = int(embedding.info["best_epoch"])
    if members:
        last = int(np.median([one["best_epoch"] for one in members]))
    config = Config.from_dict(embedding.info["config"]).ended_at(last)
    kept = beside(checkpoint, ["refit"])
    announce(progress, f"training again, with the validation edges too: {last} epochs")
    if members:
        seeds = [one["seed"] for one in members]
        runs = train_members(graph, embedding.model, config, seeds, None, kept, progress)
        if len(runs) < len(members):
            raise DivergedError(f"{len(members) - len(runs)} of the members diverged", 0, embedding)
        again = ensemble(runs)
    else:
        again = train(graph, embedding.model, config, checkpoint=kept, progress=progress)
    threshold, _ = best_threshold(embedding, valid)
    found = {"edges": graph.num_edges, "epochs": last, "threshold": threshold, "valid": valid.digest}
    info = {**embedding.info, "refit": found}
    return dataclasses.replace(
        embedding, model=again.model, points=again.points, others=again.others, info=info
    )


def _train(model: Model, config: Config, task: Task, runs: Runs, name: str) -> Embedding:
    """The best of all seeds and runs, in one program."""
    checkpoint = beside(task.checkpoint, [name] * bool(name))
    if not runs and task.seeds == 1:
        return train(
            task.graph, model, config, valid=task.valid, checkpoint=checkpoint, progress=task.progress
        )
    seeds = range(config.seed, config.seed + task.seeds)
    return sweep(
        task.graph,
        model,
        config,
        [{**run, "seed": seed} for run in runs or [{}] for seed in seeds],
        valid=task.valid,
        checkpoint=checkpoint,
        progress=task.progress,
    ).best
