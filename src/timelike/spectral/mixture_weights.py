"""How much each pattern of paths and the degrees count: a logistic regression on held-out edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from timelike.evaluation.metrics import average_precision
from timelike.evaluation.questions import QUESTIONS, draw_questions
from timelike.graphs.digraph import DiGraph
from timelike.spectral.path_mixture import DENSE, PATTERNS, PathMixture

#: The edges are cut into this many folds, of which some are held out in turn, and at most so many edges each:
#: fewer where counts of all pairs are not kept, which then take long.
FOLDS, HELD_OUT, MOST, MOST_SPARSE = 5, 3, 4000, 1000

#: The ridge penalty on standardised weights, and the most Newton steps.
RIDGE, STEPS = 1.0, 30

#: A larger rank must gain this much AP.
GAIN = 0.002


class Weights(NamedTuple):
    """Weights of the paths and of the node columns at source and target, and the offset of the log-odds."""

    paths: np.ndarray
    source: np.ndarray
    target: np.ndarray
    offset: float


class Fold(NamedTuple):
    """A graph without some edges; pairs of these edges and of non-edges, labelled, by question."""

    mixture: PathMixture
    pairs: np.ndarray
    labels: np.ndarray
    question: np.ndarray


def folds_of(graph: DiGraph, seed: int) -> list[Fold]:
    """Graphs without a fold of the edges each, and pairs for all four questions about these edges."""
    rng = np.random.default_rng([seed, 12])
    part = rng.permutation(graph.num_edges) % FOLDS
    most = MOST if graph.num_nodes <= DENSE else MOST_SPARSE
    found = []
    for number in range(HELD_OUT):
        edges = graph.pairs[part == number][:most]
        drawn, _ = draw_questions(graph, edges, seed + number)
        kinds = [*QUESTIONS]
        pairs = [rows for negatives in drawn.values() for rows in (edges, negatives)]
        labels = [np.full(len(rows), i % 2 == 0) for i, rows in enumerate(pairs)]
        question = [np.full(len(rows), kinds.index([*drawn][i // 2])) for i, rows in enumerate(pairs)]
        mixture = PathMixture(graph.subgraph(part != number))
        found.append(Fold(mixture, *(np.concatenate(x) for x in (pairs, labels, question))))
    return found


def node_columns(graph: DiGraph) -> np.ndarray:
    """What popularity is made of: the logarithms of both degrees, and whether they are 0."""
    leaving, entering = np.diff(graph.row_starts), np.bincount(graph.targets, minlength=graph.num_nodes)
    columns = [np.log1p(leaving), np.log1p(entering), leaving == 0, entering == 0]
    return np.stack(columns, axis=1).astype(float)


def learn_weights(folds: list[Fold]) -> Weights:
    """Learn on the held-out edges of all folds; each question has an offset of its own."""
    rows = np.concatenate([_columns(fold) for fold in folds])
    labels, question = (np.concatenate([fold[i] for fold in folds]) for i in (2, 3))
    scale = rows.std(axis=0)
    scale[scale == 0] = np.inf  # a constant column gets no weight
    offsets = (question[:, None] == np.arange(len(QUESTIONS))).astype(float)
    found = _regression(np.hstack([rows / scale, offsets]), labels, rows.shape[1])
    slopes = np.append(found[: rows.shape[1]] / scale, found[rows.shape[1]])
    paths, nodes = len(PATTERNS), (rows.shape[1] - len(PATTERNS)) // 2
    of_paths, source, target = np.split(slopes[:-1], [paths, paths + nodes])
    return Weights(of_paths, source, target, float(slopes[-1]))


def choose_rank(fold: Fold, weights: Weights, ranks: tuple[int, ...], seed: int) -> int:
    """The smallest rank, of several, with almost the best mean AP over the questions of a fold."""
    if len(ranks) == 1:
        return ranks[0]
    x, y = fold.mixture.singular(weights.paths, max(ranks), seed)
    a, b = popularity(fold.mixture.graph, weights)
    s, t = fold.pairs.T
    reached = {}
    for rank in ranks:
        scores = np.einsum("ij,ij->i", x[s, :rank], y[t, :rank]) + a[s] + b[t]
        each = [fold.question == number for number in np.unique(fold.question)]
        reached[rank] = np.mean([average_precision(scores[one], fold.labels[one]) for one in each])
    return next(rank for rank in sorted(ranks) if reached[rank] >= max(reached.values()) - GAIN)


def popularity(graph: DiGraph, weights: Weights) -> tuple[np.ndarray, np.ndarray]:
    """The popularity of every node, as a source and as a target."""
    columns = node_columns(graph)
    return columns @ weights.source, columns @ weights.target


def _columns(fold: Fold) -> np.ndarray:
    """Paths of the pairs, then the node columns of their sources and targets."""
    s, t = fold.pairs.T
    nodes = node_columns(fold.mixture.graph)
    return np.hstack([fold.mixture.columns(s, t), nodes[s], nodes[t]])


def _regression(rows: np.ndarray, labels: np.ndarray, penalised: int) -> np.ndarray:
    """Logistic regression by Newton's method, with a ridge penalty on the first columns."""
    ridge = np.where(np.arange(rows.shape[1]) < penalised, RIDGE, 1e-6)
    found = np.zeros(rows.shape[1])

    def loss(x: np.ndarray) -> float:
        odds = rows @ x
        return float(np.sum(np.logaddexp(0, odds) - labels * odds) + ridge @ x**2 / 2)

    reached = loss(found)
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-(rows @ found)))
        slope = rows.T @ (likely - labels) + ridge * found
        bend = (rows * (likely * (1 - likely))[:, None]).T @ rows + np.diag(ridge)
        step, size = np.linalg.solve(bend, slope), 1.0
        while size > 1e-4 and loss(found - size * step) > reached:
            size /= 2
        found = found - size * step
        before, reached = reached, loss(found)
        if before - reached < 1e-6 * before:
            break
    return found
