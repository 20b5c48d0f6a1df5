"""Predictions as rows of a table."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, TypeAlias


class Prediction(NamedTuple):
    """An edge and its probability."""

    source: Hashable
    target: Hashable
    probability: float


class UncertainPrediction(NamedTuple):
    """An edge, its probability, and the spread of that probability over the ensemble members."""

    source: Hashable
    target: Hashable
    probability: float
    spread: float


#: A ranking; its rows have a spread if the model is an ensemble.
Predictions: TypeAlias = list[Prediction] | list[UncertainPrediction]


class Neighbour(NamedTuple):
    """A node and its distance."""

    node: Hashable
    distance: float
