"""Arguments of the estimator, checked: the graph, validation edges, pairs to score."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import validate_data

from timelike._util.checks import share, show
from timelike.embedding.calibration import FEWEST
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.negative_kinds import draw_negatives
from timelike.evaluation.splits import split_edges
from timelike.evidence.node_features import NodeFeatures
from timelike.graphs.digraph import DiGraph
from timelike.io import read
from timelike.io.edge_shards import AnyGraph, EdgeShards

#: Negatives per held-out edge.
RATIO = 4

#: Graphs with more edges are trained once, in the geometry that their description suggests, and not refitted.
MOST_EDGES = 10**6


def hold_out(
    known: DiGraph, valid: Any, fraction: float, seed: int, negatives: str
) -> tuple[DiGraph, LabelledPairs | None, str]:
    """Training edges, validation pairs, and if there are no such pairs, the reason.

    `valid` are `LabelledPairs`, edges (negatives are drawn), or None: hold out a `fraction`, the latest edges
    of a graph with times. `negatives` is the kind that is drawn.
    """
    if isinstance(valid, LabelledPairs):
        return known, valid, ""
    if valid is not None:
        edges = np.unique(_in_numbers_of(known, read(valid)), axis=0)
        if not len(edges):
            raise ValueError("valid has no edge between two different nodes; pass at least one")
        drawn = draw_negatives(negatives, known.with_edges(edges), edges, RATIO, seed)
        return known, LabelledPairs.build(edges, drawn), ""
    if share("valid_fraction", fraction) * known.num_edges < FEWEST:
        return known, None, "there are too few edges to hold some out"
    if known.num_edges == known.num_nodes * (known.num_nodes - 1):
        return known, None, "the graph is complete, so there are no negatives"
    by = "edges" if known.times is None else "time"
    split = split_edges(known, fraction, 0, seed, negatives=negatives, ratio=RATIO, by=by)
    return split.train, split.valid, ""


def said_of_validation(known: DiGraph, edges: np.ndarray) -> list[str]:
    """Notes about validation edges, (n, 2): which are dropped, and which make the validation unfair."""
    once = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
    loops = int(np.sum(edges[:, 0] == edges[:, 1]))
    learned = int(known.has_edges(once[:, 0], once[:, 1]).sum())
    counts = {
        "that are self-loops, dropped": loops,
        "that are repeated, dropped": len(edges) - loops - len(once),
    }
    said = [f"validation edges {what}: {count:,}" for what, count in counts.items() if count]
    if learned:
        share = f"{learned:,} of {len(once):,} validation edges"
        said.append(f"{share} are also training edges: the validation is not fair")
    return said


def with_missing(graph: DiGraph, edges: np.ndarray) -> DiGraph:
    """The graph with the missing ones of the (n, 2) `edges`, with weight 1 if it has weights."""
    missing = edges[~graph.has_edges(*edges.T)]
    if not len(missing):
        return graph
    return graph.with_edges(
        missing, weights=None if graph.weights is None else np.ones(len(missing), np.float32)
    )


def with_feature_nodes(graph: AnyGraph, evidence: Any) -> AnyGraph:
    """The graph with the nodes that features know but no edge names."""
    parts = evidence if isinstance(evidence, list | tuple) else [evidence]
    for one in parts:
        if isinstance(one, NodeFeatures) and isinstance(graph, DiGraph):
            graph = one.with_nodes(graph)
    return graph


def _in_numbers_of(graph: DiGraph, other: DiGraph) -> np.ndarray:
    """The edges of another graph, (n, 2), in the node numbers of this graph, matched by name."""
    edges = other.pairs
    used = np.unique(edges)
    numbers = graph.numbers([other.name(int(node)) for node in used], "valid")
    return numbers[np.searchsorted(used, edges)]


def read_graph(graph: Any, estimator: Any) -> AnyGraph:
    """The graph, checked; matrices also in scikit-learn's way, for its estimators."""
    if isinstance(graph, EdgeShards):
        return graph
    if _is_matrix(graph):
        graph = validate_data(estimator, graph, accept_sparse=("csr", "csc", "coo"), ensure_min_samples=2)
        if graph.shape[0] != graph.shape[1]:
            raise ValueError(f"graph has shape {graph.shape}; an adjacency matrix must be square")
        graph = graph if hasattr(graph, "tocoo") else csr_array(graph)
    found = read(graph)
    if found.num_nodes < 2 or not found.num_edges:
        raise ValueError(f"graph is {found}; an embedding needs at least two nodes and an edge")
    return found


def _is_matrix(graph: Any) -> bool:
    """Whether this is an adjacency matrix, not edges in two or three columns."""
    if isinstance(graph, list):
        return bool(graph) and isinstance(graph[0], list) and len(graph[0]) not in (2, 3)
    if not isinstance(graph, np.ndarray):
        return hasattr(graph, "tocoo")
    if graph.ndim != 2 or graph.shape[1] not in (2, 3):
        return True
    return graph.dtype.kind == "f" and bool(np.any(graph[:, :2] != np.floor(graph[:, :2])))


def ends_of(pairs: Any) -> tuple[Any, Any]:
    """Sources and targets of (n, 2) pairs of names or numbers, or of a frame with two columns."""
    if hasattr(pairs, "tocoo"):
        raise TypeError("pairs is a sparse matrix; it must be a list of (source, target), not sparse")
    if hasattr(pairs, "to_numpy"):
        pairs = pairs.to_numpy()
    if isinstance(pairs, np.ndarray):
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ValueError(f"pairs has shape {pairs.shape}; it must be (pairs, 2). Reshape your data")
        return pairs[:, 0], pairs[:, 1]
    rows = [
        (pair,) if isinstance(pair, str) or not isinstance(pair, Iterable) else tuple(pair) for pair in pairs
    ]
    bad = next((i for i, row in enumerate(rows) if len(row) != 2), None)
    if bad is not None:
        raise ValueError(f"pairs[{bad}] is {show(rows[bad])}; it must be (source, target)")
    return [row[0] for row in rows], [row[1] for row in rows]


def labels_of(y: Any, count: int) -> np.ndarray:
    """Labels of `count` pairs, 1 or 0 each, as booleans."""
    labels = np.asarray(y)
    if labels.shape != (count,) or not np.isin(labels, (0, 1)).all():
        raise ValueError(f"y is {show(y)}; it must hold 1 (an edge) or 0 for each of the {count} pairs")
    return labels.astype(bool)
