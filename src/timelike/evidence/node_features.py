"""Evidence from features of nodes: numbers and categories, with missing values."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike._util.checks import show
from timelike.evidence.name_matching import Matched, match
from timelike.evidence.named_table import frame_of, text_names
from timelike.evidence.pair_columns import Columns, Term
from timelike.evidence.profile_terms import UNKNOWN, Direct, neighbour_terms
from timelike.evidence.profiles import Profiles
from timelike.graphs.digraph import DiGraph

if TYPE_CHECKING:
    import polars as pl

#: A category counts if at least this many nodes have it; a column keeps its commonest ones.
FEWEST, MOST_CATEGORIES = 2, 64

#: The first columns of this many are also shown to the trees as they are, one end at a time.
SHOWN = 24

#: Standard deviations beyond which a number counts as that far.
FARTHEST = 4.0

#: Groups of numbers, as `--why` shows them.
ALIKE, ENDS = "features", "features of one end"


@dataclasses.dataclass(frozen=True, eq=False)
class NodeFeatures:
    """Features of nodes: `values` is a number per node and encoded column, NaN where missing.

    `columns` names the encoded columns: a column of numbers as it is, a category as column=category, 0 or 1.
    Nodes are compared by correlation of their standardised features, as genes are in `Expression`. Nodes
    without any edge can be added with `with_nodes`; their features alone speak for them.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    values: np.ndarray
    source: str = "features"

    kind = "features"

    def __post_init__(self) -> None:
        if np.shape(self.values) != (len(self.names), len(self.columns)) or not self.columns:
            raise ValueError(
                f"{self.source}: values have shape {np.shape(self.values)}; they must be nodes × columns, "
                f"({len(self.names)}, {len(self.columns)}), with at least one column"
            )

    @classmethod
    def read(cls, table: Any) -> NodeFeatures:
        """A TSV, CSV or Parquet file, or a data frame; the first column, or the index, names the nodes.

        Columns that hold only numbers are numbers, all others categories.
        """
        import polars as pl

        if isinstance(table, NodeFeatures):
            return table
        if isinstance(table, str | os.PathLike):
            if not Path(table).is_file():
                raise FileNotFoundError(f"{table}: no such file")
            return cls._of_frame(frame_of(Path(table)), str(table))
        if hasattr(table, "columns") and hasattr(table, "index"):
            frame = {"node": [str(x) for x in table.index]} | {str(c): [*table[c]] for c in table.columns}
            return cls._of_frame(pl.DataFrame(frame, strict=False), "the data frame")
        if hasattr(table, "get_columns"):
            return cls._of_frame(table, "the data frame")
        raise TypeError(f"features is {show(table)}; it must be a file or a data frame")

    @classmethod
    def _of_frame(cls, frame: pl.DataFrame, source: str) -> NodeFeatures:
        import polars as pl

        if frame.width < 2 or not frame.height:
            raise ValueError(
                f"{source}: {frame.height} rows and {frame.width} columns; a name and a feature are needed"
            )
        names = frame.to_series(0).cast(pl.String).fill_null("")
        encoded: dict[str, np.ndarray] = {}
        for column in frame.get_columns()[1:]:
            encoded |= _encoded(column)
        if not encoded:
            raise ValueError(f"{source}: every column has one value only, or a different text for each node")
        return cls(tuple(names.to_list()), tuple(encoded), np.stack([*encoded.values()], axis=1), source)

    def matching(self, graph: DiGraph) -> Matched:
        """Which nodes have features."""
        return match(graph, self.names, self.source, "features")

    def with_nodes(self, graph: DiGraph) -> DiGraph:
        """The graph with the nodes that have features but no edges, after the others."""
        nodes = text_names(graph.names, graph.num_nodes)
        new = [name for name in dict.fromkeys(self.names) if name not in set(nodes)]
        if not new or graph.names is None:
            return graph
        names = [*graph.names, *new]
        return DiGraph.from_arrays(
            graph.sources, graph.targets, len(names), names, weights=graph.weights, times=graph.times
        )

    def prepare(self, graph: DiGraph) -> Columns:
        """How alike the two ends are, how like known neighbours, and the features of each end."""
        profiles, values = self._aligned(graph)
        found: dict[str, tuple[str, Term]] = {"features: alike": (ALIKE, Direct(profiles, "correlation"))}
        for name, term in neighbour_terms(profiles, graph).items():
            found[f"features: {name}"] = (ALIKE, term)
        for i, column in enumerate(self.columns[:SHOWN]):
            for of_source, end in ((True, "source"), (False, "target")):
                found[f"{column} of {end}"] = (ENDS, OfEnd(values[:, i], of_source))
        return Columns(graph, found)

    def profiles(self, graph: DiGraph) -> Profiles:
        """The profile of each node of a graph."""
        return self._aligned(graph)[0]

    def _aligned(self, graph: DiGraph) -> tuple[Profiles, np.ndarray]:
        key = (graph.num_nodes, None if graph.names is None else id(graph.names))
        if key not in self._cache:
            self._cache.clear()
            row_of = self.matching(graph).row_of
            values = np.where(row_of[:, None] >= 0, self.values[row_of], np.nan)
            self._cache[key] = (
                Profiles.of(self.standardised, row_of),
                np.nan_to_num(values, nan=UNKNOWN),
                graph.names,
            )
        return self._cache[key][:2]

    @cached_property
    def _cache(self) -> dict[Any, Any]:
        return {}

    @property
    def standardised(self) -> np.ndarray:
        """Columns with mean 0 and standard deviation 1, at most `FARTHEST`; 0 where missing."""
        mean, spread = np.nanmean(self.values, axis=0), np.nanstd(self.values, axis=0)
        found = (self.values - mean) / np.maximum(spread, 1e-9)
        return np.nan_to_num(np.clip(found, -FARTHEST, FARTHEST)).astype(np.float32)

    @property
    def tensors(self) -> dict[str, np.ndarray]:
        """The encoded features, for a file."""
        return {"values": np.asarray(self.values, np.float32)}

    @property
    def about(self) -> dict[str, Any]:
        """Names of nodes and columns, for a file."""
        return {"names": list(self.names), "columns": list(self.columns), "source": self.source}

    @classmethod
    def restored(cls, tensors: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> NodeFeatures:
        """From `tensors` and `about`."""
        names, columns = (tuple(map(str, about[end])) for end in ("names", "columns"))
        return cls(names, columns, tensors["values"], str(about["source"]))

    def __repr__(self) -> str:
        return f"NodeFeatures({self.source}, {len(self.names):,} nodes × {len(self.columns):,} columns)"


@dataclasses.dataclass(frozen=True, eq=False)
class OfEnd:
    """A feature of one end of the pair."""

    values: np.ndarray
    of_source: bool

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The value of each pair."""
        return self.values[sources if self.of_source else targets]

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """The values of all pairs from these sources."""
        shape = (len(sources), len(self.values))
        return np.broadcast_to(self.values[sources][:, None] if self.of_source else self.values, shape)


def _encoded(column: pl.Series) -> dict[str, np.ndarray]:
    """A column of numbers, or a column of 0 and 1 for each common category; none for a constant column."""
    import polars as pl

    if column.dtype == pl.Boolean:
        column = column.cast(pl.Float32)
    numbers = (
        column.cast(pl.Float32, strict=False) if column.dtype != pl.Categorical else column.cast(pl.String)
    )
    if numbers.dtype == pl.Float32 and not (numbers.is_null() & column.is_not_null()).any():
        found = numbers.fill_null(float("nan")).to_numpy()
        return {column.name: found} if len(np.unique(found[np.isfinite(found)])) > 1 else {}
    texts = column.cast(pl.String)
    counts = texts.drop_nulls().value_counts(sort=True).filter(pl.col("count") >= FEWEST)
    common: Sequence[str] = sorted(counts.head(MOST_CATEGORIES)[column.name].to_list())
    missing = texts.is_null().to_numpy()
    flags = {name: (texts == name).fill_null(False).to_numpy().astype(np.float32) for name in common}
    return {
        f"{column.name}={name}": np.where(missing, np.nan, x).astype(np.float32)
        for name, x in flags.items()
        if 0 < x.sum() < len(x)
    }
