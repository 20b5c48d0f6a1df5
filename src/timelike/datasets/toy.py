"""The paper's toy graphs (its section 4.2)."""

from __future__ import annotations

import numpy as np

from timelike._util.checks import whole_number
from timelike.graphs.digraph import MOST_EDGES, MOST_NODES, DiGraph


def cycle(nodes: int = 5) -> DiGraph:
    """0 → 1 → … → n − 1 → 0."""
    i = np.arange(whole_number("nodes", nodes, 2, MOST_NODES))
    return DiGraph.from_arrays(i, (i + 1) % nodes, nodes)


def chain(nodes: int = 10) -> DiGraph:
    """0 → 1 → … → n − 1, without any transitive edge."""
    i = np.arange(whole_number("nodes", nodes, 1, MOST_NODES) - 1)
    return DiGraph.from_arrays(i, i + 1, nodes)


def three_node_chain() -> DiGraph:
    """0 → 1 → 2 without 0 → 2: the smallest graph that no partial order fits (Figure 3A)."""
    return chain(3)


def transitive_chain(nodes: int = 10) -> DiGraph:
    """The transitive closure of `chain`: i → j for all i < j."""
    i, j = np.triu_indices(whole_number("nodes", nodes, 1, 2**16), 1)
    return DiGraph.from_arrays(i, j, nodes)


def tripartite(predecessors: int = 10, successors: int = 10, middle: int = 2) -> DiGraph:
    """Unlinked `middle` nodes with all predecessors and successors in common (Figure 2A).

    Nodes 0 … middle − 1 are the unlinked ones, then the predecessors, then the successors.
    """
    mid = np.arange(whole_number("middle", middle, 1, MOST_NODES))
    before = middle + np.arange(whole_number("predecessors", predecessors, 0, MOST_NODES))
    after = middle + predecessors + np.arange(whole_number("successors", successors, 0, MOST_NODES))
    whole_number("middle · (predecessors + successors)", mid.size * (before.size + after.size), 0, MOST_EDGES)
    into = np.array(np.meshgrid(before, mid)).reshape(2, -1)
    out = np.array(np.meshgrid(mid, after)).reshape(2, -1)
    s, t = np.concatenate([into, out], axis=1)
    return DiGraph.from_arrays(s, t, middle + predecessors + successors)
