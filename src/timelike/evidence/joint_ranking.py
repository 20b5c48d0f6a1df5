"""The likeliest edges by the joint model: of all pairs in a small graph, of candidates in a large one.

Candidates are the pairs that the geometry ranks first, and for each source the targets with the most paths
s → z ← w → t and s → z → t. The joint model ranks them.

Nodes for which nothing was learned (`Embedding.strangers`) are answered only if they are named.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from timelike._util.checks import instance, whole_number
from timelike._util.html_tables import Rows
from timelike._util.progress import bar
from timelike.embedding.exact_ranking import aligned, ranker
from timelike.embedding.exact_ranking import best_pairs as best_pairs_by_geometry
from timelike.embedding.top_k import UncertainPrediction
from timelike.evaluation.path_counts import Paths
from timelike.graphs.digraph import DiGraph, node_numbers

if TYPE_CHECKING:
    from timelike.evidence.joint import Joint

#: Sources whose paths are counted at a time.
SOURCES = 1 << 10

#: Pairs of a block.
BLOCK = 1 << 18

#: With more pairs than this, only candidates are ranked: those that the geometry ranks first, and this many
#: targets of each source by each pattern of paths.
MOST_PAIRS, BY_GEOMETRY, BY_PATHS = 8_000_000, 100_000, 20

#: Pairs of the shortlist: this many times those that are wanted, and some more for each source, to a limit.
LONGER, SPARE_OF_EACH, SPARE = 20, 200, 10_000


def of_node(
    joint: Joint, node: Hashable, k: int, exclude: DiGraph | None, incoming: bool = False
) -> Rows[UncertainPrediction]:
    """The k likeliest edges out of a node, or into it if `incoming`."""
    own = {"targets": [node]} if incoming else {"sources": [node]}
    return of_all(joint, k, exclude, own.get("sources"), own.get("targets"))


def of_all(
    joint: Joint,
    k: int,
    exclude: DiGraph | None,
    sources: Iterable[Hashable] | None,
    targets: Iterable[Hashable] | None,
) -> Rows[UncertainPrediction]:
    """The k likeliest edges from `sources` to `targets` (None: any nodes)."""
    k, count = whole_number("k", k, 1), len(joint.points)
    ends = []
    for incoming, nodes in enumerate((sources, targets)):
        if nodes is None:
            ends.append(np.delete(np.arange(count), joint.embedding.strangers(joint.known, bool(incoming))))
        else:
            ends.append(
                np.unique(node_numbers(list(nodes), count, joint.names, ("sources", "targets")[incoming]))
            )
    return named(joint, *best_pairs(joint, k, ends[0], ends[1], left_out(joint, exclude)))


def left_out(joint: Joint, exclude: DiGraph | None) -> list[DiGraph]:
    """The graphs whose edges are no answers."""
    if exclude is None:
        return [joint.known]
    instance("exclude", exclude, DiGraph, "the graph of known edges")
    other = aligned(exclude, len(joint.points), joint.names, "exclude")
    return [joint.known] if other is joint.known else [joint.known, other]


def best_pairs(
    joint: Joint, k: int, sources: np.ndarray, targets: np.ndarray, without: list[DiGraph]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The k likeliest pairs and their log-odds, best first; of equal ones, the first by number.

    With many pairs, the first member of the model makes a shortlist, and all members rank it; with more than
    `MOST_PAIRS`, only candidates are ranked.
    """
    if len(sources) * len(targets) <= BLOCK // 8 or 8 * len(targets) < len(joint.points):
        s, t = np.repeat(sources, len(targets)), np.tile(targets, len(sources))
        kept = unknown(s, t, without)
        s, t = s[kept], t[kept]
    elif len(sources) * len(targets) > MOST_PAIRS:
        s, t = _candidates(joint, BY_GEOMETRY + k, sources, targets, without)
    else:
        spare = min(SPARE, SPARE_OF_EACH * len(sources))
        s, t = _shortlist(joint, LONGER * k + spare, sources, targets, without)
    odds = joint.log_odds_by_number(s, t)
    order = np.lexsort((t, s, -odds))[:k]
    return s[order], t[order], odds[order]


def _shortlist(
    joint: Joint, count: int, sources: np.ndarray, targets: np.ndarray, without: list[DiGraph]
) -> tuple[np.ndarray, np.ndarray]:
    """The `count` best pairs by the first member."""
    found = np.zeros((0, 3))
    size = max(1, BLOCK // len(joint.points))
    starts = range(0, len(sources), size)
    for start in bar(starts, "pairs", unit="block") if len(starts) > 1 else starts:
        here = sources[start : start + size]
        s, t = np.repeat(here, len(targets)), np.tile(targets, len(here))
        scores = joint.glance(here)[:, targets].reshape(-1)
        kept = unknown(s, t, without)
        if len(found) == count:
            kept &= scores > found[:, 2].min()
        found = np.concatenate([found, np.stack([s[kept], t[kept], scores[kept]], axis=1)])
        if len(found) > count:
            found = found[np.argpartition(-found[:, 2], count - 1)[:count]]
    s, t, _ = found.T
    return s.astype(np.int64), t.astype(np.int64)


def _candidates(
    joint: Joint, count: int, sources: np.ndarray, targets: np.ndarray, without: list[DiGraph]
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs that the geometry or paths speak for, each once."""
    embedding, nodes = joint.embedding, len(joint.points)
    model = ranker(embedding.model, embedding.score, embedding.members)
    s, t, _ = best_pairs_by_geometry(model, embedding.columns, count, without[0], sources, targets)
    keys = [s.astype(np.int64) * nodes + t]
    allowed = np.zeros(nodes, bool)
    allowed[targets] = True
    for pattern in ("><>", ">>"):
        paths = Paths(joint.known, pattern, True)
        for start in bar(range(0, len(sources), SOURCES), f"paths {pattern}", unit="block"):
            s, t = most_paths(paths, sources[start : start + SOURCES], allowed)
            keys.append(s.astype(np.int64) * nodes + t)
    s, t = np.divmod(np.unique(np.concatenate(keys)), nodes)
    kept = unknown(s, t, without)
    return s[kept], t[kept]


def most_paths(paths: Paths, sources: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each source, the `BY_PATHS` targets with the highest counts."""
    rows = paths.sparse_rows(sources)
    counts = np.where(allowed[rows.indices], rows.data, 0)
    known = np.diff(paths.graph.row_starts)[sources]
    high = [
        _highest(part, BY_PATHS + 1 + n)
        for part, n in zip(np.split(counts, rows.indptr[1:-1]), known, strict=True)
    ]
    row = np.repeat(np.arange(len(sources)), [len(places) for places in high])
    places = np.concatenate(high) + rows.indptr[row]
    column, count = rows.indices[places], counts[places]
    fits = (column != sources[row]) & ~paths.graph.has_edges(sources[row], column)
    row, column, count = row[fits], column[fits], count[fits]
    order = np.lexsort((column, -count, row))
    row, column = row[order], column[order]
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    return sources[row[rank < BY_PATHS]], column[rank < BY_PATHS]


def _highest(values: np.ndarray, count: int) -> np.ndarray:
    """The places of the positive values among the `count` highest, and of those equal to the last of them."""
    least = np.partition(values, -count)[-count] if len(values) > count else 0
    return np.flatnonzero((values >= least) & (values > 0))


def unknown(s: np.ndarray, t: np.ndarray, without: list[DiGraph]) -> np.ndarray:
    """Whether each pair is neither a self-pair nor an edge of one of the graphs."""
    kept = s != t
    for graph in without:
        kept &= ~graph.has_edges(s, t)
    return kept


def named(joint: Joint, s: np.ndarray, t: np.ndarray, odds: np.ndarray) -> Rows[UncertainPrediction]:
    """Predictions by name, with probability and spread."""
    probabilities = np.exp(-np.logaddexp(0.0, -odds)).tolist()
    spreads = joint.spread_by_number(s, t).tolist() if len(s) else []
    names = [[joint.name(node) for node in end] for end in (s, t)]
    return Rows(UncertainPrediction(*row) for row in zip(*names, probabilities, spreads, strict=True))
