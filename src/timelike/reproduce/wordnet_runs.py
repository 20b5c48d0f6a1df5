"""Train one cell of the WordNet table: first what settings to take, then every seed, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.baselines import MODELS, Poincare, directed, disk_embeddings, rescaled
from timelike.core.model import Model
from timelike.embedding.embedding import Embedding
from timelike.engine.config import Config
from timelike.engine.negatives import Negatives
from timelike.evaluation import metrics
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.pair_evaluation import score_pairs
from timelike.evaluation.splits import Split
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS
from timelike.reproduce.lanes import train_lanes
from timelike.reproduce.row import listed, product
from timelike.training.ensembles import ensemble
from timelike.training.grid import one_run

if TYPE_CHECKING:
    from timelike.reproduce.wordnet import Cell

#: Settings are compared after this share of the steps, with a seed that no result has.
TRIAL, TRIAL_SEED = 0.25, 1000

#: How a model starts from the points of a Poincaré embedding, drawn to the centre as Ganea et al. do.
WARM: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "entailment-cones": lambda points: rescaled(points, 0.7),
    "spherical-disk": lambda points: disk_embeddings.from_poincare(rescaled(points, 0.7)),
}


def train_cell(cell: Cell, split: Split) -> dict[str, Any]:
    """Test F1 of every seed at the threshold, and with the settings, that validation chose.

    Where validation chooses the score too, also that of all seeds as the members of one model.
    """
    if cell.members:
        return _found([ensemble(one) for one in _members(cell, split)], split, rescore=True)
    start = warm_start(cell, split)
    settings, tried = choose(cell, split, start)
    runs = train(cell, split, _seeded(cell, settings), start)
    rescore = cell.row.more.get("score") == "best"
    found = {**_found(runs, split, rescore), "settings": settings, "tried": tried}
    if rescore and len(runs) > 1:
        found["together"] = _found([ensemble(runs)], split, rescore)["median"]
    return found


def _members(cell: Cell, split: Split) -> list[list[Embedding]]:
    """The members of the model of every seed: as many of each of the cells, all from other seeds."""
    runs = [train(one, split, _seeded(one, one.settings), None) for one in cell.members]
    each = cell.row.more["each"]
    return [[run for mine in runs for run in mine[i * each : (i + 1) * each]] for i in range(cell.seeds)]


def _seeded(cell: Cell, settings: dict[str, Any]) -> list[dict[str, Any]]:
    first = cell.row.more.get("first_seed", 0)
    return [{**settings, "seed": first + i} for i in range(cell.seeds)]


def _found(runs: list[Embedding], split: Split, rescore: bool) -> dict[str, Any]:
    """Test F1 of runs at the threshold, and by the score, that validation chose."""
    runs = [run.rescored(split.valid, "f1") if rescore else run for run in runs]
    valid = [best_f1(run, split.valid) for run in runs]
    test = [f1_at(run, split.test, found[1]) for run, found in zip(runs, valid, strict=True)]
    return {
        "median": round(float(np.median(test)), 2),
        "spread": round(float(np.std(test)), 2),
        "scores": [round(f1, 2) for f1 in test],
        "valid": [round(f1, 2) for f1, _ in valid],
        "ranked_by": [run.score for run in runs],
    }


def choose(
    cell: Cell, split: Split, start: np.ndarray | None
) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """The settings with the best validation F1 after a short run, and what all of them reached.

    As many are run side by side as there are seeds, so that it is the same program.
    """
    candidates = combinations(cell.settings, cell.row.more.get("tries", [{}]))
    if len(candidates) == 1:
        return candidates[0], []
    tried = []
    for first in range(0, len(candidates), cell.seeds):
        chunk = candidates[first : first + cell.seeds]
        full = chunk + chunk[-1:] * (cell.seeds - len(chunk))
        begin = None if start is None else np.stack([start[0]] * cell.seeds)
        runs = train(cell, split, [{**one, "seed": TRIAL_SEED} for one in full], begin, TRIAL)
        for one, run in zip(chunk, runs, strict=False):
            tried.append({**one, "valid": round(best_f1(run, split.valid)[0], 2)})
    return candidates[int(np.argmax([one["valid"] for one in tried]))], tried


def combinations(settings: dict[str, Any], tries: list[dict[str, float]]) -> list[dict[str, float]]:
    """Every value of the settings with every other, and over them one of `tries` after the other."""
    return [{**one, **other} for one in product(listed(settings)) for other in tries]


def train(
    cell: Cell, split: Split, runs: list[dict[str, Any]], start: np.ndarray | None, share: float = 1.0
) -> list[Embedding]:
    """The embedding of each run."""
    row = cell.row
    settings = {name: getattr(row, name) for name in ("epochs", "batch_size", "burn_in", "init_scale")}
    config = make_config({**row.more, **settings}, split, cell.percent, share)
    model = MODELS[row.geometry](cell.dim) if row.geometry in MODELS else None
    if model is None:
        model = Model(MANIFOLDS[row.geometry](cell.dim), LIKELIHOODS[row.likelihood]())
    lanes = [one_run(model, config, one) for one in runs]
    found = train_lanes(split.train, lanes, start)
    return [_embedding(model, points, split) for (model, _), points in zip(lanes, found, strict=True)]


def make_config(more: dict[str, Any], split: Split, percent: int, share: float) -> Config:
    """As many epochs as make the wanted number of steps, if it is not 0."""
    epochs, batch = more["epochs"], more["batch_size"]
    if more["steps"]:
        epochs = more["steps"] * batch / split.train.num_edges
    epochs = max(1, round(share * epochs))
    return Config(
        epochs=epochs,
        batch_size=batch,
        burn_in=min(more["burn_in"], epochs // 10),
        init_scale=more["init_scale"],
        optimizer=more["optimizer"],
        final_rate=more["final_rate"],
        negatives=Negatives(**more.get("negatives_at", {}).get(str(percent), more["negatives"])),
        select="last",
    )


def warm_start(cell: Cell, split: Split) -> np.ndarray | None:
    """Poincaré embeddings for every seed, as points of the model, where its row asks for them."""
    if "warm" not in cell.row.more:
        return None
    warm = {**cell.row.more, "burn_in": 2, "init_scale": 0.01, "epochs": 0, "batch_size": cell.row.batch_size}
    warm |= cell.row.more["warm"]
    model, config = MODELS["poincare-embedding"](cell.dim), make_config(warm, split, cell.percent, 1.0)
    lanes = [one_run(model, config, {**warm["settings"], "seed": seed}) for seed in range(cell.seeds)]
    return np.stack([WARM[cell.row.geometry](points) for points in train_lanes(split.train, lanes)])


def _embedding(model: Model, points: np.ndarray, split: Split) -> Embedding:
    run = Embedding(model, points, None, {}, {})
    return directed(run, split.valid) if isinstance(model.likelihood, Poincare) else run


def best_f1(run: Embedding, pairs: LabelledPairs) -> tuple[float, float]:
    """The best F1 on these pairs, in percent, and the threshold on log F that gives it."""
    scores, labels = score_pairs(run, pairs.sources, pairs.targets), np.asarray(pairs.labels)
    threshold = metrics.best_f1_threshold(scores, labels)
    return 100 * metrics.f1(scores, labels, threshold), threshold


def f1_at(run: Embedding, pairs: LabelledPairs, threshold: float) -> float:
    """F1 on these pairs, in percent, of those above a threshold on log F."""
    return 100 * metrics.f1(
        score_pairs(run, pairs.sources, pairs.targets), np.asarray(pairs.labels), threshold
    )
