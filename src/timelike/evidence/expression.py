"""Evidence from measurements of each node, such as the expression of genes in many samples."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike._util.checks import show
from timelike.evidence.listed_terms import Between
from timelike.evidence.name_matching import Matched, match
from timelike.evidence.named_table import NamedTable, text_names
from timelike.evidence.pair_columns import Columns, Term
from timelike.evidence.profile_terms import KINDS, Direct, neighbour_terms
from timelike.evidence.profiles import Profiles
from timelike.evidence.tree_importances import importances
from timelike.graphs.digraph import DiGraph
from timelike.io import names_in

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Groups of numbers, as `--why` shows them.
DIRECT, NEIGHBOURS, TREES = "expression", "expression like known targets", "tree importances"

#: The most regulators × genes for tree importances.
MOST_IMPORTANCES = 60_000_000


@dataclasses.dataclass(frozen=True, eq=False)
class Expression:
    """Expression of genes in samples: `values` has a row for each of the `names`, NaN where missing.

    Numbers of a pair s → t: correlation, CLR and partial correlation of the two profiles; importance of s for
    t in a forest (`importances`); and how t's profile relates to those of the known targets of s other than
    t. `regulators` are the only nodes with importances for others; None: the sources of the known edges.
    If they are `guessed` from a graph, nodes that are no source of the prepared graph have no importances.
    """

    names: tuple[str, ...]
    values: np.ndarray | csr_array
    regulators: tuple[str, ...] | None = None
    source: str = "expression"
    seed: int = 0
    guessed: bool = False

    kind = "expression"

    def __post_init__(self) -> None:
        shape = np.shape(self.values)
        if len(shape) != 2 or shape[0] != len(self.names) or shape[1] < 2:
            raise ValueError(
                f"{self.source}: values have shape {shape}; they must be genes × samples, with "
                f"{len(self.names)} genes and at least two samples"
            )

    @classmethod
    def read(
        cls,
        table: Any,
        graph: DiGraph | None = None,
        regulators: str | os.PathLike | Iterable[str] | None = None,
        seed: int = 0,
    ) -> Expression:
        """A TSV, CSV, Parquet or .h5ad file, an AnnData object or a data frame.

        Genes are its rows or its columns: the side with more names of nodes of `graph`. `regulators` is a
        file with one name per line, or names.
        """
        if isinstance(table, Expression):
            found = table
        else:
            named = NamedTable.of(table)
            if graph is not None:
                named = named.named_like(text_names(graph.names, graph.num_nodes))
            found = cls(named.rows, named.values, None, named.source, seed)
        return found if regulators is None else found.with_regulators(regulators)

    @classmethod
    def from_anndata(
        cls,
        data: Any,
        layer: str | None = None,
        regulators: str | os.PathLike | Iterable[str] | None = None,
        seed: int = 0,
    ) -> Expression:
        """`X`, or a layer, of an AnnData object: cells × genes. A sparse matrix stays sparse."""
        named = NamedTable.from_anndata(data, layer).turned
        found = cls(named.rows, named.values, None, named.source, seed)
        return found if regulators is None else found.with_regulators(regulators)

    def with_regulators(self, regulators: str | os.PathLike | Iterable[str]) -> Expression:
        """The same with these regulators, from a file or by name; at least one must have expression."""
        if isinstance(regulators, str | os.PathLike):
            chosen, where = tuple(names_in(regulators)), f"{regulators}: "
        else:
            chosen, where = tuple(map(str, regulators)), ""
        if not set(chosen) & set(self.names):
            raise ValueError(
                f"{where}regulators is {show(list(chosen[:3]))}; none of them has expression in "
                f"{self.source}, which has {', '.join(self.names[:3])}, …"
            )
        return dataclasses.replace(self, regulators=chosen, guessed=False)

    def matching(self, graph: DiGraph) -> Matched:
        """Which nodes have expression."""
        return match(graph, self.names, self.source, "expression")

    def suited_to(self, graph: DiGraph) -> Expression:
        """The same, with the sources of a graph as regulators unless they are given."""
        if self.regulators is not None:
            return self
        nodes = text_names(graph.names, graph.num_nodes)
        sources = tuple(nodes[i] for i in np.unique(graph.sources))
        return dataclasses.replace(self, regulators=sources, guessed=True)

    def prepare(self, graph: DiGraph) -> Columns:
        """The numbers of pairs, from the profiles and from the edges of this graph."""
        profiles, forest = self._aligned(graph)
        found: dict[str, tuple[str, Term]] = {kind: (DIRECT, Direct(profiles, kind)) for kind in KINDS}
        for name, term in neighbour_terms(profiles, graph).items():
            found[f"expression: {name}"] = (NEIGHBOURS, term)
        for name, one in forest.items():
            place = one.place_of_source
            if self.guessed:
                place = np.where(np.bincount(graph.sources, minlength=graph.num_nodes) > 0, place, -1)
            found[name] = (TREES, dataclasses.replace(one, place_of_source=place))
        return Columns(graph, found)

    def profiles(self, graph: DiGraph) -> Profiles:
        """The profile of each node of a graph."""
        return self._aligned(graph)[0]

    def _aligned(self, graph: DiGraph) -> tuple[Profiles, dict[str, Between]]:
        """Profiles and importances by node number; the same for all graphs with these nodes."""
        key = (graph.num_nodes, None if graph.names is None else id(graph.names))
        if key not in self._cache:
            self._cache.clear()
            self._cache[key] = (self._rows(graph), self._importances(graph), graph.names)
        return self._cache[key][:2]

    @cached_property
    def _cache(self) -> dict[Any, Any]:
        return {}

    def _rows(self, graph: DiGraph) -> Profiles:
        return Profiles.of(self.values, self.matching(graph).row_of, self.seed)

    def _importances(self, graph: DiGraph) -> dict[str, Between]:
        """Importances, and their ranks among the regulators of a gene and among the genes of a regulator."""
        matched = self.matching(graph)
        nodes, chosen = matched.nodes, text_names(graph.names, graph.num_nodes)
        listed = set(self.regulators if self.regulators is not None else chosen)
        regulators = np.array([i for i in nodes if chosen[i] in listed], np.int64)
        if not len(regulators) or len(regulators) * len(nodes) > MOST_IMPORTANCES:
            return {}
        rows = matched.row_of
        table = importances(self.values[rows[regulators]], self.values[rows[nodes]], self.seed)
        column = np.searchsorted(nodes, regulators)
        table[np.arange(len(regulators)), column] = 0
        places = (np.full(graph.num_nodes, -1), np.full(graph.num_nodes, -1))
        places[0][regulators], places[1][nodes] = np.arange(len(regulators)), np.arange(len(nodes))
        numbers = {
            "importance": table,
            "importance, rank in target": _ranks(table.T).T,
            "importance, rank in source": _ranks(table),
        }
        return {name: Between(x, *places) for name, x in numbers.items()}

    @property
    def tensors(self) -> dict[str, np.ndarray]:
        """The measurements, for a file."""
        if hasattr(self.values, "tocsr"):
            parts = {name: getattr(self.values, name) for name in ("data", "indices", "indptr")}
            return {**parts, "shape": np.array(self.values.shape)}
        return {"values": np.asarray(self.values, np.float32)}

    @property
    def about(self) -> dict[str, Any]:
        """Names and regulators, for a file."""
        regulators = None if self.regulators is None else list(self.regulators)
        more = {name: getattr(self, name) for name in ("source", "seed", "guessed")}
        return {"names": list(self.names), "regulators": regulators, **more}

    @classmethod
    def restored(cls, tensors: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> Expression:
        """From `tensors` and `about`."""
        from scipy.sparse import csr_array

        if "values" in tensors:
            values: Any = tensors["values"]
        else:
            parts = tuple(tensors[name] for name in ("data", "indices", "indptr"))
            values = csr_array(parts, tuple(tensors["shape"].tolist()))
        chosen = about["regulators"]
        names = tuple(map(str, about["names"]))
        regulators = None if chosen is None else tuple(map(str, chosen))
        more = str(about["source"]), int(about["seed"]), bool(about["guessed"])
        return cls(names, values, regulators, *more)

    def __repr__(self) -> str:
        return f"Expression({self.source}, {len(self.names):,} genes × {self.values.shape[1]:,} samples)"


def _ranks(table: np.ndarray) -> np.ndarray:
    """−log of the rank of each entry within its row, the largest first."""
    order = np.argsort(-table, axis=1, kind="stable")
    ranks = np.empty(table.shape, np.float32)
    np.put_along_axis(ranks, order, np.arange(1, table.shape[1] + 1, dtype=np.float32)[None], axis=1)
    return -np.log(ranks)
