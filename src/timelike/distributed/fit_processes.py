"""What `timelike fit` does on many processes: one geometry, one run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np

from timelike.distributed.node_dealing import dealt
from timelike.distributed.own_edges import own_edges
from timelike.distributed.sharded_edges import over_processes, own_nodes, rows_of
from timelike.distributed.sharded_run import mesh_of_all
from timelike.distributed.sharded_train import train
from timelike.embedding.embedding import Embedding
from timelike.estimator import selection
from timelike.estimator.asked import recipe_of
from timelike.estimator.settings import as_settings
from timelike.estimator.spacetime_embedding import SpacetimeEmbedding
from timelike.graphs.digraph import DiGraph
from timelike.io.columns import Columns

#: Non-edges drawn with every edge, any two nodes, unless other ones are asked for.
NEGATIVES = 4


def is_first() -> bool:
    """Whether this is the process that has the result in the end."""
    return jax.process_index() == 0


class NotHere(Exception):
    """The run is done, and the first process has what came of it."""


def fit(estimator: SpacetimeEmbedding, graph: DiGraph, valid: Any, checkpoint: Path, every: float) -> None:
    """Fit an estimator to a graph that every process has read; all but the first raise `NotHere`."""

    def choose(names: list[str], recipe: selection.Recipe, task: selection.Task) -> selection.Choice:
        model, config = recipe(names[0])
        embedding = train(
            dealt(task.graph),
            model,
            config,
            valid=task.valid,
            names=task.graph.names,
            checkpoint=checkpoint,
            every_seconds=every,
        )
        if embedding is None:
            raise NotHere
        row = {"geometry": names[0], "valid_ap": embedding.info.get("valid_ap"), "status": "finished"}
        return selection.Choice(names[0], embedding, [row])

    if estimator.negatives is None and not as_settings(estimator.settings).negatives:
        estimator.set_params(negatives=NEGATIVES)  # not those that validation suggests: see shards.KINDS
    estimator.set_params(refit=False).fit_by(choose, graph, valid)


def fit_own(
    estimator: SpacetimeEmbedding, file: Path, columns: Columns | None, checkpoint: Path, every: float
) -> Embedding:
    """An embedding of a file of numbered nodes, of which each process reads its own edges."""
    geometry = estimator.geometry
    if geometry == "auto":
        geometry = as_settings(estimator.settings).geometry or "auto"
    if geometry == "auto":
        raise ValueError("geometry is auto, but no process sees the whole graph; name one")
    mesh = mesh_of_all()
    mine = own_edges(file, lambda nodes: own_nodes(mesh, rows_of(mesh, nodes)), columns)
    edges = int(over_processes(mine.num_edges).sum())
    model, config = recipe_of(estimator, geometry, _of_size(mine.num_nodes, edges))
    found = train(mine, model, config, checkpoint=checkpoint, every_seconds=every)
    if found is None:
        raise NotHere
    found.info.update(geometry=geometry, reason=f"{geometry}: as asked for")
    return found


def _of_size(nodes: int, edges: int) -> DiGraph:
    """A graph that has so many nodes and edges and takes no memory: a recipe asks for no more."""
    nowhere = np.broadcast_to(np.int32(0), edges)
    return DiGraph(nowhere, nowhere, nodes)
