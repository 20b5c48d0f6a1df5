"""Runs that train side by side in one program: the seeds and settings of one cell of a table.

Each of the `settings` names a seed and numbers of the model or the config, as `timelike.sweep` takes them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import timelike as tl
from timelike.evaluation import score_pairs

Settings = Sequence[Mapping[str, Any]]


def train_runs(
    graph: tl.DiGraph, model: tl.Model, config: tl.Config, settings: Settings, **options: Any
) -> list[tl.Embedding]:
    """The embedding of every run, from one program; `options` are those of `timelike.sweep`.

    One thread unless `options` ask for more, so that the number of cores does not change the last digits.
    """
    options = {"memory": math.inf, "threads": 1, **options}
    sweep = tl.sweep(graph, model, config, settings, keep_all=True, progress=False, **options)
    return sweep.runs


def average_precisions(
    split: tl.Split, model: tl.Model, config: tl.Config, settings: Settings, test: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Validation and test AP after every epoch, each (epochs, runs); 0 after a run diverged, or untested."""
    options = {"valid": split.valid, "test": split.test if test else None}
    runs = train_runs(split.train, model, config, settings, **options)
    curves = np.zeros((2, config.epochs, len(runs)))
    for number, run in enumerate(runs):
        for curve, name in zip(curves, ("valid_ap", "test_ap"), strict=True):
            values = run.history[name]
            curve[: len(values), number] = np.nan_to_num(values)
    return curves[0], curves[1]


def scores_at_epochs(
    graph: tl.DiGraph,
    model: tl.Model,
    config: tl.Config,
    settings: Settings,
    epochs: np.ndarray,
    pairs: tl.evaluation.LabelledPairs,
) -> np.ndarray:
    """log F of the pairs by every run after its own number of epochs, (runs, pairs)."""
    points: dict[int, np.ndarray] = {}

    def keep(rows: range, done: int, now: np.ndarray) -> None:
        points.update({row: now[row - rows.start].copy() for row in rows if epochs[row] == done})

    runs = train_runs(graph, model, config.ended_at(int(epochs.max())), settings, on_epoch=keep)
    kept = (tl.Embedding(run.model, points.get(i, run.points), None, {}, {}) for i, run in enumerate(runs))
    return np.stack([score_pairs(one, pairs.sources, pairs.targets) for one in kept])
