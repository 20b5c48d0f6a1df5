"""Link prediction as a user would do it: validation chooses the epoch, then all known edges are trained on.

For every split the runs are trained without the validation edges, which choose the epoch; then again with
them, for as many epochs; and the test is scored once.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from timelike.reproduce.link_prediction import load_split
from timelike.reproduce.row import Row


class Case(NamedTuple):
    """One model on one data set: settings that a search found, and what they are tried on."""

    row: Row
    dim: int
    #: Seeds of splits; of graphs, for a model that grows them.
    splits: tuple[int, ...]
    seeds: tuple[int, ...]
    data_dir: str | None

    @property
    def found(self) -> dict[str, Any]:
        """What the search found for this dimension: likelihood, optimizer, negatives, settings, epochs."""
        return dict(self.row.more["cases"][str(self.dim)])


def describe(case: Case) -> dict[str, Any]:
    """What identifies a case, as plain values."""
    row = case.row
    return {
        **row.about("title", "dataset", "geometry", "epochs", "batch_size", "burn_in"),
        "dim": case.dim,
        **case.found,
        "splits": list(case.splits),
        "seeds": list(case.seeds),
        "published": row.published.get(str(case.dim)),
        "target": row.more.get("targets", {}).get(str(case.dim)),
    }


def run(case: Case) -> dict[str, Any]:
    """Test AP in percent of every split: the mean over runs, or that of its members taken together."""
    rows = [_split(case, seed) for seed in case.splits]
    return summary(rows, "together" if "members" in case.found else "test")


def summary(rows: list[dict[str, list[float]]], scored: str = "test") -> dict[str, Any]:
    """Over splits: median, mean and standard deviation of the test AP; each is a mean over runs."""
    means = {name: [round(float(np.mean(row[name])), 2) for row in rows] for name in rows[0]}
    scores = means.pop(scored)
    return {
        "median": round(float(np.median(scores)), 2),
        "mean": round(float(np.mean(scores)), 2),
        "spread": round(float(np.std(scores)), 2),
        "scores": scores,
        **means,
    }


def _split(case: Case, seed: int) -> dict[str, list[float]]:
    from timelike.evaluation.metrics import average_precision
    from timelike.reproduce.lanes import predict_lanes, score_lanes

    split, lanes = load_split(case.row.dataset, seed, case.data_dir), _lanes(case)
    valid, test = score_lanes(split.train, lanes, split.valid, split.test)
    best = np.argsort(-valid.max(axis=0), kind="stable")[: case.found.get("members")]
    epochs = valid.argmax(axis=0)
    known = split.train.with_edges(split.valid_edges)
    again = [(model, dataclasses.replace(config, select="last")) for model, config in lanes]
    scores, labels = predict_lanes(known, again, epochs + 1, split.test)[best], np.asarray(split.test.labels)
    return {
        "test": [100 * average_precision(one, labels) for one in scores],
        "together": [100 * average_precision(np.exp(scores).mean(axis=0), labels)],
        "without_valid": (100 * test[epochs, np.arange(len(lanes))][best]).tolist(),
        "valid": (100 * valid.max(axis=0)[best]).tolist(),
        "epoch": (epochs[best] + 1).tolist(),
    }


def _lanes(case: Case) -> list[Any]:
    from timelike.core.model import Model
    from timelike.engine.config import Config
    from timelike.engine.negatives import Negatives
    from timelike.estimator.portfolio import portfolio
    from timelike.likelihoods import LIKELIHOODS
    from timelike.manifolds import MANIFOLDS
    from timelike.training.grid import one_run

    row, found = case.row, case.found
    model = Model(MANIFOLDS[row.geometry](case.dim), LIKELIHOODS[found["likelihood"]]())
    config = Config(
        epochs=found.get("epochs", row.epochs),
        batch_size=row.batch_size,
        burn_in=row.burn_in,
        optimizer=found["optimizer"],
        negatives=Negatives(**found["negatives"]),
    )
    settings = portfolio(row.geometry) if found["settings"] == "portfolio" else [found["settings"]]
    return [one_run(model, config, {**one, "seed": seed}) for one in settings for seed in case.seeds]
