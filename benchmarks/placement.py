"""How many rows a process asks others for, by where nodes are placed: at random, or near their neighbours.

python -m benchmarks.placement [--scale 17]. Streaming placement: every node goes to the process that has most
of its neighbours, less the more nodes that one has already (linear deterministic greedy, Stanton and Kliot,
KDD 2012), in the order of degrees or of numbers.
"""

from __future__ import annotations

import argparse
import json

import numpy as np

import timelike as tl
from timelike.distributed.node_dealing import places

NEGATIVES = 4


def greedy(graph: tl.DiGraph, processes: int, order: np.ndarray) -> np.ndarray:
    """The process of every node."""
    matrix = graph.adjacency()
    both = (matrix + matrix.T).tocsr()
    room, placed = -(-graph.num_nodes // processes), np.full(graph.num_nodes, -1)
    filled = np.zeros(processes)
    for node in order:
        near = placed[both.indices[both.indptr[node] : both.indptr[node + 1]]]
        votes = np.bincount(near[near >= 0], minlength=processes) * (1 - filled / room)
        placed[node] = np.lexsort((filled, -votes))[0] if votes.any() else np.argmin(filled)
        filled[placed[node]] += 1
    return placed


def remote(graph: tl.DiGraph, of_node: np.ndarray, processes: int) -> dict[str, float]:
    """Shares of the edges between processes, of rows asked of others, and the busiest process's edges."""
    s, t = of_node[graph.sources], of_node[graph.targets]
    cut, any_row = float(np.mean(s != t)), 1 - 1 / processes
    rows = (cut + 2 * NEGATIVES * any_row) / (2 + 2 * NEGATIVES)
    most = np.bincount(s, minlength=processes).max() * processes / graph.num_edges
    return {
        "edges cut": round(cut, 3),
        "rows from others": round(rows, 3),
        "most edges": round(float(most), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.placement", description=__doc__)
    parser.add_argument("--scale", type=int, default=17)
    graph = tl.datasets.load(f"rmat:scale={parser.parse_args().scale},edge_factor=8")
    degrees = np.bincount(graph.sources, minlength=graph.num_nodes)
    degrees += np.bincount(graph.targets, minlength=graph.num_nodes)
    for processes in (2, 8, 64):
        rows = -(-graph.num_nodes // processes)
        ways = {
            "at random": places(np.arange(graph.num_nodes), graph.num_nodes) // rows,
            "greedy, in order": greedy(graph, processes, np.arange(graph.num_nodes)),
            "greedy, by degree": greedy(graph, processes, np.argsort(-degrees, kind="stable")),
        }
        for name, of_node in ways.items():
            print(json.dumps({"processes": processes, "placed": name, **remote(graph, of_node, processes)}))


if __name__ == "__main__":
    main()
