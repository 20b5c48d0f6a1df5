"""Which non-edges go with every edge, and how often a candidate is drawn until it is one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from timelike._util.checks import positive_number, show, whole_number

#: Candidates that hit a training edge are drawn again. How often is fixed for a graph, by its
#: density: often enough that about one in a hundred at most is still an edge, or `MAX_DRAWS`
#: times. What is still an edge then is left out of the batch.
LEFT_OUT = 1e-2
MAX_DRAWS = 16

#: Negatives are drawn for about this many pairs at a time: enough to vectorise the draws, few
#: enough to stay in the cache.
PAIRS_PER_BLOCK = 1 << 16

#: Where the source and the target of a candidate come from: its own edge, any node, a random edge, the nodes
#: that edges leave, or those that they enter.
ENDS = {
    "uniform": ("any", "any"),
    "target": ("own", "any"),
    "source": ("any", "own"),
    "degree": ("edge", "edge"),
    "hub": ("edge", "any"),
    "inner": ("inner", "any"),
    "hub_source": ("edge", "own"),
    "inner_source": ("inner", "own"),
    "outer": ("any", "outer"),
}


@dataclasses.dataclass(frozen=True)
class Negatives:
    """How many non-edges of which kind go with every positive edge s → t.

    `uniform` pairs of any two nodes; `target`: s with another target; `source`: another source
    with t (take some of both to corrupt either side); `degree`: the source of one random edge
    with the target of another, so hubs come often; `hub`: the source of a random edge with any node;
    `inner`: a node that has edges to others, with any node; `hub_source`, `inner_source`: such
    sources with t; `outer`: any node with one that edges enter; `reversed`: t → s; `listed`: drawn from
    the non-edges that were given. Pairs that are training edges, or a node with itself, are drawn again.

    `weights` says how much one negative of a kind counts in the loss, where that is not 1:
    Negatives(target=2, source=2, weights={"target": 2.5}).
    """

    uniform: int = 0
    target: int = 0
    source: int = 0
    degree: int = 0
    reversed: int = 0
    listed: int = 0
    hub: int = 0
    inner: int = 0
    hub_source: int = 0
    inner_source: int = 0
    outer: int = 0
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
                raise ValueError(f"Negatives: weights has {kind!r}, of which none is drawn")
        object.__setattr__(self, "weights", tuple(sorted(weights.items())))

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind that there is."""
        kinds = [field.name for field in dataclasses.fields(self)[:-1]]
        return {kind: getattr(self, kind) for kind in kinds if getattr(self, kind)}

    @property
    def total(self) -> int:
        """Negatives per positive."""
        return sum(self.counts.values())

    @property
    def factors(self) -> np.ndarray:
        """What the positive and then each negative count in the loss."""
        weights = dict(self.weights)
        return np.array([1.0, *(weights.get(kind, 1.0) for kind, n in self.counts.items() for _ in range(n))])

    def draws_from(self, end: str) -> bool:
        """Whether some kind takes an end from there."""
        return any(end in ENDS.get(kind, ()) for kind in self.counts)


def seen(drawn: Mapping[str, Any], incoming: bool) -> bool:
    """Whether non-edges of such kinds, name → how many, may leave any node, or enter any if `incoming`."""
    anywhere = [kind for kind, ends in ENDS.items() if ends[incoming] == "any"]
    return any(drawn.get(kind) for kind in ("listed", *anywhere))


def draws_for(
    nodes: int,
    degrees: np.ndarray,
    edges: tuple[np.ndarray, np.ndarray],
    kinds: Negatives,
    listed: float = 0.0,
) -> int:
    """Draws until at most `LEFT_OUT` of the candidates are edges, by how often these kinds hit one.

    `degrees` are those of leaving and of entering edges; `edges` may be a sample of them; `listed` is the
    share of the non-edges that were given which are none.
    """
    n, (s, t) = max(nodes, 1), edges
    leaving, entering = (x.astype(float) for x in degrees)
    m = max(float(leaving.sum()), 1.0)
    each = m / max(len(s), 1)  # so many stand for one of the sample
    inner, outer = ((degree > 0) / max(np.count_nonzero(degree), 1) for degree in (leaving, entering))
    sources: dict[str, Any] = {"any": 1 / n, "edge": leaving / m, "inner": inner}
    targets: dict[str, Any] = {"any": 1 / n, "edge": entering / m, "outer": outer}
    # The chance that a candidate is an edge or a node with itself, and the share of such candidates.
    hits: list[tuple[Any, Any]] = [((m + n) / n**2, 1.0), (listed, 1.0)]
    for kind in kinds.counts:
        first, second = ENDS.get(kind, ("", ""))
        of_source, of_target = (
            np.broadcast_to(table.get(end, 0.0), n) for table, end in ((sources, first), (targets, second))
        )
        if second == "own":  # the end that stays is that of an edge, mostly a hub
            hits.append((each * np.bincount(t, of_source[s], n) + of_source, entering / m))
        elif first == "own":
            hits.append((each * np.bincount(s, of_target[t], n) + of_target, leaving / m))
        elif kind != "uniform":
            hits.append((each * np.sum(of_source[s] * of_target[t]) + of_source @ of_target, 1.0))
    few = (k for k in range(1, MAX_DRAWS) if all(np.sum(share * hit**k) <= LEFT_OUT for hit, share in hits))
    return next(few, MAX_DRAWS)
