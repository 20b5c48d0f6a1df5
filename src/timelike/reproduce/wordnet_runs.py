"""Train one cell of the WordNet table: all settings and seeds side by side, from a warm start where there is one."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike import metrics
from timelike._struct import numbers_of, with_numbers
from timelike.baselines import MODELS, Poincare, directed, disk, rescaled
from timelike.config import Config
from timelike.embedding import Embedding
from timelike.evaluate import LabelledPairs, score_pairs
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS
from timelike.model import Model
from timelike.reproduce.lanes import train_lanes
from timelike.sampling import Negatives
from timelike.split import Split

if TYPE_CHECKING:
    from timelike.reproduce.wordnet import Cell

#: How a model starts from the points of a Poincaré embedding, drawn to the centre as Ganea et al. do.
WARM: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "entailment-cones": lambda points: rescaled(points, 0.7),
    "spherical-disk": lambda points: disk.from_poincare(rescaled(points, 0.7)),
}


def train_cell(cell: Cell, split: Split) -> list[dict[str, Any]]:
    """For each combination of the settings: they, validation F1 by seed, and a function for the test F1."""
    base = _model(cell.row.geometry, cell.row.likelihood, cell.dim)
    combinations = _combinations(cell.settings)
    more = {**cell.row.more, "epochs": cell.row.epochs, "batch_size": cell.row.batch_size}
    more |= {"burn_in": cell.row.burn_in, "init_scale": cell.row.init_scale}
    config = _config(more, split)
    seeds = range(cell.seeds)
    lanes = [_lane(base, config, {**one, "seed": seed}) for one in combinations for seed in seeds]
    start = _warm_start(cell, split, len(combinations)) if "warm" in cell.row.more else None
    points, lost = _annealed(split, lanes, start, more.get("anneal", [1.0]))
    runs = [_embedding(model, table, split) for (model, _), table in zip(lanes, points, strict=True)]
    return [
        _scored(one, runs[i * cell.seeds :][: cell.seeds], lost[i * cell.seeds :][: cell.seeds], split)
        for i, one in enumerate(combinations)
    ]


def _annealed(
    split: Split, lanes: list[tuple[Model, Config]], start: np.ndarray | None, factors: list[float]
) -> tuple[np.ndarray, np.ndarray]:
    """As many stages as factors on the temperatures, of equal length; the rate falls in the last alone."""
    lost = np.zeros(len(lanes), bool)
    for number, factor in enumerate(factors):
        last = number == len(factors) - 1
        stage = [_stage(lane, factor, len(factors), number, last) for lane in lanes]
        start, diverged = train_lanes(split.train, stage, start)
        lost |= diverged
    assert start is not None
    return start, lost


def _stage(
    lane: tuple[Model, Config], factor: float, stages: int, number: int, last: bool
) -> tuple[Model, Config]:
    model, config = lane
    warmer = {k: factor * v for k, v in numbers_of(model).items() if k.startswith("tau")}
    changes: dict[str, Any] = {"epochs": max(1, config.epochs // stages)}
    changes |= {} if last else {"final_rate": 1.0}
    changes |= {} if number == 0 else {"burn_in": 0, "seed": config.seed + 1000 * number}
    return with_numbers(model, warmer), dataclasses.replace(config, **changes)


def _scored(
    settings: dict[str, float], runs: list[Embedding], lost: np.ndarray, split: Split
) -> dict[str, Any]:
    fair = [(run, *_threshold(run, split.valid)) for run in runs]
    return {
        "settings": settings,
        "valid": [round(100 * f1, 2) for _, f1, _ in fair],
        "diverged": int(np.sum(lost)),
        "score": lambda: [round(100 * _f1(run, split.test, threshold), 2) for run, _, threshold in fair],
    }


def _threshold(run: Embedding, pairs: LabelledPairs) -> tuple[float, float]:
    """The best F1 on these pairs, and the threshold on log F that gives it."""
    scores, labels = score_pairs(run, pairs.sources, pairs.targets), np.asarray(pairs.labels)
    threshold = metrics.best_f1_threshold(scores, labels)
    return metrics.f1(scores, labels, threshold), threshold


def _f1(run: Embedding, pairs: LabelledPairs, threshold: float) -> float:
    return metrics.f1(score_pairs(run, pairs.sources, pairs.targets), np.asarray(pairs.labels), threshold)


def _embedding(model: Model, points: np.ndarray, split: Split) -> Embedding:
    run = Embedding(model, points, None, {}, {})
    return directed(run, split.valid) if isinstance(model.likelihood, Poincare) else run


def _model(geometry: str, likelihood: str, dim: int) -> Model:
    if geometry in MODELS:
        return MODELS[geometry](dim)
    return Model(MANIFOLDS[geometry](dim), LIKELIHOODS[likelihood]())


def _combinations(settings: dict[str, Any]) -> list[dict[str, float]]:
    values = [value if isinstance(value, list) else [value] for value in settings.values()]
    return [dict(zip(settings, one, strict=True)) for one in itertools.product(*values)]


def _config(more: dict[str, Any], split: Split) -> Config:
    """As many epochs as make the wanted number of steps, if it is not 0."""
    epochs, batch = more["epochs"], more["batch_size"]
    if more["steps"]:
        epochs = max(1, round(more["steps"] * batch / split.train.num_edges))
    return Config(
        epochs=epochs,
        batch_size=batch,
        burn_in=min(more["burn_in"], epochs // 10),
        init_scale=more["init_scale"],
        optimizer=more.get("optimizer", "sgd"),
        final_rate=more.get("final_rate", 0.25),
        negatives=Negatives(**more["negatives"]),
        select="last",
    )


def _lane(model: Model, config: Config, settings: dict[str, Any]) -> tuple[Model, Config]:
    of_config = {k: v for k, v in settings.items() if k in ("learning_rate", "init_scale", "clip", "seed")}
    return with_numbers(model, settings), dataclasses.replace(config, **of_config)


def _warm_start(cell: Cell, split: Split, copies: int) -> np.ndarray:
    """Poincaré embeddings for every seed, as points of the model; the same for all settings."""
    warm = {**cell.row.more, **cell.row.more["warm"]}
    warm |= {"epochs": cell.row.epochs, "batch_size": cell.row.batch_size, "burn_in": 2, "init_scale": 0.01}
    model, config = MODELS["poincare-embedding"](cell.dim), _config(warm, split)
    lanes = [_lane(model, config, {**warm["settings"], "seed": seed}) for seed in range(cell.seeds)]
    points, _ = train_lanes(split.train, lanes)
    table = np.stack([WARM[cell.row.geometry](one) for one in points])
    return np.concatenate([table] * copies)
