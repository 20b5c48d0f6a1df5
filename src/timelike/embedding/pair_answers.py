"""Answers about pairs of nodes by name, for whatever answers by number."""

from __future__ import annotations

import abc
from collections.abc import Callable, Hashable, Sequence
from typing import Any, overload

import numpy as np

from timelike.graphs.digraph import is_one, node_numbers


class PairAnswers(abc.ABC):
    """Probabilities of edges, for nodes by name, or by number if there are no names.

    The methods return an array, or a float for two single nodes.
    """

    points: np.ndarray
    names: Sequence[Hashable] | None

    @abc.abstractmethod
    def log_prob_by_number(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The log-probability of the edges sources[i] → targets[i], by number even if nodes have names."""

    @abc.abstractmethod
    def log_odds_by_number(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """log P − log(1 − P) of the edges sources[i] → targets[i], by number even if nodes have names."""

    @abc.abstractmethod
    def spread_by_number(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """`spread` of the edges sources[i] → targets[i], by number even if nodes have names."""

    @overload
    def log_prob(self, sources: str | int, targets: str | int) -> float: ...
    @overload
    def log_prob(self, sources: Any, targets: Any) -> np.ndarray: ...
    def log_prob(self, sources: Any, targets: Any) -> Any:
        """The log-probability of the edges sources[i] → targets[i]."""
        return self._by_name(self.log_prob_by_number, sources, targets)

    @overload
    def prob(self, sources: str | int, targets: str | int) -> float: ...
    @overload
    def prob(self, sources: Any, targets: Any) -> np.ndarray: ...
    def prob(self, sources: Any, targets: Any) -> Any:
        """The probability of the edges sources[i] → targets[i]."""
        probability = np.exp(self.log_prob(sources, targets))
        return probability if probability.ndim else float(probability)

    def spread(self, sources: Any, targets: Any) -> Any:
        """The uncertainty of `prob`: the sample standard deviation of Pₘ over the members m.

        Pₘ is the probability of member m alone, with the calibration of all; `prob` is the P with
        logit P = (1/M) Σₘ logit Pₘ.
        """
        return self._by_name(self.spread_by_number, sources, targets)

    def log_odds(self, sources: Any, targets: Any) -> Any:
        """log P − log(1 − P) of the edges sources[i] → targets[i], exact even for P near 1."""
        return self._by_name(self.log_odds_by_number, sources, targets)

    def name(self, number: int) -> Hashable:
        """The user's name of a node."""
        return int(number) if self.names is None else self.names[int(number)]

    def _by_name(self, function: Callable[..., np.ndarray], sources: Any, targets: Any) -> Any:
        """Apply a function of node numbers to nodes by name, and return the shape of the arguments."""
        s, t = (
            np.atleast_1d(node_numbers(nodes, len(self.points), self.names, argument))
            for argument, nodes in (("sources", sources), ("targets", targets))
        )
        if s.shape != t.shape:
            raise ValueError(f"sources has shape {s.shape} and targets {t.shape}; make them equal")
        values = function(s.reshape(-1), t.reshape(-1))
        return float(values[0]) if is_one(sources) and is_one(targets) else values.reshape(s.shape)
