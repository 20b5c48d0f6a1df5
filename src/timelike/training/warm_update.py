"""Update trained points to a changed graph: learn its new edges, and keep old points near their places.

Lessons are the new edges and, so that their ends keep what they know, a few old edges of every node that
gained or lost one. All other points stay where they are. An old node may move by at most its share of changed
edges, times `drift`, times the spread of the points: a hub with one new edge hardly moves, and nodes whose
neighbours changed adapt. New nodes start where `first_points` says.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from timelike._util.interrupts import note_signals
from timelike._util.progress import EpochBar
from timelike.core.model import Model
from timelike.engine.config import Config, EpochPlan
from timelike.engine.epoch import Data, Report, State, compiled, init_state, run_epoch
from timelike.engine.lessons import Lessons, roomy
from timelike.engine.negatives import Negatives
from timelike.engine.optimizers import DENSE
from timelike.engine.sampling import EdgeTable
from timelike.graphs.digraph import DiGraph
from timelike.training.checkpoint import Checkpointing, Saver
from timelike.training.cost_model import check_memory
from timelike.training.prepare import digest, edges_of, make_numbers
from timelike.training.training_loop import (
    DivergedError,
    InterruptedTraining,
    advance,
    diagnosis,
    diverged,
    stack_history,
    started,
    unstack_history,
)

#: Old edges to repeat, at most, of each node that gained or lost an edge, in each direction.
REPEATED = 4
#: Passes over the lessons.
EPOCHS = 12


class Change(NamedTuple):
    """A graph and what is new in it: which edges, which nodes (the last), and edges that were removed."""

    graph: DiGraph
    added: np.ndarray  #: a mask of the edges
    removed: np.ndarray  #: (n, 2)
    old_nodes: int

    @property
    def changes(self) -> np.ndarray:
        """How many edges each node gained or lost."""
        ends = [self.graph.sources[self.added], self.graph.targets[self.added], self.removed.reshape(-1)]
        return np.bincount(np.concatenate(ends).astype(np.int64), minlength=self.graph.num_nodes)

    def lessons(self, seed: int) -> np.ndarray:
        """The numbers of the edges to learn, in ascending order."""
        touched, rng = self.changes > 0, np.random.default_rng([seed, 11])
        chosen = [np.flatnonzero(self.added)]
        for ends in (self.graph.sources, self.graph.targets):
            candidates = np.flatnonzero(touched[ends] & ~self.added)
            candidates = candidates[rng.permutation(candidates.size)]
            order = candidates[np.argsort(ends[candidates], kind="stable")]
            rank = np.arange(order.size) - np.searchsorted(ends[order], ends[order])
            chosen.append(order[rank < REPEATED])
        return np.unique(np.concatenate(chosen))

    def reach(self, points: np.ndarray, drift: float) -> np.ndarray:
        """How far each node may move: 0 if nothing changed about it, infinitely far if it is new."""
        changes = self.changes
        ends = (self.graph.sources, self.graph.targets, self.removed.reshape(-1))
        degrees = np.sum([np.bincount(one, minlength=changes.size) for one in ends], axis=0)
        share = changes / np.maximum(degrees, 1)
        far = drift * spread_of(points) * np.minimum(share, 1.0)
        far[self.old_nodes :] = np.inf
        return far.astype(points.dtype)


def spread_of(points: np.ndarray) -> float:
    """The root mean square distance of points from their mean."""
    return float(np.sqrt(np.sum(np.var(np.asarray(points, np.float64), axis=0))))


def update_config(config: Config, epochs: int | None, change: Change, lessons: int) -> Config:
    """How to learn the lessons: as the model was trained, without its beginning, in `epochs` passes."""
    kinds = {name: count for name, count in config.negatives.counts.items() if name != "listed"}
    weights = {name: x for name, x in dict(config.negatives.weights).items() if name in kinds}
    kinds = kinds or {"uniform": 4}
    if len(change.removed):  # each removed edge counts about once per pass, as a non-edge
        kinds["listed"], weights["listed"] = 1, min(1.0, len(change.removed) / max(lessons, 1))
    return dataclasses.replace(
        config,
        epochs=EPOCHS if epochs is None else epochs,
        burn_in=0,
        anneal=1.0,
        select="last",
        patience=None,
        until=None,
        learn=(),
        tables="float32",
        optimizer="adam" if config.optimizer in DENSE else config.optimizer,
        negatives=Negatives(**kinds, weights=weights),
    )


def update_points(
    change: Change,
    model: Model,
    start: np.ndarray,
    config: Config,
    drift: float,
    *,
    checkpoint: Checkpointing | str | os.PathLike | None = None,
    progress: bool | None = None,
) -> np.ndarray:
    """Learn the lessons of a change from the points `start`; `config` comes from `update_config`."""
    ids = change.lessons(config.seed)
    if not ids.size:
        return start
    graph = change.graph
    check_memory(graph, model, config)
    plan = config.epoch_plan(False, False)
    listed = change.removed if plan.negatives.listed else None
    table = EdgeTable.build(graph, listed, plan.negatives)
    data = Data(Lessons.of(table, ids), None, None)
    numbers = make_numbers(model, config)
    more = roomy(graph.num_nodes) - graph.num_nodes
    reach = jnp.asarray(np.pad(change.reach(start[: change.old_nodes], drift), (0, more)))
    padded = np.pad(start, ((0, more), (0, 0)), mode="edge")
    state, old = started(_initial(plan, len(padded))(numbers), padded), jnp.asarray(padded)
    about = {**config.to_dict(), "drift": drift, "edges": digest(*edges_of(graph)), "start": digest(start)}
    saver = Saver(checkpoint, {**about, "model": repr(model), "removed": digest(change.removed)})
    history: list[Report] = []
    if (stored := saver.load(state, Report._fields)) is not None:
        state, history = stored[0], unstack_history(stored[1])
    bar = EpochBar(config.epochs, "updating", progress, len(history))
    with bar, note_signals(saver.last_words) as caught:
        while len(history) < config.epochs:
            state, report = _compiled(plan)(numbers, data, state)
            history.append(jax.device_get(report))
            if diverged(history[-1].loss, history[-1].culprits):
                nodes = [str(graph.name(i)) for i in history[-1].culprits if i >= 0]
                raise _stopped(diagnosis(nodes, model, config, len(history)))
            state = state._replace(points=_held(model, state.points, old, reach))
            advance(bar, ids.size, history[-1:])
            if caught or saver.due(len(history)):
                saver.save(state, stack_history(history))
            if caught:
                raise InterruptedTraining(saver.farewell(caught[0], len(history), config.epochs), None)
    return np.asarray(state.points)[: graph.num_nodes]


def _stopped(message: str) -> Exception:
    return DivergedError(f"{message}; the model is as it was", 0, None)  # type: ignore[arg-type]


@functools.cache
def _compiled(plan: EpochPlan) -> Any:
    return compiled(partial(run_epoch, plan))


@functools.cache
def _initial(plan: EpochPlan, num_nodes: int) -> Any:
    def start(numbers: Any) -> State:
        return init_state(plan, numbers, num_nodes)

    return jax.jit(start)


@jax.jit
def _held(
    model: Model,
    points: Float[Array, "nodes ambient"],
    old: Float[Array, "nodes ambient"],
    reach: Float[Array, "nodes"],
) -> Float[Array, "nodes ambient"]:
    """The points, those beyond their reach brought back to it."""
    way = points - old
    distance = jnp.linalg.norm(way, axis=1)
    share = jnp.minimum(1.0, reach / jnp.maximum(distance, 1e-30))[:, None]
    near = jax.vmap(model.manifold.project)(old + share * way)
    return jnp.where(share >= 1, points, jnp.where(reach[:, None] > 0, near, old))
