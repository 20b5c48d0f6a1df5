"""The negative samples of training: how many of which kind, and how often a candidate is drawn again."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from timelike._util.checks import positive_number, show, whole_number
from timelike.evaluation.negative_kinds import KIND_ENDS

#: Candidates that are training edges are drawn again. The density of the graph fixes the number of draws:
#: enough that at most about this share of the candidates is still an edge, but at most `MAX_DRAWS`.
#: Candidates that are edges after the last draw are left out of the batch.
LEFT_OUT = 1e-2
MAX_DRAWS = 16

#: Negatives are drawn for about this number of pairs at a time: enough to vectorise, and fit in the cache.
PAIRS_PER_BLOCK = 1 << 16


@dataclasses.dataclass(frozen=True)
class Negatives:
    """How many negative samples of each kind go with every edge s → t in training.

    - `uniform`: any two nodes
    - `same_source`: s and another target; `same_target`: another source and t
    - `degree`: the source of one random edge and the target of another, so popular nodes come often
    - `reversed`: t → s
    - `listed`: drawn from the pairs that `train(…, listed=…)` takes
    - `popular_source`: the source of a random edge and any node; `popular_same_target`: such a source and t
    - `active_source`: a node with outgoing edges and any node; `active_same_target`: such a source and t;
      `active_target`: any node and a node with incoming edges

    Pairs that are training edges or self-pairs are drawn again. `weights` sets the weight of one negative of
    a kind in the loss (default: 1): Negatives(same_source=2, same_target=2, weights={"same_source": 2.5}).
    """

    uniform: int = 0
    same_source: int = 0
    same_target: int = 0
    degree: int = 0
    reversed: int = 0
    listed: int = 0
    popular_source: int = 0
    active_source: int = 0
    popular_same_target: int = 0
    active_same_target: int = 0
    active_target: int = 0
    weights: Mapping[str, float] | tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self)[:-1]:
            most = 1 if field.name == "reversed" else None  # an edge has one reverse
            value = whole_number(f"Negatives: {field.name}", getattr(self, field.name), 0, most)
            object.__setattr__(self, field.name, value)
        if not isinstance(self.weights, Mapping | tuple | list):
            raise TypeError(f"Negatives: weights is {show(self.weights)}; it must be like {{'uniform': 2.5}}")
        weights = {
            kind: positive_number(f"Negatives: weights[{kind!r}]", weight)
            for kind, weight in dict(self.weights).items()
        }
        for kind in weights:
            if kind not in self.counts:
                raise ValueError(
                    f"Negatives: weights has {kind!r}, but no such negatives are drawn; set {kind}=1"
                )
        object.__setattr__(self, "weights", tuple(sorted(weights.items())))

    @property
    def counts(self) -> dict[str, int]:
        """The number of negatives of each kind that is drawn."""
        kinds = [field.name for field in dataclasses.fields(self)[:-1]]
        return {kind: getattr(self, kind) for kind in kinds if getattr(self, kind)}

    @property
    def total(self) -> int:
        """Negatives per positive."""
        return sum(self.counts.values())

    @property
    def factors(self) -> np.ndarray:
        """The weight in the loss of the positive, then of each negative."""
        weights = dict(self.weights)
        return np.array([1.0, *(weights.get(kind, 1.0) for kind, n in self.counts.items() for _ in range(n))])

    def draws_from(self, end: str) -> bool:
        """Whether some kind draws an end from there (a value of `KIND_ENDS`)."""
        return any(end in KIND_ENDS[kind] for kind in self.counts)


def seen(drawn: Mapping[str, Any], incoming: bool) -> bool:
    """Whether negatives of these kinds (name → number) may leave any node; if `incoming`, enter any node."""
    anywhere = [kind for kind, ends in KIND_ENDS.items() if ends[incoming] == "any"]
    return any(drawn.get(kind) for kind in ("listed", *anywhere))


def draws_for(
    nodes: int,
    degrees: np.ndarray,
    edges: tuple[np.ndarray, np.ndarray],
    kinds: Negatives,
    listed: float = 0.0,
) -> int:
    """Number of draws after which at most `LEFT_OUT` of the candidates of each kind are still edges.

    `degrees` are the out- and in-degrees; `edges` may be a sample; `listed` is the share of listed pairs that
    are edges.
    """
    n, (s, t) = max(nodes, 1), edges
    leaving, entering = (x.astype(float) for x in degrees)
    m = max(float(leaving.sum()), 1.0)
    each = m / max(len(s), 1)  # edges per edge of the sample
    inner, outer = ((degree > 0) / max(np.count_nonzero(degree), 1) for degree in (leaving, entering))
    sources: dict[str, Any] = {"any": 1 / n, "edge": leaving / m, "active_source": inner}
    targets: dict[str, Any] = {"any": 1 / n, "edge": entering / m, "active_target": outer}
    # The probability that a candidate is an edge or a self-pair, and the share of these candidates.
    hits: list[tuple[Any, Any]] = [((m + n) / n**2, 1.0), (listed, 1.0)]
    for kind in kinds.counts:
        first, second = KIND_ENDS[kind]
        of_source, of_target = (
            np.broadcast_to(table.get(end, 0.0), n) for table, end in ((sources, first), (targets, second))
        )
        if second == "own":  # the end that stays is that of an edge, often a hub
            hits.append((each * np.bincount(t, of_source[s], n) + of_source, entering / m))
        elif first == "own":
            hits.append((each * np.bincount(s, of_target[t], n) + of_target, leaving / m))
        elif kind != "uniform":
            hits.append((each * np.sum(of_source[s] * of_target[t]) + of_source @ of_target, 1.0))
    few = (k for k in range(1, MAX_DRAWS) if all(np.sum(share * hit**k) <= LEFT_OUT for hit, share in hits))
    return next(few, MAX_DRAWS)
