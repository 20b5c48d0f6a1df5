"""Profiles of nodes: a row of numbers for each, of length 1, so that products are correlations."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any

import numpy as np

#: Profiles with more numbers are cut to their principal components.
MOST_NUMBERS = 256

#: Nodes compared with all others at a time.
BLOCK = 512


@dataclasses.dataclass(frozen=True, eq=False)
class Profiles:
    """z: one row of length 1 for each node, 0 for nodes without a profile; z·z' is the correlation.

    `known` tells which nodes have a profile.
    """

    z: np.ndarray
    known: np.ndarray

    @classmethod
    def of(cls, values: Any, row_of: np.ndarray, seed: int = 0) -> Profiles:
        """Profiles of nodes from the rows of a dense or sparse table, −1: none; the mean where missing."""
        rows = _centred(values) if values.shape[1] <= MOST_NUMBERS else _components(values, seed)
        norms = np.linalg.norm(rows, axis=1)
        rows = rows / np.where(norms > 1e-6, norms, 1)[:, None]
        known = (row_of >= 0) & (norms > 1e-6)[row_of]
        z = np.zeros((len(row_of), rows.shape[1]), np.float32)
        z[known] = rows[row_of[known]]
        return cls(z, known)

    @cached_property
    def background(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of |z·z'| over all other nodes, for each node."""
        n = max(int(self.known.sum()), 2)
        mean, square = np.zeros(len(self.z)), np.zeros(len(self.z))
        for start in range(0, len(self.z), BLOCK):
            near = np.abs(self.z[start : start + BLOCK] @ self.z.T)
            mean[start : start + BLOCK] = near.sum(axis=1) / n
            square[start : start + BLOCK] = (near**2).sum(axis=1) / n
        return mean, np.sqrt(np.maximum(square - mean**2, 1e-12))

    def hat(self, ridge: float) -> tuple[np.ndarray, np.ndarray]:
        """G and the diagonal h of H = Z G Zᵀ, the hat matrix of a ridge regression on the profiles."""
        found = self._hats.get(ridge)
        if found is None:
            gram = self.z.T @ self.z
            g = np.linalg.inv(gram + ridge * np.eye(len(gram), dtype=np.float32)).astype(np.float32)
            found = self._hats[ridge] = g, np.einsum("ij,jk,ik->i", self.z, g, self.z, optimize=True)
        return found

    @cached_property
    def whitened(self) -> Profiles:
        """Profiles with the products Hₛₜ/√(hₛ hₜ), where H is the hat matrix with the ridge penalty 1.

        In them the few directions in which most profiles differ count no more than any other.
        """
        values, vectors = np.linalg.eigh(self.z.T @ self.z)
        rows = self.z @ (vectors / np.sqrt(np.maximum(values, 0) + 1)).astype(np.float32)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return Profiles((rows / np.where(norms > 0, norms, 1)).astype(np.float32), self.known)

    @cached_property
    def _hats(self) -> dict[float, tuple[np.ndarray, np.ndarray]]:
        return {}


def _centred(values: Any) -> np.ndarray:
    """Rows without their mean; missing values are 0."""
    rows = np.asarray(values.toarray() if hasattr(values, "toarray") else values, np.float32)
    some = np.isfinite(rows)
    mean = np.where(some, rows, 0).sum(axis=1) / np.maximum(some.sum(axis=1), 1)
    return np.where(some, rows - mean[:, None], 0).astype(np.float32)


def _components(values: Any, seed: int) -> np.ndarray:
    """The rows without their mean in the first principal directions; a sparse table stays sparse."""
    from sklearn.utils.extmath import randomized_svd

    sparse = hasattr(values, "tocsr")
    rows = values if sparse else _centred(values)
    left, singular, right = randomized_svd(rows, MOST_NUMBERS, n_iter=2, random_state=seed)
    mean = np.asarray(rows.mean(axis=1)).reshape(-1, 1)
    return (left * singular - mean * right.sum(axis=1)).astype(np.float32)
