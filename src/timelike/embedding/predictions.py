"""What is said about nodes and edges: rows of a table."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, TypeAlias


class Prediction(NamedTuple):
    """An edge, and how likely it is."""

    source: Hashable
    target: Hashable
    probability: float


class UncertainPrediction(NamedTuple):
    """An edge, how likely it is, and by how much the members of the model differ about that."""

    source: Hashable
    target: Hashable
    probability: float
    spread: float


#: What rankings are: with a spread if the model has members to differ.
Predictions: TypeAlias = list[Prediction] | list[UncertainPrediction]


class Neighbour(NamedTuple):
    """A node, and how far away it lies."""

    node: Hashable
    distance: float
