"""The paper's toy graphs (its section 4.2)."""

from __future__ import annotations

import numpy as np

from timelike.graph import DiGraph


def cycle(nodes: int = 5) -> DiGraph:
    """0 → 1 → … → n − 1 → 0."""
    i = np.arange(nodes)
    return DiGraph.from_arrays(i, (i + 1) % nodes, nodes)


def chain(nodes: int = 10) -> DiGraph:
    """0 → 1 → … → n − 1, without any transitive edge."""
    i = np.arange(nodes - 1)
    return DiGraph.from_arrays(i, i + 1, nodes)


def transitive_chain(nodes: int = 10) -> DiGraph:
    """The transitive closure of `chain`: i → j for all i < j."""
    i, j = np.triu_indices(nodes, 1)
    return DiGraph.from_arrays(i, j, nodes)


def tripartite(predecessors: int = 10, successors: int = 10, middle: int = 2) -> DiGraph:
    """Unlinked `middle` nodes with all predecessors and successors in common (Figure 2A).

    Nodes 0 … middle − 1 are the unlinked ones, then the predecessors, then the successors.
    """
    mid = np.arange(middle)
    before = middle + np.arange(predecessors)
    after = middle + predecessors + np.arange(successors)
    into = np.array(np.meshgrid(before, mid)).reshape(2, -1)
    out = np.array(np.meshgrid(mid, after)).reshape(2, -1)
    s, t = np.concatenate([into, out], axis=1)
    return DiGraph.from_arrays(s, t, middle + predecessors + successors)
