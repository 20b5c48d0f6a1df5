"""Runs side by side that all keep their points: the seeds and settings of one cell of a table."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from timelike.config import Config
from timelike.evaluation import LabelledPairs
from timelike.graph import DiGraph
from timelike.model import Model
from timelike.sweeps import stack, vmapped
from timelike.training import make_numbers, prepare


def train_lanes(
    graph: DiGraph, lanes: list[tuple[Model, Config]], start: np.ndarray | None = None
) -> np.ndarray:
    """The points of every run after the last epoch (before it diverged, if it did); one program for all.

    The runs differ in numbers alone: seeds, rates, numbers of the model. `start` has points for each of them.
    """
    plan, data = prepare(graph, *lanes[0], None, None, None)
    numbers = stack([make_numbers(*lane) for lane in lanes])
    begin, epoch = vmapped(plan, graph.num_nodes)
    state = begin(numbers)
    if start is not None:
        points, best = (jnp.array(start, state.points.dtype) for _ in range(2))
        state = state._replace(points=points, best_points=best)
    for _ in range(lanes[0][1].epochs):
        state, _ = epoch(numbers, data, state)
    return np.asarray(state.best_points)


def score_lanes(
    graph: DiGraph,
    lanes: list[tuple[Model, Config]],
    valid: LabelledPairs | None = None,
    test: LabelledPairs | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Validation and test AP of every run after every epoch, (epochs, runs) each; 0 where there is none."""
    plan, data = prepare(graph, *lanes[0], valid, test, None)
    numbers = stack([make_numbers(*lane) for lane in lanes])
    begin, epoch = vmapped(plan, graph.num_nodes)
    state, history = begin(numbers), []
    for _ in range(lanes[0][1].epochs):
        state, report = epoch(numbers, data, state)
        history.append((report.valid_ap, report.test_ap))
    found = np.nan_to_num(np.array(jax.device_get(history)))
    return found[:, 0], found[:, 1]
