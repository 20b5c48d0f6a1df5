"""The likeliest edges by the joint model: all pairs of a small graph, candidates in a large one.

Candidates are the pairs that some evidence speaks for: the targets that a source reaches along the commonest
patterns of paths, those that the geometry ranks first, and the nodes with the most edges. The joint model
ranks them again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

import numpy as np
from tqdm import tqdm

from timelike._util.checks import instance, whole_number
from timelike._util.progress import SHOWN
from timelike.embedding.exact_ranking import aligned
from timelike.embedding.top_k import UncertainPrediction
from timelike.graphs.digraph import DiGraph, node_numbers

if TYPE_CHECKING:
    from timelike.evidence.joint import Joint

#: Pairs of a block.
BLOCK = 1 << 18


def of_node(
    joint: Joint, node: Hashable, k: int, exclude: DiGraph | None, incoming: bool = False
) -> list[UncertainPrediction]:
    """The k likeliest edges out of a node, or into it if `incoming`."""
    own = {"targets": [node]} if incoming else {"sources": [node]}
    return of_all(joint, k, exclude, own.get("sources"), own.get("targets"))


def of_all(
    joint: Joint,
    k: int,
    exclude: DiGraph | None,
    sources: Iterable[Hashable] | None,
    targets: Iterable[Hashable] | None,
) -> list[UncertainPrediction]:
    """The k likeliest edges from `sources` to `targets` (None: any nodes)."""
    k, count = whole_number("k", k, 1), len(joint.points)
    ends = [
        np.arange(count)
        if nodes is None
        else np.unique(node_numbers(list(nodes), count, joint.names, argument))
        for argument, nodes in (("sources", sources), ("targets", targets))
    ]
    without = [joint.known]
    if exclude is not None:
        instance("exclude", exclude, DiGraph, "the graph of known edges")
        without.append(aligned(exclude, count, joint.names, "exclude"))
    return named(joint, *best_pairs(joint, k, *ends, without))


def best_pairs(
    joint: Joint, k: int, sources: np.ndarray, targets: np.ndarray, without: list[DiGraph]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The k likeliest pairs and their log-odds, best first; of equal ones, the first by number."""
    found = [np.zeros((0, 3))]
    few = len(targets) * 8 < len(joint.points)
    size = max(1, BLOCK // (len(targets) if few else len(joint.points)))
    for start in tqdm(range(0, len(sources), size), "pairs", unit="block", **SHOWN):
        s = np.repeat(sources[start : start + size], len(targets))
        t = np.tile(targets, len(sources[start : start + size]))
        kept = s != t
        for graph in without:
            kept &= ~graph.has_edges(s, t)
        if few:
            s, t = s[kept], t[kept]
            odds = joint.log_odds_by_number(s, t)
        else:
            rows = joint.block(sources[start : start + size])
            odds = rows[:, targets].reshape(-1)[kept]
            s, t = s[kept], t[kept]
        found = [np.concatenate([*found, np.stack([s, t, odds], axis=1)])]
        order = np.lexsort((found[0][:, 1], found[0][:, 0], -found[0][:, 2]))[:k]
        found = [found[0][order]]
    s, t, odds = found[0].T
    return s.astype(np.int64), t.astype(np.int64), odds


def named(joint: Joint, s: np.ndarray, t: np.ndarray, odds: np.ndarray) -> list[UncertainPrediction]:
    """Predictions by name, with probability and spread."""
    probabilities = np.exp(-np.logaddexp(0.0, -odds)).tolist()
    spreads = joint.spread_by_number(s, t).tolist() if len(s) else []
    names = [[joint.name(node) for node in end] for end in (s, t)]
    return [UncertainPrediction(*row) for row in zip(*names, probabilities, spreads, strict=True)]
