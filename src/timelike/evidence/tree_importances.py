"""How much each regulator's expression tells of each gene's: importances of extremely randomised trees."""

from __future__ import annotations

import numpy as np

#: Trees, and the most samples that they are grown on.
TREES, MOST_SAMPLES = 300, 400


def importances(regulators: np.ndarray, genes: np.ndarray, seed: int = 0, trees: int = TREES) -> np.ndarray:
    """The mean share of the variance of each gene that splits on each regulator remove, (regulators, genes).

    As GENIE3 (Huynh-Thu et al. 2010), but with trees that split at random (`ExtraTreesRegressor` with
    `max_features=1`): such trees do not look at the gene, so all genes share them. Both tables are
    (nodes, samples).
    """
    from scipy.sparse import csr_array
    from sklearn.ensemble import ExtraTreesRegressor

    rng = np.random.default_rng([seed, 27])
    kept = np.arange(genes.shape[1])
    if len(kept) > MOST_SAMPLES:
        kept = np.sort(rng.choice(len(kept), MOST_SAMPLES, replace=False))
    x, y = (np.ascontiguousarray(_unit(table[:, kept]).T) for table in (regulators, genes))
    found = np.zeros((regulators.shape[0], genes.shape[0]))
    if len(kept) < 3 or not found.size:
        return found.astype(np.float32)
    forest = ExtraTreesRegressor(trees, max_features=1, random_state=seed).fit(x, rng.normal(size=len(x)))
    for one in forest.estimators_:
        tree = one.tree_
        inside = csr_array(one.decision_path(x).T.astype(np.float32))
        shares = (inside @ y) ** 2 / tree.n_node_samples[:, None]
        split = np.flatnonzero(tree.children_left >= 0)
        gain = shares[tree.children_left[split]] + shares[tree.children_right[split]] - shares[split]
        by_feature = csr_array(
            (np.ones(len(split)), (tree.feature[split], np.arange(len(split)))), (len(found), len(split))
        )
        found += by_feature @ gain
    return (found / (trees * len(x))).astype(np.float32)


def _unit(table: np.ndarray) -> np.ndarray:
    """Rows with mean 0 and standard deviation 1."""
    rows = np.asarray(table.toarray() if hasattr(table, "toarray") else table, np.float32)
    rows = np.where(np.isfinite(rows), rows, np.nanmean(rows, axis=1, keepdims=True))
    rows = rows - rows.mean(axis=1, keepdims=True)
    return rows / np.maximum(rows.std(axis=1, keepdims=True), 1e-6)
