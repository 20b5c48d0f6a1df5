"""Try a few geometries and keep the one that tells held-out edges from non-edges best."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from timelike.checkpoint import Checkpointing, beside
from timelike.config import Config
from timelike.describe import SYMMETRIC, Description
from timelike.embedding import Embedding
from timelike.evaluation import LabelledPairs
from timelike.graph import DiGraph
from timelike.model import Model
from timelike.sweeps import sweep
from timelike.training import DivergedError, train

#: Graphs with more edges are trained once, in the geometry that their description suggests.
MOST_EDGES = 10**6

Recipe = Callable[[str], tuple[Model, Config]]
Grid = dict[str, list[float]]


class Task(NamedTuple):
    """What every candidate is trained on, and what is to be varied where that can be validated."""

    graph: DiGraph
    valid: LabelledPairs | None
    vary: Callable[[Model, Config], Grid]
    seeds: int
    checkpoint: Checkpointing | str | os.PathLike | None
    progress: bool | None


class Choice(NamedTuple):
    """The best candidate, and a row for each that was tried."""

    geometry: str
    embedding: Embedding
    tried: list[dict[str, Any]]


def candidates(description: Description) -> list[str]:
    """Geometries worth a trial on such a graph, the most promising first."""
    if description.reciprocity >= SYMMETRIC:
        kinds = ["euclidean", "hyperboloid"]
    else:
        kinds = ["minkowski", "cylindrical-minkowski", "anti-de-sitter"]
    return [description.geometry, *(name for name in kinds if name != description.geometry)]


def choose(names: list[str], recipe: Recipe, task: Task) -> Choice:
    """Train the candidates and keep the one with the best validation AP."""
    tried: list[dict[str, Any]] = []
    best: tuple[float, str, Embedding] | None = None
    for name in names:
        model, config = recipe(name)
        try:
            embedding = _train(model, config, task, name if len(names) > 1 else "")
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


def explain(geometry: str, why: str, tried: list[dict[str, Any]]) -> str:
    """The choice in one sentence."""
    if len(tried) == 1:
        return f"{geometry}: {why}"
    scores = (
        f"{row['geometry']} " + (row["status"] if row["valid_ap"] is None else f"{row['valid_ap']:.3f}")
        for row in tried
    )
    return f"{geometry}: best validation AP of {', '.join(scores)}; from the graph alone: {why}"


def _train(model: Model, config: Config, task: Task, name: str) -> Embedding:
    """The best of all seeds and variations, in one program."""
    grid = task.vary(model, config) if task.valid is not None else {}
    checkpoint = beside(task.checkpoint, [name] * bool(name))
    if not grid and task.seeds == 1:
        return train(
            task.graph, model, config, valid=task.valid, checkpoint=checkpoint, progress=task.progress
        )
    return sweep(
        task.graph,
        model,
        config,
        grid,
        task.seeds,
        valid=task.valid,
        checkpoint=checkpoint,
        progress=task.progress,
    ).best
