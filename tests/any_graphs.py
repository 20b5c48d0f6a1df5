"""Random graphs for properties of splits and evaluations."""

import numpy as np
from hypothesis import strategies as st

from timelike import DiGraph
from timelike.evaluation.splits import Split


@st.composite
def graphs(draw, least=2, most=14, sparse=False, least_edges=1):
    """Graphs with isolated nodes and reciprocal edges; `sparse` ones have at most 2n edges."""
    n = draw(st.integers(least, most))
    pairs = st.sampled_from([(i, j) for i in range(n) for j in range(n) if i != j])
    edges = draw(st.lists(pairs, min_size=least_edges, max_size=2 * n if sparse else None, unique=True))
    ends = np.array(edges)
    return DiGraph.from_arrays(ends[:, 0], ends[:, 1], n)


def as_set(pairs) -> set[tuple[int, int]]:
    """Pairs of an (n, 2) array, or edges of a graph."""
    pairs = np.stack([pairs.sources, pairs.targets], axis=1) if isinstance(pairs, DiGraph) else pairs
    return {(int(s), int(t)) for s, t in pairs}


def random_graph(nodes: int, edges: int, seed: int = 0) -> DiGraph:
    """About that many edges, hubs among them."""
    rng = np.random.default_rng(seed)
    s, t = (nodes * rng.random((2, edges)) ** 2).astype(np.int32)
    return DiGraph.from_arrays(s[s != t], t[s != t], nodes)


def check_parts(graph: DiGraph, split: Split) -> None:
    """Disjoint parts that make up the graph, and non-edges that are none."""
    parts = [as_set(split.train), as_set(split.valid_edges), as_set(split.test_edges)]
    assert sum(map(len, parts)) == graph.num_edges
    assert set.union(*parts) == as_set(graph) == as_set(split.graph)
    assert split.train.num_nodes == graph.num_nodes
    assert not as_set(split.test_negatives) & as_set(graph)
    assert not as_set(split.valid_negatives) & (parts[0] | parts[1])
    assert all(s != t for s, t in [*split.test_negatives, *split.valid_negatives])
