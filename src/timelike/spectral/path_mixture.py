"""A mixture of path counts as a linear map: entries for given pairs, products, and singular vectors."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from timelike._util.progress import within_stage
from timelike.evaluation.path_counts import Paths
from timelike.graphs.digraph import DiGraph

#: Patterns of arrows, see `Paths`: the reverse edge, all paths of two and three edges, and one of five. The
#: edge itself is left out: it is what the mixture shall predict.
PATTERNS = (
    "<",
    *("".join(arrows) for length in (2, 3) for arrows in itertools.product("<>", repeat=length)),
    "><><>",
)

#: Up to this number of nodes, the counts of all pairs fit in memory and are faster than those of some pairs.
DENSE = 2048

#: A random projection has this many directions more than wanted, and is multiplied this often.
MORE, ROUNDS = 16, 4

_TURNED = str.maketrans("<>", "><")

#: A tree of patterns by their first arrows: the weight of the path so far, and the ways on.
Tree = tuple[float, Mapping[str, "Tree"]]


@dataclasses.dataclass(frozen=True, eq=False)
class PathMixture:
    """K = Σ wₖ Pₖ over the `PATTERNS`, where (Pₖ)ₛₜ counts the normalised paths from s to t."""

    graph: DiGraph

    def columns(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The counts of the pairs, one column per pattern."""
        if self.graph.num_nodes > DENSE:
            keys = np.asarray(sources, np.int64) * self.graph.num_nodes + targets
            once, place = np.unique(keys, return_inverse=True)
            s, t = np.divmod(once, self.graph.num_nodes)
            patterns = within_stage(PATTERNS, "counting paths", unit="pattern")
            counts = [Paths(self.graph, pattern, True).score(s, t)[place] for pattern in patterns]
        else:
            counts = [self._matrix(pattern)[sources, targets] for pattern in PATTERNS]
        return np.stack(counts, axis=1)

    def singular(self, weights: np.ndarray, rank: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows x and y with x_s·y_t ≈ Kₛₜ, from the largest singular values on: by random projection."""
        nodes, rng = self.graph.num_nodes, np.random.default_rng([seed, 11])
        along = _tree(dict(zip(PATTERNS, weights, strict=True)))
        back = _tree(
            {pattern[::-1].translate(_TURNED): w for pattern, w in zip(PATTERNS, weights, strict=True)}
        )
        basis = rng.standard_normal((nodes, min(rank + MORE, nodes))).astype(np.float32)
        for _ in range(ROUNDS):
            basis = np.linalg.qr(self._times(along, basis))[0]
            basis = np.linalg.qr(self._times(back, basis))[0]
        left, values, right = np.linalg.svd(self._times(along, basis), full_matrices=False)
        roots = np.sqrt(values[:rank])
        return left[:, :rank] * roots, basis @ right[:rank].T * roots

    @cached_property
    def _arrows(self) -> dict[str, csr_array]:
        matrix = Paths(self.graph, ">", True).matrix.astype(np.float32)
        return {">": matrix, "<": matrix.T.tocsr()}

    def _times(self, tree: Tree, vectors: np.ndarray) -> np.ndarray:
        """The product of the mixture with vectors as columns."""
        weight, onwards = tree
        total = np.float32(weight) * vectors
        for arrow, rest in onwards.items():
            total += self._arrows[arrow] @ self._times(rest, vectors)
        return total

    def _matrix(self, pattern: str) -> np.ndarray:
        """The counts of all pairs."""
        if pattern not in self._matrices:
            first = self._arrows[pattern[0]]
            self._matrices[pattern] = first @ self._matrix(pattern[1:]) if pattern[1:] else first.toarray()
        return self._matrices[pattern]

    @cached_property
    def _matrices(self) -> dict[str, np.ndarray]:
        return {}


def _tree(weights: Mapping[str, float]) -> Tree:
    """The tree of these patterns."""
    firsts = dict.fromkeys(pattern[0] for pattern in weights if pattern)
    return weights.get("", 0.0), {
        arrow: _tree({pattern[1:]: w for pattern, w in weights.items() if pattern[:1] == arrow})
        for arrow in firsts
    }
