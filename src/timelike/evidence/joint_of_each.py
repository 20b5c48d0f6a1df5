"""The likeliest targets of many sources by the joint model, some sources at a time.

Of all nodes, or in a large graph of candidates: the targets that the geometry or its inner products rank
first, and those with the most paths s → z ← w → t and s → z → t. `Recall` measures what the candidates miss.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from timelike.embedding.exact_ranking import ranker
from timelike.embedding.inner_products import better_by_products, inner_products
from timelike.embedding.targets_of_each import PIECE, Ranked, best_by_products, best_targets
from timelike.evaluation.path_counts import Paths
from timelike.evidence.joint_ranking import BLOCK, MOST_PAIRS, SOURCES, most_paths, unknown
from timelike.graphs.digraph import DiGraph

if TYPE_CHECKING:
    from timelike.embedding.embedding import Embedding
    from timelike.evidence.joint import Joint

#: Targets of a source on the shortlist: this many times those that are wanted, and some more; and candidates
#: of a source that the geometry ranks first.
LONGER, SPARE, BY_GEOMETRY = 5, 50, 40

#: Sources for which the candidates are compared with all nodes.
CHECKED = 12


def best_of_each(joint: Joint, k: int, sources: np.ndarray, without: list[DiGraph]) -> Iterator[Ranked]:
    """The k likeliest targets of each source and their log-odds, some sources at a time.

    Of all nodes, or of candidates if there are more than `MOST_PAIRS` pairs.
    """
    nodes = len(joint.points)
    never = joint.embedding.strangers(joint.known, True)
    pieces: Iterator[tuple[np.ndarray, np.ndarray]]
    if len(sources) * nodes <= MOST_PAIRS:
        size = max(1, BLOCK // nodes)
        pieces = (
            _first_of_all(joint, k, sources[i : i + size], never, without)
            for i in range(0, len(sources), size)
        )
    else:
        pieces = _candidates_of_each(joint, sources, never, without)
    for s, t in pieces:
        features = joint.features(s, t)
        kept = best_rows(s, t, joint.combiner.trees[0].score(features), LONGER * k + SPARE)
        s, t = s[kept], t[kept]
        odds = joint.combiner.log_odds(features[kept])
        kept = best_rows(s, t, odds, k)
        yield Ranked(s[kept], t[kept], odds[kept])


class Recall(NamedTuple):
    """The share of the best `k` targets of each of `sources` random sources that are candidates."""

    share: float
    k: int
    sources: int

    @property
    def text(self) -> str:
        """A sentence."""
        return (
            f"ranked candidates, not all pairs; they hold {100 * self.share:.0f} % of the {self.k:,} "
            f"likeliest targets of {self.sources} random sources"
        )


def measured_recall(joint: Joint, k: int, sources: np.ndarray, without: list[DiGraph]) -> Recall | None:
    """What candidates miss; None if all pairs are ranked."""
    nodes = len(joint.points)
    if len(sources) * nodes <= MOST_PAIRS:
        return None
    never = joint.embedding.strangers(joint.known, True)
    some = np.sort(np.random.default_rng(0).choice(sources, min(CHECKED, len(sources)), replace=False))
    pairs = []
    for source in some:
        s, t = _first_of_all(joint, k, source[None], never, without)
        best = best_rows(s, t, joint.log_odds_by_number(s, t), k)
        pairs.append(s[best] * nodes + t[best])
    exact, found = (
        np.concatenate(pairs),
        [s * nodes + t for s, t in _candidates_of_each(joint, some, never, without)],
    )
    return Recall(float(np.isin(exact, np.concatenate(found)).mean()), k, len(some))


def _first_of_all(
    joint: Joint, k: int, sources: np.ndarray, never: np.ndarray, without: list[DiGraph]
) -> tuple[np.ndarray, np.ndarray]:
    """For each source, the best targets by the first member, more than are wanted."""
    nodes = len(joint.points)
    s, t = np.repeat(sources, nodes), np.tile(np.arange(nodes), len(sources))
    scores = joint.glance(sources).reshape(-1)
    kept = unknown(s, t, without) & ~np.isin(t, never)
    s, t, scores = s[kept], t[kept], scores[kept]
    best = best_rows(s, t, scores, LONGER * k + SPARE)
    return s[best].astype(np.int64), t[best].astype(np.int64)


def _candidates_of_each(
    joint: Joint, sources: np.ndarray, never: np.ndarray, without: list[DiGraph]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each source, targets that the geometry or paths speak for, each once."""
    embedding, nodes = joint.embedding, len(joint.points)
    allowed = np.ones(nodes, bool)
    allowed[never] = False
    paths = [Paths(joint.known, pattern, True) for pattern in ("><>", ">>")]
    near = _near(embedding, sources, joint.known, never)
    for piece, ranked in zip(_in_pieces(sources), near, strict=True):
        keys = [ranked.sources * nodes + ranked.targets]
        for one in paths:
            for start in range(0, len(piece), SOURCES):
                s, t = most_paths(one, piece[start : start + SOURCES], allowed)
                keys.append(s.astype(np.int64) * nodes + t)
        s, t = np.divmod(np.unique(np.concatenate(keys)), nodes)
        kept = unknown(s, t, without)
        place = np.empty(nodes, np.int64)
        place[piece] = np.arange(len(piece))
        order = np.argsort(place[s[kept]], kind="stable")
        yield s[kept][order], t[kept][order]


def _near(embedding: Embedding, sources: np.ndarray, known: DiGraph, never: np.ndarray) -> Iterator[Ranked]:
    """What the geometry speaks for, by inner products where these are better."""
    if embedding.members == 1 and better_by_products(embedding.model):
        return best_by_products(inner_products(embedding), sources, BY_GEOMETRY, known, never)
    model = ranker(embedding.model, embedding.score, embedding.members)
    return best_targets(model, embedding.columns, sources, BY_GEOMETRY, known, never)


def _in_pieces(sources: np.ndarray) -> Iterator[np.ndarray]:
    return (sources[start : start + PIECE] for start in range(0, len(sources), PIECE))


def best_rows(s: np.ndarray, t: np.ndarray, scores: np.ndarray, count: int) -> np.ndarray:
    """The places of the `count` highest scores of each source, the sources in their order, best first.

    The pairs of a source lie together; of equal scores, the first node comes first.
    """
    start = np.append(True, s[1:] != s[:-1]) if len(s) else np.zeros(0, bool)
    row = np.cumsum(start)
    order = np.lexsort((t, -scores, row))
    rank = np.arange(len(s)) - np.flatnonzero(start)[row - 1] if len(s) else np.zeros(0, int)
    return order[rank < count]
