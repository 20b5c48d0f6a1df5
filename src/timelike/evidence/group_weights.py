"""How much each group of evidence counts in a joint model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from timelike.evidence.joint import Joint

#: Known edges on which the weights are measured, and as many random pairs.
SAMPLE = 400


def group_weights(joint: Joint, seed: int = 0) -> dict[str, float]:
    """The share of each group in the sizes of all contributions, largest first.

    They are the mean absolute Shapley values over known edges and random pairs, scaled to the sum 1.
    """
    rng, n = np.random.default_rng([seed, 28]), len(joint.points)
    edges = joint.known.pairs[rng.permutation(joint.known.num_edges)[:SAMPLE]]
    pairs = np.concatenate([edges, rng.integers(0, n, (len(edges), 2))])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    _, parts = joint.combiner.contributions(joint.features(*pairs.T))
    groups = np.array(joint.combiner.groups)
    sizes = {group: np.abs(parts[:, groups == group].sum(axis=1)).mean() for group in dict.fromkeys(groups)}
    total = sum(sizes.values()) or 1.0
    shares = {str(group): float(size / total) for group, size in sizes.items()}
    return dict(sorted(shares.items(), key=lambda one: -one[1]))
