"""Small random graphs and their dense adjacency matrices."""

import numpy as np

from timelike.graphs.digraph import DiGraph


def adjacency(graph: DiGraph) -> np.ndarray:
    """The N×N matrix that the package never builds."""
    dense = np.zeros((graph.num_nodes, graph.num_nodes), bool)
    dense[graph.sources, graph.targets] = True
    return dense


def from_adjacency(dense: np.ndarray) -> DiGraph:
    return DiGraph.from_arrays(*np.nonzero(dense), num_nodes=len(dense))


def random_graph(nodes: int, edges: int, seed: int = 0, weighted: bool = False) -> DiGraph:
    """Distinct edges without self-loops."""
    rng = np.random.default_rng(seed)
    s, t = np.nonzero(~np.eye(nodes, dtype=bool))
    chosen = rng.choice(s.size, edges, replace=False)
    weights = rng.uniform(0.5, 2, edges) if weighted else None
    return DiGraph.from_arrays(s[chosen], t[chosen], nodes, weights=weights)


def complete(nodes: int) -> DiGraph:
    return from_adjacency(~np.eye(nodes, dtype=bool))


def star(nodes: int, hub: int = 0) -> DiGraph:
    """Edges from the hub to all other nodes."""
    dense = np.zeros((nodes, nodes), bool)
    dense[hub] = np.arange(nodes) != hub
    return from_adjacency(dense)


def pairs_last(examples):
    """Drawn examples as NumPy arrays, with the pairs of an example along the last axis."""
    ends = (np.moveaxis(np.asarray(x), 0, -1) for x in examples[:3])
    return type(examples)(*ends, *(np.asarray(x) for x in examples[3:]))
