"""Train one cell of the WordNet table: choose the settings, then run all seeds side by side."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

import timelike as tl
from paper.table_rows import listed, product
from paper.training.link_prediction import model_of
from paper.training.parallel_runs import train_runs
from timelike.baselines import MODELS, Poincare, directed, rescaled
from timelike.evaluation import metrics, score_pairs

if TYPE_CHECKING:
    from paper.groups.wordnet import Cell

#: Settings are compared after this share of the steps, with a seed that no result uses.
TRIAL, TRIAL_SEED = 0.25, 1000

#: Norms of a Poincaré embedding in the ball are scaled by this for a warm start, as in Ganea et al.
SHRINK = 0.7


def train_cell(cell: Cell, split: tl.Split) -> dict[str, Any]:
    """Test F1 of every seed; validation chooses the settings and the threshold.

    Where validation chooses the score too, `together` is the F1 of all seeds as the members of an ensemble.
    """
    if cell.members:
        return f1_of([tl.ensemble(members) for members in _members(cell, split)], split, rescore=True)
    start = warm_start(cell, split)
    settings, tried = choose(cell, split, start)
    runs = train(cell, split, _seeded(cell, settings), start)
    rescore = cell.row.more.get("score") == "best"
    found = {**f1_of(runs, split, rescore), "settings": settings, "tried": tried}
    if rescore and len(runs) > 1:
        found["together"] = f1_of([tl.ensemble(runs)], split, rescore)["median"]
    return found


def _members(cell: Cell, split: tl.Split) -> list[list[tl.Embedding]]:
    """The members of every ensemble: equally many runs of each member cell, all with different seeds."""
    runs = [train(member, split, _seeded(member, member.settings)) for member in cell.members]
    each = cell.row.more["each"]
    return [[run for some in runs for run in some[i * each : (i + 1) * each]] for i in range(cell.seeds)]


def _seeded(cell: Cell, settings: dict[str, Any]) -> list[dict[str, Any]]:
    first = cell.row.more.get("first_seed", 0)
    return [{**settings, "seed": first + i} for i in range(cell.seeds)]


def f1_of(runs: list[tl.Embedding], split: tl.Split, rescore: bool = False) -> dict[str, Any]:
    """Test F1 of every run at the threshold that validation chose, and by the score that it chose."""
    runs = [run.rescored(split.valid, "f1") if rescore else run for run in runs]
    valid = [best_f1(run, split.valid) for run in runs]
    test = [f1_at(run, split.test, threshold) for run, (_, threshold) in zip(runs, valid, strict=True)]
    return {
        "median": round(float(np.median(test)), 2),
        "spread": round(float(np.std(test)), 2),
        "scores": [round(f1, 2) for f1 in test],
        "valid": [round(f1, 2) for f1, _ in valid],
        "ranked_by": [run.score for run in runs],
    }


def choose(
    cell: Cell, split: tl.Split, start: np.ndarray | None
) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """The settings with the best validation F1 after a short run, and the F1 of all candidates.

    As many candidates train side by side as there are seeds, so that all trials share one program.
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
    """All combinations of the settings, each overridden by each of `tries`."""
    return [{**one, **other} for one in product(listed(settings)) for other in tries]


def train(
    cell: Cell,
    split: tl.Split,
    runs: list[dict[str, Any]],
    start: np.ndarray | None = None,
    share: float = 1.0,
    threads: int | None = 1,
) -> list[tl.Embedding]:
    """The embeddings of the runs; each names its settings and seed."""
    row = cell.row
    settings = {name: getattr(row, name) for name in ("epochs", "batch_size", "burn_in", "init_scale")}
    config = make_config({**row.more, **settings}, split, cell.percent, share)
    baseline = MODELS.get(row.geometry)
    model = baseline(cell.dim) if baseline else model_of(row.geometry, row.likelihood, cell.dim)
    varied = {name for run in runs for name in run} & {*settings}  # one of several candidates may set these
    runs = [{**{name: settings[name] for name in varied}, **run} for run in runs]
    if "check_every" in row.more:
        return _best_epochs(split, model, config, runs, start, row.more["check_every"])
    found = train_runs(split.train, model, config, runs, start=start, threads=threads)
    if isinstance(model.likelihood, Poincare):
        return [directed(run, split.valid) for run in found]
    return found


def _best_epochs(
    split: tl.Split,
    model: tl.Model,
    config: tl.Config,
    settings: list[dict[str, Any]],
    start: np.ndarray | None,
    every: int,
) -> list[tl.Embedding]:
    """Every run with the points of the epoch, of every `every`-th one, that has the best validation F1."""
    kept: dict[int, list[np.ndarray]] = {}

    def keep(rows: range, done: int, now: np.ndarray) -> None:
        if done % every == 0 or done == config.epochs:
            for row in rows:
                kept.setdefault(row, []).append(now[row - rows.start].copy())

    runs = train_runs(split.train, model, config, settings, start=start, on_epoch=keep)
    checked = ((dataclasses.replace(run, points=p) for p in kept[i]) for i, run in enumerate(runs))
    return [max(some, key=lambda one: best_f1(one, split.valid)[0]) for some in checked]


def make_config(more: dict[str, Any], split: tl.Split, percent: int, share: float) -> tl.Config:
    """The config of a share of the training; `steps`, unless 0, determines the number of epochs."""
    epochs, batch = more["epochs"], more["batch_size"]
    if more["steps"]:
        epochs = more["steps"] * batch / split.train.num_edges
    epochs = max(1, round(share * epochs))
    return tl.Config(
        epochs=epochs,
        batch_size=batch,
        burn_in=min(more["burn_in"], epochs // 10),
        init_scale=more["init_scale"],
        optimizer=more["optimizer"],
        final_rate=more["final_rate"],
        negatives=tl.Negatives(**more.get("negatives_at", {}).get(str(percent), more["negatives"])),
        select="last",
    )


def warm_start(cell: Cell, split: tl.Split) -> np.ndarray | None:
    """A Poincaré embedding for every seed, as points of the model, if the row asks for a warm start."""
    if "warm" not in cell.row.more:
        return None
    warm = {**cell.row.more, "burn_in": 2, "init_scale": 0.01, "epochs": 0, "batch_size": cell.row.batch_size}
    warm |= cell.row.more["warm"]
    model, config = MODELS["poincare-embedding"](cell.dim), make_config(warm, split, cell.percent, 1.0)
    runs = [{**warm["settings"], "seed": seed} for seed in range(cell.seeds)]
    found = train_runs(split.train, model, config, runs)
    return np.stack([rescaled(run.points, SHRINK) for run in found])


def best_f1(run: tl.Embedding, pairs: tl.evaluation.LabelledPairs) -> tuple[float, float]:
    """The best F1 on these pairs, in percent, and the threshold on log F that reaches it."""
    scores, labels = score_pairs(run, pairs.sources, pairs.targets), np.asarray(pairs.labels)
    threshold = metrics.best_f1_threshold(scores, labels)
    return 100 * metrics.f1(scores, labels, threshold), threshold


def f1_at(run: tl.Embedding, pairs: tl.evaluation.LabelledPairs, threshold: float) -> float:
    """F1 on these pairs, in percent, at a threshold on log F."""
    return 100 * metrics.f1(
        score_pairs(run, pairs.sources, pairs.targets), np.asarray(pairs.labels), threshold
    )
