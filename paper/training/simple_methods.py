"""Simple methods on a split: chosen on validation, trained with its edges, scored once on the test."""

from __future__ import annotations

import functools

import timelike as tl

#: Few edges are mutual, and the graphs have cycles.
LEFT_OUT = ("reciprocity", "reachability")
SIMPLE = (*(name for name in tl.estimator.UNTRAINED if name not in LEFT_OUT), "dot product")


def simple_scores(split: tl.Split) -> dict[str, dict[str, float]]:
    """Validation and test AP of every simple method."""
    known = split.train.with_edges(split.valid_edges)
    scores = functools.partial(tl.estimator.evaluate_baselines, split.train, names=SIMPLE)
    found = {"valid": scores(split.valid, valid=split.valid), "test": scores(split, learned=known)}
    return {part: {name: one.average_precision for name, one in some.items()} for part, some in found.items()}
