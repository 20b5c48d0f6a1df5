"""Gradient-boosted trees as plain tables: learned by LightGBM, evaluated and explained without it."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np

#: The most splits of a tree. A tree looks at no more than this many features, so it is a table of 2³ values.
SPLITS = 3

#: How LightGBM grows the trees; found on the tuning half of the zoo (`benchmarks/zoo`).
PARAMETERS = {
    "objective": "binary",
    "num_leaves": SPLITS + 1,
    "learning_rate": 0.05,
    "min_data_in_leaf": 20,
    "lambda_l2": 5.0,
    "feature_fraction": 0.6,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "max_bin": 63,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,  # more threads are slower on tables of this size
    "verbose": -1,
}
ROUNDS = 200

#: Rows evaluated at a time, so that the columns stay in the cache.
ROWS = 1 << 15


@dataclasses.dataclass(frozen=True, eq=False)
class TreeTables:
    """x ↦ slopes · x + Σ over trees k of values[k, b₀ + 2b₁ + 4b₂].

    Here bᵢ = 1 if x[features[k, i]] > thresholds[k, i]. Every tree has at most `SPLITS` splits; those that it
    lacks have the threshold ∞. The slopes are given, not learned.
    """

    features: np.ndarray  # (trees, SPLITS), columns of x
    thresholds: np.ndarray  # (trees, SPLITS), float32
    values: np.ndarray  # (trees, 2 ** SPLITS), float64
    shares: np.ndarray  # (trees, 2 ** SPLITS), the share of the training rows in each cell
    slopes: np.ndarray  # (columns,)
    means: np.ndarray  # (columns,), of the training rows

    @classmethod
    def learn(
        cls,
        x: np.ndarray,
        labels: np.ndarray,
        weights: np.ndarray,
        seed: int,
        start: np.ndarray | None = None,
        slopes: np.ndarray | None = None,
    ) -> TreeTables:
        """Boost trees for the log-odds of the labels, with LightGBM.

        They begin at the log-odds `start`, which they do not contain; `slopes` (None: 0) come on top of them.
        """
        try:
            import lightgbm
        except OSError as error:  # its wheel needs a library of the system
            raise ImportError(
                f"LightGBM cannot be loaded ({error}); install libgomp (Debian: libgomp1), or fit geometry "
                "alone with evidence none"
            ) from None

        data = lightgbm.Dataset(x, labels, weight=weights, init_score=start)
        booster = lightgbm.train({**PARAMETERS, "seed": seed}, data, ROUNDS)
        rows = [_table(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]]
        features, thresholds, values = (np.stack(part) for part in zip(*rows, strict=True))
        slopes = np.zeros(x.shape[1]) if slopes is None else slopes
        found = cls(features, thresholds, values, np.zeros(values.shape), slopes, x.mean(axis=0, dtype=float))
        return dataclasses.replace(found, shares=found._shares(x))

    def score(self, x: np.ndarray) -> np.ndarray:
        """The value of each row of x, (rows, features)."""
        out = x @ self.slopes
        for start in range(0, len(x), ROWS):
            columns = np.ascontiguousarray(x[start : start + ROWS].T)
            part = out[start : start + ROWS]
            for tree, table in enumerate(self.values):
                part += table[self._cells(columns, tree)]
        return out

    def contributions(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """The mean score, and how much each feature adds to it in each row, (rows, features).

        The contributions are exact Shapley values of the trees, tree by tree, with the cells of the training
        rows as the background: mean + their sum is the score.
        """
        columns, out = np.ascontiguousarray(x.T), (x - self.means) * self.slopes
        mean = float(self.means @ self.slopes)
        for tree in range(len(self.values)):
            cells = self._cells(columns, tree)
            table, average = _shapley(self.values[tree], self.shares[tree])
            mean += average
            for split, feature in enumerate(self.features[tree]):
                out[:, feature] += table[split][cells]
        return mean, out

    def _cells(self, columns: np.ndarray, tree: int) -> np.ndarray:
        """The cell of each row, a number of `SPLITS` bits."""
        bits = [columns[f] > at for f, at in zip(self.features[tree], self.thresholds[tree], strict=True)]
        cells = np.zeros(columns.shape[1], np.uint8)
        for i, bit in enumerate(bits):
            cells |= bit.view(np.uint8) << i
        return cells

    def _shares(self, x: np.ndarray) -> np.ndarray:
        columns = np.ascontiguousarray(x.T)
        counts = [np.bincount(self._cells(columns, tree), minlength=8) for tree in range(len(self.values))]
        return np.stack(counts) / max(len(x), 1)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The tables by name, for a file."""
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}


def _table(root: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, thresholds and values of one of LightGBM's trees."""
    splits: list[dict[str, Any]] = []

    def collect(node: dict[str, Any]) -> None:
        if "split_feature" in node:
            splits.append(node)
            collect(node["left_child"])
            collect(node["right_child"])

    collect(root)
    places = {split["split_index"]: i for i, split in enumerate(splits)}
    features, thresholds = np.zeros(SPLITS, np.int32), np.full(SPLITS, np.inf, np.float32)
    for i, split in enumerate(splits):
        features[i], thresholds[i] = split["split_feature"], _below(split["threshold"])

    def value(node: dict[str, Any], bits: int) -> float:
        while "split_feature" in node:
            right = bits >> places[node["split_index"]] & 1
            node = node["right_child" if right else "left_child"]
        return float(node["leaf_value"])

    return features, thresholds, np.array([value(root, bits) for bits in range(2**SPLITS)])


def _below(threshold: float) -> np.float32:
    """The largest single-precision number ≤ threshold: x > it as x > threshold for any such x."""
    found = np.float32(threshold)
    return np.nextafter(found, np.float32(-np.inf)) if found > threshold else found


def _shapley(values: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, float]:
    """For every split and cell the Shapley value of the split, and the mean value.

    v(S) is the mean over the training rows of the value with the bits of S taken from the cell.
    """
    count = len(values)
    cells = np.arange(count)
    known = {
        mask: values[(cells[:, None] & mask) | (cells[None, :] & ~mask & (count - 1))] @ shares
        for mask in range(count)
    }
    out = np.zeros((SPLITS, count))
    for split in range(SPLITS):
        others = [i for i in range(SPLITS) if i != split]
        for size in range(SPLITS):
            weight = math.factorial(size) * math.factorial(SPLITS - 1 - size) / math.factorial(SPLITS)
            for chosen in itertools.combinations(others, size):
                mask = sum(1 << i for i in chosen)
                out[split] += weight * (known[mask | 1 << split] - known[mask])
    return out, float(values @ shares)
