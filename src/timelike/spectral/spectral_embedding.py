"""Embed a graph by its paths: an ordinary embedding, so that predictions, files and pictures all work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timelike._util.checks import show
from timelike.graphs.digraph import DiGraph
from timelike.spectral.mixture_weights import Weights, choose_rank, folds_of, learn_weights, popularity
from timelike.spectral.path_mixture import PATTERNS, PathMixture

if TYPE_CHECKING:
    from timelike.embedding.embedding import Embedding

#: The name of this way to get points, in `info["method"]`.
METHOD = "paths"

#: Ranks to choose from, half the number of coordinates; the numbers of a table of points are limited.
RANKS, NUMBERS = (16, 64, 128), 1 << 25

#: The fewest edges from which weights can be learned.
FEWEST = 60


def embed_paths(
    graph: DiGraph, ranks: tuple[int, ...] = RANKS, seed: int = 0, weights: Weights | None = None
) -> Embedding:
    """Events in a flat spacetime with twisted time, in closed form.

    The log-odds of an edge are a mixture of the paths between its ends, plus the popularity of both. A
    logistic regression learns the mixture on held-out edges, with negatives of all four questions; the
    singular vectors of the mixture on all edges are the points. Of several ranks, held-out edges choose one.
    No point depends on a count of its own edge that the same edge was learned from. `weights` that were
    learned already take the place of the regression, and the first rank is used.
    """
    from timelike.baselines import twisted_time
    from timelike.baselines.twisted_time import points_of
    from timelike.core.struct import with_numbers
    from timelike.embedding.embedding import Embedding

    if graph.num_edges < FEWEST:
        raise ValueError(f"graph is {show(graph)}; paths need at least {FEWEST} edges to learn from")
    rank = suited(graph, ranks)[0]
    if weights is None:
        folds = folds_of(graph, seed)
        weights = learn_weights(folds)
        rank = choose_rank(folds[0], weights, suited(graph, ranks), seed)
    sending, receiving = PathMixture(graph).singular(weights.paths, rank, seed)
    points = points_of(sending, receiving, *popularity(graph, weights))
    model = with_numbers(twisted_time(points.shape[1]), {"r": weights.offset})
    mixture = {name: float(w) for name, w in zip(PATTERNS, weights.paths, strict=True)}
    degrees = {"source": weights.source.tolist(), "target": weights.target.tolist()}
    info = {"method": METHOD, "rank": rank, "seed": seed, "paths": mixture, "popularity": degrees}
    return Embedding(model, points, graph.names, {}, info)


def learned_weights(embedding: Embedding) -> Weights | None:
    """The weights behind an embedding, from its record; None if that lacks some of them."""
    from timelike.core.struct import numbers_of

    info = embedding.info
    if "popularity" not in info or [*info["paths"]] != [*PATTERNS]:
        return None
    source, target = (np.array(info["popularity"][end]) for end in ("source", "target"))
    return Weights(np.array([*info["paths"].values()]), source, target, numbers_of(embedding.model)["r"])


def suited(graph: DiGraph, ranks: tuple[int, ...]) -> tuple[int, ...]:
    """The ranks, no larger than the graph and memory allow."""
    most = max(1, min(graph.num_nodes - 1, NUMBERS // (2 * graph.num_nodes)))
    return tuple(dict.fromkeys(min(rank, most) for rank in ranks))
