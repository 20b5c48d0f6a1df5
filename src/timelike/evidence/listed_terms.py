"""Terms from scores of listed pairs: the score itself, and its rank among the pairs of s and of t."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from timelike.evidence.profile_terms import UNKNOWN

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclasses.dataclass(frozen=True, eq=False)
class Listed:
    """The entry of a sparse table at (s, t), `UNKNOWN` where it has none."""

    table: csr_array

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The value of each pair."""
        if not self.table.nnz or not len(sources):
            return np.full(len(sources), UNKNOWN, np.float32)
        keys, n = self._keys, self.table.shape[1]
        wanted = np.asarray(sources, np.int64) * n + targets
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[at] == wanted, self.table.data[at], np.float32(UNKNOWN))

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """The values of all pairs from these sources."""
        part = self.table[sources]
        out = np.full(part.shape, UNKNOWN, np.float32)
        row = np.repeat(np.arange(len(sources)), np.diff(part.indptr))
        out[row, part.indices] = part.data
        return out

    @cached_property
    def _keys(self) -> np.ndarray:
        """source · nodes + target of each entry, ascending."""
        n = self.table.shape[1]
        row = np.repeat(np.arange(self.table.shape[0], dtype=np.int64), np.diff(self.table.indptr))
        return row * n + self.table.indices


def ranked(table: csr_array) -> tuple[Listed, Listed]:
    """−log of the rank of each entry within its row, and within its column; equal entries share the best."""
    return Listed(_ranks(table)), Listed(_ranks(table.T.tocsr()).T.tocsr())


def _ranks(table: csr_array) -> csr_array:
    from scipy.sparse import csr_array

    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    order = np.lexsort((-table.data, row))
    value, ordered = table.data[order], row[order]
    new = np.append(True, (value[1:] != value[:-1]) | (ordered[1:] != ordered[:-1]))[: len(order)]
    first = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    rank = np.empty(len(order), np.float32)
    rank[order] = 1 + first - table.indptr[ordered]
    found = csr_array((-np.log(rank), table.indices, table.indptr), table.shape)
    found.sort_indices()
    return found


def sorted_table(table: csr_array) -> csr_array:
    """The table with its columns in order, as `Listed` needs it."""
    table.sort_indices()
    return table


@dataclasses.dataclass(frozen=True, eq=False)
class Between:
    """A dense table of some sources × some targets; `UNKNOWN` outside of it.

    `place_of_source` and `place_of_target` are rows and columns of the nodes, −1: none. Sources that the
    graph does not `allow` have no value.
    """

    table: np.ndarray
    place_of_source: np.ndarray
    place_of_target: np.ndarray

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The value of each pair."""
        row, column = self.place_of_source[sources], self.place_of_target[targets]
        if not self.table.size:
            return np.full(len(row), UNKNOWN, np.float32)
        return np.where((row >= 0) & (column >= 0), self.table[row, column], np.float32(UNKNOWN))

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """The values of all pairs from these sources."""
        every = np.arange(len(self.place_of_target))
        return self.score(np.repeat(sources, len(every)), np.tile(every, len(sources))).reshape(
            -1, len(every)
        )
