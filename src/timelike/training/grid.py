"""The runs of a sweep: every combination of a grid with every seed, or a list of runs."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from timelike._util.checks import show, whole_number
from timelike.core.model import Model
from timelike.core.struct import numbers_of, with_numbers
from timelike.engine.config import Config

#: Settings of the config that a grid may vary, besides the numbers of the model.
SWEPT = ("learning_rate", "final_rate", "anneal", "init_scale", "clip", "seed")


def runs_of(
    model: Model,
    config: Config,
    grid: Mapping[str, Sequence[float]] | Sequence[Mapping[str, Any]],
    seeds: int | Iterable[int],
) -> list[dict[str, Any]]:
    """The settings of each run: every combination of the grid with every seed, or the listed runs."""
    listed = isinstance(grid, Sequence) and all(isinstance(run, Mapping) for run in grid)
    if not listed and not isinstance(grid, Mapping):
        raise TypeError(f"grid is {show(grid)}; it must be like {{'tau1': [0.1, 0.4]}}, or a list of runs")
    known = [*(SWEPT if listed else SWEPT[:-1]), *numbers_of(model)]
    for name in itertools.chain(*grid) if listed else grid:
        if name not in known:
            raise ValueError(f"grid: {name!r} cannot vary; allowed are {', '.join(known)}")
    if not isinstance(grid, Mapping):
        return _listed(config, grid, seeds)
    for name, values in grid.items():
        if np.ndim(values) != 1 or len(values) == 0:
            raise ValueError(f"grid: {name!r} is {show(values)}; it must be a non-empty list of values")
    if not isinstance(seeds, Iterable):
        seeds = range(config.seed, config.seed + whole_number("seeds", seeds, 1))
    starts = list(seeds)
    if not starts:
        raise ValueError("seeds is empty; it must have at least one seed")
    names = [*grid, "seed"]
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*grid.values(), starts)]


def _listed(
    config: Config, runs: Sequence[Mapping[str, Any]], seeds: int | Iterable[int]
) -> list[dict[str, Any]]:
    """The runs of a list, with the config's seed by default."""
    if not runs:
        raise ValueError("grid is an empty list; it must have at least one run")
    if isinstance(seeds, Iterable) or seeds != 1:
        raise ValueError(
            f"seeds is {show(seeds)}, but grid is a list of runs; give each run its seed: {{'seed': 3, …}}"
        )
    for i, run in enumerate(runs):
        if run.keys() != runs[0].keys():
            raise ValueError(
                f"grid: run {i} sets {', '.join(run) or 'nothing'}, run 0 sets "
                f"{', '.join(runs[0]) or 'nothing'}; all runs must set the same"
            )
    return [{"seed": config.seed, **run} for run in runs]


def one_run(model: Model, config: Config, settings: Mapping[str, Any]) -> tuple[Model, Config]:
    """The model and the config of one grid point, checked as usual."""
    of_config = {k: v for k, v in settings.items() if k in SWEPT}
    return with_numbers(model, settings), dataclasses.replace(config, **of_config)
