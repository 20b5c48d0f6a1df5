"""Hold out edges without leaks, together with fixed negative samples.

Each part may depend on:

- training: the training edges only;
- validation: the training and validation edges (its negatives may by chance be test edges, as they would for
  anyone who has not seen the test);
- test: the whole graph.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from timelike._util.atomic_files import read_tensors, write_tensors
from timelike._util.checks import instance, one_of, share, show, whole_number
from timelike._util.guesses import keywords
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.negative_kinds import check_listed, draw_negatives
from timelike.evaluation.split_parts import TEST, TRAIN, VALID, by_chance, by_nodes, by_time, into_folds
from timelike.graphs.digraph import DiGraph, checked_pairs
from timelike.graphs.node_names import as_names, plain_names

SCHEMA = 2

#: The fields of a split that are pairs of nodes.
PAIRS = ("valid_edges", "valid_negatives", "test_edges", "test_negatives", "listed")

#: How to get a graph.
READ = "timelike.read(…) of a file, pairs, a matrix or a data frame"


@dataclasses.dataclass(frozen=True, eq=False)
class Split:
    """A training graph, and held-out edges with their negatives, as (n, 2) arrays.

    `negatives` is the kind of negatives, and `how` says how edges were held out. `listed` are the listed
    pairs that no evaluation uses; training may draw `Negatives(listed=…)` from them. Build published splits
    that come as files with this constructor.
    """

    train: DiGraph
    valid_edges: np.ndarray
    valid_negatives: np.ndarray
    test_edges: np.ndarray
    test_negatives: np.ndarray
    negatives: str
    seed: int = 0
    how: str = "edges"
    listed: np.ndarray | None = None

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name in PAIRS and value is not None:
                pairs = checked_pairs(value, self.train.num_nodes, f"Split: {field.name}")
                object.__setattr__(self, field.name, pairs)

    @cached_property
    def valid(self) -> LabelledPairs:
        """Validation edges and their negatives, for `train(…, valid=…)`."""
        return LabelledPairs.build(self.valid_edges, self.valid_negatives)

    @cached_property
    def test(self) -> LabelledPairs:
        """Test edges and their negatives, for `evaluate`."""
        return LabelledPairs.build(self.test_edges, self.test_negatives)

    @cached_property
    def graph(self) -> DiGraph:
        """All edges including the held-out ones, without weights."""
        return self.train.with_edges(np.concatenate([self.valid_edges, self.test_edges]))

    @property
    def summary(self) -> dict[str, Any]:
        """Counts and settings, as plain values."""
        return {
            "nodes": self.train.num_nodes,
            "train_edges": self.train.num_edges,
            **{name: len(getattr(self, name)) for name in PAIRS[:-1]},
            "negatives": self.negatives,
            "how": self.how,
            "seed": self.seed,
        }

    def check_nodes(self, graph: DiGraph, argument: str) -> None:
        """Raise an error unless the split has the nodes of this graph, in the same order."""
        mine, other = (None if x.names is None else list(x.names) for x in (self.train, graph))
        if self.train.num_nodes != graph.num_nodes or mine != other:
            raise ValueError(f"{argument} is {self} of other nodes than {graph}; use a split of this graph")

    def bidirectional(self, ratio: int = 1) -> LabelledPairs:
        """Pairs that test which training edges are reciprocal.

        Positives are the test edges t → s with s → t in training. Negatives are the reverses of training
        edges that are not reciprocal in the whole graph, up to `ratio` per positive.
        """
        whole_number("ratio", ratio, 1)
        positives = self.test_edges[self.train.has_edges(self.test_edges[:, 1], self.test_edges[:, 0])]
        positives = positives[positives[:, 0] != positives[:, 1]]
        back = self.train.pairs[:, ::-1]
        back = back[~self.graph.has_edges(back[:, 0], back[:, 1])]
        if not len(positives) or not len(back):
            raise ValueError(
                f"{self} needs test edges that reverse training edges, and edges without a reverse"
            )
        count = min(len(back), ratio * len(positives))
        chosen = np.random.default_rng([self.seed, 3]).choice(len(back), count, replace=False)
        return LabelledPairs.build(positives, back[np.sort(chosen)])

    def save(self, path: str | os.PathLike) -> None:
        """Write the split to one file, which should end in .safetensors."""
        arrays = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        about = {name: arrays.pop(name) for name in ("negatives", "seed", "how")}
        graph = arrays.pop("train")
        dates = graph.times is not None and graph.times.dtype.kind == "M"
        times = graph.times.view(np.int64) if dates and graph.times is not None else graph.times
        arrays |= {"sources": graph.sources, "targets": graph.targets}
        arrays |= {"weights": graph.weights, "times": times}
        names = None if graph.names is None else plain_names(graph.names)
        about |= {"schema": SCHEMA, "num_nodes": graph.num_nodes, "names": names, "dates": dates}
        if graph.names is not None and graph.names.labels is not None:
            about["labels"] = list(graph.names.labels)
        write_tensors(Path(path), {k: x for k, x in arrays.items() if x is not None}, {"split": about})

    @classmethod
    def load(cls, path: str | os.PathLike) -> Split:
        """Read a file that `save` wrote."""
        arrays, stored = read_tensors(Path(path), "split", "create it again with split_edges and save it")
        about = stored.get("split")
        if not isinstance(about, dict) or about.pop("schema", None) != SCHEMA:
            raise ValueError(f"{path} is not a split of this version of timelike; create and save it again")
        try:
            names, num_nodes = about.pop("names"), about.pop("num_nodes")
            if names is not None:
                names = as_names(names).labelled(about.pop("labels", None))
            ends = arrays.pop("sources"), arrays.pop("targets")
            times = arrays.pop("times", None)
            if about.pop("dates", False) and times is not None:
                times = times.view("datetime64[us]")
            train = DiGraph.from_arrays(*ends, num_nodes, names, arrays.pop("weights", None), times)
            return cls(**{"train": train, **arrays, **about})
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is an incomplete split ({error}); create and save it again") from None

    def __repr__(self) -> str:
        train, valid, test = self.train.num_edges, len(self.valid_edges), len(self.test_edges)
        return f"Split({train:,} + {valid:,} + {test:,} edges by {self.how}, {self.negatives} negatives)"


@keywords(test_size="test", valid_size="valid", random_state="seed")
def split_edges(
    graph: DiGraph,
    valid: float = 0.1,
    test: float = 0.1,
    seed: int = 0,
    *,
    negatives: str = "uniform",
    ratio: int = 4,
    listed: np.ndarray | None = None,
    connected: bool = False,
    together: bool = False,
    times: np.ndarray | None = None,
    by: str = "edges",
) -> Split:
    """Hold out shares of the edges for validation and test, with `ratio` negatives per held-out edge.

    `negatives` is a kind in `timelike.evaluation.NEGATIVE_KINDS`; "listed" draws from `listed`, (n, 2) pairs.
    A share > 0 is at least one edge. By default the held-out edges are random:

    - `connected` holds out no edge whose loss would disconnect a weakly connected component;
    - `together` holds out both or neither of s → t and t → s, if need be one edge more than the share;
    - `by="time"` holds out the latest edges by the graph's times (`read(…, time="year")`) or by `times`, one
      per edge in the graph's order (`in_edge_order`). Edges of equal time stay together, so the shares are
      approximate;
    - `by="nodes"` holds out shares of the nodes with all their edges.
    """
    instance("graph", graph, DiGraph, READ)
    shares = {"valid": share("valid", valid), "test": share("test", test)}
    whole_number("seed", seed)
    one_of("by", by, ("edges", "nodes", "time"))
    if by == "time" and times is None and graph.times is None:
        raise ValueError(f'by is "time" but {graph} has no times; use read(…, time="year") or pass times')
    in_time = by == "time" or times is not None
    chosen = {'by="time"': in_time, 'by="nodes"': by == "nodes", "connected": connected}
    if sum(chosen.values()) > 1 or (together and not connected and any(chosen.values())):
        used = [name for name, on in {**chosen, "together": together}.items() if on]
        raise ValueError(f"{' and '.join(used)} cannot be combined; only connected and together can")
    rng = np.random.default_rng([seed, 0])
    if in_time:
        when = graph.times if times is None else times
        parts, how = by_time(graph, shares, np.asarray(when)), "time"
    elif by == "nodes":
        parts, how = by_nodes(graph, shares, rng), "nodes"
    else:
        parts = by_chance(graph, shares, rng, connected, together)
        how = ", ".join(["edges"] + ["connected"] * connected + ["reciprocal pairs together"] * together)
    return _with_negatives(graph, parts, negatives, ratio, listed, [seed], how)


def folds(
    graph: DiGraph,
    k: int = 5,
    valid: float = 0.1,
    seed: int = 0,
    *,
    negatives: str = "uniform",
    ratio: int = 4,
    listed: np.ndarray | None = None,
    together: bool = False,
) -> Iterator[Split]:
    """`k` splits whose test edges partition the edges; in each, a share `valid` of all edges validates."""
    instance("graph", graph, DiGraph, READ)
    whole_number("k", k, 2, graph.num_edges)
    whole_number("seed", seed)
    rows = into_folds(graph, k, share("valid", valid), np.random.default_rng([seed, 0]), together)
    return (
        _with_negatives(graph, parts, negatives, ratio, listed, [seed, i], f"fold {i + 1} of {k}")
        for i, parts in enumerate(rows)
    )


def in_edge_order(graph: DiGraph, sources: Any, targets: Any, values: Any) -> np.ndarray:
    """Reorder values of edges, listed by node number, to the graph's edge order.

    The first value of a repeated edge counts. Self-loops are dropped, as no graph has them.
    """
    s, t, array = np.asarray(sources), np.asarray(targets), np.asarray(values)
    if not s.shape == t.shape == array.shape:
        raise ValueError(
            f"sources, targets and values have {s.size}, {t.size} and {array.size} entries; make them equal"
        )
    listed = DiGraph.from_arrays(s, t, graph.num_nodes, times=np.arange(s.size))
    if not np.array_equal(listed.pairs, graph.pairs):
        raise ValueError(f"the {listed.num_edges} listed edges are not those of {graph}; list each of them")
    return array[listed.times]


def _with_negatives(
    graph: DiGraph,
    parts: np.ndarray,
    negatives: str,
    ratio: int,
    listed: np.ndarray | None,
    key: list[int],
    how: str,
) -> Split:
    """Draw the negatives of a split; those of validation do not depend on the test edges."""
    if (listed is not None) != (negatives == "listed"):
        cure = "pass listed=pairs" if listed is None else 'pass negatives="listed", or no list'
        raise ValueError(f"listed is {show(listed)}, but negatives is {show(negatives)}; {cure}")
    if not np.any(parts == TRAIN):
        raise ValueError(f"the split of {graph} leaves no edge to train on; hold out fewer")
    edges = graph.pairs
    valid, test = edges[parts == VALID], edges[parts == TEST]
    left = None if listed is None else np.unique(check_listed(graph, listed), axis=0)
    valid_negatives = draw_negatives(negatives, graph.subgraph(parts != TEST), valid, ratio, [*key, 1], left)
    left = _without(left, valid_negatives)
    test_negatives = draw_negatives(negatives, graph, test, ratio, [*key, 2], left)
    left = _without(left, test_negatives)
    train = graph.subgraph(parts == TRAIN)
    return Split(train, valid, valid_negatives, test, test_negatives, negatives, key[0], how, left)


def _without(pairs: np.ndarray | None, taken: np.ndarray) -> np.ndarray | None:
    """The unique, sorted pairs without those taken."""
    if pairs is None or not len(taken):
        return pairs
    used = DiGraph.from_arrays(taken[:, 0], taken[:, 1], int(pairs.max()) + 1)
    return pairs[~used.has_edges(pairs[:, 0], pairs[:, 1])]
