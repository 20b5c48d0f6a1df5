"""The transitive closure of a graph."""

from __future__ import annotations

import numpy as np

from timelike.graphs.digraph import DiGraph


def transitive_closure(graph: DiGraph) -> DiGraph:
    """The same nodes with an edge i → j wherever a path leads from i to another node j.

    Paths grow by one edge at a time; only pairs seen for the first time are followed further, so
    the work is the sum over closure pairs of the out-degree of their targets.
    """
    from scipy.sparse import csr_array

    shape = (graph.num_nodes, graph.num_nodes)
    one = csr_array((np.ones(graph.num_edges, bool), (graph.sources, graph.targets)), shape=shape)
    reached = frontier = one
    while frontier.nnz:
        frontier = (frontier @ one) > reached
        reached = reached + frontier
    sources, targets = reached.tocoo().coords
    return DiGraph.from_arrays(sources, targets, graph.num_nodes, graph.names)
