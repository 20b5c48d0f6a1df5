"""Answers about pairs of nodes by name, for whatever answers by number."""

from __future__ import annotations

import abc
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from timelike._util.guesses import how_many, of_node
from timelike.embedding import cone_relatives
from timelike.embedding.cone_relatives import CommonAncestor, Relative
from timelike.graphs.digraph import DiGraph, is_one, node_numbers
from timelike.graphs.node_names import as_names, label_of

if TYPE_CHECKING:
    from timelike.embedding.embedding import Embedding
    from timelike.embedding.top_k import Predictions


class PairAnswers(abc.ABC):
    """Probabilities of edges, for nodes by name, or by number if there are no names.

    The methods return an array, or a float for two single nodes.
    """

    points: np.ndarray
    names: Sequence[Hashable] | None
    #: What lists the likeliest edges: `of_node` and `of_all`, as in `top_k`.
    ranking: ClassVar[Any]

    @property
    @abc.abstractmethod
    def geometry(self) -> Embedding:
        """The embedding whose light cones hold ancestors and descendants."""

    @abc.abstractmethod
    def log_prob_by_number(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The log-probability of the edges sources[i] → targets[i], by number even if nodes have names."""

    @abc.abstractmethod
    def log_odds_by_number(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """log P − log(1 − P) of the edges sources[i] → targets[i], by number even if nodes have names."""

    @abc.abstractmethod
    def spread_by_number(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """`spread` of the edges sources[i] → targets[i], by number even if nodes have names."""

    @abc.abstractmethod
    def best_of_each(
        self, sources: np.ndarray, k: int, exclude: DiGraph | None = None
    ) -> Iterator[tuple[np.ndarray, ...]]:
        """The k likeliest targets of many sources by number, some sources at a time.

        Arrays of sources, targets, probabilities and, with several members, spreads: source after source, the
        best first, without known edges and those in `exclude`. Every source counts once.
        """

    @of_node
    def top_targets(self, node: Hashable, k: int = 10, *, exclude: DiGraph | None = None) -> Predictions:
        """The k likeliest edges out of a node, best first, except those in `exclude`.

        A joint model never lists the edges that it knows. If all negatives were drawn from nodes with edges,
        nodes without are left out: see `Embedding.strangers`.
        """
        return self.ranking.of_node(self, node, k, exclude)

    @of_node
    def top_sources(self, node: Hashable, k: int = 10, *, exclude: DiGraph | None = None) -> Predictions:
        """The k likeliest edges into a node, best first, as in `top_targets`."""
        return self.ranking.of_node(self, node, k, exclude, incoming=True)

    @how_many
    def top_edges(
        self,
        k: int = 10,
        *,
        sources: Iterable[Hashable] | None = None,
        targets: Iterable[Hashable] | None = None,
        exclude: DiGraph | None = None,
    ) -> Predictions:
        """The k likeliest edges between different nodes, best first, as in `top_targets`.

        Pass the known graph as `exclude` to get the likeliest missing edges. `sources` and `targets` restrict
        the ends, for example to the regulators of a gene network.
        """
        return self.ranking.of_all(self, k, exclude, sources, targets)

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

    def ancestors(
        self,
        node: Hashable,
        k: int | None = None,
        *,
        threshold: float | None = None,
        graph: DiGraph | None = None,
    ) -> list[Relative]:
        """The nodes towards the root whose light cones hold a node, nearest first; at most k of them.

        With a `threshold`, those whose edge or path has at least this probability. Which end of an edge is
        the parent is known from fitting nested cones; else it is found from `graph` or, without, the cones.
        """
        return cone_relatives.of_node(self.geometry, node, k, threshold, graph, ancestors=True)

    def descendants(
        self,
        node: Hashable,
        k: int | None = None,
        *,
        threshold: float | None = None,
        graph: DiGraph | None = None,
    ) -> list[Relative]:
        """The nodes away from the root in the light cone of a node, nearest first, as in `ancestors`."""
        return cone_relatives.of_node(self.geometry, node, k, threshold, graph, ancestors=False)

    def common_ancestors(
        self,
        first: Hashable,
        second: Hashable,
        k: int | None = None,
        *,
        threshold: float | None = None,
        graph: DiGraph | None = None,
    ) -> list[CommonAncestor]:
        """The lowest common ancestors of two nodes, nearest first, as in `ancestors`.

        No light cone of another common ancestor lies between. If one node is an ancestor of the other, it is
        the answer.
        """
        return cone_relatives.common_ancestors(self.geometry, first, second, k, threshold, graph)

    def name(self, number: int) -> Hashable:
        """The user's name of a node."""
        return int(number) if self.names is None else self.names[int(number)]

    def label(self, node: Hashable) -> str:
        """The label of a node by name (by number without names), such as that of a term; "" without one."""
        number = node_numbers([node], len(self.points), self.names, "node")[0]
        return label_of(None if self.names is None else as_names(self.names), int(number))

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
