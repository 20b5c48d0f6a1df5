"""Evidence from another tool: a list of pairs with scores, complete or not."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike._util.checks import show
from timelike.evidence.listed_terms import Listed, ranked, sorted_table
from timelike.evidence.name_matching import Matched, match
from timelike.evidence.named_table import NamedTable, as_numbers, frame_of
from timelike.evidence.pair_columns import Columns, Term
from timelike.evidence.profile_terms import MOST_ENTRIES, neighbour_terms
from timelike.evidence.profiles import Profiles
from timelike.graphs.digraph import DiGraph
from timelike.io.columns import named_ends

if TYPE_CHECKING:
    import polars as pl
    from scipy.sparse import csr_array

#: Names of the column with the scores; otherwise the first column of numbers after source and target.
SCORES = ("score", "weight", "importance", "confidence", "probability", "value")


@dataclasses.dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Scores of pairs by another tool, such as a list of GENIE3: the higher, the likelier the edge.

    Pairs may be missing. The combiner calibrates scores, ranks within each source and each target, and the
    similarity of a target's scores to those of the source's known targets, without the edge in question.
    `name` tells several lists apart.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    scores: np.ndarray
    name: str = "scores"

    kind = "scores"

    def __post_init__(self) -> None:
        lengths = {len(self.sources), len(self.targets), len(self.scores)}
        if len(lengths) > 1 or not len(self.scores):
            raise ValueError(f"{self.name}: {len(self.scores)} scores; each needs a source and a target")
        if not np.isfinite(self.scores).all():
            wrong = int(np.flatnonzero(~np.isfinite(self.scores))[0])
            raise ValueError(
                f"{self.name}, row {wrong + 1}: the score is {self.scores[wrong]}; leave the row out"
            )

    @classmethod
    def read(cls, table: Any, name: str | None = None) -> ScoredPairs:
        """A file or data frame with columns source, target and score, or rows of these; or a `NamedTable`.

        Without a header that names them, these are the first three columns.
        """
        if isinstance(table, ScoredPairs):
            return table
        if isinstance(table, NamedTable):
            return cls._of_matrix(table, name or table.source)
        if isinstance(table, str | os.PathLike):
            path = Path(table)
            if not path.is_file():
                raise FileNotFoundError(f"{path}: no such file")
            return cls._of_frame(frame_of(path), str(path), name or path.name.split(".")[0])
        import polars as pl

        if hasattr(table, "get_columns"):
            return cls._of_frame(table, "the data frame", name or "scores")
        if hasattr(table, "to_numpy") and hasattr(table, "columns"):
            columns = {str(c): [*table[c]] for c in table.columns}
            return cls._of_frame(pl.DataFrame(columns, strict=False), "the data frame", name or "scores")
        if isinstance(table, Iterable):
            sources, targets, scores = zip(*table, strict=True)
            values = np.asarray(scores, np.float32)
            return cls(tuple(map(str, sources)), tuple(map(str, targets)), values, name or "scores")
        raise TypeError(
            f"scores is {show(table)}; it must be a file, a data frame or rows of pairs with scores"
        )

    @classmethod
    def _of_frame(cls, frame: pl.DataFrame, source: str, name: str) -> ScoredPairs:
        import polars as pl

        if frame.width < 3:
            raise ValueError(f"{source}: {frame.width} columns; source, target and score are needed")
        words = list(frame.columns)
        if any(_is_number(word) for word in words):  # no header: the first line is a pair
            first = pl.DataFrame([[word] for word in words], schema=words)
            frame = pl.concat([first.cast(pl.String), frame.cast(pl.String)])
        ends = named_ends(words) or (0, 1)
        others = [i for i in range(len(words)) if i not in ends]
        at = next((i for i in others if words[i].strip().lower() in SCORES), others[0])
        scores = as_numbers(frame.to_series(at), source)
        known = np.isfinite(scores)
        if not known.any():
            raise ValueError(f"{source}: column {words[at]} has no numbers; it must hold the scores")
        s, t = (frame.to_series(i).cast(pl.String).filter(known).fill_null("").to_list() for i in ends)
        return cls(tuple(s), tuple(t), scores[known], name)

    @classmethod
    def _of_matrix(cls, table: NamedTable, name: str) -> ScoredPairs:
        """All pairs of column → row: targets × sources."""
        values = np.asarray(table.values, np.float32)
        known = np.isfinite(values) & (np.asarray(table.rows)[:, None] != np.asarray(table.columns)[None])
        target, source = np.nonzero(known)
        columns, rows = np.asarray(table.columns, object), np.asarray(table.rows, object)
        return cls(tuple(columns[source]), tuple(rows[target]), values[target, source], name)

    def matching(self, graph: DiGraph) -> Matched:
        """Which nodes have scored pairs."""
        return match(graph, self._names, self.name, f"scores in {self.name}")

    @cached_property
    def _names(self) -> list[str]:
        return list(dict.fromkeys([*self.sources, *self.targets]))

    def prepare(self, graph: DiGraph) -> Columns:
        """Scores, ranks, and what the scores of a target say about it beside the known targets of s."""
        listed, profiles = self._aligned(graph)
        terms: dict[str, Term] = dict(zip(("score", "rank in source", "rank in target"), listed, strict=True))
        if profiles is not None:
            terms |= neighbour_terms(profiles, graph)
        return Columns(graph, {f"{self.name}: {name}": (self.name, term) for name, term in terms.items()})

    def _aligned(self, graph: DiGraph) -> tuple[tuple[Listed, ...], Profiles | None]:
        """Scores and ranks by node numbers, and the profile of each node: its scores as a target."""
        key = (graph.num_nodes, None if graph.names is None else id(graph.names))
        if key not in self._cache:
            self._cache.clear()
            table, profiles = self._make(graph)
            self._cache[key] = ((Listed(table), *ranked(table)), profiles, graph.names)
        return self._cache[key][:2]

    @cached_property
    def _cache(self) -> dict[Any, Any]:
        return {}

    def _make(self, graph: DiGraph) -> tuple[csr_array, Profiles | None]:
        from scipy.sparse import csr_array

        matched = self.matching(graph)
        node = np.full(len(self._names), -1)
        node[matched.row_of[matched.nodes]] = matched.nodes
        number = {name: int(node[i]) for i, name in enumerate(self._names)}
        s, t = (np.array([number[x] for x in end]) for end in (self.sources, self.targets))
        kept = (s >= 0) & (t >= 0) & (s != t)
        s, t, scores = s[kept], t[kept], self.scores[kept]
        order = np.lexsort((-scores, t, s))  # of a pair listed twice, the higher score
        first = np.unique(s[order].astype(np.int64) * graph.num_nodes + t[order], return_index=True)[1]
        s, t, scores = (x[order][first] for x in (s, t, scores))
        shape = (graph.num_nodes, graph.num_nodes)
        table = sorted_table(csr_array((scores.astype(np.float32), (s, t)), shape))
        senders = np.unique(s)
        if len(senders) < 2 or len(senders) * graph.num_nodes > MOST_ENTRIES:
            return table, None
        middle = np.median(np.abs(scores[scores != 0])) if (scores != 0).any() else 1.0
        flat = np.zeros((graph.num_nodes, len(senders)), np.float32)
        flat[t, np.searchsorted(senders, s)] = np.sign(scores) * np.log1p(np.abs(scores) / middle)
        rows = np.where(np.bincount(t, minlength=graph.num_nodes) > 0, np.arange(graph.num_nodes), -1)
        return table, Profiles.of(flat, rows)

    @property
    def tensors(self) -> dict[str, np.ndarray]:
        """The scores and the numbers of their ends, for a file."""
        number = {name: i for i, name in enumerate(self._names)}
        ends = {
            name: np.array([number[x] for x in getattr(self, name)], np.int32)
            for name in ("sources", "targets")
        }
        return {**ends, "scores": np.asarray(self.scores, np.float32)}

    @property
    def about(self) -> dict[str, Any]:
        """The names, for a file."""
        return {"name": self.name, "names": self._names}

    @classmethod
    def restored(cls, tensors: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> ScoredPairs:
        """From `tensors` and `about`."""
        names = [str(name) for name in about["names"]]
        s, t = (tuple(names[i] for i in tensors[end].tolist()) for end in ("sources", "targets"))
        return cls(s, t, tensors["scores"], str(about["name"]))

    def __repr__(self) -> str:
        return f"ScoredPairs({self.name}, {len(self.scores):,} pairs)"


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
