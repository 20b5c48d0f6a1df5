"""Fit an estimator on many processes: one geometry, one run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from timelike._util.hardware import memory
from timelike.distributed.node_dealing import dealt, own_edges
from timelike.distributed.sharded_edges import over_processes, own_nodes, rows_of
from timelike.distributed.sharded_run import mesh_of_all
from timelike.distributed.sharded_train import Run
from timelike.embedding.embedding import Embedding
from timelike.embedding.trained_on import TrainedOn
from timelike.estimator.candidates import Candidate, Trained
from timelike.estimator.fit_plan import FitPlan, resolve
from timelike.estimator.spacetime_embedding import SpacetimeEmbedding
from timelike.graphs.digraph import DiGraph
from timelike.graphs.node_names import Names
from timelike.io import read
from timelike.io.columns import Columns

#: Bytes of memory that reading an edge takes, with room to spare.
READ_AGAIN = 64


def is_first() -> bool:
    """Whether this process gets the result."""
    return jax.process_index() == 0


class NotHere(Exception):
    """The run is finished, and the first process has the result."""


def fit(estimator: SpacetimeEmbedding, graph: DiGraph, valid: Any, checkpoint: Path, every: float) -> None:
    """Fit an estimator to a graph that every process has read; all but the first raise `NotHere`."""
    plan = resolve(graph, estimator.options, valid=valid, spread=True)
    assert isinstance(plan.graph, DiGraph)
    _carry_out(estimator, plan, dealt(plan.graph), checkpoint, every)


def fit_own(
    estimator: SpacetimeEmbedding,
    files: Sequence[Path],
    columns: Columns | None,
    checkpoint: Path,
    every: float,
) -> None:
    """Fit an estimator to files of numbered nodes; each process keeps only its own edges.

    The first process reads all edges once more at the end, for the model, if its memory holds them.
    """
    mesh = mesh_of_all()
    edges, names = own_edges(files, lambda nodes: own_nodes(mesh, rows_of(mesh, nodes)), columns)
    size: Any = GraphSize(edges.num_nodes, int(over_processes(edges.num_edges).sum()), names)
    _carry_out(estimator, resolve(size, estimator.options, spread=True), edges, checkpoint, every)
    if READ_AGAIN * size.num_edges <= (memory() or np.inf):
        estimator.trained_on_ = TrainedOn(read([*files], columns=columns), None)


def fit_swapped(
    estimator: SpacetimeEmbedding,
    files: Sequence[Path],
    columns: Columns | None,
    checkpoint: Path,
    every: float,
    partitions: int,
) -> None:
    """Fit an estimator to files of numbered nodes, with the points of all but two partitions on disk."""
    from timelike.distributed.edge_buckets import opened
    from timelike.distributed.swapped_train import SwappedRun

    buckets, names = opened(files, columns, checkpoint.with_name("edges"), partitions)

    def train(plan: FitPlan, candidate: Candidate, *_: Any) -> Embedding:
        assert isinstance(candidate, Trained)
        run = SwappedRun(buckets, candidate.model, candidate.config, checkpoint, every)
        return run.finish(names)

    size: Any = GraphSize(buckets.nodes, buckets.num_edges, names)
    estimator.carry_out(resolve(size, estimator.options, spread=True), train)


def _carry_out(
    estimator: SpacetimeEmbedding, plan: FitPlan, edges: DiGraph, checkpoint: Path, every: float
) -> None:
    def train(plan: FitPlan, candidate: Candidate, *_: Any) -> Embedding:
        assert isinstance(candidate, Trained)
        run = Run(edges, candidate.model, candidate.config, plan.valid, checkpoint, every)
        embedding = run.finish(plan.graph.names)
        if embedding is None:
            raise NotHere
        return embedding

    estimator.carry_out(plan, train)


class GraphSize(NamedTuple):
    """The size of a graph whose edges are spread over processes: all that a plan needs."""

    num_nodes: int
    num_edges: int
    names: Names | None = None
