"""The transitive closure of a graph."""

from __future__ import annotations

import numpy as np

from timelike.graphs.digraph import DiGraph


def transitive_closure(graph: DiGraph) -> DiGraph:
    """Return the same nodes with an edge i → j wherever a path leads from i to another node j.

    Paths grow by one edge per step, and only new pairs are extended: the work is the sum of the targets'
    out-degrees over all pairs of the closure.
    """
    from scipy.sparse import csr_array

    shape = (graph.num_nodes, graph.num_nodes)
    step = csr_array((np.ones(graph.num_edges, bool), (graph.sources, graph.targets)), shape=shape)
    reached = frontier = step
    while frontier.nnz:
        frontier = (frontier @ step) > reached
        reached = reached + frontier
    sources, targets = reached.tocoo().coords
    return DiGraph.from_arrays(sources, targets, graph.num_nodes, graph.names)
