"""What simple methods score on the graphs and splits of a table, for the sentence or the rows beside it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

import numpy as np

from paper.runner.reproduction import load_results
from paper.tasks import Result

RESULTS = Path(__file__).parents[1] / "results"
BEST = "the best by validation"
SHOWN = ("degree product", "L3 normalised", "dot product")


def simple_scores(dataset: str, splits: Collection[int], negatives: str) -> dict[str, list[float]]:
    """The stored test AP of simple methods on these splits; nothing if a split was not computed."""
    file = RESULTS / "simple_methods.json"
    return scores_of(load_results(file) if file.is_file() else [], dataset, splits, negatives)


def scores_of(
    results: Iterable[Result], dataset: str, splits: Collection[int], negatives: str
) -> dict[str, list[float]]:
    """Method → test AP on each of the splits; also of the method that is best by validation on each."""
    place = (dataset, negatives)
    found = {
        r.about["split"]: r.found for r in results if (r.about["dataset"], r.about["negatives"]) == place
    }
    if not {*splits} <= {*found}:
        return {}
    parts = [found[split] for split in splits]
    best = [one["test"][max(one["valid"], key=one["valid"].__getitem__)] for one in parts]
    return {**{name: [one["test"][name] for one in parts] for name in SHOWN}, BEST: best}


def beside(
    dataset: str, splits: Collection[int], negatives: str, cells: Iterable[float], what: str = "cells"
) -> str:
    """A sentence about simple methods on the same splits, and how many cells of a table are above them."""
    found = simple_scores(dataset, splits, negatives)
    if not found:
        return ""
    words = [f"{name} {np.median(scores):.1f} ± {np.std(scores):.1f}" for name, scores in found.items()]
    listed, best = list(cells), np.median(found[BEST])
    return (
        f"Simple methods on the same graphs and splits, chosen on validation: {', '.join(words)}. "
        f"{sum(cell > best for cell in listed)} of {len(listed)} {what} are above the last."
    )
