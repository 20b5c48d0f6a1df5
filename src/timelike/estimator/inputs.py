"""Arguments of the estimator, checked: the graph, validation edges, pairs to score."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import validate_data

from timelike._util.checks import share, show
from timelike.embedding.calibration import FEWEST
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.negative_kinds import draw_negatives, suitable_negatives
from timelike.evaluation.splits import split_edges
from timelike.evidence.node_features import NodeFeatures
from timelike.graphs.digraph import DiGraph
from timelike.graphs.growth import grown_numbers
from timelike.io import read
from timelike.io.edge_shards import AnyGraph, EdgeShards
from timelike.io.foreign_graphs import is_edge_index

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
            raise ValueError(
                f"graph has shape {graph.shape}; an adjacency matrix must be square. "
                "For cross-validation pass the edges, an (m, 2) array such as graph.pairs"
            )
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
    if is_edge_index(graph):
        return False
    if graph.ndim != 2 or graph.shape[1] not in (2, 3):
        return True
    return graph.dtype.kind == "f" and bool(np.any(graph[:, :2] != np.floor(graph[:, :2])))


def nodes_of(graph: Any, estimator: Any) -> list[Any]:
    """The nodes of a graph, in its order, or of a list of nodes by name."""
    names = estimator.embedding_.names
    if isinstance(graph, list | tuple | np.ndarray) and np.ndim(graph[:1]) == 1:
        return list(graph)
    found = read_graph(graph, estimator)
    count = len(estimator.embedding_.points)
    if isinstance(found, DiGraph) and found.names is None and names is None and found.num_nodes != count:
        raise ValueError(f"graph is {found}; the model has {count:,} nodes. Add new ones with update(edges)")
    return [found.name(i) for i in range(found.num_nodes)]


def edges_and_negatives(edges: Any, known: DiGraph, seed: int) -> LabelledPairs:
    """Held-out edges and four negatives for each, of the kind that suits the known graph."""
    graph = read(edges)
    numbers, _, _ = grown_numbers(graph, known.num_nodes, known.names)
    pairs = numbers[graph.pairs]
    pairs = pairs[(pairs < known.num_nodes).all(axis=1)]
    if not len(pairs):
        raise ValueError(
            f"none of the {graph.num_edges:,} edges joins nodes of the model; learn new ones by update(edges)"
        )
    learned = int(known.has_edges(*pairs.T).sum())
    for count, what in (
        (graph.num_edges - len(pairs), "have nodes that the model does not know, and are left out"),
        (learned, "are known to the model: the score is not fair"),
    ):
        if count:
            warnings.warn(f"{count:,} of {graph.num_edges:,} edges {what}", stacklevel=3)
    kind = suitable_negatives(known)
    return LabelledPairs.build(pairs, draw_negatives(kind, known.with_edges(pairs), pairs, RATIO, seed))


def ends_of(pairs: Any) -> tuple[Any, Any]:
    """Sources and targets of (n, 2) pairs of names or numbers, of a frame with two columns, of an array of
    shape (2, n), or of the edges of a graph.
    """
    if hasattr(pairs, "tocoo"):
        raise TypeError("pairs is a sparse matrix; it must be a list of (source, target), not sparse")
    if hasattr(pairs, "to_numpy"):
        pairs = pairs.to_numpy()
    if isinstance(pairs, DiGraph):
        pairs = [(pairs.name(s), pairs.name(t)) for s, t in pairs.pairs]
    elif hasattr(pairs, "adj"):
        pairs = list(pairs.edges())
    elif hasattr(pairs, "__array__"):
        pairs = np.asarray(pairs)
    if isinstance(pairs, np.ndarray):
        if is_edge_index(pairs):
            pairs = pairs.T
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ValueError(f"pairs has shape {pairs.shape}; it must be (pairs, 2). Reshape your data")
        return pairs[:, 0], pairs[:, 1]
    rows = [
        (pair,) if isinstance(pair, str) or not isinstance(pair, Iterable) else tuple(pair) for pair in pairs
    ]
    bad = next((i for i, row in enumerate(rows) if len(row) != 2), None)
    if bad is not None:
        single = len(rows) == 2 and all(len(row) == 1 for row in rows)
        hint = f"; for one pair, write [{tuple(row[0] for row in rows)!r}]" if single else ""
        raise ValueError(f"pairs[{bad}] is {show(rows[bad])}; it must be (source, target){hint}")
    return [row[0] for row in rows], [row[1] for row in rows]


def labels_of(y: Any, count: int) -> np.ndarray:
    """Labels of `count` pairs, 1 or 0 each, as booleans."""
    labels = np.asarray(y)
    if labels.shape != (count,) or not np.isin(labels, (0, 1)).all():
        raise ValueError(f"y is {show(y)}; it must hold 1 (an edge) or 0 for each of the {count} pairs")
    return labels.astype(bool)
