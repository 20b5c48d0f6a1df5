"""Pairs of nodes labelled as edges or non-edges."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from timelike.graphs.digraph import checked_pairs


class LabelledPairs(NamedTuple):
    """Pairs of nodes with labels: the positives (edges) and negatives (non-edges) of an evaluation."""

    sources: Int[Array, "pairs"]
    targets: Int[Array, "pairs"]
    labels: Bool[Array, "pairs"]

    @classmethod
    def build(cls, positives: np.ndarray, negatives: np.ndarray) -> LabelledPairs:
        """Label an (n, 2) array of edges and an (m, 2) array of non-edges."""
        edges = checked_pairs(positives, None, "positives")
        both = np.concatenate([edges, checked_pairs(negatives, None, "negatives")])
        labels = np.arange(len(both)) < len(edges)
        return cls(jnp.asarray(both[:, 0]), jnp.asarray(both[:, 1]), jnp.asarray(labels))

    @property
    def positives(self) -> np.ndarray:
        """The edges, an (n, 2) array."""
        return self._pairs(np.asarray(self.labels))

    @property
    def negatives(self) -> np.ndarray:
        """The non-edges, an (m, 2) array."""
        return self._pairs(~np.asarray(self.labels))

    @property
    def digest(self) -> str:
        """A short hash that identifies these pairs."""
        pairs = np.concatenate([self.positives, self.negatives]).astype(np.int32)
        return hashlib.sha256(np.append(len(self.positives), pairs).tobytes()).hexdigest()[:16]

    def sample(self, most: int, seed: int = 0) -> LabelledPairs:
        """At most about `most` of the pairs, drawn at random, with the same ratio of labels."""
        labels = np.asarray(self.labels)
        if len(labels) <= most:
            return self
        rng, share = np.random.default_rng(seed), most / len(labels)
        parts = (np.flatnonzero(labels), np.flatnonzero(~labels))
        kept = [rng.choice(part, -int(-share * len(part) // 1), replace=False) for part in parts if len(part)]
        chosen = np.sort(np.concatenate(kept))
        return LabelledPairs(*(jnp.asarray(np.asarray(column)[chosen]) for column in self))

    def _pairs(self, chosen: np.ndarray) -> np.ndarray:
        return np.stack([np.asarray(self.sources), np.asarray(self.targets)], axis=1)[chosen]
