"""Link prediction as a user would do it: validation edges choose the epoch, then join the training edges.

On every split, the runs first train without the validation edges, which choose the epoch of each run. They
then train again, with these edges and for as many epochs, and the test pairs are scored once.
"""

from __future__ import annotations

import tomllib
from typing import Any, NamedTuple

import numpy as np

import timelike as tl
from paper.table_rows import ROWS, Row
from paper.training.link_prediction import load_split, model_of
from paper.training.parallel_runs import average_precisions, scores_at_epochs


class Case(NamedTuple):
    """One model on one data set in one dimension, with the recipe that a search found."""

    row: Row
    dim: int
    #: Seeds of splits, or of generated graphs.
    splits: tuple[int, ...]
    seeds: tuple[int, ...]
    data_dir: str | None

    @property
    def recipe(self) -> dict[str, Any]:
        """Likelihood, optimizer, negatives, settings and epochs for this dimension."""
        return dict(self.row.more["cases"][str(self.dim)])


def portfolio(geometry: str) -> list[dict[str, float]]:
    """The few settings that `SpacetimeEmbedding` compared by validation when the results were computed."""
    table = tomllib.loads((ROWS / "portfolio.toml").read_text("utf-8"))[geometry]
    return [dict(zip(table["names"], values, strict=True)) for values in table["settings"]]


def describe(case: Case) -> dict[str, Any]:
    """What identifies a case, as plain values."""
    row = case.row
    return {
        **row.about("title", "dataset", "geometry", "epochs", "batch_size", "burn_in"),
        "dim": case.dim,
        **case.recipe,
        "splits": list(case.splits),
        "seeds": list(case.seeds),
        "published": row.published.get(str(case.dim)),
        "target": row.more.get("targets", {}).get(str(case.dim)),
    }


def run(case: Case) -> dict[str, Any]:
    """Test AP in percent on every split: the mean over runs, or that of their mean probability."""
    splits = [_run_split(case, seed) for seed in case.splits]
    return summary(splits, "together" if "members" in case.recipe else "test")


def summary(splits: list[dict[str, list[float]]], scored: str = "test") -> dict[str, Any]:
    """Median, mean and standard deviation of the test AP over splits; each split counts by its mean."""
    means = {name: [round(float(np.mean(split[name])), 2) for split in splits] for name in splits[0]}
    scores = means.pop(scored)
    return {
        "median": round(float(np.median(scores)), 2),
        "mean": round(float(np.mean(scores)), 2),
        "spread": round(float(np.std(scores)), 2),
        "scores": scores,
        **means,
    }


def _run_split(case: Case, seed: int) -> dict[str, list[float]]:
    split = load_split(case.row.dataset, seed, case.data_dir)
    model, config, settings = _runs_of(case)
    valid, test = average_precisions(split, model, config, settings)
    best = np.argsort(-valid.max(axis=0), kind="stable")[: case.recipe.get("members")]
    epochs = valid.argmax(axis=0)
    known = split.train.with_edges(split.valid_edges)
    scores = scores_at_epochs(known, model, config, settings, epochs + 1, split.test)[best]
    labels, average_precision = np.asarray(split.test.labels), tl.evaluation.metrics.average_precision
    return {
        "test": [100 * average_precision(one, labels) for one in scores],
        "together": [100 * average_precision(np.exp(scores).mean(axis=0), labels)],
        "without_valid": (100 * test[epochs, np.arange(len(settings))][best]).tolist(),
        "valid": (100 * valid.max(axis=0)[best]).tolist(),
        "epoch": (epochs[best] + 1).tolist(),
    }


def _runs_of(case: Case) -> tuple[tl.Model, tl.Config, list[dict[str, Any]]]:
    """The model, the config, and the settings and seed of every run."""
    row, recipe = case.row, case.recipe
    config = tl.Config(
        epochs=recipe.get("epochs", row.epochs),
        batch_size=row.batch_size,
        burn_in=row.burn_in,
        optimizer=recipe["optimizer"],
        negatives=tl.Negatives(**recipe["negatives"]),
    )
    settings = portfolio(row.geometry) if recipe["settings"] == "portfolio" else [recipe["settings"]]
    runs = [{**one, "seed": seed} for one in settings for seed in case.seeds]
    return model_of(row.geometry, recipe["likelihood"], case.dim), config, runs
