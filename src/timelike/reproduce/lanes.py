"""Runs side by side that all keep their points: the seeds and settings of one cell of a table.

The runs of a call are one program: they differ in numbers alone (seeds, rates, numbers of the model).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

from timelike.core.model import Model
from timelike.engine.config import Config
from timelike.engine.device_scoring import log_probs
from timelike.engine.epoch import Report, State
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.graphs.digraph import DiGraph
from timelike.training.prepare import plain_numbers, prepare
from timelike.training.sweeps import programs, stack

Lanes = list[tuple[Model, Config]]


def train_lanes(graph: DiGraph, lanes: Lanes, start: np.ndarray | None = None) -> np.ndarray:
    """The points of every run after the last epoch (before it diverged, if it did).

    `start` has points for each of them.
    """
    [(state, _)] = deque(_epochs(graph, lanes, start=start), maxlen=1)
    return np.asarray(state.best_points)


def score_lanes(
    graph: DiGraph, lanes: Lanes, valid: LabelledPairs | None = None, test: LabelledPairs | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Validation and test AP of every run after every epoch, (epochs, runs) each; 0 where there is none."""
    history = [(report.valid_ap, report.test_ap) for _, report in _epochs(graph, lanes, valid, test)]
    found = np.nan_to_num(np.array(jax.device_get(history)))
    return found[:, 0], found[:, 1]


def predict_lanes(graph: DiGraph, lanes: Lanes, epochs: np.ndarray, pairs: LabelledPairs) -> np.ndarray:
    """log F of the pairs for every run after its own number of epochs, (runs, pairs)."""
    points = None
    for number, (state, _) in enumerate(_epochs(graph, lanes), 1):
        now = jnp.asarray(epochs == number)[:, None, None]
        points = jnp.where(now, state.points, state.points if points is None else points)
        if number == epochs.max():
            break
    models = stack([model for model, _ in lanes])
    score = jax.jit(jax.vmap(log_probs, in_axes=(0, 0, None, None)))
    return np.asarray(score(models, points, pairs.sources, pairs.targets))


def _epochs(
    graph: DiGraph,
    lanes: Lanes,
    valid: LabelledPairs | None = None,
    test: LabelledPairs | None = None,
    start: np.ndarray | None = None,
) -> Iterator[tuple[State, Report]]:
    """What every epoch leaves; its arrays are taken back by the next one."""
    plan, data = prepare(graph, *lanes[0], valid, test, None)
    numbers = stack([plain_numbers(*lane) for lane in lanes])
    begin, epoch = programs(plan, graph.num_nodes)
    state = begin(numbers)
    if start is not None:
        points, best = (jnp.array(start, state.points.dtype) for _ in range(2))
        state = state._replace(points=points, best_points=best)
    for _ in range(lanes[0][1].epochs):
        state, report = epoch(numbers, data, state)
        yield state, report
